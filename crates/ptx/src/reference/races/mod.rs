//! Finds data races: two accesses of different threads to the same byte, at least one of them a write, that nothing orders
//! and that are not both strong (PTX ISA, "Memory Consistency Model").
//!
//! [`RaceCheck`] watches launches on the reference executor. Every access gets the time of its CTA, every thread has a clock
//! that says which accesses happen before what it does next, and every piece of memory remembers the accesses that matter: the
//! last write, and the reads and strong accesses since (Flanagan and Freund, FastTrack, PLDI 2009; with a GPU's hierarchy,
//! Eizenberg et al., BARRACUDA, PLDI 2017). It is exact for what was executed: it finds a race on a byte if and only if two
//! accesses to it race, and of several pairs on it at least one. Another schedule may execute other accesses. What is simpler
//! than in the ISA is listed in `docs/races.md`.
//!
//! What happens before what:
//!
//! - a thread's accesses, in program order; asynchronous copies when they are waited for;
//! - what is before a barrier of a CTA, and what its threads do after it; the same for `bar.warp.sync` and the lanes that come
//!   to it together. No other instruction orders lanes of a warp, even if they execute it together;
//! - launches, one after the other;
//! - what is before a release, and what is after an acquire that reads what it left. A release is a releasing write, or a fence
//!   and later a strong write; an acquire is an acquiring read, or a strong read and later a fence. Read-modify-writes in
//!   between keep what was left. Scopes must hold both threads. The order in which `fence.sc` happen orders nothing here, since
//!   it would be another in the next run.
//!
//! | file | subject |
//! |---|---|
//! | `clock.rs` | up to when a thread knows others |
//! | `knowledge.rs` | the clocks of a warp, and what its fences hand on and take |
//! | `cta.rs` | barriers and asynchronous copies |
//! | `site.rs` | places of the program, and what their accesses are to the memory model |
//! | `shadow.rs` | what is remembered of each piece of memory |
//! | `view.rs` | an access against what is remembered |
//! | `notes.rs` | what strong accesses take from a place and leave there |
//! | `check.rs` | watches launches |
//! | `found.rs` | the races, by pairs of places |

mod check;
mod clock;
mod cta;
mod found;
mod knowledge;
mod notes;
mod shadow;
mod site;
#[cfg(test)]
mod tests;
mod view;

pub use check::RaceCheck;
pub use found::{Race, Racer};
