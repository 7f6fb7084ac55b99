//! Blocks on their way: what each fetch brings, to which lines, and for which loads.

use strata_engine::Slab;
use strata_memory::doors::LaneSpace;
use strata_memory::{ByteMask, LineAddress};

use super::lines::{FillId, Frame};

/// A lane's part of a load that waits for a block.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    /// The load, by its place among the requests in flight.
    pub request: u32,
    /// The lane.
    pub lane: u8,
    /// Where the lane's bytes begin in their line of memory.
    pub at: u8,
    /// Those of the lane's half-words that were not valid when the load looked, from the lane's first on.
    pub missing: u16,
}

/// A fetch from one line of memory.
#[derive(Clone, Debug)]
pub struct Fill {
    /// The space of the line.
    pub space: LaneSpace,
    /// The line.
    pub line: LineAddress,
    /// The bytes that it brings.
    pub bytes: ByteMask,
    /// The lines that wait for it.
    pub frames: Vec<Frame>,
    /// The loads that wait for it.
    pub waiters: Vec<Waiter>,
}

/// The fetches under way. Loads of other lanes may join a fetch until a byte of its line is written past it.
pub struct Fills {
    fills: Slab<Fill>,
    /// Those that can be joined.
    pub(super) open: Vec<FillId>,
    /// Fills that are not in use, with the room of their lists.
    spare: Vec<Fill>,
    capacity: usize,
}

impl Fills {
    /// No fetches, of at most `capacity` under way.
    pub fn new(capacity: usize) -> Fills {
        Fills { fills: Slab::new(capacity), open: Vec::new(), spare: Vec::new(), capacity }
    }

    /// Number of fetches that can begin.
    pub fn free(&self) -> usize {
        self.capacity - self.fills.len()
    }

    /// Number of fetches under way.
    pub fn len(&self) -> usize {
        self.fills.len()
    }

    /// A fetch that can be joined and brings these bytes.
    pub fn bringing(&self, space: LaneSpace, line: LineAddress, bytes: ByteMask) -> Option<FillId> {
        self.open.iter().copied().find(|id| {
            let fill = self.fills.get(*id);
            (fill.space, fill.line) == (space, line) && fill.bytes.covers(bytes)
        })
    }

    /// Begins a fetch of no bytes yet. There must be room for it.
    pub fn begin(&mut self, space: LaneSpace, line: LineAddress) -> FillId {
        let bytes = ByteMask::NONE;
        let fill = match self.spare.pop() {
            Some(fill) => Fill { space, line, bytes, ..fill },
            None => Fill { space, line, bytes, frames: Vec::new(), waiters: Vec::new() },
        };
        let id = self.fills.insert(fill).expect("a fetch begins while there is room for it");
        self.open.push(id);
        id
    }

    /// A fetch under way.
    pub fn get_mut(&mut self, id: FillId) -> &mut Fill {
        self.fills.get_mut(id)
    }

    /// Lets nobody join the fetches of a line any more: it is about to be written.
    pub fn close(&mut self, space: LaneSpace, line: LineAddress) {
        let fills = &self.fills;
        self.open.retain(|id| {
            let fill = fills.get(*id);
            (fill.space, fill.line) != (space, line)
        });
    }

    /// Lets nobody join any fetch any more.
    pub fn close_all(&mut self) {
        self.open.clear();
    }

    /// Ends a fetch whose bytes have arrived. Give its lists back with [`Fills::put`].
    pub fn end(&mut self, id: FillId) -> Fill {
        self.open.retain(|open| *open != id);
        self.fills.remove(id)
    }

    /// Takes back what [`Fills::end`] returned.
    pub fn put(&mut self, mut fill: Fill) {
        fill.frames.clear();
        fill.waiters.clear();
        self.spare.push(fill);
    }
}
