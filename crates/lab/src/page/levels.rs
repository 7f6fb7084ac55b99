//! The memory hierarchy of a run, drawn: each level with what it found, and what moved between them.

use maud::{Markup, html};
use strata_gpu::machine::Machine;

use super::bars::{self, Part};
use super::chart::px;
use super::colour::Palette;
use super::run_numbers::{grouped, sum_of, value_of};
use crate::record::Record;
use crate::report::number;

/// What became of the requests of a level: a name, the place of its colour, and the counters.
type Outcome = (&'static str, usize, &'static [&'static str]);

/// A level: its name, its group of counters, what it counts, and what became of it, hits first.
struct Level {
    name: &'static str,
    group: &'static str,
    unit: &'static str,
    outcomes: &'static [Outcome],
}

const HIT: usize = 2;
const MERGED: usize = 3;
const PARTLY: usize = 1;
const MISS: usize = 0;
const PAST: usize = 7;

/// The levels in front of the L1D, beside it, behind the network, and at the memory.
const TIERS: [&[Level]; 5] = [
    &[
        Level {
            name: "Register cache",
            group: "register_hierarchy",
            unit: "row reads",
            outcomes: &[
                ("hit", HIT, &["cache_reads"]),
                ("in the buffer", MERGED, &["buffer_reads"]),
                ("from the banks", MISS, &["bank_reads"]),
            ],
        },
        Level {
            name: "tinyCaches",
            group: "tiny_cache",
            unit: "references of lanes",
            outcomes: &[
                ("hit", HIT, &["load_hits", "store_hits"]),
                ("waited", MERGED, &["load_waits"]),
                ("partly there", PARTLY, &["load_partial_hits"]),
                ("missed", MISS, &["load_misses", "store_misses"]),
                ("went past", PAST, &["bypasses"]),
            ],
        },
    ],
    &[
        Level {
            name: "L1D",
            group: "l1d",
            unit: "accesses",
            outcomes: &[
                ("hit", HIT, &["load_hits", "store_hits"]),
                ("merged", MERGED, &["load_merges", "store_merges"]),
                ("partly there", PARTLY, &["load_partial_hits", "store_partial_hits"]),
                ("missed", MISS, &["load_misses", "store_misses"]),
                ("went past", PAST, &["atomics", "bypass_loads", "bypass_stores"]),
            ],
        },
        Level {
            name: "Stash",
            group: "stash",
            unit: "accesses of lanes",
            outcomes: &[
                ("hit", HIT, &["hits"]),
                ("merged", MERGED, &["merges"]),
                ("missed", MISS, &["misses"]),
            ],
        },
        Level {
            name: "Shared memory",
            group: "lsu",
            unit: "passes through the banks",
            outcomes: &[
                ("without conflicts", HIT, &[]),
                ("bank conflicts", MISS, &["shared_conflict_cycles"]),
            ],
        },
        READ_ONLY_CONSTANT,
        READ_ONLY_INSTRUCTION,
        Level {
            name: "L1D of CPU cores",
            group: "cpu.l1d",
            unit: "accesses",
            outcomes: &[
                ("hit", HIT, &["load_hits", "store_hits"]),
                ("merged", MERGED, &["load_merges", "store_merges"]),
                ("partly there", PARTLY, &["load_partial_hits", "store_partial_hits"]),
                ("missed", MISS, &["load_misses", "store_misses"]),
                ("went past", PAST, &["atomics", "bypass_loads", "bypass_stores"]),
            ],
        },
    ],
    &[
        Level {
            name: "LLC",
            group: "l2",
            unit: "requests",
            outcomes: &[
                ("hit", HIT, &["read_hits", "write_hits", "atomic_hits"]),
                ("merged", MERGED, &["read_merges", "write_merges", "atomic_merges"]),
                ("partly there", PARTLY, &["read_partial_hits", "atomic_partial_hits"]),
                ("missed", MISS, &["read_misses", "write_misses", "atomic_misses"]),
            ],
        },
        Level {
            name: "Extended LLC",
            group: "morpheus",
            unit: "predictions",
            outcomes: &[
                ("hit", HIT, &["true_hits"]),
                ("missed, though predicted to hit", PARTLY, &["false_hits"]),
                ("missed", MISS, &["predicted_misses"]),
            ],
        },
    ],
    &[Level {
        name: "Memory-side cache",
        group: "memory_cache",
        unit: "reads",
        outcomes: &[("hit", HIT, &["hits"]), ("merged", MERGED, &["merges"]), ("missed", MISS, &["misses"])],
    }],
    &[Level {
        name: "DRAM",
        group: "dram",
        unit: "requests",
        outcomes: &[
            ("row open", HIT, &["row_hits"]),
            ("bank closed", PARTLY, &["row_misses"]),
            ("another row open", MISS, &["row_conflicts"]),
        ],
    }],
];

const READ_ONLY: &[Outcome] =
    &[("hit", HIT, &["hits"]), ("merged", MERGED, &["merges"]), ("missed", MISS, &["misses"])];
const READ_ONLY_CONSTANT: Level =
    Level { name: "Constant cache", group: "constant_cache", unit: "look-ups", outcomes: READ_ONLY };
const READ_ONLY_INSTRUCTION: Level =
    Level { name: "Instruction cache", group: "instruction_cache", unit: "look-ups", outcomes: READ_ONLY };

/// What moved between two tiers, one way: bytes, and a note.
struct Moved {
    bytes: f64,
    note: String,
}

/// What moved above a tier.
enum Flow {
    /// Down and up.
    Each(Option<Moved>, Option<Moved>),
    /// Both ways together.
    Both(Moved),
}

/// The hierarchy of a run; `None` if nothing of it is counted.
pub fn drawing(record: &Record, machine: Option<&Machine>, palette: &mut Palette) -> Option<Markup> {
    let outline = machine.map(Machine::outline).unwrap_or_default();
    let mut rows: Vec<(Option<Flow>, Markup)> = Vec::new();
    for (tier, levels) in TIERS.iter().enumerate() {
        let cards: Vec<Markup> =
            levels.iter().filter_map(|level| level.card(record, &outline, palette)).collect();
        if !cards.is_empty() {
            // The first stands below the lanes.
            let flow = if rows.is_empty() && tier < 2 { lanes(record) } else { above(record, tier) };
            rows.push((flow, html! { div.tier { @for card in &cards { (card) } } }));
        }
    }
    let flows = rows.iter().filter_map(|(flow, _)| flow.as_ref());
    let most = flows.flat_map(Flow::moved).map(|moved| moved.bytes).fold(0.0, f64::max);
    (!rows.is_empty()).then(|| {
        html! {
            div.hierarchy {
                @for (flow, cards) in &rows {
                    @if let Some(flow) = flow { (flow.markup(most)) }
                    (cards)
                }
            }
        }
    })
}

impl Level {
    fn parts(&self, record: &Record) -> Option<Vec<Part<'static>>> {
        if self.group == "lsu" {
            let passes = value_of(record, "lsu", "shared_passes").filter(|passes| *passes > 0.0)?;
            let conflicts = value_of(record, "lsu", "shared_conflict_cycles")?;
            let values = [passes - conflicts, conflicts];
            let parts = self.outcomes.iter().zip(values);
            return Some(
                parts.map(|((name, place, _), value)| Part { name, place: *place, value }).collect(),
            );
        }
        let parts = self.outcomes.iter().filter_map(|(name, place, counters)| {
            Some(Part { name, place: *place, value: sum_of(record, self.group, counters)? })
        });
        let parts: Vec<Part<'static>> = parts.collect();
        (parts.iter().map(|part| part.value).sum::<f64>() > 0.0).then_some(parts)
    }

    fn card(&self, record: &Record, outline: &str, palette: &mut Palette) -> Option<Markup> {
        let parts = self.parts(record)?;
        let all: f64 = parts.iter().map(|part| part.value).sum();
        let first = parts.iter().find(|part| part.place == HIT);
        let begins = format!("{} ", self.name);
        let built = outline.lines().find_map(|line| line.trim().strip_prefix(&begins)).unwrap_or_default();
        Some(html! {
            div.level {
                div.head { h3 { (self.name) } span.note { (built) } }
                div.numbers {
                    @if let Some(first) = first { b { (bars::percent(first.value, all)) } " " (first.name) " of " }
                    (grouped(all as u64)) " " (self.unit)
                }
                (bars::whole(&parts, 12.0, &format!("{}: what became of {}", self.name, self.unit), palette))
                (bars::legend(&parts, palette))
            }
        })
    }
}

/// Between lanes and the first level.
fn lanes(record: &Record) -> Option<Flow> {
    let note = format!("in {} accesses of lanes", grouped(value_of(record, "lsu", "accesses")? as u64));
    Some(Flow::Both(Moved { bytes: value_of(record, "lsu", "bytes_accessed")?, note }))
}

/// What moved above a tier.
fn above(record: &Record, tier: usize) -> Option<Flow> {
    let both = |down: Option<Moved>, up: Option<Moved>| {
        (down.is_some() || up.is_some()).then_some(Flow::Each(down, up))
    };
    let moved = |group: &str, bytes: &str, count: &str| {
        let note =
            format!("in {} {}", grouped(value_of(record, group, count)? as u64), count.replace('_', " "));
        Some(Moved { bytes: value_of(record, group, bytes)?, note })
    };
    let packets = |group: &str| {
        let count = value_of(record, group, "packets_out")?;
        let cycles = value_of(record, group, "latency_cycles").filter(|_| count > 0.0);
        let each =
            cycles.map_or_else(String::new, |cycles| format!(", {} cycles each", number(cycles / count)));
        let note = format!("in {} packets{each}", grouped(count as u64));
        Some(Moved { bytes: value_of(record, group, "wire_bytes")?, note })
    };
    match tier {
        1 => both(None, moved("tiny_cache", "fetched_bytes", "fetches")),
        2 => both(packets("network.request"), packets("network.reply")),
        3 => both(moved("l2", "write_back_bytes", "write_backs"), moved("l2", "fetch_bytes", "fetches")),
        _ => both(moved("dram", "written_bytes", "writes"), moved("dram", "read_bytes", "reads")),
    }
}

/// Height of the arrows between tiers, and width of the widest.
const ARROW: (f64, f64) = (46.0, 26.0);

impl Flow {
    fn moved(&self) -> impl Iterator<Item = &Moved> {
        let (one, other) = match self {
            Flow::Each(down, up) => (down.as_ref(), up.as_ref()),
            Flow::Both(both) => (Some(both), None),
        };
        one.into_iter().chain(other)
    }

    /// Arrows as wide as what moved, beside most.
    fn markup(&self, most: f64) -> Markup {
        let width = |moved: &Moved| (ARROW.1 * moved.bytes / most.max(1.0)).max(1.4);
        let side = |moved: Option<&Moved>| {
            html! { @if let Some(moved) = moved { b { (bars::bytes(moved.bytes)) } " " span.note { (moved.note) } } }
        };
        let drawn = |middle: f64, class: &str, moved: Option<&Moved>, heads: (bool, bool)| {
            html! {
                @if let Some(moved) = moved.filter(|moved| moved.bytes > 0.0) { polygon class=(class) points=(arrow(middle, width(moved), heads)) {} }
            }
        };
        let (left, right) = match self {
            Flow::Each(down, up) => (down.as_ref(), up.as_ref()),
            Flow::Both(both) => (None, Some(both)),
        };
        let (up, heads) =
            if matches!(self, Flow::Both(_)) { (42.0, (true, true)) } else { (62.0, (true, false)) };
        html! {
            div.flow {
                span.down { (side(left)) }
                svg width="84" height=(px(ARROW.0)) viewBox=(format!("0 0 84 {}", px(ARROW.0))) aria-hidden="true" {
                    (drawn(22.0, "down", left, (false, true)))
                    (drawn(up, "up", right, heads))
                }
                span.up { (side(right)) }
            }
        }
    }
}

/// The corners of an arrow with a head above, below, or both.
fn arrow(middle: f64, width: f64, (above, below): (bool, bool)) -> String {
    let (half, head) = (width / 2.0, width / 2.0 + 4.0);
    let (top, bottom) = (1.0, ARROW.0 - 1.0);
    let necks = (top + head.min(14.0), bottom - head.min(14.0));
    let mut points = Vec::new();
    if above {
        points.extend([
            (middle - half, necks.0),
            (middle - head, necks.0),
            (middle, top),
            (middle + head, necks.0),
            (middle + half, necks.0),
        ]);
    } else {
        points.extend([(middle - half, top), (middle + half, top)]);
    }
    if below {
        points.extend([
            (middle + half, necks.1),
            (middle + head, necks.1),
            (middle, bottom),
            (middle - head, necks.1),
            (middle - half, necks.1),
        ]);
    } else {
        points.extend([(middle + half, bottom), (middle - half, bottom)]);
    }
    let points = points.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y)));
    points.collect::<Vec<_>>().join(" ")
}
