//! Where a part of a run began, for readers.

use std::fmt;

use super::rows::group;
use crate::position::Began;

impl fmt::Display for Began {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.at)?;
        match self.skipped.thread_instructions {
            0 => {}
            skipped => write!(f, ", after {} thread instructions on the reference executor", group(skipped))?,
        }
        match (self.is_warm, self.warm_ctas) {
            (false, _) => f.write_str("; caches cold"),
            (true, 0) => f.write_str("; caches warm"),
            (true, 1) => f.write_str("; caches warmed by 1 CTA of that launch"),
            (true, ctas) => write!(f, "; caches warmed by {} CTAs of that launch", group(ctas)),
        }
    }
}
