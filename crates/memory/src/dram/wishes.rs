//! What every bank wants next, and whose command goes next.

use super::schedulers::Scheduler;
use super::timing::{Command, MAX_BANKS, Timing};
use crate::bits::members;

/// Commands that requests need.
const OF_REQUESTS: usize = 4;

/// What a bank wants next.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Wish {
    /// By which it competes with others: the least goes first.
    pub rank: u64,
    /// A cycle before which the rules of the bank do not allow it.
    pub ready: u64,
    pub command: Command,
    pub slot: u8,
    pub group: u8,
}

/// The bank whose request's command goes next, unless another wish comes before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    /// The first cycle in which all rules allow the command; `u64::MAX` if no bank wants anything.
    pub at: u64,
    pub rank: u64,
    pub bank: usize,
}

impl Planned {
    const NOTHING: Planned = Planned { at: u64::MAX, rank: u64::MAX, bank: 0 };
}

/// The wishes of a channel's banks, and the plan that follows from them and the timing rules.
#[derive(Debug)]
pub(super) struct Wishes {
    of_banks: Box<[Wish; MAX_BANKS]>,
    /// For each command of a request, a mask of the banks that want it next.
    wanting: [u32; OF_REQUESTS],
    /// For each command that a bank wants, a cycle before which the rules of banks and groups allow it to none of them.
    ready_from: [u64; OF_REQUESTS],
    planned: Planned,
}

impl Wishes {
    pub fn new() -> Wishes {
        let wish = Wish { rank: 0, ready: 0, command: Command::Act, slot: 0, group: 0 };
        Wishes {
            of_banks: Box::new([wish; MAX_BANKS]),
            wanting: [0; OF_REQUESTS],
            ready_from: [0; OF_REQUESTS],
            planned: Planned::NOTHING,
        }
    }

    /// The last wish of a bank.
    #[inline]
    pub fn of(&self, bank: usize) -> &Wish {
        &self.of_banks[bank % MAX_BANKS]
    }

    /// A bank has another wish than before. The plan does not know of it yet.
    #[inline]
    pub fn set(&mut self, bank: usize, wish: Wish) {
        self.forget(bank);
        self.of_banks[bank % MAX_BANKS] = wish;
        let (wanting, ready_from) =
            (&mut self.wanting[wish.command as usize], &mut self.ready_from[wish.command as usize]);
        *ready_from = if *wanting == 0 { wish.ready } else { wish.ready.min(*ready_from) };
        *wanting |= 1 << bank;
    }

    /// A bank wants the same again, now that it has received it.
    #[inline]
    pub fn put_off(&mut self, bank: usize, ready: u64) {
        self.of_banks[bank % MAX_BANKS].ready = ready;
    }

    /// A bank wants nothing for now. The plan does not know of it yet.
    #[inline]
    pub fn forget(&mut self, bank: usize) {
        self.wanting[self.of(bank).command as usize] &= !(1 << bank);
    }

    /// The plan as it was made last.
    #[inline]
    pub fn planned(&self) -> Planned {
        self.planned
    }

    /// Plans the command that goes next in cycle `from` or later.
    #[inline(always)]
    pub fn plan<S: Scheduler>(&mut self, timing: &Timing, from: u64) {
        self.planned = if S::IN_ORDER { self.first(timing, from) } else { self.best::<S>(timing, from) };
    }

    /// The same, where that is rare.
    #[cold]
    #[inline(never)]
    pub fn plan_anew<S: Scheduler>(&mut self, timing: &Timing, from: u64) {
        self.plan::<S>(timing, from);
    }

    /// Plans the command that goes next after a bank's wish has changed in cycle `from`, and nothing else.
    #[inline]
    pub fn plan_with<S: Scheduler>(&mut self, bank: usize, timing: &Timing, from: u64) {
        let wish = self.of(bank);
        if self.planned.bank == bank || self.wanting[wish.command as usize] >> bank & 1 == 0 {
            return self.plan_anew::<S>(timing, from);
        }
        let other = Planned { at: self.at(bank, timing, from), rank: wish.rank, bank };
        if self.goes_before::<S>(other, self.planned) {
            self.planned = other;
        }
    }

    /// The first cycle from `from` on in which all rules allow what a bank wants.
    #[inline]
    fn at(&self, bank: usize, timing: &Timing, from: u64) -> u64 {
        let Wish { command, group, ready, .. } = *self.of(bank);
        let of_others = timing.earliest_of_group(command, usize::from(group));
        ready.max(of_others).max(timing.earliest_of_channel(command)).max(from)
    }

    /// Whether one bank's command goes before another's, by a scheduler's choice.
    #[inline]
    fn goes_before<S: Scheduler>(&self, one: Planned, other: Planned) -> bool {
        if S::IN_ORDER {
            return (one.rank, one.bank) < (other.rank, other.bank);
        }
        if one.at != other.at {
            return one.at < other.at;
        }
        let [command, other_command] = [one, other].map(|planned| self.of(planned.bank).command);
        if S::BURSTS_FIRST && command.is_burst() != other_command.is_burst() {
            return command.is_burst();
        }
        // As they are searched.
        let place = |command| match command {
            Command::Rd => 0,
            Command::Wr => 1,
            Command::Act => 2,
            _ => 3,
        };
        (one.rank, place(command), one.bank) < (other.rank, place(other_command), other.bank)
    }

    /// The command that the rules allow first in cycle `from` or later; of several in a cycle, the one that the scheduler
    /// wants.
    #[inline(always)]
    fn best<S: Scheduler>(&mut self, timing: &Timing, from: u64) -> Planned {
        let mut bursts = Planned::NOTHING;
        self.search(Command::Rd, timing, from, &mut bursts);
        self.search(Command::Wr, timing, from, &mut bursts);
        // No later than the burst, and before it if the scheduler says so.
        let mut rows = if S::BURSTS_FIRST { Planned { rank: 0, ..bursts } } else { bursts };
        self.search(Command::Act, timing, from, &mut rows);
        self.search(Command::Pre, timing, from, &mut rows);
        if S::BURSTS_FIRST && rows.at == bursts.at { bursts } else { rows }
    }

    /// Finds the bank that a command goes to first, in cycle `from` or later, if it goes there before `best`.
    #[inline(always)]
    fn search(&mut self, command: Command, timing: &Timing, from: u64, best: &mut Planned) {
        let wanting = self.wanting[command as usize];
        if wanting == 0 {
            return;
        }
        let from = from.max(timing.earliest_of_channel(command));
        if from > best.at || self.ready_from[command as usize] > best.at {
            return;
        }
        let (mut first, mut left) = (u64::MAX, wanting);
        while left != 0 {
            let bank = left.trailing_zeros() as usize;
            left &= left - 1;
            let wish = self.of(bank);
            let ready = wish.ready.max(timing.earliest_of_group(command, usize::from(wish.group)));
            first = first.min(ready);
            let at = ready.max(from);
            if at < best.at || at == best.at && wish.rank < best.rank {
                *best = Planned { at, rank: wish.rank, bank };
            }
        }
        self.ready_from[command as usize] = first;
    }

    /// The command of least rank, and from when on the rules allow it.
    #[inline]
    fn first(&self, timing: &Timing, from: u64) -> Planned {
        let wanting = self.wanting.iter().fold(0, |all, banks| all | banks);
        match members(u64::from(wanting)).min_by_key(|bank| self.of(*bank).rank) {
            Some(bank) => Planned { at: self.at(bank, timing, from), rank: self.of(bank).rank, bank },
            None => Planned::NOTHING,
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::seed::Stream;

    use super::super::queue::BankView;
    use super::super::schedulers::{Fcfs, FrFcfs, Pick};
    use super::super::timing::{Constraint, Level};
    use super::*;

    /// The least rank of all commands that are allowed.
    #[derive(Clone, Debug)]
    struct LeastRank;

    impl Scheduler for LeastRank {
        const BURSTS_FIRST: bool = false;

        fn pick(&mut self, _bank: &BankView<'_>) -> Pick {
            Pick::Oldest
        }
    }

    const COMMANDS: [Command; 4] = [Command::Rd, Command::Wr, Command::Act, Command::Pre];

    fn timing() -> Timing {
        let rule = |level, after, before, cycles| Constraint { level, after, before, cycles };
        let rules = [
            rule(Level::BankGroup, Command::Rd, Command::Rd, 5),
            rule(Level::Channel, Command::Rd, Command::Rd, 2),
            rule(Level::Channel, Command::Rd, Command::Wr, 7),
            rule(Level::Channel, Command::Wr, Command::Rd, 9),
            rule(Level::Channel, Command::Act, Command::Act, 6),
            rule(Level::Bank, Command::Act, Command::Rd, 12),
            rule(Level::Bank, Command::Pre, Command::Act, 8),
        ];
        Timing::new(&rules, None)
    }

    /// What goes next, by a look at every bank: the cycle, whether it is a row's command after bursts, rank, command, bank.
    fn searched(wishes: &Wishes, timing: &Timing, from: u64, bursts_first: bool) -> Option<(u64, usize)> {
        let wants = |bank: &usize| wishes.wanting[wishes.of(*bank).command as usize] >> bank & 1 == 1;
        let key = |bank: usize| {
            let wish = wishes.of(bank);
            let place = COMMANDS.iter().position(|command| *command == wish.command);
            let after = bursts_first && !wish.command.is_burst();
            (wishes.at(bank, timing, from), after, wish.rank, place, bank)
        };
        (0..MAX_BANKS).filter(wants).map(key).min().map(|(at, .., bank)| (at, bank))
    }

    fn plays<S: Scheduler>() {
        let mut random = Stream::new(5, "wishes");
        let (mut wishes, mut timing, mut issued) = (Wishes::new(), timing(), 0);
        for from in 1..4000 {
            for _ in 0..random.below(3) {
                let (bank, command) = (random.below(16) as usize, COMMANDS[random.below(4) as usize]);
                let ready = timing.earliest_of_bank(command, bank, bank / 4);
                let wish = Wish { rank: random.below(9), ready, command, slot: 0, group: (bank / 4) as u8 };
                wishes.set(bank, wish);
                wishes.plan_with::<S>(bank, &timing, from);
            }
            let planned = wishes.planned();
            if S::IN_ORDER {
                assert!((0..16).all(|bank| planned.rank <= wishes.of(bank).rank
                    || planned.at == u64::MAX
                    || wishes.wanting[wishes.of(bank).command as usize] >> bank & 1 == 0));
            } else {
                let found = searched(&wishes, &timing, from, S::BURSTS_FIRST);
                assert_eq!(
                    (planned.at != u64::MAX).then_some((planned.at, planned.bank)),
                    found,
                    "at {from}"
                );
            }
            if planned.at == from {
                timing.issue(wishes.of(planned.bank).command, planned.bank, planned.bank / 4, from);
                wishes.forget(planned.bank);
                wishes.plan::<S>(&timing, from + 1);
                issued += 1;
            }
        }
        assert!(issued > 100, "{issued} issued");
    }

    #[test]
    fn the_plan_is_what_a_look_at_every_bank_finds() {
        plays::<FrFcfs>();
        plays::<LeastRank>();
        plays::<Fcfs>();
    }
}
