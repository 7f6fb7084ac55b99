//! Asynchronous copies: the groups of each warp, and who waits for them.
//!
//! A copy loads like any load, through the L1D or past it, and then writes shared memory in its turn; no register waits. A
//! warp's copies belong to the group that its next commit closes. Groups are kept by warp: lanes that commit apart from each
//! other close groups apart, so that a lane may wait for more than its own copies, never for fewer.
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

/// What a warp waits for.
#[derive(Clone, Copy, Debug)]
struct Warp {
    /// Groups closed so far, in the warp slot's whole life.
    closed: u64,
    /// Groups that may be under way when the warp goes on; without it nothing may.
    pending: Option<u32>,
}

/// The copies of all warps of an SM; bit n of a mask is warp slot n.
#[derive(Clone, Debug)]
pub struct Copies {
    warps: Vec<Warp>,
    waiting: u64,
    /// Places of arrivals that wait for copies, first come first.
    arrivals: Vec<Place>,
    /// Copies and arrivals so far.
    order: u64,
}

impl Copies {
    /// For so many warp slots, at most 64.
    pub fn new(warps: usize) -> Copies {
        Copies {
            warps: vec![Warp { closed: 0, pending: None }; warps],
            waiting: 0,
            arrivals: Vec::new(),
            order: 0,
        }
    }

    /// The open group of a warp, and the number of the next copy or arrival of the SM.
    pub fn next(&mut self, warp: u8) -> (u64, u64) {
        self.order += 1;
        (self.warps[usize::from(warp)].closed, self.order)
    }

    /// Closes the warp's group.
    pub fn commit(&mut self, warp: u8) {
        self.warps[usize::from(warp)].closed += 1;
    }

    /// The warp waits until at most `pending` of its groups are under way, or no copy at all.
    pub fn wait(&mut self, warp: u8, pending: Option<u32>, table: &Table) {
        self.warps[usize::from(warp)].pending = pending;
        if self.must_wait(warp, table) {
            self.waiting |= 1 << warp;
        }
    }

    /// Warps that wait for copies.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Whether an arrival has to wait; if so it is remembered.
    pub fn holds_back(&mut self, place: Place, table: &Table) -> bool {
        let waits = waits_for_copies(table.get(place), table);
        if waits {
            self.arrivals.push(place);
        }
        waits
    }

    /// A copy of the warp is in shared memory: the warp may go on.
    pub fn landed(&mut self, warp: u8, table: &Table) {
        if self.waiting >> warp & 1 == 1 && !self.must_wait(warp, table) {
            self.waiting &= !(1 << warp);
        }
    }

    /// The next arrival of the warp that waited for copies and need not wait any more.
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

/// Whether copies that its warp issued before an arrival are not in shared memory yet.
fn waits_for_copies(arrival: &Entry, table: &Table) -> bool {
    copies_of(table, arrival.warp).any(|copy| copy.order < arrival.order)
}

/// Copies of a warp that are not in shared memory yet.
fn copies_of(table: &Table, warp: u8) -> impl Iterator<Item = &Entry> {
    table
        .iter()
        .filter(move |entry| entry.warp == warp && entry.operation == Operation::Copy)
        .filter(|entry| entry.stage != Stage::Done)
}
