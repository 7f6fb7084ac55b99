//! What a machine has beside its parts when its counters are broken down.

use strata_sm::Key;

use crate::machine::Machine;
use crate::makers::Makers;
use crate::queues::Queues;
use crate::results::By;

/// What counters are broken down by, each once.
pub fn each_once(asked: &[By]) -> Vec<By> {
    By::ALL.into_iter().filter(|by| asked.contains(by)).collect()
}

impl<'a> Makers<'a> {
    /// These makers, of a machine whose counters are broken down, and the queues to watch, if they are asked for.
    ///
    /// # Errors
    /// What is wrong with the machine.
    pub fn breaking_down(self, machine: &Machine, by: &[By]) -> Result<(Makers<'a>, Option<Queues>), String> {
        let keys = [Key::Instruction, Key::Cta, Key::Buffer, Key::Whole];
        let accounts = keys.into_iter().filter(|key| by.iter().any(|by| by.key() == Some(*key))).collect();
        let makers = Makers { accounts, ..self };
        if !by.contains(&By::Queue) {
            return Ok((makers, None));
        }
        let (queues, makers) = Queues::new(machine, makers)?;
        Ok((makers, Some(queues)))
    }
}
