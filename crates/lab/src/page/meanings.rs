//! Unit and meaning of counters.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use strata_gpu::catalogue;
use strata_gpu::machine::{self, Machine};

use crate::profile;
use crate::record::COUNTERS_OF_RUN;

/// Unit and meaning of counters, by group and name.
#[derive(Clone, Debug, Default)]
pub struct Meanings(BTreeMap<(String, String), (&'static str, String)>);

/// Those of programs, and of the machines that come along.
static COMMON: LazyLock<Meanings> = LazyLock::new(|| {
    let of_profiles = profile::counters().into_iter();
    let known = of_profiles.map(|of| ((of.group.to_owned(), of.name), (of.unit, of.meaning))).collect();
    let mut known = Meanings(known);
    for builtin in machine::builtin() {
        let machine = Machine::load(builtin.name, &[]).expect("a machine that comes along can be built");
        known.add(&machine);
    }
    for (name, unit, meaning) in COUNTERS_OF_RUN {
        known.0.insert(("run".into(), (*name).to_owned()), (unit, (*meaning).to_owned()));
    }
    known
});

impl Meanings {
    /// Those of each counter that is known. A machine that this simulator cannot build any more adds none.
    pub fn of(machine: Option<&Machine>) -> Meanings {
        let mut known = COMMON.clone();
        if let Some(machine) = machine {
            known.add(machine);
        }
        known
    }

    fn add(&mut self, machine: &Machine) {
        for group in catalogue::statistics(machine).into_iter().flatten() {
            for of in group.definitions {
                let name = (group.name.to_owned(), of.name.to_owned());
                self.0.entry(name).or_insert_with(|| (of.unit, of.meaning.to_owned()));
            }
        }
    }

    /// Unit and meaning of a counter; empty if it is not known.
    pub fn get(&self, group: &str, counter: &str) -> (&str, &str) {
        let found = self.0.get(&(group.to_owned(), counter.to_owned()));
        found.map_or(("", ""), |(unit, meaning)| (*unit, meaning.as_str()))
    }
}
