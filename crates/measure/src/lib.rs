//! What can be asked of runs, before and after them.
//!
//! | module | subject |
//! |---|---|
//! | `catalogue` | what there is to choose from |
//! | `program` | what runs: a workload or a launch file |
//! | `inputs` | hashes of what a program starts with |
//! | `variant` | a machine under a name: base, system, overrides |
//! | `axes` | systems and swept parameters: the variants of a comparison, and what ratios are over |
//! | `exact` | fractions without rounding |
//! | `factorial` | every subset of some systems, and what each brings |
//! | `shapley` | what each of several changes brings, as parts of the whole |
//! | `uncertain` | how much numbers depend on what is assumed |
//! | `numbers` | every number of a run by name |
//! | `rows` | those of a run's parts: energies, areas, lifetimes |
//! | `setup` | those of a program's setup: its host phases before the first launch |
//! | `profile` | the counters of profiles, and what they mean |
//! | `metric` | expressions over numbers |
//! | `grid` | a table of numbers, some missing |
//! | `compare` | workloads on variants, in metrics |
//! | `limits` | what limits a run, and what ideal parts would give |
//! | `report` | numbers as text |

pub mod axes;
pub mod catalogue;
pub mod compare;
pub mod exact;
pub mod factorial;
pub mod grid;
pub mod inputs;
pub mod limits;
pub mod metric;
pub mod numbers;
pub mod profile;
pub mod program;
pub mod report;
mod rows;
pub mod setup;
pub mod shapley;
pub mod uncertain;
pub mod variant;
