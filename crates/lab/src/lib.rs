//! A paper's evaluation as data: sweeps, a store of results, published numbers beside ours, reports.
//!
//! | module | subject |
//! |---|---|
//! | `job` | one measurement: everything that decides its numbers, and the key made of that |
//! | `record` | what a finished job measured |
//! | `store` | a folder of finished jobs |
//! | `sweep` | runs the jobs that are missing |
//! | `metric` | expressions over counters |
//! | `variant` | a machine under a name: base, system, overrides |
//! | `question` | metrics of workloads on variants, looked up in a store |

pub mod compare;
pub mod grid;
pub mod inputs;
pub mod job;
pub mod metric;
pub mod question;
pub mod record;
pub mod report;
pub mod store;
pub mod sweep;
pub mod variant;

/// Version of the simulator: the package's, and a hash of the sources that decide numbers.
pub const SIMULATOR: &str = env!("STRATA_SIMULATOR");
