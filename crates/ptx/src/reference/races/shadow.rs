//! What is remembered of each piece of memory: by line, when it is first touched, in cells as small as the accesses.

use std::collections::HashMap;

use super::clock::{Thread, Time};
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

/// A strong access. Strong writes to a cell are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strong {
    pub entry: Entry,
    /// The first write that it saw, with all that follow it until `upto`; [`Strong::SAW_NOTHING`] if none.
    pub from: u32,
    /// The last write, its own included.
    pub upto: u32,
}

impl Strong {
    pub const SAW_NOTHING: u32 = u32::MAX;

    /// Whether it saw any write.
    pub fn saw_something(&self) -> bool {
        self.from <= self.upto
    }
}

/// The last strong write to a cell, with the read-modify-writes that led to it: who sees the last sees all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chain {
    /// The number of the first write; 0 if there is none.
    pub first: u32,
    /// Whether the last write went on with what was before it.
    pub goes_on: bool,
    /// The last write's element size, whether its scope holds every thread, and its CTA.
    element: u8,
    wide: bool,
    cta: u32,
}

impl Chain {
    /// Whether a strong access of a CTA's thread sees it, `wide` if its scope holds every thread.
    pub fn is_seen(&self, cta: u32, element: u8, wide: bool) -> bool {
        self.first != 0 && self.element == element && (self.wide && wide || self.cta == cta)
    }

    /// A strong write with a number; a read-modify-write goes on with what it sees.
    pub fn write(&mut self, number: u32, cta: u32, element: u8, wide: bool, reads: bool) {
        let goes_on = reads && self.is_seen(cta, element, wide);
        let first = if goes_on { self.first } else { number };
        *self = Chain { first, goes_on, element, wide, cta };
    }
}

/// What few cells have.
#[derive(Debug, Default)]
pub(super) struct More {
    /// Weak reads since the last weak write, but for the latest.
    pub reads: Vec<Entry>,
    /// Strong accesses since the last weak write.
    pub strong: Vec<Strong>,
    /// The number of the last strong write.
    pub writes: u32,
    /// Those that a strong read sees.
    pub chain: Chain,
    /// The size of the strong accesses' elements, if all have the same and scopes that hold whoever comes here; else 0.
    pub element: u8,
    /// What the last strong write left for readers.
    pub note: Note,
    /// What releasing writes left here, by thread: the thread's later strong writes leave it, too.
    pub released: HashMap<Thread, Note>,
    /// What relaxed reads saw here, by thread: the thread's later acquiring reads take it, too.
    pub seen: HashMap<Thread, Note>,
}

impl More {
    fn clear(&mut self) {
        self.reads.clear();
        self.strong.clear();
        self.chain = Chain::default();
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

    /// Forgets everything of a cell.
    fn reset(&mut self, cell: &mut Cell) {
        self.clear(cell);
        if let Some(more) = self.get(cell) {
            more.released.clear();
            more.seen.clear();
        }
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
                mores.reset(cell);
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
            let shared = |more: &mut More| More {
                reads: more.reads.clone(),
                strong: more.strong.clone(),
                writes: more.writes,
                chain: more.chain,
                element: more.element,
                ..More::default()
            };
            if let Some(more) = mores.get(cell).map(shared) {
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
