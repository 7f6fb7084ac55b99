//! A paper's evaluation as data: sweeps, a store of results, published numbers beside measured ones, and
//! reports.
//!
//! | module | subject |
//! |---|---|
//! | `catalogue` | what there is to choose from |
//! | `program` | what a job runs: a workload or a launch file |
//! | `job` | one measurement: everything that decides its numbers, and the key made of that |
//! | `profile` | the counters of profiles, and what they mean |
//! | `executed` | a CUDA program that `strata exec` ran, as a record |
//! | `record` | what a finished job measured |
//! | `store` | a folder of finished jobs |
//! | `perform` | one job, run for a store |
//! | `sweep` | runs the jobs that are missing |
//! | `threads` | runs a sweep's jobs in this process |
//! | `cluster` | has a sweep's jobs run by a cluster's scheduler |
//! | `metric` | expressions over counters |
//! | `validate` | microbenchmarks on a machine, beside those of GPUs |
//! | `variant` | a machine under a name: base, system, overrides |
//! | `setup` | a variant, or for each workload the best of several |
//! | `question` | metrics of workloads on variants, looked up in a store |
//! | `grid` | a table of numbers, some missing |
//! | `axes` | systems and swept parameters: the variants of a comparison, and what ratios are over |
//! | `compare` | a user's own question |
//! | `paper` | a paper's systems, figures and tables, and how its claims are measured |
//! | `claims` | published numbers, and verdicts |
//! | `repro` | the jobs of a paper, or of a part of it |
//! | `report` | numbers as text |
//! | `page` | the HTML pages of papers and comparisons |

pub mod axes;
pub mod catalogue;
pub mod claims;
pub mod cluster;
pub mod compare;
pub mod executed;
pub mod grid;
pub mod inputs;
pub mod job;
pub mod metric;
pub mod origin;
pub mod package;
pub mod page;
pub mod paper;
pub mod perform;
pub mod profile;
pub mod program;
pub mod question;
pub mod record;
pub mod report;
pub mod repro;
pub mod resolved;
pub mod setup;
pub mod store;
pub mod sweep;
pub mod threads;
pub mod validate;
pub mod variant;

pub use strata_gpu::SIMULATOR;
