//! Time, links, islands, statistics and configuration: the parts of a cycle-level simulator that have nothing
//! to do with GPUs.

pub mod config;
pub mod domain;
pub mod empty_windows;
pub mod gauge;
pub mod hash;
mod id;
pub mod island;
pub mod link;
mod log;
mod order;
mod pace;
pub mod queue;
pub mod schedule;
pub mod seed;
pub mod simulation;
pub mod slab;
pub mod statistics;
pub mod time;
pub mod wheel;

pub use config::Cited;
pub use domain::Domain;
pub use gauge::{Gauge, Used};
pub use island::{Done, Island, Ran, Span};
pub use link::{Doorbell, Inlet, LinkClocks, Outlet, Rung, Window, link, link_between};
pub use log::Log;
pub use queue::{DelayLine, Ring};
pub use schedule::Schedule;
pub use simulation::{RunOptions, Simulation, Stop};
pub use slab::Slab;
pub use time::{ClockRatio, Cycle};
pub use wheel::Wheel;
