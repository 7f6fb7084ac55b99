//! The controller of a channel: its queue and rows, and the choice of a command for each DRAM cycle.

use std::fmt;

use strata_engine::statistics::Group;

use super::atoms::Atoms;
use super::pattern::{AddressPattern, Place};
use super::queue::{Arrival, Bank, BankView, Found, MAX_QUEUE, NO_ROW, Queued, Slot, oldest};
use super::schedulers::{Pick, Scheduler, SchedulerSite};
use super::statistics::DramStatistics;
use super::timing::{Command, MAX_BANKS, Timing};
use super::upkeep::Upkeep;
use super::wishes::{Wish, Wishes};
use crate::address::LineAddress;
use crate::bits::members;

/// Numbers of a channel that its controller needs.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub banks: usize,
    pub bank_groups: usize,
    pub pattern: AddressPattern,
    pub atoms: Atoms,
    pub burst_cycles: u64,
    pub timing: Timing,
    pub site: SchedulerSite,
}

/// A controller with any scheduler.
pub(super) trait Control: fmt::Debug + Send {
    /// Queues a request that can be served from DRAM cycle `arrived` on. The caller has checked for room. Returns a cycle
    /// before which nothing can be issued, or not because of this request.
    fn insert(&mut self, arrival: Arrival, arrived: u64) -> u64;

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
    /// The ticket of the request whose last burst was commanded.
    pub finished: Option<u32>,
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

/// The queue and the banks of a channel, with a scheduler and what is done without a request.
#[derive(Debug)]
pub(super) struct Controller<S, U> {
    scheduler: S,
    upkeep: U,
    timing: Timing,
    banks: Box<[Bank; MAX_BANKS]>,
    wishes: Wishes,
    slots: Box<[Queued; MAX_QUEUE]>,
    /// The lines of the requests in the slots.
    lines: Box<[LineAddress; MAX_QUEUE]>,
    free: u64,
    next_order: u64,
    pattern: AddressPattern,
    atoms: Atoms,
    burst_cycles: u64,
    #[cfg(test)]
    trace: Vec<Issued>,
}

impl<S: Scheduler, U: Upkeep> Controller<S, U> {
    pub fn new(mut scheduler: S, upkeep: U, shape: Shape) -> Controller<S, U> {
        scheduler.start(&shape.site);
        // As the peers do by default: the higher bank bits name the group.
        let banks_of_group = shape.banks / shape.bank_groups;
        Controller {
            scheduler,
            upkeep,
            timing: shape.timing,
            banks: Box::new(std::array::from_fn(|number| Bank::new(number / banks_of_group))),
            wishes: Wishes::new(),
            slots: Box::new([Queued::NONE; MAX_QUEUE]),
            lines: Box::new([LineAddress(0); MAX_QUEUE]),
            free: u64::MAX >> (64 - shape.site.queue_entries),
            next_order: 0,
            pattern: shape.pattern,
            atoms: shape.atoms,
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
        if self.wishes.planned().at < at {
            self.wishes.plan_anew::<S>(&self.timing, at);
        }
        let planned = self.wishes.planned();
        if planned.at == at {
            return Choice::Issue(self.wishes.of(planned.bank).command, planned.bank, Cause::Request);
        }
        match self.upkeep.closable(&self.timing, &*self.banks, at) {
            Some(bank) => Choice::Issue(Command::Pre, bank, Cause::Page),
            None => Choice::Wait(self.not_before(at)),
        }
    }

    /// A cycle before which nothing can be issued, when nothing more can be at `at`.
    #[inline]
    fn not_before(&self, at: u64) -> u64 {
        self.wishes.planned().at.min(self.upkeep.next(&self.timing, &*self.banks, at))
    }

    /// A refresh is due: closes the rows of its banks, then refreshes. `None` if requests of other banks may go on.
    #[cold]
    fn choose_for_refresh(&mut self, at: u64) -> Option<Choice> {
        let (ready, command, bank) = self.upkeep.refresh(&self.timing, &*self.banks)?;
        if ready <= at {
            return Some(Choice::Issue(command, bank, Cause::Refresh));
        }
        if self.upkeep.holds_all() {
            return Some(Choice::Wait(ready));
        }
        if self.upkeep.hold(bank) {
            self.wishes.forget(bank);
            self.wishes.plan_anew::<S>(&self.timing, at);
        }
        None
    }

    /// Issues a command that [`Controller::choose`] chose; of a request whose last burst it was, returns the ticket.
    #[inline]
    fn issue(
        &mut self,
        (command, number, cause): (Command, usize, Cause),
        at: u64,
        statistics: &mut DramStatistics,
    ) -> Option<u32> {
        let bank = &mut self.banks[number % MAX_BANKS];
        self.timing.issue(command, number, bank.group, at);
        let slot = usize::from(self.wishes.of(number).slot) % MAX_QUEUE;
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
                    .filter(|waiting| self.slots[*waiting % MAX_QUEUE].row == row)
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
                if bank.waiting != 0 {
                    self.wish(number);
                }
                None
            }
        }
    }

    /// Transfers one burst of a request; after the last, returns its ticket.
    #[inline]
    fn burst(&mut self, number: usize, at: u64, statistics: &mut DramStatistics) -> Option<u32> {
        statistics.bursts += 1;
        statistics.data_bus_busy_cycles += self.burst_cycles;
        let slot = &mut self.slots[number];
        let bank_number = usize::from(slot.bank) % MAX_BANKS;
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
        let bytes = if slot.write { &mut statistics.written_bytes } else { &mut statistics.read_bytes };
        *bytes += self.atoms.bytes();
        slot.bursts_left -= 1;
        if slot.bursts_left > 0 {
            let command = if slot.write { Command::Wr } else { Command::Rd };
            let ready = self.timing.earliest_of_bank(command, bank_number, bank.group);
            self.wishes.put_off(bank_number, ready);
            return None;
        }
        statistics.queue_occupancy_cycles += at - slot.arrived;
        let left = *slot;
        bank.waiting &= !(1 << number);
        bank.hits &= !(1 << number);
        self.free |= 1 << number;
        if bank.waiting == 0 {
            self.upkeep.unwanted(bank_number, at);
            self.wishes.forget(bank_number);
        } else {
            if bank.oldest == number {
                bank.oldest = oldest(&*self.slots, bank.waiting);
                bank.passed = 0;
            } else {
                bank.passed += 1;
            }
            self.wish(bank_number);
        }
        if self.scheduler.served(&left, at) {
            self.wish_all();
        }
        Some(left.ticket)
    }

    /// Finds what every bank with requests wants next.
    fn wish_all(&mut self) {
        for number in 0..MAX_BANKS {
            if self.banks[number].waiting != 0 {
                self.wish(number);
            }
        }
    }

    /// Finds what a bank with requests wants next.
    fn wish(&mut self, number: usize) {
        if self.upkeep.holds(number) {
            return;
        }
        let bank = &self.banks[number % MAX_BANKS];
        let pick = self.scheduler.pick(&BankView { number, bank, slots: &*self.slots });
        let (picked, is_hit) = match pick {
            Pick::OldestHit if bank.hits != 0 => (oldest(&*self.slots, bank.hits), true),
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
        // The largest number stands for no rank.
        let rank = self.scheduler.rank(&self.slots[slot % MAX_QUEUE]).min(u64::MAX - 1);
        let ready = self.timing.earliest_of_bank(command, number, bank.group);
        let wish = Wish { rank, ready, command, slot: slot as u8, group: bank.group as u8 };
        self.wishes.set(number, wish);
    }

    /// A request that keeps the open row from being closed for another: one that has begun, or the first to use the row.
    #[inline]
    fn needs_row(&self, bank: &Bank) -> Option<usize> {
        if bank.hits == 0 {
            return None;
        }
        let begun = members(bank.hits).find(|slot| self.slots[*slot % MAX_QUEUE].begun);
        begun.or_else(|| bank.is_fresh().then(|| oldest(&*self.slots, bank.hits)))
    }

    /// The oldest request of a bank to the line of one of them; its oldest request for a slot of no request of the bank.
    fn first_to_line(&self, bank: &Bank, slot: usize) -> usize {
        if slot >= MAX_QUEUE || bank.waiting >> slot & 1 == 0 {
            return bank.oldest;
        }
        let same = members(bank.waiting).filter(|other| self.lines[*other] == self.lines[slot]);
        oldest(&*self.slots, same.fold(0, |mask, other| mask | 1 << other))
    }

    /// The command that transfers a request's next burst.
    #[inline]
    fn burst_of(&self, slot: usize) -> Command {
        if self.slots[slot % MAX_QUEUE].write { Command::Wr } else { Command::Rd }
    }
}

impl<S: Scheduler, U: Upkeep> Control for Controller<S, U> {
    #[inline]
    fn insert(&mut self, arrival: Arrival, arrived: u64) -> u64 {
        let Arrival { ticket, slice, line, bytes, write } = arrival;
        let Place { bank: bank_number, row, .. } = self.pattern.place(line.base().0);
        let number = self.free.trailing_zeros() as usize % MAX_QUEUE;
        self.free &= self.free - 1;
        let bursts_left = self.atoms.holding(bytes);
        assert!(bursts_left > 0, "a request to DRAM moves bytes");
        let (order, begun) = (self.next_order, false);
        self.slots[number] =
            Queued { order, arrived, row, ticket, bursts_left, bank: bank_number, slice, write, begun };
        self.lines[number] = line;
        self.next_order += 1;
        let bank_number = usize::from(bank_number);
        let bank = &mut self.banks[bank_number % MAX_BANKS];
        if bank.waiting == 0 {
            bank.oldest = number;
            bank.passed = 0;
            self.upkeep.wanted(bank_number);
        }
        let first = bank.waiting == 0 || (bank.hits == 0 && bank.open_row == row);
        bank.waiting |= 1 << number;
        if bank.open_row == row {
            bank.hits |= 1 << number;
        }
        // Otherwise the bank wishes for an older request already.
        if first || !S::IGNORES_YOUNGER {
            self.wish(bank_number);
            self.wishes.plan_with::<S>(bank_number, &self.timing, arrived);
        }
        if U::DOES_NOTHING { self.wishes.planned().at } else { arrived }
    }

    #[inline]
    fn step(&mut self, at: u64, statistics: &mut DramStatistics) -> Step {
        match self.choose(at) {
            Choice::Issue(command, bank, cause) => {
                let finished = self.issue((command, bank, cause), at, statistics);
                self.wishes.plan::<S>(&self.timing, at + 1);
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
