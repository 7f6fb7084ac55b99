//! Pages.

pub mod difference;
pub mod failures;
pub mod frame;
pub mod list;
pub mod overview;
pub mod paper;
pub mod run;
pub mod runs;
pub mod sweep;
