//! The machine as a whole, and what is said of it. One program, which is linked once.

mod bad_machines;
mod calls;
mod card;
mod circles;
mod corpus;
mod energy;
mod false_sharing;
mod faults;
mod fuse;
mod golden_cycles;
mod hi_end;
mod hostile_modules;
mod litmus;
mod matrix;
mod planted;
mod random_machines;
mod random_programs;
mod registers;
mod rooms;
mod skipping;
mod support;
mod tensor;
mod textures;
mod timeline;
mod warps;
mod workloads;
