//! The controller of a channel: its queue and rows, and the choice of a command for each DRAM cycle.

use std::fmt;

use strata_engine::statistics::Group;

use super::pattern::{AddressPattern, Place};
use super::queue::{Bank, BankView, Entry, Found, NO_ROW, Queued, Slot, oldest};
use super::schedulers::{Pick, Scheduler, SchedulerSite};
use super::statistics::DramStatistics;
use super::timing::{COMMANDS, Command, MAX_BANKS, Timing};
use super::upkeep::Upkeep;
use crate::address::LINE_BYTES;
use crate::bits::members;
use crate::line::ByteMask;

/// Numbers of a channel that its controller needs.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub banks: usize,
    pub bank_groups: usize,
    pub pattern: AddressPattern,
    pub atom_bytes: usize,
    pub burst_cycles: u64,
    pub timing: Timing,
    pub site: SchedulerSite,
}

/// A controller with any scheduler.
pub(super) trait Control: fmt::Debug + Send {
    /// Queues a request that can be served from DRAM cycle `arrived` on. The caller has checked for room.
    fn insert(&mut self, entry: Entry, arrived: u64);

    /// Issues at most one command, at DRAM cycle `at`.
    fn step(&mut self, at: u64, statistics: &mut DramStatistics) -> Step;

    /// Does what fell due up to DRAM cycle `until` while nothing was queued.
    fn catch_up(&mut self, until: u64, statistics: &mut DramStatistics);

    /// Counters of the page policy, unless rows stay open.
    fn page_statistics(&self) -> Option<Group>;

    /// Every command that was issued.
    #[cfg(test)]
    fn trace(&self) -> &[Issued];
}

/// What a DRAM cycle brought.
#[derive(Debug)]
pub(super) struct Step {
    /// The request whose last burst was commanded.
    pub finished: Option<Entry>,
    /// Nothing can be issued before this DRAM cycle.
    pub next: u64,
}

/// What the controller can do in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Issue this command to this bank.
    Issue(Command, usize, Cause),
    /// Do nothing before that DRAM cycle.
    Wait(u64),
}

/// Why a command is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Request,
    Refresh,
    Page,
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

/// What a bank wants next.
#[derive(Clone, Copy, Debug)]
struct Wish {
    command: Command,
    slot: u8,
    group: u8,
    rank: u64,
}

/// A bank whose command has a rank.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    rank: u64,
    bank: usize,
}

impl Ranked {
    const NONE: Ranked = Ranked { rank: u64::MAX, bank: 0 };
}

/// The queue and the banks of a channel, with a scheduler and what is done without a request.
#[derive(Debug)]
pub(super) struct Controller<S, U> {
    scheduler: S,
    upkeep: U,
    timing: Timing,
    banks: Vec<Bank>,
    wishes: [Wish; MAX_BANKS],
    /// For each command, a mask of the banks that want it next.
    wishing: [u32; COMMANDS],
    /// For each command, a cycle before which the rules of banks and groups allow it to no bank that wants
    /// it.
    ready_from: [u64; COMMANDS],
    slots: Vec<Queued>,
    entries: Vec<Option<Entry>>,
    free: u64,
    next_order: u64,
    pattern: AddressPattern,
    atom_bytes: usize,
    atom_firsts: u128,
    burst_cycles: u64,
    #[cfg(test)]
    trace: Vec<Issued>,
}

impl<S: Scheduler, U: Upkeep> Controller<S, U> {
    pub fn new(mut scheduler: S, upkeep: U, shape: Shape) -> Controller<S, U> {
        scheduler.start(&shape.site);
        let entries = shape.site.queue_entries;
        // As the peers do by default: the higher bank bits name the group.
        let banks_of_group = shape.banks / shape.bank_groups;
        Controller {
            scheduler,
            upkeep,
            timing: shape.timing,
            banks: (0..shape.banks).map(|number| Bank::new(number / banks_of_group)).collect(),
            wishes: [Wish { command: Command::Act, slot: 0, group: 0, rank: 0 }; MAX_BANKS],
            wishing: [0; COMMANDS],
            ready_from: [u64::MAX; COMMANDS],
            slots: vec![Queued::NONE; entries],
            entries: (0..entries).map(|_| None).collect(),
            free: u64::MAX >> (64 - entries),
            next_order: 0,
            pattern: shape.pattern,
            atom_bytes: shape.atom_bytes,
            atom_firsts: firsts_of_atoms(shape.atom_bytes),
            burst_cycles: shape.burst_cycles,
            #[cfg(test)]
            trace: Vec::new(),
        }
    }

    /// The command to issue at DRAM cycle `at`, or the cycle until which there is none.
    #[inline]
    fn choose(&mut self, at: u64) -> Choice {
        if self.upkeep.is_refresh_due(at)
            && let Some(choice) = self.choose_for_refresh(at)
        {
            return choice;
        }
        let ready = if S::IN_ORDER { self.first_if_ready(at) } else { self.best_ready(at) };
        if let Some((command, bank)) = ready {
            return Choice::Issue(command, bank, Cause::Request);
        }
        match self.upkeep.closable(&self.timing, &self.banks, at) {
            Some(bank) => Choice::Issue(Command::Pre, bank, Cause::Page),
            None => Choice::Wait(self.not_before(at)),
        }
    }

    /// Of the commands that may be issued, the one of least rank; bursts go first if the scheduler says so.
    #[inline]
    fn best_ready(&mut self, at: u64) -> Option<(Command, usize)> {
        let (mut command, mut best) = (Command::Rd, Ranked::NONE);
        for [one, other] in [[Command::Rd, Command::Wr], [Command::Act, Command::Pre]] {
            let (of_one, of_other) = (self.least_ready(one, at), self.least_ready(other, at));
            let (of_both, least) =
                if of_other.rank < of_one.rank { (other, of_other) } else { (one, of_one) };
            if least.rank < best.rank {
                (command, best) = (of_both, least);
            }
            if S::BURSTS_FIRST && best.rank != u64::MAX {
                break;
            }
        }
        (best.rank != u64::MAX).then_some((command, best.bank))
    }

    /// Finds the bank of least rank among those that want a command and may receive it.
    #[inline]
    fn least_ready(&mut self, command: Command, at: u64) -> Ranked {
        let mut best = Ranked::NONE;
        let ready_from = &mut self.ready_from[command as usize];
        if *ready_from > at || self.timing.earliest_of_channel(command) > at {
            return best;
        }
        let mut first = u64::MAX;
        for bank in members(u64::from(self.wishing[command as usize])) {
            let wish = &self.wishes[bank];
            let ready = self.timing.earliest_of_bank(command, bank, usize::from(wish.group));
            first = first.min(ready);
            if ready <= at && wish.rank < best.rank {
                best = Ranked { rank: wish.rank, bank };
            }
        }
        *ready_from = first;
        best
    }

    /// The command of least rank of all, if it may be issued.
    fn first_if_ready(&self, at: u64) -> Option<(Command, usize)> {
        let (command, bank) = self.first()?;
        (self.ready(command, bank) <= at).then_some((command, bank))
    }

    /// The command of least rank, and its bank.
    fn first(&self) -> Option<(Command, usize)> {
        let wishing = self.wishing.iter().fold(0, |all, banks| all | banks);
        let bank = members(u64::from(wishing)).min_by_key(|bank| self.wishes[*bank].rank)?;
        Some((self.wishes[bank].command, bank))
    }

    /// The earliest cycle at which all rules allow a command to a bank.
    fn ready(&self, command: Command, bank: usize) -> u64 {
        let of_bank = self.timing.earliest_of_bank(command, bank, self.banks[bank].group);
        of_bank.max(self.timing.earliest_of_channel(command))
    }

    /// A cycle before which nothing can be issued, when nothing more can be at `at`.
    #[inline]
    fn not_before(&self, at: u64) -> u64 {
        let upkeep = self.upkeep.next(&self.timing, &self.banks, at);
        if S::IN_ORDER {
            return self.first().map_or(upkeep, |(command, bank)| self.ready(command, bank).min(upkeep));
        }
        [Command::Rd, Command::Wr, Command::Act, Command::Pre]
            .into_iter()
            .map(|command| self.ready_from[command as usize].max(self.timing.earliest_of_channel(command)))
            .fold(upkeep, u64::min)
    }

    /// A refresh is due: closes the rows of its banks, then refreshes. `None` if requests of other banks may go on.
    #[cold]
    fn choose_for_refresh(&mut self, at: u64) -> Option<Choice> {
        let (ready, command, bank) = self.upkeep.refresh(&self.timing, &self.banks)?;
        if ready <= at {
            return Some(Choice::Issue(command, bank, Cause::Refresh));
        }
        if self.upkeep.holds_all() {
            return Some(Choice::Wait(ready));
        }
        if self.upkeep.hold(bank) {
            self.forget_wish(bank);
        }
        None
    }

    /// Issues a command that [`Controller::choose`] chose; a request whose last burst it was leaves.
    fn issue(
        &mut self,
        (command, number, cause): (Command, usize, Cause),
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
                if bank.found == Found::Open {
                    bank.found = Found::Closed;
                }
                self.timing.activate(at);
                statistics.activates += 1;
                self.upkeep.opened(number, row);
                self.wish(number);
                None
            }
            Command::Pre => {
                self.upkeep.closed(number, bank.open_row, cause == Cause::Page);
                bank.open_row = NO_ROW;
                bank.hits = 0;
                match cause {
                    Cause::Request => {
                        bank.found = Found::OtherRow;
                        statistics.precharges += 1;
                    }
                    Cause::Refresh => statistics.refresh_precharges += 1,
                    Cause::Page => {}
                }
                if bank.waiting != 0 {
                    self.wish(number);
                }
                None
            }
            Command::Rd | Command::Wr => self.burst(slot, at, statistics),
            Command::Ref | Command::RefBank => {
                if command == Command::RefBank {
                    self.timing.activate(at);
                }
                statistics.refreshes += 1;
                self.upkeep.refreshed();
                if self.banks[number].waiting != 0 {
                    self.wish(number);
                }
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
        let bank_number = usize::from(slot.bank);
        let bank = &mut self.banks[bank_number];
        let found = std::mem::take(&mut bank.found);
        if !slot.begun {
            slot.begun = true;
            match found {
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
        let left = *slot;
        bank.waiting &= !(1 << number);
        bank.hits &= !(1 << number);
        self.free |= 1 << number;
        if bank.waiting == 0 {
            self.upkeep.unwanted(bank_number, at);
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
        if self.scheduler.served(&left, at) {
            self.wish_all();
        }
        self.entries[number].take()
    }

    /// Finds what every bank with requests wants next.
    fn wish_all(&mut self) {
        for number in 0..self.banks.len() {
            if self.banks[number].waiting != 0 {
                self.wish(number);
            }
        }
    }

    /// Finds what a bank with requests wants next.
    #[inline]
    fn wish(&mut self, number: usize) {
        if self.upkeep.holds(number) {
            return;
        }
        let bank = &self.banks[number];
        let pick = self.scheduler.pick(&BankView { number, bank, slots: &self.slots });
        let (picked, is_hit) = match pick {
            Pick::OldestHit if bank.hits != 0 => (oldest(&self.slots, bank.hits), true),
            Pick::Oldest | Pick::OldestHit => (bank.oldest, bank.hits >> bank.oldest & 1 != 0),
            Pick::Request(Slot(slot)) => {
                let first = self.first_to_line(bank, slot);
                (first, bank.hits >> first & 1 != 0)
            }
        };
        let (command, slot) = if is_hit {
            (self.burst_of(picked), picked)
        } else if bank.open_row == NO_ROW {
            (Command::Act, picked)
        } else if let Some(slot) = self.needs_row(bank) {
            (self.burst_of(slot), slot)
        } else {
            (Command::Pre, picked)
        };
        self.forget_wish(number);
        let group = self.banks[number].group;
        // The largest number stands for no rank.
        let rank = self.scheduler.rank(&self.slots[slot]).min(u64::MAX - 1);
        self.wishes[number] = Wish { command, slot: slot as u8, group: group as u8, rank };
        self.wishing[command as usize] |= 1 << number;
        let ready_from = &mut self.ready_from[command as usize];
        *ready_from = (*ready_from).min(self.timing.earliest_of_bank(command, number, group));
    }

    /// A request that keeps the open row from being closed for another: one that has begun, or the first to use the row.
    #[inline]
    fn needs_row(&self, bank: &Bank) -> Option<usize> {
        if bank.hits == 0 {
            return None;
        }
        let begun = members(bank.hits).find(|slot| self.slots[*slot].begun);
        begun.or_else(|| bank.is_fresh().then(|| oldest(&self.slots, bank.hits)))
    }

    /// The oldest request of a bank to the line of one of them; its oldest request for a slot of no request of the bank.
    fn first_to_line(&self, bank: &Bank, slot: usize) -> usize {
        let line = |slot: usize| self.entries.get(slot)?.as_ref().map(|entry| entry.line);
        match line(slot) {
            Some(wanted) if bank.waiting >> slot & 1 != 0 => {
                let same = members(bank.waiting).filter(|other| line(*other) == Some(wanted));
                oldest(&self.slots, same.fold(0, |mask, other| mask | 1 << other))
            }
            _ => bank.oldest,
        }
    }

    /// The command that transfers a request's next burst.
    #[inline]
    fn burst_of(&self, slot: usize) -> Command {
        if self.slots[slot].write { Command::Wr } else { Command::Rd }
    }

    #[inline]
    fn forget_wish(&mut self, number: usize) {
        let command = self.wishes[number].command as usize;
        self.wishing[command] &= !(1 << number);
        if self.wishing[command] == 0 {
            self.ready_from[command] = u64::MAX;
        }
    }
}

impl<S: Scheduler, U: Upkeep> Control for Controller<S, U> {
    #[inline]
    fn insert(&mut self, entry: Entry, arrived: u64) {
        let Place { bank: bank_number, row, .. } = self.pattern.place(entry.line.base().0);
        let number = self.free.trailing_zeros() as usize;
        self.free &= self.free - 1;
        let bursts = bursts(entry.request.bytes, self.atom_bytes, self.atom_firsts);
        assert!(bursts > 0, "a request to DRAM moves bytes");
        self.slots[number] = Queued {
            order: self.next_order,
            arrived,
            row,
            bursts_left: bursts,
            bank: bank_number,
            slice: entry.slice as u8,
            write: entry.request.write,
            begun: false,
        };
        self.next_order += 1;
        self.entries[number] = Some(entry);
        let bank = &mut self.banks[usize::from(bank_number)];
        if bank.waiting == 0 {
            bank.oldest = number;
            bank.passed = 0;
            self.upkeep.wanted(usize::from(bank_number));
        }
        let first = bank.waiting == 0 || (bank.hits == 0 && bank.open_row == row);
        bank.waiting |= 1 << number;
        if bank.open_row == row {
            bank.hits |= 1 << number;
        }
        // Otherwise the bank wishes for an older request already.
        if first || !S::IGNORES_YOUNGER {
            self.wish(usize::from(bank_number));
        }
    }

    #[inline]
    fn step(&mut self, at: u64, statistics: &mut DramStatistics) -> Step {
        match self.choose(at) {
            Choice::Issue(command, bank, cause) => {
                let finished = self.issue((command, bank, cause), at, statistics);
                Step { finished, next: self.not_before(at).max(at + 1) }
            }
            Choice::Wait(cycle) => Step { finished: None, next: cycle.max(at + 1) },
        }
    }

    fn catch_up(&mut self, until: u64, statistics: &mut DramStatistics) {
        let mut at = self.upkeep.resting_since();
        while at <= until {
            match self.choose(at) {
                Choice::Issue(command, bank, cause) => {
                    self.issue((command, bank, cause), at, statistics);
                    at += 1;
                    // From here on every interval is as the last.
                    if cause == Cause::Refresh
                        && command != Command::Pre
                        && self.banks.iter().all(|bank| bank.open_row == NO_ROW)
                    {
                        statistics.refreshes += self.upkeep.skip_refreshes(until);
                    }
                }
                Choice::Wait(cycle) => at = cycle.max(at + 1),
            }
        }
    }

    fn page_statistics(&self) -> Option<Group> {
        self.upkeep.page_statistics()
    }

    #[cfg(test)]
    fn trace(&self) -> &[Issued] {
        &self.trace
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
