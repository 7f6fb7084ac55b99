//! What waits in a channel's queue, by bank: what a scheduler sees.

use crate::address::LineAddress;
use crate::bits::members;
use crate::line::ByteMask;

/// Stands for no row: the bank is closed.
pub(super) const NO_ROW: u32 = u32::MAX;

/// Most queue entries: the controller works on masks of this width.
pub(super) const MAX_QUEUE: usize = 64;

/// A request that is to be queued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// By which the channel knows it.
    pub ticket: u32,
    pub slice: u8,
    /// The line within the channel.
    pub line: LineAddress,
    pub bytes: ByteMask,
    pub write: bool,
}

/// A queued request as a scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    pub(super) order: u64,
    pub(super) arrived: u64,
    pub(super) row: u32,
    pub(super) ticket: u32,
    pub(super) bursts_left: u8,
    pub(super) bank: u8,
    pub(super) slice: u8,
    pub(super) write: bool,
    pub(super) begun: bool,
}

impl Queued {
    pub(super) const NONE: Queued = Queued {
        order: 0,
        arrived: 0,
        row: 0,
        ticket: 0,
        bursts_left: 0,
        bank: 0,
        slice: 0,
        write: false,
        begun: false,
    };

    /// Its place in the order of arrival: smaller is older, and no two are equal.
    #[inline]
    pub fn order(&self) -> u64 {
        self.order
    }

    /// The first DRAM cycle in which it could be served.
    #[inline]
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// The row that it wants.
    #[inline]
    pub fn row(&self) -> u32 {
        self.row
    }

    /// The bank that it waits for.
    #[inline]
    pub fn bank(&self) -> usize {
        usize::from(self.bank)
    }

    /// The slice that it comes from, among those of the channel.
    #[inline]
    pub fn slice(&self) -> usize {
        usize::from(self.slice)
    }

    /// Whether it writes; otherwise it reads.
    #[inline]
    pub fn is_write(&self) -> bool {
        self.write
    }

    /// Whether some of its bursts have been transferred.
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.begun
    }
}

/// What a row that is open, or is about to be, cost the request that uses it first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing: the row has been used.
    #[default]
    Open,
    Closed,
    OtherRow,
}

/// A bank and the requests that wait for it.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    pub group: usize,
    pub open_row: u32,
    /// Slots of the bank's requests, and of those that want the open row.
    pub waiting: u64,
    pub hits: u64,
    pub oldest: usize,
    /// Younger requests served since the oldest became the oldest.
    pub passed: u32,
    /// What opening the row cost, until a request uses it.
    pub found: Found,
}

impl Bank {
    pub fn new(group: usize) -> Bank {
        Bank { group, open_row: NO_ROW, waiting: 0, hits: 0, oldest: 0, passed: 0, found: Found::Open }
    }

    /// Whether its row is open and no request has used it since.
    #[inline]
    pub fn is_fresh(&self) -> bool {
        self.open_row != NO_ROW && self.found != Found::Open
    }
}

/// A bank with at least one request, as a scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub struct BankView<'a> {
    pub(super) number: usize,
    pub(super) bank: &'a Bank,
    pub(super) slots: &'a [Queued],
}

impl<'a> BankView<'a> {
    /// Its number in the channel.
    #[inline]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The row that is open, if one is.
    #[inline]
    pub fn open_row(&self) -> Option<u32> {
        (self.bank.open_row != NO_ROW).then_some(self.bank.open_row)
    }

    /// Whether some request wants the open row.
    #[inline]
    pub fn has_hit(&self) -> bool {
        self.bank.hits != 0
    }

    /// Whether the oldest request wants the open row.
    #[inline]
    pub fn is_oldest_hit(&self) -> bool {
        self.bank.hits >> self.bank.oldest & 1 != 0
    }

    /// Requests served since the oldest one became the oldest: as many have passed it.
    #[inline]
    pub fn passed(&self) -> u32 {
        self.bank.passed
    }

    /// The oldest request.
    #[inline]
    pub fn oldest(&self) -> &'a Queued {
        &self.slots[self.bank.oldest]
    }

    /// All requests, each with its slot.
    pub fn requests(&self) -> impl Iterator<Item = (Slot, &'a Queued)> + use<'a> {
        let slots = self.slots;
        members(self.bank.waiting).map(move |slot| (Slot(slot), &slots[slot]))
    }

    /// The requests that want the open row, each with its slot.
    pub fn hits(&self) -> impl Iterator<Item = (Slot, &'a Queued)> + use<'a> {
        let slots = self.slots;
        members(self.bank.hits).map(move |slot| (Slot(slot), &slots[slot]))
    }
}

/// Where a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub(super) usize);

/// The oldest of some slots.
#[inline]
pub(super) fn oldest(slots: &[Queued], mask: u64) -> usize {
    let first = mask.trailing_zeros() as usize;
    if mask & (mask - 1) == 0 {
        return first;
    }
    let mut best = (slots[first].order, first);
    for slot in members(mask & (mask - 1)) {
        best = best.min((slots[slot].order, slot));
    }
    best.1
}
