//! Which part of the kernel's text is for which sets.

use strata_memory::doors::SetPlace;

/// The first line of each part, which has the part's label.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    begins: [(SetPlace, u32); 3],
}

impl Parts {
    /// The parts of a text.
    pub fn of(text: &str) -> Parts {
        let line =
            |label: &str| text.lines().position(|line| line == label).map_or(u32::MAX, |at| at as u32 + 1);
        Parts {
            begins: [
                (SetPlace::Registers, line("R_BEGIN:")),
                (SetPlace::SharedMemory, line("M_BEGIN:")),
                (SetPlace::L1d, line("L_BEGIN:")),
            ],
        }
    }

    /// The sets for which a line is, counted from 1; `None` for what stands before the parts, which is for all.
    pub fn place(&self, line: u32) -> Option<SetPlace> {
        let part = self.begins.iter().rev().find(|(_, begin)| line >= *begin)?;
        Some(part.0)
    }
}
