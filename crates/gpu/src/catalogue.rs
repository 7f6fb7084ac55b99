//! What a machine counts.

use strata_engine::statistics::Group;

use crate::assemble::assemble;
use crate::machine::Machine;
use crate::makers::Makers;
use crate::results::merge_groups;

/// Every group of counters of a machine, as it reports them when idle.
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
