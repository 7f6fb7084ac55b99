//! Kernels with what is charged to each of their lines.

use std::collections::BTreeMap;

use strata_gpu::results::{Breakdown, Counted};

/// Counters of a line that are shown as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it is called.
    pub name: &'static str,
    /// The counters that are added up, by `GROUP.COUNTER`.
    pub paths: &'static [&'static str],
    /// What the number is.
    pub meaning: &'static str,
}

/// The columns, of which a kernel has those in which something is counted.
pub const COLUMNS: [Column; 11] = [
    Column { name: "issued", paths: &["sm.issued"], meaning: "issue slots in which it was issued" },
    Column {
        name: "memory",
        paths: &["sm.stall_memory"],
        meaning: "issue slots lost while warps waited here for a value from memory",
    },
    Column {
        name: "execution",
        paths: &["sm.stall_execution"],
        meaning: "issue slots lost while warps waited here for a value from an execution unit",
    },
    Column {
        name: "barrier",
        paths: &["sm.stall_barrier"],
        meaning: "issue slots lost while warps waited here at a barrier",
    },
    Column {
        name: "fetch",
        paths: &["sm.stall_fetch"],
        meaning: "issue slots lost while warps waited here for the next instruction",
    },
    Column {
        name: "awaited",
        paths: &["awaited.memory", "awaited.execution"],
        meaning: "issue slots that other lines lost waiting for this line's result",
    },
    Column { name: "L1D", paths: &["served.l1d"], meaning: "accesses that the L1D served" },
    Column {
        name: "LLC",
        paths: &["served.llc", "served.extended", "served.owner"],
        meaning: "accesses that the last-level cache served, an SM in cache mode, or the words' owner",
    },
    Column {
        name: "DRAM",
        paths: &["served.memory"],
        meaning: "accesses that a memory-side cache or DRAM served",
    },
    Column {
        name: CYCLES,
        paths: &[
            "served.l1d_cycles",
            "served.llc_cycles",
            "served.extended_cycles",
            "served.owner_cycles",
            "served.memory_cycles",
        ],
        meaning: "mean cycles of an access, from the L1D taking it to its completion",
    },
    Column {
        name: ENERGY,
        paths: &[],
        meaning: "energy in nanojoules of the events that it brings about; leakage is left out",
    },
];

/// The column that is a mean over accesses.
const CYCLES: &str = "cycles";

/// The column that is no counter.
const ENERGY: &str = "nJ";

/// Accesses that a level served.
const SERVED: [&str; 5] = ["served.l1d", "served.llc", "served.extended", "served.owner", "served.memory"];

/// Lines of text that are shown before and behind one that is charged something.
const AROUND: usize = 3;

/// The sum of counters of a line, by `GROUP.COUNTER`.
#[must_use]
pub fn sum(line: &Counted, paths: &[&str]) -> u64 {
    let of = |path: &&str| {
        let (group, counter) = path.split_once('.')?;
        line.get(group, counter)
    };
    paths.iter().filter_map(of).sum()
}

/// Issue slots of a line, used and lost.
#[must_use]
pub fn slots(line: &Counted) -> u64 {
    sum(line, &["sm.issue_slots"])
}

impl Column {
    /// The number of a line.
    #[must_use]
    pub fn of(&self, line: &Counted) -> u64 {
        match self.name {
            CYCLES => sum(line, self.paths).checked_div(sum(line, &SERVED)).unwrap_or_default(),
            ENERGY => (line.dynamic_pj().unwrap_or_default() / 1000.0).round() as u64,
            _ => sum(line, self.paths),
        }
    }
}

/// The lines of a kernel that are charged something.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    /// Its name.
    pub name: &'a str,
    /// By number, counted from 1.
    pub lines: BTreeMap<usize, &'a Counted>,
    /// What each line has become: the texts of instructions, and what is charged to them.
    pub instructions: BTreeMap<usize, Vec<(&'a str, &'a Counted)>>,
}

/// The kernels of a breakdown by line, in the order in which they ran first, with the instructions of one by instruction.
#[must_use]
pub fn kernels<'a>(lines: &'a Breakdown, instructions: Option<&'a Breakdown>) -> Vec<Kernel<'a>> {
    let mut kernels: Vec<Kernel<'_>> = Vec::new();
    for part in &lines.parts {
        let Some((name, line)) = named(&part.name) else { continue };
        match kernels.iter_mut().find(|kernel| kernel.name == name) {
            Some(kernel) => _ = kernel.lines.insert(line, part),
            None => kernels.push(Kernel {
                name,
                lines: BTreeMap::from([(line, part)]),
                instructions: BTreeMap::new(),
            }),
        }
    }
    for part in instructions.iter().flat_map(|of| &of.parts) {
        let Some((line, instruction)) = part.name.split_once(" #") else { continue };
        let (Some((name, line)), Some((_, text))) = (named(line), instruction.split_once(' ')) else {
            continue;
        };
        if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == name) {
            kernel.instructions.entry(line).or_default().push((text, part));
        }
    }
    kernels
}

/// Kernel and line in the name of a part.
fn named(part: &str) -> Option<(&str, usize)> {
    let (name, line) = part.rsplit_once(':')?;
    Some((name, line.parse().ok()?))
}

impl Kernel<'_> {
    /// Issue slots of all its lines.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.lines.values().map(|line| slots(line)).sum()
    }

    /// The columns in which something is counted.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let has_some = |column: &&Column| self.lines.values().any(|line| column.of(line) > 0);
        COLUMNS.iter().filter(has_some).copied().collect()
    }

    /// What a line has become.
    #[must_use]
    pub fn instructions(&self, line: usize) -> &[(&str, &Counted)] {
        self.instructions.get(&line).map_or(&[], Vec::as_slice)
    }

    /// Of a module's lines, those that the kernel's numbers are of: what is linked in has a text of its own, which is not at hand.
    #[must_use]
    pub fn texts<'t>(&self, ptx: &'t str) -> Vec<&'t str> {
        if self.name.contains(' ') { Vec::new() } else { ptx.lines().collect() }
    }

    /// The numbers of the lines that are shown: those that are charged something, and a few around them.
    #[must_use]
    pub fn numbers(&self) -> Vec<usize> {
        let (Some(first), Some(last)) = (self.lines.keys().next(), self.lines.keys().next_back()) else {
            return Vec::new();
        };
        let is_near = |number: &usize| {
            let around = number.saturating_sub(AROUND)..=number + AROUND;
            self.lines.range(around).next().is_some()
        };
        (*first..=*last).filter(is_near).collect()
    }
}
