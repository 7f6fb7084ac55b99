//! What changed between two runs, and why.
//!
//! | module | subject |
//! |---|---|
//! | `side` | what is known of one of the two runs |
//! | `asked` | in what the questions differ: program, size, machine |
//! | `cycles` | the difference of cycles, dealt out to what issue slots went to |
//! | `counters` | the other counters, level by level, and energies |
//! | `launches` | launch by launch |
//! | `report` | all of these as JSON |
//! | `repeat` | a run that can be made again |
//! | `first` | where two runs part |
//! | `changes` | the values by which two machines differ, each to be made alone |
//! | `attribute` | what each of these brings |

mod asked;
mod attribute;
mod changes;
mod counters;
mod cycles;
mod first;
mod launches;
mod repeat;
mod report;
mod side;

pub use asked::{Asked, asked};
pub use attribute::{Ask, Found, Shares, attribute};
pub use changes::{Change, Place, changes, together, with};
pub use counters::{Changed, EnergyChange, Level, definitions, energies, levels};
pub use cycles::{Attribution, Cause, HOST, OUTSIDE, Slots, attribute as attribute_cycles, busiest};
pub use first::{First, PartedPart, Parting, first};
pub use launches::{LaunchChange, launches};
pub use repeat::{How, Repeat};
pub use report::{Difference, SCHEMA};
pub use side::{Counters, Energy, LaunchSide, Side};

#[cfg(test)]
mod tests;
