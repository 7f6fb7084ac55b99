//! An SM between fakes: golden cycles computed by hand, and what must hold whatever the timing.

mod accesses;
mod control;
mod cost;
mod golden;
pub mod mapped;
mod skipping;
mod sub_cores;
mod subroutines;
mod throttle;
mod turns;
