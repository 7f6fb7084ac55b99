//! FR-FCFS scheduling (first ready, first come, first served): row hits first, then the oldest request.

use strata_engine::Cycle;

use super::parameters::{DramParameters, MAX_BANKS};
use super::pattern::{AddressPattern, Place};
use super::statistics::DramStatistics;
use super::timing::{COMMANDS, Command, Timing, constraints};
use crate::address::{LINE_BYTES, LineAddress};
use crate::bits::members;
use crate::doors::DramRequest;
use crate::line::ByteMask;

const NO_ROW: u32 = u32::MAX;

/// A queued request, with what the channel adds to it.
#[derive(Debug)]
pub(super) struct Entry {
    pub request: DramRequest,
    pub slice: usize,
    /// The line within the channel.
    pub line: LineAddress,
    pub accepted: Cycle,
}

/// What the scheduler can do in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Issue this command to this bank.
    Issue(Command, usize),
    /// Do nothing before that DRAM cycle.
    Wait(u64),
}

/// A command that was issued.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Issued {
    pub at: u64,
    pub command: Command,
    pub bank: usize,
    pub row: u32,
}

/// What a request found when its turn came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Open,
    Closed,
    OtherRow,
}

/// A queued request as the scheduler sees it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Grows with age: smaller is older.
    order: u64,
    arrived: u64,
    row: u32,
    bursts_left: u32,
    bank: u8,
    write: bool,
    begun: bool,
    found: Found,
}

#[derive(Clone, Debug)]
struct Bank {
    group: usize,
    open_row: u32,
    /// Slots of the bank's requests, and of those that want the open row.
    waiting: u64,
    hits: u64,
    oldest: usize,
    /// Younger requests served since the oldest became the oldest.
    passed: u32,
}

/// What a bank wants next.
#[derive(Clone, Copy, Debug)]
struct Wish {
    command: Command,
    slot: u8,
    group: u8,
    order: u64,
}

/// A bank by the order of the request that it wants to serve.
#[derive(Clone, Copy, Debug)]
struct Oldest {
    order: u64,
    bank: usize,
}

/// The queue and the banks of a channel.
#[derive(Debug)]
pub(super) struct Scheduler {
    timing: Timing,
    banks: Vec<Bank>,
    wishes: [Wish; MAX_BANKS],
    /// For each command, a mask of the banks that want it next.
    wishing: [u32; COMMANDS],
    /// For each command, a cycle before which the rules of banks and groups allow it to no bank that wants
    /// it.
    ready_from: [u64; COMMANDS],
    slots: Vec<Slot>,
    entries: Vec<Option<Entry>>,
    free: u64,
    next_order: u64,
    starvation_bound: u32,
    pattern: AddressPattern,
    atom_bytes: usize,
    atom_firsts: u128,
    burst_cycles: u64,
    refresh_interval: u64,
    next_refresh: u64,
    #[cfg(test)]
    pub trace: Vec<Issued>,
}

impl Scheduler {
    pub fn new(parameters: &DramParameters, pattern: AddressPattern) -> Scheduler {
        let (banks, groups) = (*parameters.banks, *parameters.bank_groups);
        let bank = |number: usize| Bank {
            // As the peers do by default: the higher bank bits name the group.
            group: number / (banks / groups),
            open_row: NO_ROW,
            waiting: 0,
            hits: 0,
            oldest: 0,
            passed: 0,
        };
        let slot = Slot {
            order: 0,
            arrived: 0,
            row: 0,
            bursts_left: 0,
            bank: 0,
            write: false,
            begun: false,
            found: Found::Open,
        };
        let entries = *parameters.queue_entries;
        let refresh_interval = parameters.refresh.as_ref().map_or(u64::MAX, |refresh| *refresh.refi);
        Scheduler {
            timing: Timing::new(&constraints(parameters)),
            banks: (0..banks).map(bank).collect(),
            wishes: [Wish { command: Command::Act, slot: 0, group: 0, order: 0 }; MAX_BANKS],
            wishing: [0; COMMANDS],
            ready_from: [u64::MAX; COMMANDS],
            slots: vec![slot; entries],
            entries: (0..entries).map(|_| None).collect(),
            free: u64::MAX >> (64 - entries),
            next_order: 0,
            starvation_bound: *parameters.starvation_bound,
            pattern,
            atom_bytes: *parameters.atom_bytes,
            atom_firsts: firsts_of_atoms(*parameters.atom_bytes),
            burst_cycles: *parameters.burst_cycles,
            refresh_interval,
            next_refresh: refresh_interval,
            #[cfg(test)]
            trace: Vec::new(),
        }
    }

    /// Number of queued requests.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.count_ones() as usize
    }

    /// Queues a request that the scheduler sees from DRAM cycle `arrived` on. The caller has checked for
    /// room.
    pub fn insert(&mut self, entry: Entry, arrived: u64) {
        let place = self.pattern.place(entry.line.base().0);
        let number = self.free.trailing_zeros() as usize;
        self.free &= self.free - 1;
        let bursts = bursts(entry.request.bytes, self.atom_bytes, self.atom_firsts);
        assert!(bursts > 0, "a request to DRAM moves bytes");
        let Place { bank, row, .. } = place;
        self.slots[number] = Slot {
            order: self.next_order,
            arrived,
            row,
            bursts_left: bursts,
            bank,
            write: entry.request.write,
            begun: false,
            found: Found::Open,
        };
        self.next_order += 1;
        self.entries[number] = Some(entry);
        let bank = &mut self.banks[usize::from(bank)];
        if bank.waiting == 0 {
            bank.oldest = number;
            bank.passed = 0;
        }
        let first = bank.waiting == 0 || (bank.hits == 0 && bank.open_row == row);
        bank.waiting |= 1 << number;
        if bank.open_row == row {
            bank.hits |= 1 << number;
        }
        // Otherwise the bank wishes for an older request already.
        if first {
            self.wish(usize::from(place.bank));
        }
    }

    /// The command to issue at DRAM cycle `at`, or the cycle until which there is none.
    #[inline]
    pub fn choose(&mut self, at: u64) -> Choice {
        if at >= self.next_refresh {
            return self.choose_for_refresh(at);
        }
        // Column commands first: rows are opened and closed in the shadow of bursts.
        for [one, other] in [[Command::Rd, Command::Wr], [Command::Act, Command::Pre]] {
            let (of_one, of_other) = (self.oldest_ready(one, at), self.oldest_ready(other, at));
            let (command, oldest) =
                if of_other.order < of_one.order { (other, of_other) } else { (one, of_one) };
            if oldest.order != u64::MAX {
                return Choice::Issue(command, oldest.bank);
            }
        }
        Choice::Wait(self.not_before())
    }

    /// Finds the bank with the oldest request among those that want a command and may receive it; returns an order of
    /// `u64::MAX` if there is none.
    #[inline]
    fn oldest_ready(&mut self, command: Command, at: u64) -> Oldest {
        let mut best = Oldest { order: u64::MAX, bank: 0 };
        let ready_from = &mut self.ready_from[command as usize];
        if *ready_from > at || self.timing.earliest_of_channel(command) > at {
            return best;
        }
        let mut first = u64::MAX;
        for bank in members(u64::from(self.wishing[command as usize])) {
            let wish = &self.wishes[bank];
            let ready = self.timing.earliest_of_bank(command, bank, usize::from(wish.group));
            first = first.min(ready);
            if ready <= at && wish.order < best.order {
                best = Oldest { order: wish.order, bank };
            }
        }
        *ready_from = first;
        best
    }

    /// A cycle before which nothing can be issued.
    #[inline]
    pub fn not_before(&self) -> u64 {
        [Command::Rd, Command::Wr, Command::Act, Command::Pre]
            .into_iter()
            .map(|command| self.ready_from[command as usize].max(self.timing.earliest_of_channel(command)))
            .fold(self.next_refresh, u64::min)
    }

    /// A refresh is due: close every row, then refresh.
    #[cold]
    fn choose_for_refresh(&self, at: u64) -> Choice {
        let open = |bank: &usize| self.banks[*bank].open_row != NO_ROW;
        let precharge = (0..self.banks.len())
            .filter(open)
            .map(|bank| (self.timing.earliest_of_bank(Command::Pre, bank, self.banks[bank].group), bank))
            .min()
            .map(|(ready, bank)| (ready.max(self.timing.earliest_of_channel(Command::Pre)), bank));
        let (ready, choice) = match precharge {
            Some((ready, bank)) => (ready, Choice::Issue(Command::Pre, bank)),
            None => (self.timing.earliest_of_channel(Command::Ref), Choice::Issue(Command::Ref, 0)),
        };
        if ready <= at { choice } else { Choice::Wait(ready) }
    }

    /// Issues a command that [`Scheduler::choose`] chose; a request whose last burst it was leaves.
    pub fn issue(
        &mut self,
        command: Command,
        number: usize,
        at: u64,
        statistics: &mut DramStatistics,
    ) -> Option<Entry> {
        let bank = &mut self.banks[number];
        self.timing.issue(command, number, bank.group, at);
        let slot = usize::from(self.wishes[number].slot);
        #[cfg(test)]
        self.trace.push(Issued {
            at,
            command,
            bank: number,
            row: if command == Command::Pre { bank.open_row } else { self.slots[slot].row },
        });
        match command {
            Command::Act => {
                let row = self.slots[slot].row;
                bank.open_row = row;
                bank.hits = members(bank.waiting)
                    .filter(|waiting| self.slots[*waiting].row == row)
                    .fold(0, |hits, waiting| hits | 1 << waiting);
                if self.slots[slot].found == Found::Open {
                    self.slots[slot].found = Found::Closed;
                }
                statistics.activates += 1;
                self.wish(number);
                None
            }
            Command::Pre => {
                bank.open_row = NO_ROW;
                bank.hits = 0;
                if at >= self.next_refresh {
                    statistics.refresh_precharges += 1;
                } else {
                    self.slots[slot].found = Found::OtherRow;
                    statistics.precharges += 1;
                }
                if bank.waiting != 0 {
                    self.wish(number);
                }
                None
            }
            Command::Rd | Command::Wr => self.burst(slot, at, statistics),
            Command::Ref => {
                self.next_refresh += self.refresh_interval;
                statistics.refreshes += 1;
                None
            }
        }
    }

    /// Transfers one burst of a request.
    #[inline]
    fn burst(&mut self, number: usize, at: u64, statistics: &mut DramStatistics) -> Option<Entry> {
        statistics.bursts += 1;
        statistics.data_bus_busy_cycles += self.burst_cycles;
        let atom = self.atom_bytes as u64;
        let slot = &mut self.slots[number];
        if !slot.begun {
            slot.begun = true;
            match slot.found {
                Found::Open => statistics.row_hits += 1,
                Found::Closed => statistics.row_misses += 1,
                Found::OtherRow => statistics.row_conflicts += 1,
            }
        }
        *(if slot.write { &mut statistics.written_bytes } else { &mut statistics.read_bytes }) += atom;
        slot.bursts_left -= 1;
        if slot.bursts_left > 0 {
            return None;
        }
        statistics.queue_occupancy_cycles += at - slot.arrived;
        let bank_number = usize::from(slot.bank);
        let bank = &mut self.banks[bank_number];
        bank.waiting &= !(1 << number);
        bank.hits &= !(1 << number);
        self.free |= 1 << number;
        if bank.waiting == 0 {
            self.forget_wish(bank_number);
        } else {
            if bank.oldest == number {
                bank.oldest = oldest(&self.slots, bank.waiting);
                bank.passed = 0;
            } else {
                bank.passed += 1;
            }
            self.wish(bank_number);
        }
        self.entries[number].take()
    }

    /// Finds what a bank with requests wants next.
    #[inline]
    fn wish(&mut self, number: usize) {
        let bank = &self.banks[number];
        let starving = bank.passed >= self.starvation_bound;
        let (command, slot) = if bank.open_row == NO_ROW {
            (Command::Act, bank.oldest)
        } else if bank.hits == 0 || (starving && bank.hits >> bank.oldest & 1 == 0) {
            (Command::Pre, bank.oldest)
        } else {
            let slot = oldest(&self.slots, bank.hits);
            (if self.slots[slot].write { Command::Wr } else { Command::Rd }, slot)
        };
        self.forget_wish(number);
        let group = self.banks[number].group;
        let order = self.slots[slot].order;
        self.wishes[number] = Wish { command, slot: slot as u8, group: group as u8, order };
        self.wishing[command as usize] |= 1 << number;
        let ready_from = &mut self.ready_from[command as usize];
        *ready_from = (*ready_from).min(self.timing.earliest_of_bank(command, number, group));
    }

    #[inline]
    fn forget_wish(&mut self, number: usize) {
        let command = self.wishes[number].command as usize;
        self.wishing[command] &= !(1 << number);
        if self.wishing[command] == 0 {
            self.ready_from[command] = u64::MAX;
        }
    }

    /// Performs the refreshes that fell due up to DRAM cycle `until` while nothing was queued.
    pub fn catch_up(&mut self, until: u64, statistics: &mut DramStatistics) {
        let due = until.saturating_sub(self.next_refresh) / self.refresh_interval;
        // Long idle time: all but the last few leave no trace.
        if due > 2 {
            statistics.refreshes += due - 2;
            self.next_refresh += (due - 2) * self.refresh_interval;
        }
        let mut at = self.next_refresh;
        while at <= until {
            at = match self.choose(at) {
                Choice::Issue(command, bank) => {
                    self.issue(command, bank, at, statistics);
                    if command == Command::Ref { self.next_refresh } else { at + 1 }
                }
                Choice::Wait(cycle) => cycle,
            };
        }
    }
}

/// The first byte of every atom of a line.
fn firsts_of_atoms(atom_bytes: usize) -> u128 {
    u128::MAX / (u128::MAX >> (LINE_BYTES - atom_bytes))
}

/// How many atoms (a power of two of bytes) hold some of the bytes.
#[inline]
fn bursts(bytes: ByteMask, atom_bytes: usize, firsts_of_atoms: u128) -> u32 {
    if atom_bytes >= 32 {
        let atom = u128::MAX >> (LINE_BYTES - atom_bytes);
        return (0..LINE_BYTES).step_by(atom_bytes).map(|at| u32::from(bytes.0 >> at & atom != 0)).sum();
    }
    // Every byte's bit moves down into the first of its atom, together with its neighbours'.
    let mut firsts = bytes.0;
    let mut folded = 1;
    while folded < atom_bytes {
        firsts |= firsts >> folded;
        folded *= 2;
    }
    (firsts & firsts_of_atoms).count_ones()
}

/// The oldest of some slots.
#[inline]
fn oldest(slots: &[Slot], mask: u64) -> usize {
    let first = mask.trailing_zeros() as usize;
    let mut best = (slots[first].order, first);
    for slot in members(mask & (mask - 1)) {
        best = best.min((slots[slot].order, slot));
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_cover_the_bytes() {
        let mut random = strata_engine::seed::Stream::new(3, "bursts");
        for atom in [1, 2, 4, 8, 16, 32, 64, 128] {
            for round in 0..200 {
                let bytes = (0..round % 5).fold(0, |bytes, _| bytes | 1u128 << random.below(128));
                let expected = ByteMask(bytes).to_sectors(atom).count() / atom as u32;
                assert_eq!(
                    bursts(ByteMask(bytes), atom, firsts_of_atoms(atom)),
                    expected,
                    "{bytes:#x} in atoms of {atom}"
                );
            }
        }
    }
}
