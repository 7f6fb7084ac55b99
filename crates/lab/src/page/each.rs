//! Counters of each part of a machine, side by side, and of each buffer.

use maud::{Markup, html};
use strata_gpu::results::{Breakdown, By};

use super::bars;
use super::meanings::Meanings;
use super::run_numbers::grouped;
use crate::report::number;

/// Counters that are shown of each kind of part.
const OF_SMS: &[&str] = &["sm.issued", "sm.stall_memory", "lsu.accesses", "l1d.load_misses"];
const OF_SLICES: &[&str] = &["l2.requests", "l2.read_misses", "l2.evictions"];
const OF_CHANNELS: &[&str] =
    &["dram.reads", "dram.writes", "dram.row_conflicts", "dram.data_bus_busy_cycles"];

/// Counters beside them: those that parts have most unequally.
const UNEQUAL: usize = 4;

/// Least mean of such a counter: of few events, all are unequal.
const LEAST_MEAN: f64 = 10.0;

/// A counter of each part.
struct Strip {
    path: String,
    values: Vec<Option<u64>>,
}

impl Strip {
    fn of(breakdown: &Breakdown, path: &str) -> Strip {
        Strip { path: path.to_owned(), values: breakdown.counter(path) }
    }

    fn known(&self) -> impl Iterator<Item = u64> {
        self.values.iter().flatten().copied()
    }

    fn most(&self) -> u64 {
        self.known().max().unwrap_or_default()
    }

    fn mean(&self) -> f64 {
        self.known().sum::<u64>() as f64 / self.known().count().max(1) as f64
    }
}

/// Bars of the parts for some counters, and for those that they have most unequally; `None` for a single part.
pub fn strips(breakdown: &Breakdown, meanings: &Meanings) -> Option<Markup> {
    let (class, shown) = match breakdown.by {
        By::Sm => ("part-sm", OF_SMS),
        By::Slice => ("part-slice", OF_SLICES),
        By::Channel => ("part-channel", OF_CHANNELS),
        _ => return None,
    };
    if breakdown.parts.len() < 2 {
        return None;
    }
    let mut strips: Vec<Strip> = shown.iter().map(|path| Strip::of(breakdown, path)).collect();
    strips.retain(|strip| strip.most() > 0);
    let paths = breakdown.paths().into_iter().filter(|path| !shown.contains(&path.as_str()));
    let others = paths.map(|path| Strip::of(breakdown, &path));
    let mut others: Vec<Strip> =
        others.filter(|strip| strip.mean() >= LEAST_MEAN && is_unequal(strip)).collect();
    let over = |strip: &Strip| strip.most() as f64 / strip.mean();
    others.sort_by(|one, other| over(other).total_cmp(&over(one)).then_with(|| one.path.cmp(&other.path)));
    strips.extend(others.into_iter().take(UNEQUAL));
    (!strips.is_empty()).then(
        || html! { div.strips { @for strip in &strips { (strip.markup(breakdown, meanings, class)) } } },
    )
}

fn is_unequal(strip: &Strip) -> bool {
    strip.known().min() != strip.known().max()
}

impl Strip {
    fn markup(&self, breakdown: &Breakdown, meanings: &Meanings, class: &str) -> Markup {
        let most = self.most().max(1) as f64;
        let pitch = 1000.0 / self.values.len() as f64;
        let (group, counter) = self.path.rsplit_once('.').unwrap_or_default();
        let (unit, meaning) = meanings.get(group, counter);
        let least = self.known().min().unwrap_or_default();
        let mean = 48.0 * (1.0 - self.mean() / most);
        html! {
            div.strip {
                div.head title=(meaning) { b { (self.path) } " " span.note { (unit) } }
                svg width="100%" height="48" viewBox="0 0 1000 48" preserveAspectRatio="none" role="img" aria-label=(self.path) {
                    @for (place, (part, value)) in breakdown.parts.iter().zip(&self.values).enumerate() {
                        @let height = 48.0 * value.unwrap_or_default() as f64 / most;
                        rect class=(class) x=(format!("{:.1}", place as f64 * pitch)) width=(format!("{:.1}", (pitch * 0.86).max(0.5)))
                            y=(format!("{:.1}", 48.0 - height)) height=(format!("{height:.1}")) {
                            title { (part.name) ": " @if let Some(value) = value { (grouped(*value)) } @else { "not counted" } }
                        }
                    }
                    line.mean x1="0" x2="1000" y1=(format!("{mean:.1}")) y2=(format!("{mean:.1}")) {}
                }
                div.note { (grouped(least)) " to " (grouped(self.most())) ", " (mean_of(self.mean())) " on average" }
            }
        }
    }
}

/// A mean for readers.
fn mean_of(mean: f64) -> String {
    if mean < 1000.0 { number(mean) } else { grouped(mean.round() as u64) }
}

/// Counters of buffers.
const OF_BUFFERS: [(&str, &str); 6] = [
    ("lsu.accesses", "accesses"),
    ("lsu.bytes_accessed", "bytes"),
    ("served.l1d", "L1D"),
    ("served.llc", "LLC"),
    ("served.memory", "DRAM"),
    ("served.memory_bytes", "bytes from DRAM"),
];

/// Most buffers that are shown.
const MOST: usize = 40;

/// The buffers by their accesses, with who served them; `None` if none was accessed.
pub fn buffers(breakdown: &Breakdown) -> Option<Markup> {
    let columns: Vec<Vec<u64>> = OF_BUFFERS
        .iter()
        .map(|(path, _)| breakdown.counter(path).into_iter().map(Option::unwrap_or_default).collect())
        .collect();
    let mut order: Vec<usize> = (0..breakdown.parts.len()).filter(|place| columns[0][*place] > 0).collect();
    order.sort_by_key(|place| std::cmp::Reverse(columns[0][*place]));
    let all: u64 = columns[0].iter().sum();
    (!order.is_empty()).then(|| {
        html! {
            div.scroll tabindex="0" role="group" aria-label="buffers" {
                table.sort data-title="buffers" {
                    thead { tr { th.words { "buffer" } @for (_, name) in OF_BUFFERS { th { (name) } } } }
                    tbody {
                        @for place in order.iter().take(MOST) {
                            tr {
                                td.words { (breakdown.parts[*place].name) }
                                @for (column, values) in columns.iter().enumerate() {
                                    @let value = values[*place];
                                    @if column == 0 {
                                        td data-value=(value) {
                                            (bars::share(value as f64 / all.max(1) as f64, "cool", &grouped(value)))
                                        }
                                    } @else { td data-value=(value) { (grouped(value)) } }
                                }
                            }
                        }
                    }
                }
            }
            @if order.len() > MOST { p.note { "and " (order.len() - MOST) " more" } }
        }
    })
}
