//! What one part of a breakdown counted.

use strata_engine::statistics::Group;

/// The part that has what belongs to no line, CTA or buffer.
pub const ELSEWHERE: &str = "elsewhere";

/// The counters of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Which it is: `sm 3`, or `launch 0 (bfs_kernel)`.
    pub name: String,
    /// What it counted.
    pub groups: Vec<Group>,
    /// Energy of the events that it brings about, in picojoules, by structure; empty where that is not told apart.
    pub energy_pj: Vec<(String, f64)>,
}

impl Counted {
    /// A part whose energy is not told apart.
    pub fn new(name: String, groups: Vec<Group>) -> Counted {
        Counted { name, groups, energy_pj: Vec::new() }
    }

    /// Energy of all structures' events that it brings about, in picojoules; `None` where that is not told apart.
    pub fn dynamic_pj(&self) -> Option<f64> {
        (!self.energy_pj.is_empty()).then(|| self.energy_pj.iter().map(|(_, pj)| pj).sum())
    }

    /// The value of a counter; `None` if it has none of this name.
    pub fn get(&self, group: &str, counter: &str) -> Option<u64> {
        self.groups.iter().find(|found| found.name == group)?.get(counter)
    }
}
