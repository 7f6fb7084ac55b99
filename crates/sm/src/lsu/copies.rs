//! Asynchronous copies: each warp's groups, and the warps and arrivals that wait for them.
//!
//! A copy loads like any load, through the L1D or bypassing it, then takes its turn writing shared memory; no
//! register waits. A warp's copies belong to the group that its next commit closes. Groups are tracked per warp:
//! lanes that commit separately close separate groups, so a lane may wait for more than its own copies but never for
//! fewer.
//!
//! | event                            | what follows                                                      |
//! |----------------------------------|-------------------------------------------------------------------|
//! | copy issued                      | it loads; its group is the warp's open one                        |
//! | its last access is complete      | it lines up for shared memory                                     |
//! | its bytes are in shared memory   | waiting warps and arrivals look again                             |
//! | commit                           | a new group is open                                               |
//! | wait for all but n groups        | the warp is in [`Copies::waiting`] while an older one is under way |
//! | arrival                          | it lines up for shared memory when no earlier copy is under way   |

use super::entry::{Entry, Operation, Place, Stage, Table};

/// Copy groups of one warp slot.
#[derive(Clone, Copy, Debug)]
struct Warp {
    /// Groups closed since the SM was built.
    closed: u64,
    /// Number of groups that may still be in flight when the warp proceeds; `None` waits for every copy.
    pending: Option<u32>,
}

/// The copies of all warps of an SM. Bit n of every mask is warp slot n.
#[derive(Clone, Debug)]
pub struct Copies {
    warps: Vec<Warp>,
    waiting: u64,
    /// Warps that wait until a tile is copied.
    held: u64,
    /// Places of arrivals that wait for copies, oldest first.
    arrivals: Vec<Place>,
    /// Copies and arrivals issued so far.
    order: u64,
}

impl Copies {
    /// No copies, for `warps` warp slots, at most 64.
    pub fn new(warps: usize) -> Copies {
        Copies {
            warps: vec![Warp { closed: 0, pending: None }; warps],
            waiting: 0,
            held: 0,
            arrivals: Vec::new(),
            order: 0,
        }
    }

    /// The warp's open group, and the SM's next sequence number for a copy or arrival.
    pub fn next(&mut self, warp: u8) -> (u64, u64) {
        self.order += 1;
        (self.warps[usize::from(warp)].closed, self.order)
    }

    /// Closes the warp's open group and opens the next.
    pub fn commit(&mut self, warp: u8) {
        self.warps[usize::from(warp)].closed += 1;
    }

    /// Makes the warp wait until at most `pending` of its groups are in flight, or with `None` until no copy is.
    pub fn wait(&mut self, warp: u8, pending: Option<u32>, table: &Table) {
        self.warps[usize::from(warp)].pending = pending;
        if self.must_wait(warp, table) {
            self.waiting |= 1 << warp;
        }
    }

    /// Mask of warps that wait for copies.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting | self.held
    }

    /// Makes the warp wait until a tile is copied.
    pub fn hold(&mut self, warp: u8) {
        self.held |= 1 << warp;
    }

    /// The warp's tile is copied.
    pub fn let_go(&mut self, warp: u8) {
        self.held &= !(1 << warp);
    }

    /// Whether an arrival must wait for earlier copies; if so, the arrival is queued.
    pub fn holds_back(&mut self, place: Place, table: &Table) -> bool {
        let waits = waits_for_copies(table.get(place), table);
        if waits {
            self.arrivals.push(place);
        }
        waits
    }

    /// Records that a copy has reached shared memory, which may release its warp.
    pub fn landed(&mut self, warp: u8, table: &Table) {
        if self.waiting >> warp & 1 == 1 && !self.must_wait(warp, table) {
            self.waiting &= !(1 << warp);
        }
    }

    /// Dequeues the warp's next arrival whose earlier copies have all reached shared memory.
    pub fn next_freed(&mut self, warp: u8, table: &Table) -> Option<Place> {
        let freed = self.arrivals.iter().position(|place| {
            let entry = table.get(*place);
            entry.warp == warp && !waits_for_copies(entry, table)
        })?;
        Some(self.arrivals.remove(freed))
    }

    fn must_wait(&self, warp: u8, table: &Table) -> bool {
        let Warp { closed, pending } = self.warps[usize::from(warp)];
        copies_of(table, warp)
            .any(|copy| pending.is_none_or(|pending| copy.group.saturating_add(pending.into()) < closed))
    }
}

/// Whether any copy that the warp issued before this arrival has yet to reach shared memory.
fn waits_for_copies(arrival: &Entry, table: &Table) -> bool {
    copies_of(table, arrival.warp).any(|copy| copy.order < arrival.order)
}

/// The warp's copies that have yet to reach shared memory.
fn copies_of(table: &Table, warp: u8) -> impl Iterator<Item = &Entry> {
    table
        .iter()
        .filter(move |entry| entry.warp == warp && entry.operation == Operation::Copy)
        .filter(|entry| entry.stage != Stage::Done)
}
