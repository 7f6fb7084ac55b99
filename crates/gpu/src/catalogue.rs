//! What there is to choose from and to count.

use strata_engine::statistics::Group;

use crate::assemble::assemble;
use crate::machine::Machine;
use crate::results::merge_groups;

/// A door of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Door {
    /// Its section in a machine file.
    pub name: &'static str,
    /// What it stands between.
    pub between: &'static str,
    /// The designs that can stand behind it.
    pub choices: &'static [&'static str],
}

/// The doors and what can stand behind each.
pub fn doors() -> &'static [Door] {
    &[
        Door {
            name: "sm.scheduling",
            between: "ready warps and issue",
            choices: &["loose-round-robin", "greedy-then-oldest", "two-level"],
        },
        Door {
            name: "sm.register_file",
            between: "operand collectors or write-back and the register banks",
            choices: &["sram"],
        },
        Door { name: "l1d", between: "coalesced accesses and the network", choices: &["sram", "fuse"] },
        Door {
            name: "network.topology",
            between: "SMs and memory partitions",
            choices: &["crossbar", "butterfly"],
        },
        Door {
            name: "llc",
            between: "a partition's requests and its DRAM channel",
            choices: &["conventional"],
        },
    ]
}

/// Lists of a machine file, by the end of their path, that are sets of names: a name may be left out by a machine that has no
/// use for it, and their order has no meaning.
pub fn sets() -> &'static [&'static str] {
    // A kind of unit is served by exactly one pool of collectors, or unused.
    &[".serves"]
}

/// Every group of counters of a machine, as it reports them when idle.
///
/// # Errors
/// Why the machine cannot be built.
pub fn statistics(machine: &Machine) -> Result<Vec<Group>, String> {
    let assembly = assemble(machine.file(), &mut |_, l1d| l1d)?;
    let mut groups = Vec::new();
    for part in assembly.parts {
        merge_groups(&mut groups, part.statistics());
    }
    Ok(groups)
}
