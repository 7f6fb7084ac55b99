//! Where two runs part: the first cycle after which a part of one machine has counted something else than the same part of the
//! other.
//!
//! Both runs are made at once, each stops at the same cycles, and the counters of every part are compared there. A first pass looks ever
//! more rarely; a second one looks at every cycle: from the beginning where that takes no time, else from the last cycle at which the
//! first pass found the runs alike. Nothing but the counters is compared, so runs part where that can first be counted.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde_json::{Value, json};
use strata_engine::statistics::Definition;
use strata_gpu::gpu::{Seen, Watch};
use strata_gpu::results::Counted;

use super::repeat::{How, Repeat};

/// A first pass looks once in so many of the cycles that have passed.
const PACE: u64 = 1024;

/// Where runs part by then, every cycle before is looked at.
const EVERY: u64 = 20_000;

/// Unit of what there is of in every cycle for each scheduler.
const SLOTS: &str = "slots";

/// Looks that one run may be ahead of the other.
const AHEAD: usize = 16;

/// Where two runs part.
#[derive(Clone, Debug, PartialEq)]
pub enum First {
    /// Nowhere: the counters of all parts were the same at so many cycles.
    Never {
        /// Cycles at which they were compared.
        looks: u64,
    },
    /// Here.
    Here(Box<Parting>),
}

/// The cycle in which two runs part, and what shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parting {
    /// Number of the launch.
    pub launch: u64,
    /// Name of its kernel.
    pub kernel: String,
    /// The first cycle in which the runs may have parted, counted from the beginning of the run.
    pub from: u64,
    /// The last such cycle: the same, but while a launch drains.
    pub to: u64,
    /// The cycle in which the launch began.
    pub began: u64,
    /// Which launch goes on, where only one has ended: `left` or `right`.
    pub goes_on: Option<&'static str>,
    /// The parts that have counted other events, and these.
    pub parts: Vec<PartedPart>,
    /// Cycles at which the runs were compared and alike.
    pub looks: u64,
    /// Whether these are all cycles before.
    pub every_cycle: bool,
    /// Whether issue slots were compared. Those of SMs with different numbers of schedulers are not.
    pub slots: bool,
}

/// A part of the machine that has counted other events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartedPart {
    /// Its name: `sm 3`.
    pub part: String,
    /// Its counters that differ, by `GROUP.COUNTER`, with their values on the left and on the right.
    pub counters: Vec<(String, [u64; 2])>,
}

/// What a pass found.
struct Pass {
    /// Looks at which the runs were alike, and the cycle of the last one.
    looks: u64,
    alike: u64,
    /// The first look at which they were not.
    parted: Option<[Option<Seen>; 2]>,
}

/// Finds where two runs part.
///
/// # Errors
/// If one of the runs cannot be made.
pub fn first(left: &Repeat, right: &Repeat, how: How<'_>) -> Result<First, String> {
    find_beyond(left, right, EVERY, how)
}

/// As [`first`], with another number of cycles that are all looked at.
pub(super) fn find_beyond(left: &Repeat, right: &Repeat, every: u64, how: How<'_>) -> Result<First, String> {
    let schedulers = |repeat: &Repeat| Ok::<_, String>(*repeat.machine()?.file().sm.schedulers);
    let slots = schedulers(left)? == schedulers(right)?;
    let pass = |from, pace| pass([left, right], (from, pace), slots, how);
    let coarse = pass(0, PACE)?;
    let Some(seen) = &coarse.parted else { return Ok(First::Never { looks: coarse.looks }) };
    let at = cycle(seen).unwrap_or(coarse.alike);
    if at <= PACE {
        return Ok(First::Here(Box::new(parting(&coarse, true, slots))));
    }
    let every_cycle = at <= every;
    // It begins with a look at which they are alike, so that it can tell from when on they are not.
    let from = if every_cycle { 0 } else { coarse.alike };
    let fine = pass(from, u64::MAX)?;
    // It looks wherever the first one found a difference, too, but for launches that end elsewhere.
    let found = if fine.parted.is_some() { &fine } else { &coarse };
    let parting = parting(found, every_cycle, slots);
    Ok(First::Here(Box::new(Parting { looks: coarse.looks.max(found.looks), ..parting })))
}

/// The earlier of two looks.
fn cycle(seen: &[Option<Seen>; 2]) -> Option<u64> {
    seen.iter().flatten().map(|seen| seen.cycle).min()
}

fn parting(pass: &Pass, every_cycle: bool, slots: bool) -> Parting {
    let none = [None, None];
    let seen = pass.parted.as_ref().unwrap_or(&none);
    let at = cycle(seen).unwrap_or(pass.alike);
    let shown = seen.iter().flatten().min_by_key(|seen| (seen.cycle, !seen.ended));
    let (parts, goes_on) = match seen {
        [Some(left), Some(right)] => (
            if left.cycle == right.cycle { parted(&left.parts, &right.parts, slots) } else { vec![] },
            goes_on(left, right),
        ),
        [Some(_), None] => (vec![], Some("left")),
        [None, Some(_)] => (vec![], Some("right")),
        [None, None] => (vec![], None),
    };
    Parting {
        launch: shown.map_or(0, |seen| seen.launch),
        kernel: shown.map_or_else(String::new, |seen| seen.kernel.clone()),
        from: pass.alike,
        to: at.saturating_sub(1).max(pass.alike),
        began: shown.map_or(0, |seen| seen.began),
        goes_on,
        parts,
        looks: pass.looks,
        every_cycle,
        slots,
    }
}

fn goes_on(left: &Seen, right: &Seen) -> Option<&'static str> {
    match (left.ended, right.ended) {
        (true, false) => Some("right"),
        (false, true) => Some("left"),
        _ if left.cycle < right.cycle => Some("right"),
        _ if left.cycle > right.cycle => Some("left"),
        _ => None,
    }
}

/// The parts of the same name that have counted different events.
fn parted(left: &[Counted], right: &[Counted], slots: bool) -> Vec<PartedPart> {
    let part = |one: &Counted| {
        let other = right.iter().find(|other| other.name == one.name)?;
        let counters = differing(one, other, slots);
        (!counters.is_empty()).then(|| PartedPart { part: one.name.clone(), counters })
    };
    left.iter().filter_map(part).collect()
}

/// The counters that both parts have, with other values.
fn differing(one: &Counted, other: &Counted, slots: bool) -> Vec<(String, [u64; 2])> {
    let mut differing = Vec::new();
    for group in &one.groups {
        let Some(others) = other.groups.iter().find(|other| other.name == group.name) else { continue };
        let is_compared = |definition: &Definition| slots || definition.unit != SLOTS;
        let counters = group.definitions.iter().zip(&group.values);
        for (definition, value) in counters.filter(|(definition, _)| is_compared(definition)) {
            if let Some(other) = others.get(definition.name).filter(|other| other != value) {
                differing.push((format!("{}.{}", group.name, definition.name), [*value, other]));
            }
        }
    }
    differing
}

/// Whether two looks are at the same place and see the same.
fn alike(left: &Seen, right: &Seen, slots: bool) -> bool {
    let place = |seen: &Seen| (seen.launch, seen.cycle, seen.began, seen.ended);
    let same_parts = left.parts == right.parts;
    place(left) == place(right) && (same_parts || parted(&left.parts, &right.parts, slots).is_empty())
}

/// Makes both runs and looks at them from a cycle on at a pace, until they part.
fn pass(both: [&Repeat; 2], (from, pace): (u64, u64), slots: bool, how: How<'_>) -> Result<Pass, String> {
    let (left, from_left) = sync_channel(AHEAD);
    let (right, from_right) = sync_channel(AHEAD);
    let run = |repeat: &Repeat, shown: SyncSender<Seen>| {
        let see = move |seen| match shown.send(seen) {
            Ok(()) => ControlFlow::Continue(()),
            // Nobody looks any more.
            Err(_) => ControlFlow::Break(()),
        };
        repeat.run(&repeat.machine()?, &[], how, Some(Watch::new(from, pace, Box::new(see)))).map(drop)
    };
    std::thread::scope(|scope| {
        let runs = [scope.spawn(|| run(both[0], left)), scope.spawn(|| run(both[1], right))];
        let pass = compare([from_left, from_right], slots);
        let ended = runs.map(|run| run.join().expect("no run panics"));
        if pass.parted.as_ref().is_none_or(|seen| seen.iter().any(Option::is_none)) {
            // A run that fails shows no more, and one that nobody looks at any more does not end.
            let whole = |place: usize| pass.parted.as_ref().is_none_or(|seen| seen[place].is_none());
            for (place, ended) in ended.into_iter().enumerate() {
                if whole(place) {
                    ended?;
                }
            }
        }
        Ok(pass)
    })
}

/// Compares looks until there is none or they differ.
fn compare([left, right]: [Receiver<Seen>; 2], slots: bool) -> Pass {
    let mut pass = Pass { looks: 0, alike: 0, parted: None };
    loop {
        match (left.recv().ok(), right.recv().ok()) {
            (None, None) => return pass,
            (Some(one), Some(other)) if alike(&one, &other, slots) => {
                pass.looks += 1;
                pass.alike = one.cycle;
            }
            (one, other) => {
                pass.parted = Some([one, other]);
                return pass;
            }
        }
    }
}

impl First {
    /// The place as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let parting = match self {
            First::Never { looks } => return json!({ "parted": false, "looks": looks }),
            First::Here(parting) => parting,
        };
        let counter = |(counter, [left, right]): &(String, [u64; 2])| json!({ "counter": counter, "left": left, "right": right });
        let part = |part: &PartedPart| {
            let counters: Vec<Value> = part.counters.iter().map(counter).collect();
            json!({ "part": part.part, "counters": counters })
        };
        json!({
            "parted": true,
            "launch": parting.launch,
            "kernel": parting.kernel,
            "from_cycle": parting.from,
            "to_cycle": parting.to,
            "launch_began": parting.began,
            "goes_on": parting.goes_on,
            "parts": parting.parts.iter().map(part).collect::<Vec<_>>(),
            "looks": parting.looks,
            "every_cycle": parting.every_cycle,
            "issue_slots_compared": parting.slots,
        })
    }
}
