//! Textures and surfaces on both executors: every form against a model of its own, and what must not happen.

mod bench;
mod compiled;
mod faults;
mod fetches;
mod mipmaps;
mod model;
mod references;
mod surfaces;
mod timing;
