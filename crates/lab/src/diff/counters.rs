//! The counters of two runs, level by level, and the energies of their structures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use strata_engine::statistics::{Definition, Group};
use strata_gpu::catalogue;
use strata_gpu::machine::Machine;
use strata_gpu::results::merge_groups;

use super::side::{Energy, Side};

/// A counter that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// Its name within its group.
    pub counter: String,
    /// Its value on the left; `None` where that machine does not count it.
    pub left: Option<u64>,
    /// Its value on the right.
    pub right: Option<u64>,
    /// The change over the greatest count of the same unit in the group, of either run: what it means at its level.
    pub weight: f64,
}

impl Changed {
    /// By how much it has become more.
    #[must_use]
    pub fn change(&self) -> i128 {
        i128::from(self.right.unwrap_or(0)) - i128::from(self.left.unwrap_or(0))
    }

    /// The change over the value on the left; `None` if that is 0.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        let left = self.left.filter(|left| *left > 0)?;
        Some(self.change() as f64 / left as f64)
    }
}

/// The counters of a group that differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Name of the group.
    pub group: String,
    /// The counters, that with the greatest weight first.
    pub counters: Vec<Changed>,
}

/// The groups of counters of both machines, as far as these are known.
#[must_use]
pub fn definitions(sides: &[Side; 2]) -> Vec<Group> {
    let mut groups = Vec::new();
    for values in sides.iter().filter_map(|side| side.values.as_ref()) {
        let text = toml::to_string(&**values).expect("a table is TOML");
        let machine = Machine::parse(Path::new("the run's machine"), &text, &[]).ok();
        merge_groups(
            &mut groups,
            machine.and_then(|machine| catalogue::statistics(&machine).ok()).unwrap_or_default(),
        );
    }
    groups
}

/// The groups with counters that differ, that with the greatest weight first. `known` are the definitions of the machines'
/// groups, from which units come; what is not defined there is one unit.
#[must_use]
pub fn levels(left: &Side, right: &Side, known: &[Group]) -> Vec<Level> {
    let groups: BTreeSet<&String> = left.counters.keys().chain(right.counters.keys()).collect();
    let mut levels: Vec<Level> = groups
        .into_iter()
        .map(|group| level(group, left, right, known))
        .filter(|level| !level.counters.is_empty())
        .collect();
    levels.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    levels
}

fn weight(level: &Level) -> f64 {
    level.counters.first().map_or(0.0, |counter| counter.weight)
}

fn level(group: &str, left: &Side, right: &Side, known: &[Group]) -> Level {
    let empty = BTreeMap::new();
    let [one, other] = [left, right].map(|side| side.counters.get(group).unwrap_or(&empty));
    let definitions: &[Definition] =
        known.iter().find(|known| known.name == group).map_or(&[], |known| known.definitions);
    let unit = |counter: &str| {
        definitions
            .iter()
            .find(|definition| definition.name == counter)
            .map_or("", |definition| definition.unit)
    };
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let mut greatest: BTreeMap<&str, u64> = BTreeMap::new();
    for name in &names {
        let counted = one.get(*name).max(other.get(*name)).copied().unwrap_or(0);
        let most = greatest.entry(unit(name)).or_default();
        *most = counted.max(*most);
    }
    let changed = |name: &String| {
        let (left, right) = (one.get(name).copied(), other.get(name).copied());
        let change = left.unwrap_or(0).abs_diff(right.unwrap_or(0));
        let weight = if change == 0 { 0.0 } else { change as f64 / greatest[unit(name)] as f64 };
        Changed { counter: name.clone(), left, right, weight }
    };
    let mut counters: Vec<Changed> =
        names.into_iter().map(changed).filter(|counter| counter.change() != 0).collect();
    counters.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    Level { group: group.to_owned(), counters }
}

/// How the energy of a structure differs, in picojoules.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyChange {
    /// Name of the structure.
    pub structure: String,
    /// Its energy on the left and on the right.
    pub pj: [f64; 2],
    /// What of it is leakage on the left and on the right; the rest is of events.
    pub leakage_pj: [f64; 2],
}

impl EnergyChange {
    /// By how much it has become more.
    #[must_use]
    pub fn change(&self) -> f64 {
        self.pj[1] - self.pj[0]
    }

    /// By how much its leakage has.
    #[must_use]
    pub fn leakage_change(&self) -> f64 {
        self.leakage_pj[1] - self.leakage_pj[0]
    }

    /// By how much that of its events has; nothing if all that is left is what rounding leaves.
    #[must_use]
    pub fn events_change(&self) -> f64 {
        let change = self.change() - self.leakage_change();
        let rounding = 1e-12 * self.pj[0].max(self.pj[1]);
        if change.abs() <= rounding { 0.0 } else { change }
    }
}

/// The structures, that with the greatest change first; `None` unless both machines have energies. The difference of all energy is the
/// sum of their changes.
#[must_use]
pub fn energies(left: &Side, right: &Side) -> Option<Vec<EnergyChange>> {
    if left.energy.is_empty() || right.energy.is_empty() {
        return None;
    }
    let mut names: Vec<&String> = left.energy.iter().map(|energy| &energy.structure).collect();
    let more = right.energy.iter().map(|energy| &energy.structure);
    let more: Vec<&String> = more.filter(|name| !names.contains(name)).collect();
    names.extend(more);
    let of = |side: &Side, name: &String| {
        let found = side.energy.iter().find(|energy| energy.structure == *name);
        found.map_or((0.0, 0.0), |Energy { pj, leakage_pj, .. }| (*pj, *leakage_pj))
    };
    let change = |name: &String| {
        let (one, other) = (of(left, name), of(right, name));
        let (pj, leakage_pj) = ([one.0, other.0], [one.1, other.1]);
        EnergyChange { structure: name.clone(), pj, leakage_pj }
    };
    let mut changes: Vec<EnergyChange> = names.into_iter().map(change).collect();
    changes.sort_by(|one, other| other.change().abs().total_cmp(&one.change().abs()));
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_leaves_is_no_change_of_events() {
        let energy = |pj, leakage_pj| EnergyChange { structure: "l1d".into(), pj, leakage_pj };
        let more_leakage = energy([0.1 + 0.2, 0.1 + 0.7], [0.2, 0.7]);
        assert_ne!(more_leakage.change() - more_leakage.leakage_change(), 0.0, "sums are rounded");
        assert_eq!(more_leakage.events_change(), 0.0);
        assert_eq!(energy([3.0, 3.0 + 1e-9], [1.0, 1.0]).events_change(), 3.0 + 1e-9 - 3.0);
    }
}
