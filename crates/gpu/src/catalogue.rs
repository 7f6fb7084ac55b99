//! The statistics that a machine reports.

use strata_engine::statistics::Group;

use crate::assemble::assemble;
use crate::machine::Machine;
use crate::makers::Makers;
use crate::results::merge_groups;

/// Every group of counters that a machine reports, taken from the idle machine.
///
/// # Errors
/// Why the machine cannot be built.
pub fn statistics(machine: &Machine) -> Result<Vec<Group>, String> {
    let assembly = assemble(machine.file(), &mut Makers::default())?;
    let mut groups = Vec::new();
    for part in assembly.parts {
        merge_groups(&mut groups, part.statistics());
    }
    Ok(groups)
}
