//! A paper's evaluation as data: sweeps, a store of results, published numbers beside measured ones, and
//! reports. What is asked of runs has a crate of its own, `strata_measure`.
//!
//! | module | subject |
//! |---|---|
//! | `catalogue` | what there is to choose from |
//! | `job` | one measurement: everything that decides its numbers, and the key made of that |
//! | `executed` | a CUDA program that `strata exec` ran, as a record |
//! | `record` | what a finished job measured |
//! | `store` | a folder of finished jobs |
//! | `perform` | one job, run for a store |
//! | `sweep` | runs the jobs that are missing |
//! | `threads` | runs a sweep's jobs in this process |
//! | `cluster` | has a sweep's jobs run by a cluster's scheduler |
//! | `validate` | microbenchmarks on a machine, beside those of GPUs |
//! | `fresh` | a run that has just ended, with what no record keeps |
//! | `timeline` | its counters over time |
//! | `annotated` | its kernels with what is charged to each line |
//! | `latencies` | how long each level took to serve its loads |
//! | `queues` | how full queues and MSHRs were |
//! | `ranges` | the ranges in which both count |
//! | `setup` | a variant, or for each workload the best of several |
//! | `question` | metrics of workloads on variants, looked up in a store |
//! | `compare` | a user's own question |
//! | `diff` | what changed between two runs, and why |
//! | `paper` | a paper's systems, figures and tables, and how its claims are measured |
//! | `claims` | published numbers, and verdicts |
//! | `uncertain` | how much numbers depend on what is assumed: draws, their jobs, and what they say |
//! | `repro` | the jobs of a paper, or of a part of it |
//! | `page` | the HTML pages of papers and comparisons |

pub mod annotated;
pub mod catalogue;
pub mod claims;
pub mod cluster;
pub mod compare;
pub mod diff;
pub mod executed;
pub mod fresh;
pub mod job;
pub mod latencies;
pub mod origin;
pub mod package;
pub mod page;
pub mod paper;
pub mod perform;
pub mod question;
pub mod queues;
pub mod ranges;
pub mod record;
pub mod repro;
pub mod resolved;
pub mod setup;
pub mod store;
pub mod sweep;
pub mod threads;
pub mod timeline;
pub mod uncertain;
pub mod validate;

pub use strata_gpu::SIMULATOR;
/// What the lab asks of runs.
pub use strata_measure::{axes, exact, grid, inputs, limits, metric, profile, program, report, variant};
