//! What changed between two runs, as text.

use strata_gpu::results::STALLS;
use strata_lab::diff::{
    Asked, Attribution, Cause, Changed, Difference, EnergyChange, First, Found, HOST, LaunchChange, Level,
    OUTSIDE, Parting, Shares, Side,
};
use strata_lab::exact::Exact;
use strata_lab::report::number;

use crate::table::{Cells, numbers};

/// Most values of questions, levels, counters of a level, structures, launches and parts that are shown unless all are asked for.
const ASKED: usize = 16;
const LEVELS: usize = 6;
const COUNTERS: usize = 4;
const STRUCTURES: usize = 6;
const LAUNCHES: usize = 6;
const PARTS: usize = 12;

/// What two runs differ in.
pub fn difference(sides: &[Side; 2], difference: &Difference, all: bool) -> String {
    let most = |count: usize| if all { usize::MAX } else { count };
    let mut text = format!("left   {}\nright  {}\n", sides[0].name, sides[1].name);
    for side in sides {
        if let Some(reason) = &side.stopped {
            let reason = reason.lines().next().unwrap_or_default();
            text += &format!("PARTIAL: {} was stopped: {reason}\n", side.name);
        }
    }
    text += &asked(&difference.asked, most(ASKED));
    if difference.is_nothing() {
        return text + "\nthe runs measured the same, in every counter and every launch\n";
    }
    text += &cycles(sides, difference);
    text += &levels(&difference.levels, most(LEVELS), most(COUNTERS));
    text += &energies(difference, most(STRUCTURES));
    if difference.launches.len() > 1 {
        text += &launches(&difference.launches, most(LAUNCHES));
    }
    text
}

/// A line that says how many more there are.
fn more(count: usize, shown: usize) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        more => format!("  ... and {more} more (--all)\n"),
    }
}

fn row(cells: &[&str]) -> Cells {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn asked(asked: &[Asked], most: usize) -> String {
    if asked.is_empty() {
        return "\nboth ask the same: program, size, machine and simulator\n".to_owned();
    }
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let rows =
        asked.iter().take(most).map(|asked| vec![asked.what.clone(), text(&asked.left), text(&asked.right)]);
    let lines: Vec<Cells> = std::iter::once(row(&["", "left", "right"])).chain(rows).collect();
    format!("\nwhat was asked differs in\n{}{}", numbers(&lines, 3, None), more(asked.len(), most))
}

/// A whole number as it is, another one as numbers are written.
fn exact(value: Exact) -> String {
    let text = value.to_string();
    if text.contains('/') { number(value.as_f64()) } else { text }
}

fn signed(text: String) -> String {
    if text.starts_with('-') || text == "0" { text } else { format!("+{text}") }
}

fn percent(part: f64, whole: f64) -> String {
    if whole == 0.0 { "-".to_owned() } else { format!("{} %", number(100.0 * part / whole)) }
}

/// A change of a count, and what it is of the count before.
fn change_of([left, right]: [u64; 2]) -> String {
    let change = i128::from(right) - i128::from(left);
    let relative =
        if left == 0 { String::new() } else { format!(" ({})", percent(change as f64, left as f64)) };
    format!("{left} -> {right}: {}{relative}", signed(change.to_string()))
}

fn cycles(sides: &[Side; 2], difference: &Difference) -> String {
    let mut text = format!("\ncycles {}\n", change_of(difference.cycles));
    let [left, right] = [0, 1].map(|side| (sides[side].core_mhz, difference.cycles[side]));
    if left.0 != right.0 {
        let time = |(mhz, cycles): (u64, u64)| {
            format!("{} us at {mhz} MHz", number(cycles as f64 / mhz.max(1) as f64))
        };
        text += &format!("  of different length: {} -> {}\n", time(left), time(right));
    }
    match &difference.attribution {
        Err(reason) => text += &format!("  where they went is not known: {reason}\n"),
        Ok(attribution) => {
            text += &causes(attribution);
            if let Some((sm, busiest)) = difference.busiest.as_ref().filter(|_| is_idle(attribution)) {
                text +=
                    &format!("  SMs without a warp wait for others; on {sm}, which has warps the longest:\n");
                text += &causes(busiest);
            }
        }
    }
    text
}

/// Whether much of a difference is of SMs without a warp.
fn is_idle(attribution: &Attribution) -> bool {
    let moved = |cause: &Cause| cause.change().abs().as_f64();
    let all: f64 = attribution.causes.iter().map(moved).sum();
    let idle: f64 = attribution.causes.iter().filter(|cause| cause.name == "stall_no_warp").map(moved).sum();
    idle > all / 4.0
}

/// A cause for readers.
fn cause_name(cause: &Cause) -> &str {
    let stall = STALLS.iter().find(|(counter, _)| *counter == cause.name);
    match cause.name.as_str() {
        "issued" => "issuing instructions",
        HOST => "in host phases",
        OUTSIDE => "in no issue slot",
        name => stall.map_or(name, |(_, what)| what),
    }
}

fn causes(attribution: &Attribution) -> String {
    let whole = Exact::change(attribution.left, attribution.right);
    let line = |cause: &Cause| {
        let change = cause.change();
        vec![
            cause_name(cause).to_owned(),
            exact(cause.left),
            exact(cause.right),
            signed(exact(change)),
            percent(change.as_f64(), whole.as_f64()),
        ]
    };
    let changed = attribution.causes.iter().filter(|cause| cause.change() != Exact::ZERO);
    let mut lines = vec![row(&["spent", "left", "right", "change", "of the change"])];
    lines.extend(changed.map(line));
    let (left, right) = (attribution.left.to_string(), attribution.right.to_string());
    let sum: Exact = attribution.causes.iter().map(Cause::change).sum();
    lines.push(vec![
        "sum".to_owned(),
        left,
        right,
        signed(exact(sum)),
        percent(sum.as_f64(), whole.as_f64()),
    ]);
    numbers(&lines, 1, None)
}

/// Whether a counter is of issue slots, whose causes have been shown.
fn is_of_slots(group: &str, counter: &str) -> bool {
    group == "sm" && (counter == "issued" || counter == "issue_slots" || counter.starts_with("stall_"))
}

fn levels(levels: &[Level], most: usize, of_each: usize) -> String {
    let mut lines = vec![row(&["counter", "left", "right", "change", "of the left"])];
    let (mut shown, mut left_out) = (0, 0);
    for level in levels {
        let counters: Vec<&Changed> =
            level.counters.iter().filter(|counter| !is_of_slots(&level.group, &counter.counter)).collect();
        if counters.is_empty() {
            continue;
        }
        let take = if shown < most { of_each } else { 0 };
        shown += 1;
        left_out += counters.len().saturating_sub(take);
        for counter in counters.into_iter().take(take) {
            let value = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
            lines.push(vec![
                format!("{}.{}", level.group, counter.counter),
                value(counter.left),
                value(counter.right),
                signed(counter.change().to_string()),
                counter.relative().map_or("-".to_owned(), |share| percent(share, 1.0)),
            ]);
        }
    }
    if lines.len() == 1 {
        return String::new();
    }
    format!(
        "\ncounters, the levels with the greatest changes first\n{}{}",
        numbers(&lines, 1, None),
        more(left_out, 0)
    )
}

fn energies(difference: &Difference, most: usize) -> String {
    let Some((changes, whole)) = difference.energies.as_ref().zip(difference.energy_change()) else {
        return String::new();
    };
    let sum = |side: usize| changes.iter().map(|of| of.pj[side]).sum::<f64>();
    let line = |energy: &EnergyChange| {
        vec![
            energy.structure.replace('_', " "),
            signed(number(energy.events_change())),
            signed(number(energy.leakage_change())),
            signed(number(energy.change())),
            percent(energy.change(), whole),
        ]
    };
    let changed: Vec<&EnergyChange> = changes.iter().filter(|energy| energy.change() != 0.0).collect();
    let mut lines = vec![row(&["pJ of", "events", "leakage", "change", "of the change"])];
    lines.extend(changed.iter().take(most).map(|energy| line(energy)));
    let relative = percent(whole, sum(0));
    format!(
        "\nenergy {} pJ -> {} pJ: {} ({relative})\n{}{}",
        number(sum(0)),
        number(sum(1)),
        signed(number(whole)),
        numbers(&lines, 1, None),
        more(changed.len(), most)
    )
}

fn launches(launches: &[LaunchChange], most: usize) -> String {
    let changed: Vec<&LaunchChange> = launches
        .iter()
        .filter(|launch| launch.change() != 0 || launch.kernels[0] != launch.kernels[1])
        .collect();
    let line = |launch: &&LaunchChange| {
        let kernel = |side: usize| launch.kernels[side].clone().unwrap_or_else(|| "-".to_owned());
        let kernel = if launch.kernels[0] == launch.kernels[1] {
            kernel(0)
        } else {
            format!("{} / {}", kernel(0), kernel(1))
        };
        let most = launch.attribution.as_ref().and_then(|attribution| attribution.causes.first());
        let most = most.filter(|cause| cause.change() != Exact::ZERO);
        let most = most.map(|cause| format!("{} {}", signed(exact(cause.change())), cause_name(cause)));
        vec![
            format!("{} {kernel}", launch.place),
            launch.cycles[0].to_string(),
            launch.cycles[1].to_string(),
            signed(launch.change().to_string()),
            most.unwrap_or_default(),
        ]
    };
    let mut lines = vec![row(&["launch", "left", "right", "change", "most of it"])];
    lines.extend(changed.iter().take(most).map(line));
    let same = launches.len() - changed.len();
    let same = match same {
        0 => String::new(),
        1 => "  1 launch takes the same\n".to_owned(),
        _ => format!("  {same} launches take the same\n"),
    };
    let rest = more(changed.len(), most);
    format!("\nlaunches, of {}\n{}{rest}{same}", launches.len(), numbers(&lines, 1, None))
}

/// Where two runs part.
pub fn first(first: &First, all: bool) -> String {
    let parting = match first {
        First::Never { looks } => {
            return format!("\nthe runs do not part: all parts counted the same at {looks} cycles\n");
        }
        First::Here(parting) => parting,
    };
    let Parting { launch, kernel, from, to, began, .. } = &**parting;
    let cycles = |from: u64, to: u64| {
        if from == to { format!("cycle {from}") } else { format!("cycles {from} to {to}") }
    };
    let within = cycles(from.saturating_sub(*began), to.saturating_sub(*began));
    let mut text = format!(
        "\nthe runs part in {} of the run, {within} of launch {launch} ({kernel})\n",
        cycles(*from, *to)
    );
    if let Some(side) = parting.goes_on {
        text += &format!("  the launch goes on on the {side} and ends on the other side\n");
    }
    let lines = parting.parts.iter().flat_map(|part| {
        part.counters.iter().map(|(counter, [left, right])| {
            vec![part.part.clone(), counter.clone(), left.to_string(), right.to_string()]
        })
    });
    let lines: Vec<Cells> = lines.collect();
    let most = if all { usize::MAX } else { PARTS };
    if !lines.is_empty() {
        let shown: Vec<Cells> = std::iter::once(row(&["part", "counter", "left", "right"]))
            .chain(lines.iter().take(most).cloned())
            .collect();
        text += &numbers(&shown, 2, None);
        text += &more(lines.len(), most);
    }
    if !parting.slots {
        text += "  issue slots are not compared: the SMs have different numbers of schedulers\n";
    }
    text += &match parting.every_cycle {
        true => "  before it, all parts counted the same in every cycle\n".to_owned(),
        false => format!(
            "  before it, all parts counted the same at the {} cycles that were compared\n",
            parting.looks
        ),
    };
    text
}

/// What values bring.
pub fn shares(shares: &Shares) -> String {
    let whole = Exact::change(shares.cycles[0], shares.cycles[1]);
    let mut lines = vec![row(&["value", "left", "right", "cycles", "of the change"])];
    let mut order: Vec<usize> = (0..shares.changes.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(shares.values[*place].abs()));
    for place in order {
        let (change, value) = (&shares.changes[place], shares.values[place]);
        let [left, right] = change.values();
        let share = percent(value.as_f64(), whole.as_f64());
        let error = shares.errors[place].map_or_else(String::new, |error| format!(" +- {}", number(error)));
        lines.push(vec![change.name(), left, right, signed(exact(value)) + &error, share]);
    }
    let sum: Exact = shares.values.iter().copied().sum();
    let (none, share) = (String::new(), percent(sum.as_f64(), whole.as_f64()));
    lines.push(vec!["sum".to_owned(), none.clone(), none, signed(exact(sum)), share]);
    let how = match &shares.found {
        Found::Subsets { .. } => format!("from all {} machines between the two", shares.machines),
        Found::Chains { chains, seed } => {
            format!(
                "the mean of {chains} random orders with its standard error, seed {seed}; {} machines",
                shares.machines
            )
        }
    };
    let mut text = format!("\nwhat each value brings ({how})\n{}", numbers(&lines, 1, None));
    if let Found::Subsets { parts } = &shares.found {
        let part = |(subset, cycles): &(u32, i128)| vec![shares.name(*subset), signed(cycles.to_string())];
        let mut parts: Vec<&(u32, i128)> = parts.iter().collect();
        parts.sort_by_key(|(subset, _)| subset.count_ones());
        if shares.changes.len() > 1 {
            let mut lines = vec![row(&["alone, and beside others beyond that", "cycles"])];
            lines.extend(parts.into_iter().map(part));
            text += &numbers(&lines, 1, None);
        }
    }
    text
}
