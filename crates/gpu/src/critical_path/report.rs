//! Critical paths, and their cycles by cause, by level and by line.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use strata_ptx::isa::Pc;
use strata_ptx::program::Kernel;

use super::{Cause, PathLevel};
use crate::program::line_name;

/// An instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The kernel and the line of PTX, as in a breakdown by line: `kernel:12`.
    pub line: String,
    /// Its index in the kernel's code.
    pub pc: Pc,
    /// Its text.
    pub text: String,
}

impl Place {
    pub(super) fn of(kernel: &Kernel, pc: Pc) -> Place {
        Place { line: line_name(kernel, pc), pc, text: kernel.instruction_text(pc) }
    }
}

/// Cycles of a path that an instruction spends on a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// The instruction; `None` where there is none, as while a CTA is dispatched.
    pub instruction: Option<Place>,
    /// The cause.
    pub cause: Cause,
    /// The cycles.
    pub cycles: u64,
}

/// The critical path of a launch. The cycles of its parts add up to the launch's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalPath {
    /// The launch, counted from 0.
    pub launch: u64,
    /// Its kernel.
    pub kernel: String,
    /// Its core cycles.
    pub cycles: u64,
    /// What they are spent on.
    pub parts: Vec<PathPart>,
}

/// A launch whose path is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The launch, counted from 0.
    pub launch: u64,
    /// Its kernel.
    pub kernel: String,
    /// Why.
    pub reason: String,
}

/// The critical paths of a run's launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Those that are known, in order.
    pub launches: Vec<CriticalPath>,
    /// Launches that were asked for in vain.
    pub left_out: Vec<LeftOut>,
}

impl CriticalPath {
    /// Its cycles by cause.
    pub fn by_cause(&self) -> Vec<(Cause, u64)> {
        by_cause(&self.parts)
    }
}

impl Paths {
    /// Cycles of all of them.
    pub fn cycles(&self) -> u64 {
        self.launches.iter().map(|path| path.cycles).sum()
    }

    /// What the cycles of all of them are spent on.
    pub fn parts(&self) -> impl Iterator<Item = &PathPart> {
        self.launches.iter().flat_map(|path| &path.parts)
    }

    /// Cycles by cause, most first.
    pub fn by_cause(&self) -> Vec<(Cause, u64)> {
        let mut sums = by_cause(self.parts());
        sums.sort_by_key(|(cause, cycles)| (std::cmp::Reverse(*cycles), *cause));
        sums
    }

    /// Cycles by level, in the order of levels.
    pub fn by_level(&self) -> Vec<(PathLevel, u64)> {
        let mut sums: BTreeMap<PathLevel, u64> = BTreeMap::new();
        for part in self.parts() {
            *sums.entry(part.cause.level()).or_default() += part.cycles;
        }
        sums.into_iter().collect()
    }

    /// Cycles by line of PTX, and those of each cause, most first. What belongs to no instruction has no line.
    pub fn by_line(&self) -> Vec<(Option<&str>, u64, Vec<(Cause, u64)>)> {
        let mut places: HashMap<Option<&str>, BTreeMap<Cause, u64>> = HashMap::new();
        for part in self.parts() {
            let line = part.instruction.as_ref().map(|place| place.line.as_str());
            *places.entry(line).or_default().entry(part.cause).or_default() += part.cycles;
        }
        let sums = |(line, causes): (_, BTreeMap<Cause, u64>)| {
            let mut causes: Vec<(Cause, u64)> = causes.into_iter().collect();
            causes.sort_by_key(|(cause, cycles)| (std::cmp::Reverse(*cycles), *cause));
            (line, causes.iter().map(|(_, cycles)| cycles).sum::<u64>(), causes)
        };
        let mut lines: Vec<_> = places.into_iter().map(sums).collect();
        lines.sort_by_key(|(line, cycles, _)| (std::cmp::Reverse(*cycles), *line));
        lines
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let causes = |sums: &[(Cause, u64)]| -> Map<String, Value> {
            sums.iter().map(|(cause, cycles)| (cause.name().to_owned(), json!(cycles))).collect()
        };
        let levels: Map<String, Value> = self
            .by_level()
            .into_iter()
            .map(|(level, cycles)| (level.name().to_owned(), json!(cycles)))
            .collect();
        json!({
            "cycles": self.cycles(),
            "by_cause": causes(&self.by_cause()),
            "by_level": levels,
            "by_line": self.by_line().into_iter().map(|(line, cycles, by_cause)| json!({
                "line": line,
                "cycles": cycles,
                "by_cause": causes(&by_cause),
            })).collect::<Vec<_>>(),
            "by_instruction": self.instructions().into_iter().map(|(place, cycles)| json!({
                "line": place.line,
                "instruction": place.pc,
                "text": place.text,
                "cycles": cycles,
            })).collect::<Vec<_>>(),
            "launches": self.launches.iter().map(|path| json!({
                "launch": path.launch,
                "kernel": path.kernel,
                "cycles": path.cycles,
                "by_cause": causes(&path.by_cause()),
            })).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(|left| json!({
                "launch": left.launch,
                "kernel": left.kernel,
                "reason": left.reason,
            })).collect::<Vec<_>>(),
        })
    }

    /// Cycles by instruction, in the order of lines.
    pub fn instructions(&self) -> Vec<(&Place, u64)> {
        let mut sums: BTreeMap<&Place, u64> = BTreeMap::new();
        for part in self.parts() {
            if let Some(place) = &part.instruction {
                *sums.entry(place).or_default() += part.cycles;
            }
        }
        sums.into_iter().collect()
    }
}

fn by_cause<'a>(parts: impl IntoIterator<Item = &'a PathPart>) -> Vec<(Cause, u64)> {
    let mut sums: BTreeMap<Cause, u64> = BTreeMap::new();
    for part in parts {
        *sums.entry(part.cause).or_default() += part.cycles;
    }
    sums.into_iter().collect()
}
