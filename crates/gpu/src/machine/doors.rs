//! The doors of a machine, and the designs that a machine file puts behind them.

use std::collections::BTreeMap;

use strata_designs::registry::registry;
use strata_engine::config::{ConfigError, Document};
use strata_memory::area::Component;
use strata_memory::doors::{Design, L1dChoice, LlcChoice, NetworkChoice, RegisterFileChoice};

/// A door of the machine.
#[derive(Clone, Debug)]
pub struct Door {
    /// Its section in a machine file.
    pub name: &'static str,
    /// What it stands between.
    pub between: &'static str,
    /// The designs that can stand behind it.
    pub choices: Vec<&'static str>,
}

/// The doors and what can stand behind each.
pub fn doors() -> Vec<Door> {
    let known = registry();
    vec![
        Door {
            name: "sm.scheduling",
            between: "ready warps and issue",
            choices: vec!["loose-round-robin", "greedy-then-oldest", "two-level"],
        },
        Door {
            name: "sm.register_file",
            between: "operand collectors or write-back and the register banks",
            choices: known.register_files.names().collect(),
        },
        Door {
            name: "l1d",
            between: "coalesced accesses and the network",
            choices: known.l1ds.names().collect(),
        },
        Door {
            name: "network",
            between: "SMs and memory partitions",
            choices: known.networks.names().collect(),
        },
        Door {
            name: "llc",
            between: "a partition's requests and its DRAM channel",
            choices: known.llcs.names().collect(),
        },
    ]
}

/// Lists of a machine file, by the end of their path, that are sets of names: a name may be left out by a machine that has no
/// use for it, and their order has no meaning.
pub fn sets() -> &'static [&'static str] {
    // A kind of unit is served by exactly one pool of collectors, or unused.
    &[".serves"]
}

/// What stands behind the doors of a machine.
#[derive(Clone, Debug)]
pub struct Doors {
    /// An SM's register file.
    pub register_file: RegisterFileChoice,
    /// An SM's L1 data cache.
    pub l1d: L1dChoice,
    /// The network, each direction.
    pub network: NetworkChoice,
    /// A slice of the last-level cache.
    pub llc: LlcChoice,
}

impl Doors {
    /// Takes the doors' sections out of a machine file.
    pub(super) fn take(document: &mut Document<'_>) -> Result<Doors, ConfigError> {
        // All are taken, whichever is wrong: what is left are the other sections.
        let [register_file, l1d, network, llc] =
            ["sm.register_file", "l1d", "network", "llc"].map(|door| document.take(door));
        let known = registry();
        Ok(Doors {
            register_file: known.register_files.read(register_file?)?,
            l1d: known.l1ds.read(l1d?)?,
            network: known.networks.read(network?)?,
            llc: known.llcs.read(llc?)?,
        })
    }

    /// The designs with their sections, `door.name`.
    fn each(&self) -> [(String, &dyn Design); 4] {
        [
            (format!("sm.register_file.{}", self.register_file.name), &*self.register_file.design),
            (format!("l1d.{}", self.l1d.name), &*self.l1d.design),
            (format!("network.{}", self.network.name), &*self.network.design),
            (format!("llc.{}", self.llc.name), &*self.llc.design),
        ]
    }

    /// Checks every design. The error names section and field.
    pub(super) fn check(&self) -> Result<(), String> {
        self.each()
            .into_iter()
            .try_for_each(|(section, design)| design.check().map_err(|error| format!("{section}: {error}")))
    }

    /// The area of one instance of each design whose rules are known, by section.
    pub fn area(&self) -> BTreeMap<String, Vec<Component>> {
        let each = self.each().into_iter().map(|(section, design)| (section, design.area()));
        each.filter(|(_, rows)| !rows.is_empty()).collect()
    }
}
