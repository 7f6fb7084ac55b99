//! What is remembered of each piece of memory: by line, when it is first touched, in cells as small as the accesses.

use super::clock::Time;
use super::knowledge::Note;
use crate::lanes::LaneMask;

/// Bytes that are looked up together. No access crosses them: each is aligned to its size, 16 bytes at most.
const LINE_BYTES: u64 = 128;
/// The largest cells are as large as the largest element.
const MAX_SHIFT: u32 = 3;

/// Accesses of lanes of one warp, at one time and place. Nothing if there are no lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// The warp's number in the launch.
    pub warp: u32,
    pub lanes: LaneMask,
    pub time: Time,
    /// The place's number; [`LATER`] marks a write that is made when it is waited for.
    pub site: u32,
}

/// Marks a place in [`Entry::site`].
pub(super) const LATER: u32 = 1 << 31;

/// A piece of memory. An access that happens before another that conflicts with as much is forgotten for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Since when it counts; if not since the shadow's, it is as new.
    since: Time,
    /// The last weak write.
    pub write: Entry,
    /// The latest weak read since.
    pub read: Entry,
    /// 1 + the place of what else there is.
    more: u32,
}

/// What few cells have.
#[derive(Clone, Debug, Default)]
pub(super) struct More {
    /// Weak reads since the last weak write, but for the latest.
    pub reads: Vec<Entry>,
    /// Strong accesses since the last weak write.
    pub strong: Vec<Entry>,
    /// The size of the strong accesses' elements, if all have the same and scopes that hold whoever comes here; else 0.
    pub element: u8,
    /// What the last strong write left for readers.
    pub note: Note,
}

impl More {
    fn clear(&mut self) {
        self.reads.clear();
        self.strong.clear();
        self.note = Note::default();
    }
}

/// The rarer parts of cells.
#[derive(Debug, Default)]
pub(super) struct Mores(Vec<More>);

impl Mores {
    pub fn get(&mut self, cell: &Cell) -> Option<&mut More> {
        self.0.get_mut((cell.more as usize).checked_sub(1)?)
    }

    pub fn make(&mut self, cell: &mut Cell) -> &mut More {
        if cell.more == 0 {
            self.0.push(More::default());
            cell.more = self.0.len() as u32;
        }
        &mut self.0[cell.more as usize - 1]
    }

    /// Forgets all accesses to a cell.
    pub fn clear(&mut self, cell: &mut Cell) {
        (cell.write, cell.read) = (Entry::default(), Entry::default());
        if let Some(more) = self.get(cell) {
            more.clear();
        }
    }
}

#[derive(Debug)]
struct Line {
    /// Cells are 1 << shift bytes.
    shift: u32,
    cells: Vec<Cell>,
}

/// The cells of a memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// By line number. Device addresses begin low, so the table is about as long as the program's buffers.
    lines: Vec<Option<Line>>,
    mores: Mores,
    /// What happened before this time happened before everything.
    pub since: Time,
}

impl Shadow {
    /// The cells of an access, in order, and the bytes of one.
    pub fn cells(&mut self, address: u64, bytes: usize, element: u8) -> (&mut [Cell], usize, &mut Mores) {
        let number = usize::try_from(address / LINE_BYTES).expect("device memory fits the host");
        if number >= self.lines.len() {
            self.lines.resize_with((number + 1).next_power_of_two(), || None);
        }
        let wanted = u32::from(element.max(1)).trailing_zeros().min(MAX_SHIFT);
        let mores = &mut self.mores;
        let line = self.lines[number].get_or_insert_with(|| {
            let cells = vec![Cell::default(); LINE_BYTES as usize >> wanted];
            Line { shift: wanted, cells }
        });
        if line.shift > wanted {
            split(line, wanted, mores);
        }
        let first = (address % LINE_BYTES) as usize >> line.shift;
        let cells = &mut line.cells[first..][..(bytes >> line.shift).max(1)];
        for cell in &mut *cells {
            if cell.since != self.since {
                mores.clear(cell);
                cell.since = self.since;
            }
        }
        (cells, 1 << line.shift, mores)
    }

    /// The last weak write to the other byte of a byte's half-word.
    pub fn neighbour(&self, address: u64) -> Option<Entry> {
        let line = self.lines.get((address / LINE_BYTES) as usize)?.as_ref()?;
        let cell = &line.cells[((address ^ 1) % LINE_BYTES) as usize >> line.shift];
        (line.shift == 0 && cell.since == self.since).then_some(cell.write)
    }
}

/// Makes smaller cells of a line's.
#[cold]
fn split(line: &mut Line, shift: u32, mores: &mut Mores) {
    let copies = 1 << (line.shift - shift);
    let mut cells = Vec::with_capacity(line.cells.len() * copies);
    for cell in &line.cells {
        cells.push(cell.clone());
        for _ in 1..copies {
            let mut copy = Cell { more: 0, ..cell.clone() };
            // Knowledge is read where it was left: at an access's first byte.
            if let Some(more) = mores.get(cell).map(|more| More { note: Note::default(), ..more.clone() }) {
                *mores.make(&mut copy) = more;
            }
            cells.push(copy);
        }
    }
    *line = Line { shift, cells };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(shadow: &mut Shadow, address: u64, bytes: usize, element: u8, site: u32) {
        let (cells, ..) = shadow.cells(address, bytes, element);
        cells.iter_mut().for_each(|cell| cell.write = Entry { warp: 0, lanes: 1, time: 1, site });
    }

    fn sites(shadow: &mut Shadow, address: u64, bytes: usize, element: u8) -> Vec<u32> {
        shadow.cells(address, bytes, element).0.iter().map(|cell| cell.write.site).collect()
    }

    #[test]
    fn cells_become_as_small_as_the_accesses() {
        let mut shadow = Shadow::default();
        write(&mut shadow, 256, 16, 8, 1);
        assert_eq!(sites(&mut shadow, 256, 16, 8), [1, 1]);
        write(&mut shadow, 260, 4, 4, 2);
        assert_eq!(sites(&mut shadow, 256, 16, 4), [1, 2, 1, 1]);
        write(&mut shadow, 263, 1, 1, 3);
        assert_eq!(sites(&mut shadow, 260, 4, 4), [2, 2, 2, 3]);
        assert_eq!(sites(&mut shadow, 384, 4, 4), [0]);
    }

    #[test]
    fn what_was_before_the_start_is_forgotten() {
        let mut shadow = Shadow::default();
        write(&mut shadow, 0, 4, 4, 1);
        let (cells, _, mores) = shadow.cells(0, 4, 4);
        mores.make(&mut cells[0]).reads.push(Entry::default());
        shadow.since = 2;
        assert_eq!(sites(&mut shadow, 0, 4, 4), [0]);
        let (cells, _, mores) = shadow.cells(0, 4, 4);
        assert!(mores.get(&cells[0]).unwrap().reads.is_empty());
    }
}
