//! The difference of cycles, dealt out to what issue slots went to.
//!
//! In every cycle of a launch each warp scheduler of each SM has one issue slot, and the slot is used or lost to one cause. So
//! the slots of a cause, over the schedulers of all SMs, are cycles, and those of all causes are the cycles of the launches. What changed
//! between two runs is the difference cause by cause, even where the machines have different numbers of SMs or schedulers.

use strata_measure::exact::Exact;

use super::side::{Counters, Side};

/// The issue slots of a run, or of one of its launches.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    /// Its counters.
    pub counters: &'a Counters,
    /// Its cycles in launches.
    pub cycles: u64,
    /// Its cycles in host phases, which have no slots.
    pub host_cycles: u64,
    /// Issue slots in a cycle.
    pub a_cycle: u64,
}

/// What a number of cycles went to, in two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The counter of its slots, as `stall_memory`; [`HOST`] or [`OUTSIDE`].
    pub name: String,
    /// Its slots on the left; `None` of what has none.
    pub left_slots: Option<u64>,
    /// Its slots on the right.
    pub right_slots: Option<u64>,
    /// Its cycles on the left.
    pub left: Exact,
    /// Its cycles on the right.
    pub right: Exact,
}

impl Cause {
    /// By how many cycles it has become more.
    #[must_use]
    pub fn change(&self) -> Exact {
        self.right - self.left
    }
}

/// Cycles of host phases, in which no SM runs a program.
pub const HOST: &str = "host_phases";

/// Cycles of launches that no slot stands for: of a run that was stopped.
pub const OUTSIDE: &str = "outside_slots";

/// A difference of cycles and the causes that it is the sum of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// Cycles on the left.
    pub left: u64,
    /// Cycles on the right.
    pub right: u64,
    /// The causes, that with the greatest change first. Their changes add up to that of cycles.
    pub causes: Vec<Cause>,
}

impl<'a> Slots<'a> {
    /// The issue slots of a run.
    ///
    /// # Errors
    /// Why they cannot be told.
    pub fn of(side: &'a Side) -> Result<Slots<'a>, String> {
        let slots = side.counter("sm", "issue_slots");
        let slots = slots.ok_or_else(|| format!("{}: found no counter `sm.issue_slots`", side.name))?;
        let cycles = side.launch_cycles();
        let divided = || (cycles > 0 && slots % cycles == 0).then(|| slots / cycles);
        let a_cycle = side.slots_a_cycle.or_else(divided).filter(|slots| *slots > 0).ok_or_else(|| {
            format!("{}: found {slots} issue slots in {cycles} cycles, expected so many a cycle", side.name)
        })?;
        Ok(Slots { counters: &side.counters, cycles, host_cycles: side.host_cycles, a_cycle })
    }

    fn cause(&self, name: &str) -> Option<u64> {
        self.counters.get("sm")?.get(name).copied()
    }

    fn cycles_of(&self, slots: Option<u64>) -> Exact {
        Exact::new(slots.unwrap_or(0).into(), self.a_cycle.into())
    }

    /// Cycles that no slot stands for.
    fn outside(&self) -> Exact {
        Exact::from(i128::from(self.cycles)) - self.cycles_of(self.cause("issue_slots"))
    }

    fn causes(&self) -> impl Iterator<Item = &'a str> {
        let names = self.counters.get("sm").into_iter().flat_map(|sm| sm.keys());
        names.map(String::as_str).filter(|name| *name == "issued" || name.starts_with("stall_"))
    }
}

/// Deals a difference of cycles out to its causes.
#[must_use]
pub fn attribute(left: Slots<'_>, right: Slots<'_>) -> Attribution {
    let mut names: Vec<&str> = left.causes().chain(right.causes()).collect();
    names.sort_unstable();
    names.dedup();
    let of_slots = names.into_iter().map(|name| {
        let (left_slots, right_slots) = (left.cause(name), right.cause(name));
        let (left, right) = (left.cycles_of(left_slots), right.cycles_of(right_slots));
        Cause { name: name.to_owned(), left_slots, right_slots, left, right }
    });
    let none = |name: &str, left: Exact, right: Exact| Cause {
        name: name.to_owned(),
        left_slots: None,
        right_slots: None,
        left,
        right,
    };
    let host = |slots: Slots<'_>| Exact::from(i128::from(slots.host_cycles));
    let others =
        [none(HOST, host(left), host(right)), none(OUTSIDE, left.outside(), right.outside())].into_iter();
    let nothing = |cause: &Cause| cause.left == Exact::ZERO && cause.right == Exact::ZERO;
    let mut causes: Vec<Cause> = of_slots.chain(others).filter(|cause| !nothing(cause)).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.change().abs()));
    Attribution { left: left.cycles + left.host_cycles, right: right.cycles + right.host_cycles, causes }
}

/// The SM that has warps for the longest in both runs together, and what its cycles went to; `None` where no run is broken down by
/// SM, or an SM's slots are not so many a cycle. SMs without a warp wait for those that have one, so this one shows what for.
#[must_use]
pub fn busiest(left: &Side, right: &Side) -> Option<(String, Attribution)> {
    fn slots<'a>(side: &'a Side, name: &str) -> Option<Slots<'a>> {
        let counters = side.sms.get(name)?;
        let slots = *counters.get("sm")?.get("issue_slots")?;
        let cycles = side.launch_cycles();
        let a_cycle = (cycles > 0 && slots > 0 && slots % cycles == 0).then(|| slots / cycles)?;
        Some(Slots { counters, cycles, host_cycles: side.host_cycles, a_cycle })
    }
    let busy = |slots: Slots<'_>| {
        let idle = slots.cause("stall_no_warp").unwrap_or(0);
        slots.cause("issue_slots").unwrap_or(0).saturating_sub(idle) / slots.a_cycle
    };
    let both = left.sms.keys().filter_map(|name| Some((name, slots(left, name)?, slots(right, name)?)));
    let longest =
        both.max_by_key(|(name, left, right)| (busy(*left) + busy(*right), std::cmp::Reverse(*name)));
    longest.map(|(name, left, right)| (name.clone(), attribute(left, right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(counts: &[(&str, u64)]) -> Counters {
        let all = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        [("sm".to_owned(), all)].into()
    }

    #[test]
    fn causes_add_up_on_machines_with_different_schedulers() {
        // 30 cycles of 2 schedulers against 21 cycles of 3.
        let one = counters(&[("issue_slots", 60), ("issued", 10), ("stall_memory", 50)]);
        let other =
            counters(&[("issue_slots", 63), ("issued", 10), ("stall_memory", 45), ("stall_fetch", 8)]);
        let left = Slots { counters: &one, cycles: 30, host_cycles: 0, a_cycle: 2 };
        let right = Slots { counters: &other, cycles: 21, host_cycles: 4, a_cycle: 3 };
        let attribution = attribute(left, right);
        let changes: Vec<(&str, String)> = attribution
            .causes
            .iter()
            .map(|cause| (cause.name.as_str(), cause.change().to_string()))
            .collect();
        let expected = [("stall_memory", "-10"), (HOST, "4"), ("stall_fetch", "8/3"), ("issued", "-5/3")];
        assert_eq!(changes, expected.map(|(name, change)| (name, change.to_owned())));
        let sum: Exact = attribution.causes.iter().map(Cause::change).sum();
        assert_eq!(sum, Exact::change(attribution.left, attribution.right));
    }

    #[test]
    fn what_no_slot_stands_for_is_shown() {
        let one = counters(&[("issue_slots", 60), ("issued", 60)]);
        let left = Slots { counters: &one, cycles: 33, host_cycles: 0, a_cycle: 2 };
        let attribution = attribute(left, Slots { cycles: 30, ..left });
        let changed: Vec<&Cause> =
            attribution.causes.iter().filter(|cause| cause.change() != Exact::ZERO).collect();
        assert_eq!((changed.len(), changed[0].name.as_str()), (1, OUTSIDE));
        assert_eq!(changed[0].change(), Exact::from(-3));
    }
}
