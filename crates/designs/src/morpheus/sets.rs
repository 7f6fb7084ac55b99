//! The sets that serve a slice: address separation inside SMs (4.2, third task), by capacity as in front of the slice.

use strata_memory::LineAddress;

use super::separator::{Part, Separator};

/// The rows of a slice by what their sets are kept in.
#[derive(Clone, Debug)]
pub struct Sets {
    /// Divides lines of the extended LLC between sets in registers and in shared memory.
    separator: Separator,
    in_registers: Vec<u32>,
    in_shared: Vec<u32>,
    lines: u64,
}

impl Sets {
    /// Sets of rows, of which `is_shared` says whether they are in shared memory, and of so many blocks in registers and in
    /// shared memory.
    pub fn new(rows: u32, is_shared: impl Fn(u32) -> bool, (ways, shared_ways): (u32, u32)) -> Sets {
        let (in_shared, in_registers): (Vec<u32>, Vec<u32>) = (0..rows).partition(|row| is_shared(*row));
        let lines = |rows: &[u32], ways: u32| rows.len() as u64 * u64::from(ways);
        let (registers, shared) = (lines(&in_registers, ways), lines(&in_shared, shared_ways));
        // Without sets no line is asked for.
        let separator = Separator::new(registers.max(u64::from(shared == 0)), shared);
        Sets { separator, in_registers, in_shared, lines: registers + shared }
    }

    /// Lines of all sets.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The row of the set that holds a line of the extended LLC.
    #[inline]
    pub fn row_of(&self, extended: u64) -> u32 {
        let (rows, line) = match self.separator.part(LineAddress(extended)) {
            Part::Conventional(line) => (&self.in_registers, line.0),
            Part::Extended(line) => (&self.in_shared, line),
        };
        rows[(line % rows.len() as u64) as usize]
    }

    /// Whether the set of a row is in shared memory.
    pub fn is_shared(&self, row: u32) -> bool {
        self.in_shared.binary_search(&row).is_ok()
    }
}
