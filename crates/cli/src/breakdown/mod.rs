//! Counters by part of the machine, launch, line, CTA or buffer, as `strata run --by` prints them, and kernels with what is charged to their lines.

mod annotate;
mod charged;
mod levels;
mod queues;
mod unequal;

use clap::Args;
use strata_engine::config::did_you_mean;
use strata_gpu::catalogue;
use strata_gpu::machine::Machine;
use strata_gpu::results::{Breakdown, By, Key, RunResult, charged_groups};

use crate::table::{Cells, numbers};

/// What to break down, and what to show of it.
#[derive(Args)]
pub struct BreakdownArguments {
    /// Break counters down by `sm`, `slice` (of the last-level cache), `channel` or `launch`, and print those that differ most; or by
    /// `line` (of PTX), `instruction` (that the assembler made of it), `cta` or `buffer`,
    /// and print which have most; or by `level` (of the hierarchy), and print how long each takes to serve a load; or by `queue`, and print how full queues and MSHRs are. Writes all with `--json`. May be repeated.
    #[arg(long, value_name = "PART")]
    by: Vec<By>,
    /// Print each kernel's PTX with what each line costs: issue slots, why they were lost, and which level served its accesses; and below
    /// each line the instructions that it has become, if it is not one.
    #[arg(long)]
    annotate: bool,
    /// Show this counter of each part instead, such as `l2.read_misses`. May be repeated.
    #[arg(long = "count", value_name = "GROUP.COUNTER", requires = "by")]
    counts: Vec<String>,
}

impl BreakdownArguments {
    /// What a run is broken down by.
    pub fn by(&self) -> Vec<By> {
        let annotated = [By::Line, By::Instruction].into_iter().filter(|_| self.annotate);
        self.by.iter().copied().chain(annotated).collect()
    }

    /// Checks the counters' names.
    ///
    /// # Errors
    /// The counter that the machine does not have.
    pub fn check(&self, machine: &Machine) -> Result<(), String> {
        if self.counts.is_empty() {
            return Ok(());
        }
        let mut groups = catalogue::statistics(machine)?;
        groups.extend(self.by.iter().flat_map(|by| charged_groups(*by)));
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

    /// What was asked for, as text, of a program whose module has this text.
    pub fn text(&self, result: &RunResult, ptx: &str) -> String {
        let asked = result.breakdowns.iter().filter(|breakdown| self.by.contains(&breakdown.by));
        let tables = asked.map(|breakdown| match (self.counts.is_empty(), breakdown.by.key()) {
            (false, _) => of_each(breakdown, &self.counts),
            (true, Some(Key::Whole)) => levels::text(breakdown),
            (true, None) if breakdown.by == By::Queue => queues::text(breakdown),
            (true, None) => unequal::text(breakdown),
            (true, Some(key)) => charged::text(breakdown, key),
        });
        let annotated = self.annotate.then(|| {
            let of = |by| result.breakdowns.iter().find(|breakdown| breakdown.by == by);
            Some(annotate::text(of(By::Line)?, of(By::Instruction)?, ptx))
        });
        tables.chain(annotated.flatten()).collect()
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
