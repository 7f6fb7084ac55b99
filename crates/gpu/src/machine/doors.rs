//! The doors of a machine, and the designs that a machine file puts behind them.

use std::sync::Arc;

use strata_designs::baseline::{SramScratchpadConfig, StraightConfig};
use strata_designs::registry::registry;
use strata_engine::config::{ConfigError, Document};
use strata_memory::doors::{
    Design, L1dChoice, LanePathChoice, LlcChoice, Named, NetworkChoice, RegisterFileChoice, ScratchpadChoice,
};
use strata_memory::policy::PolicyKind;
use strata_sm::scheduler::SchedulingPolicy;

use crate::area::DesignArea;

/// A door: an interface of the machine behind which different designs can stand.
#[derive(Clone, Debug)]
pub struct Door {
    /// Name of its section in a machine file.
    pub name: &'static str,
    /// The parts of the machine on either side of the door.
    pub between: &'static str,
    /// Names of the designs that fit the door.
    pub choices: Vec<&'static str>,
}

/// Section of the L1D of CPU cores.
pub(super) const CPU_L1D: &str = "cpu.l1d";

/// All doors, each with the designs that fit it.
pub fn doors() -> Vec<Door> {
    let known = registry();
    vec![
        Door {
            name: "sm.scheduling",
            between: "ready warps and issue",
            choices: <dyn SchedulingPolicy>::family().names(),
        },
        Door {
            name: "sm.register_file",
            between: "operand collectors or write-back and the register banks",
            choices: known.register_files.names().collect(),
        },
        Door {
            name: "lane_path",
            between: "lanes' addresses and the coalescer or shared memory",
            choices: known.lane_paths.names().collect(),
        },
        Door {
            name: "scratchpad",
            between: "the banks of shared memory and global memory",
            choices: known.scratchpads.names().collect(),
        },
        Door {
            name: "l1d",
            between: "coalesced accesses and the network",
            choices: known.l1ds.names().collect(),
        },
        Door {
            name: CPU_L1D,
            between: "a CPU core's accesses and the network",
            choices: known.l1ds.names().collect(),
        },
        Door {
            name: "network",
            between: "SMs, CPU cores and memory partitions",
            choices: known.networks.names().collect(),
        },
        Door {
            name: "llc",
            between: "a partition's requests and its DRAM channel",
            choices: known.llcs.names().collect(),
        },
    ]
}

/// Path suffixes of machine-file lists that are sets of names. A machine may leave out names it has no use
/// for, and the order of the names is irrelevant.
pub fn sets() -> &'static [&'static str] {
    // Exactly one pool of collectors serves a kind of unit, unless the unit is unused.
    &[".serves"]
}

/// The designs behind the doors of a machine.
#[derive(Clone, Debug)]
pub struct Doors {
    /// Register file of each SM.
    pub register_file: RegisterFileChoice,
    /// What stands between the lanes' addresses and the coalescer or shared memory of each SM.
    pub lane_path: LanePathChoice,
    /// What stands behind the banks of shared memory of each SM.
    pub scratchpad: ScratchpadChoice,
    /// L1 data cache of each SM.
    pub l1d: L1dChoice,
    /// L1 data cache of each CPU core, if it has a section of its own.
    cpu_l1d: Option<L1dChoice>,
    /// Network, one instance for each direction.
    pub network: NetworkChoice,
    /// A slice of the last-level cache.
    pub llc: LlcChoice,
}

impl Doors {
    /// Takes the doors' sections out of a machine file.
    pub(super) fn take(document: &mut Document<'_>) -> Result<Doors, ConfigError> {
        // Take all of them even if one is wrong, so that only the other sections are left.
        let [register_file, l1d, network, llc] =
            ["sm.register_file", "l1d", "network", "llc"].map(|door| document.take(door));
        let [lane_path, scratchpad, cpu_l1d] =
            ["lane_path", "scratchpad", CPU_L1D].map(|door| document.take_if_there(door));
        let known = registry();
        Ok(Doors {
            register_file: known.register_files.read(register_file?)?,
            lane_path: match lane_path {
                Some(section) => known.lane_paths.read(section)?,
                None => Named { name: "none", design: Arc::new(StraightConfig {}) },
            },
            scratchpad: match scratchpad {
                Some(section) => known.scratchpads.read(section)?,
                None => Named { name: "sram", design: Arc::new(SramScratchpadConfig {}) },
            },
            l1d: known.l1ds.read(l1d?)?,
            cpu_l1d: cpu_l1d.map(|section| known.l1ds.read(section)).transpose()?,
            network: known.networks.read(network?)?,
            llc: known.llcs.read(llc?)?,
        })
    }

    /// L1 data cache of each CPU core: that of the SMs, unless it has a section of its own.
    pub fn cpu_l1d(&self) -> &L1dChoice {
        self.cpu_l1d.as_ref().unwrap_or(&self.l1d)
    }

    /// Each design with its door and its name.
    fn each(&self) -> Vec<(&'static str, &'static str, &dyn Design)> {
        let mut each: Vec<(_, _, &dyn Design)> = vec![
            ("l1d", self.l1d.name, &*self.l1d.design),
            ("sm.register_file", self.register_file.name, &*self.register_file.design),
            ("lane_path", self.lane_path.name, &*self.lane_path.design),
            ("scratchpad", self.scratchpad.name, &*self.scratchpad.design),
            ("network", self.network.name, &*self.network.design),
            ("llc", self.llc.name, &*self.llc.design),
        ];
        each.extend(self.cpu_l1d.iter().map(|l1d| (CPU_L1D, l1d.name, &*l1d.design as &dyn Design)));
        each
    }

    /// Checks every design. The error names section and field.
    pub(super) fn check(&self) -> Result<(), String> {
        self.each().into_iter().try_for_each(|(door, name, design)| {
            design.check().map_err(|error| format!("{door}.{name}: {error}"))
        })
    }

    /// The area of one instance of each design that says it.
    pub fn area(&self) -> Vec<DesignArea> {
        let each = self.each().into_iter();
        let areas =
            each.map(|(door, name, design)| DesignArea { door, design: name, components: design.area() });
        areas.filter(|area| !area.components.is_empty()).collect()
    }
}
