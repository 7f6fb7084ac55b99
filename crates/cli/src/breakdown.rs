//! Counters by SM, slice, channel or launch, as `strata run --by` prints them.

use clap::Args;
use strata_engine::config::did_you_mean;
use strata_gpu::catalogue;
use strata_gpu::machine::Machine;
use strata_gpu::results::{Breakdown, By, RunResult};

use crate::table::{Cells, numbers};

/// Counters that are shown where none are asked for.
const MOST: usize = 20;

/// Least mean of a counter that is shown unasked: of few events, all are unequal.
const LEAST_MEAN: f64 = 10.0;

/// What to break down, and what to show of it.
#[derive(Args)]
pub struct BreakdownArguments {
    /// Break counters down by `sm`, `slice` (of the last-level cache), `channel` or `launch`: prints those that differ most, and
    /// writes all with `--json`. May be repeated.
    #[arg(long, value_name = "PART")]
    pub by: Vec<By>,
    /// Show this counter of each part instead, such as `l2.read_misses`. May be repeated.
    #[arg(long = "count", value_name = "GROUP.COUNTER", requires = "by")]
    counts: Vec<String>,
}

impl BreakdownArguments {
    /// Checks the counters' names.
    ///
    /// # Errors
    /// The counter that the machine does not have.
    pub fn check(&self, machine: &Machine) -> Result<(), String> {
        if self.counts.is_empty() {
            return Ok(());
        }
        let groups = catalogue::statistics(machine)?;
        let known: Vec<String> = groups
            .iter()
            .flat_map(|group| {
                group.definitions.iter().map(|counter| format!("{}.{}", group.name, counter.name))
            })
            .collect();
        let Some(count) = self.counts.iter().find(|count| !known.contains(count)) else { return Ok(()) };
        let hint = did_you_mean(count, known.iter().map(String::as_str));
        Err(format!("--count {count}: found no such counter on {}{hint}", machine.name()))
    }

    /// What was asked for, as text.
    pub fn text(&self, result: &RunResult) -> String {
        let text = |breakdown: &Breakdown| match self.counts.is_empty() {
            true => unequal(breakdown),
            false => of_each(breakdown, &self.counts),
        };
        result.breakdowns.iter().map(text).collect()
    }
}

/// The counters asked for, of each part.
fn of_each(breakdown: &Breakdown, counts: &[String]) -> String {
    let columns: Vec<Vec<Option<u64>>> = counts.iter().map(|count| breakdown.counter(count)).collect();
    let heads = std::iter::once(format!("by {}", breakdown.by)).chain(counts.iter().cloned());
    let mut lines: Vec<Cells> = vec![heads.collect()];
    for (index, part) in breakdown.parts.iter().enumerate() {
        let value =
            |column: &Vec<Option<u64>>| column[index].map_or("-".to_owned(), |value| value.to_string());
        lines.push(std::iter::once(part.name.clone()).chain(columns.iter().map(value)).collect());
    }
    format!("\n{}", numbers(&lines, 1, None))
}

/// A counter that parts have more or less of.
struct Unequal {
    path: String,
    mean: f64,
    least: u64,
    most: u64,
    /// Which part has most.
    place: usize,
}

/// The counters of which one part has most over the mean.
fn unequal(breakdown: &Breakdown) -> String {
    let mut found: Vec<Unequal> = breakdown
        .paths()
        .into_iter()
        .filter_map(|path| {
            let values: Vec<u64> = breakdown.counter(&path).into_iter().flatten().collect();
            let place = (0..values.len()).max_by_key(|place| (values[*place], usize::MAX - place))?;
            let (most, least) = (values[place], *values.iter().min()?);
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            (values.len() > 1 && most > least && mean >= LEAST_MEAN).then_some(Unequal {
                path,
                mean,
                least,
                most,
                place,
            })
        })
        .collect();
    let over = |counter: &Unequal| counter.most as f64 / counter.mean;
    found.sort_by(|one, other| over(other).total_cmp(&over(one)).then_with(|| one.path.cmp(&other.path)));
    let by = breakdown.by;
    if found.is_empty() {
        return format!("\nby {by}: {} of them, all alike\n", breakdown.parts.len());
    }
    let heads =
        [format!("by {by}"), "least".into(), "mean".into(), "most".into(), "most / mean".into(), "at".into()];
    let line = |counter: &Unequal| {
        vec![
            counter.path.clone(),
            counter.least.to_string(),
            format!("{:.1}", counter.mean),
            counter.most.to_string(),
            format!("{:.2}", over(counter)),
            breakdown.parts[counter.place].name.clone(),
        ]
    };
    let lines: Vec<Cells> =
        std::iter::once(heads.to_vec()).chain(found.iter().take(MOST).map(line)).collect();
    let rest = match found.len().saturating_sub(MOST) {
        0 => String::new(),
        rest => format!("  and {rest} more that differ; --count {} shows one of each {by}\n", found[0].path),
    };
    format!("\n{}{rest}", numbers(&lines, 1, None))
}
