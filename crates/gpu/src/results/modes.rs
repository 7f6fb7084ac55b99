//! Counters of SMs in cache mode and of CPU cores: in groups of their own, beside those of SMs that run programs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use strata_cpu::CpuStatistics;
use strata_engine::statistics::{Group, Statistics};

/// What the names of their groups begin with.
const CACHE_MODE: &str = "cache_mode.";

/// What the names of a CPU core's groups begin with, but for the core's own.
const CPU: &str = "cpu.";

/// Names of groups by what they begin with and their own name, each made once.
static NAMES: Mutex<BTreeMap<(&'static str, &'static str), &'static str>> = Mutex::new(BTreeMap::new());

/// The name that a group has in results.
fn renamed(prefix: &'static str, name: &'static str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    names.entry((prefix, name)).or_insert_with(|| Box::leak(format!("{prefix}{name}").into_boxed_str()))
}

/// The groups of a CPU core: its own, and `cpu.l1d` and so on for its parts.
pub fn of_cpu(groups: Vec<Group>) -> Vec<Group> {
    let own = CpuStatistics::GROUP;
    let name = |group: &Group| if group.name == own { own } else { renamed(CPU, group.name) };
    groups.into_iter().map(|group| Group { name: name(&group), ..group }).collect()
}

/// Whether a group is of the parts of CPU cores, whose energy is not known.
pub fn is_of_cpu(group: &Group) -> bool {
    group.name.starts_with(CPU)
}

/// The groups of an SM in cache mode. Its kernel never ends, so what holds at the end of a kernel does not.
pub fn in_cache_mode(groups: Vec<Group>) -> Vec<Group> {
    let in_cache_mode = |group: Group| Group {
        name: renamed(CACHE_MODE, group.name),
        laws: Vec::new(),
        broken: None,
        ..group
    };
    groups.into_iter().map(in_cache_mode).collect()
}

/// The group of SMs in cache mode that counts the same events as one of other SMs; `None` if there are no such SMs.
pub fn twin<'a>(groups: &'a [Group], name: &str) -> Option<&'a Group> {
    groups.iter().find(|group| base(group) == Some(name))
}

/// The name without its mode; `None` for a group of other parts.
fn base(group: &Group) -> Option<&'static str> {
    group.name.strip_prefix(CACHE_MODE)
}

/// Whether a name is of a group of SMs in cache mode.
pub fn is_name_in_cache_mode(name: &str) -> bool {
    name.starts_with(CACHE_MODE)
}

/// Whether a group is of SMs in cache mode.
pub fn is_in_cache_mode(group: &Group) -> bool {
    base(group).is_some()
}
