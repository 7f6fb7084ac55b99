//! The sets that serve a slice: address separation inside SMs (4.2, third task), by capacity as in front of the slice.

use strata_memory::LineAddress;
use strata_memory::doors::SetPlace;

use super::separator::{Part, Separator};

/// Blocks of a set in each place.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    pub registers: u32,
    pub shared: u32,
    pub l1: u32,
}

/// The rows of a slice by what their sets are kept in.
#[derive(Clone, Debug)]
pub struct Sets {
    /// Divides lines of the extended LLC between sets in registers and all others.
    first: Separator,
    /// Divides those of the others between sets in shared memory and in the L1D.
    second: Separator,
    registers: Vec<u32>,
    shared: Vec<u32>,
    l1: Vec<u32>,
    lines: u64,
}

impl Sets {
    /// Sets of rows, of which `place` says where they are, and of so many blocks there.
    pub fn new(rows: u32, place: impl Fn(u32) -> SetPlace, ways: Ways) -> Sets {
        let at = |wanted| (0..rows).filter(|row| place(*row) == wanted).collect::<Vec<u32>>();
        let [registers, shared, l1] = [SetPlace::Registers, SetPlace::SharedMemory, SetPlace::L1d].map(at);
        let lines = |rows: &[u32], ways: u32| rows.len() as u64 * u64::from(ways);
        let (of_registers, of_shared, of_l1) =
            (lines(&registers, ways.registers), lines(&shared, ways.shared), lines(&l1, ways.l1));
        // Without sets no line is asked for.
        let divide = |first: u64, rest: u64| Separator::new(first.max(u64::from(rest == 0)), rest);
        Sets {
            first: divide(of_registers, of_shared + of_l1),
            second: divide(of_shared, of_l1),
            registers,
            shared,
            l1,
            lines: of_registers + of_shared + of_l1,
        }
    }

    /// Lines of all sets.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The row of the set that holds a line of the extended LLC.
    #[inline]
    pub fn row_of(&self, extended: u64) -> u32 {
        let (rows, line) = match self.first.part(LineAddress(extended)) {
            Part::Conventional(line) => (&self.registers, line.0),
            Part::Extended(line) => match self.second.part(LineAddress(line)) {
                Part::Conventional(line) => (&self.shared, line.0),
                Part::Extended(line) => (&self.l1, line),
            },
        };
        rows[(line % rows.len() as u64) as usize]
    }

    /// Where the set of a row is.
    pub fn place(&self, row: u32) -> SetPlace {
        let is_among = |rows: &[u32]| rows.binary_search(&row).is_ok();
        if is_among(&self.l1) {
            SetPlace::L1d
        } else if is_among(&self.shared) {
            SetPlace::SharedMemory
        } else {
            SetPlace::Registers
        }
    }
}
