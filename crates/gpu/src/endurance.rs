//! Lifetime of memory cells that wear out, computed from writes, time and cell endurance.
//!
//! A design with such cells counts all writes to its array, and the writes of the most-written line with a
//! counter marked `[maximum]`. A machine or system names both counters in its `endurance` section.

#[cfg(test)]
mod tests;

use strata_engine::statistics::{Group, Mark};

use crate::machine::{ArraySection, Machine};

/// How long an array lasts if the run repeats forever.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifetime {
    /// Name of the structure in the `endurance` section.
    pub structure: String,
    /// Writes to all lines, over all instances.
    pub writes: u64,
    /// Writes that a cell endures.
    pub cell_writes: f64,
    /// Seconds that the run takes.
    pub run_seconds: f64,
    /// The writes of the cells that wear out first, for each way to look at it that the section allows.
    pub readings: Vec<Reading>,
}

/// Which cells wear out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wear {
    /// Those of the most-written line.
    Hottest,
    /// Those of the most-written bank, if its writes were spread evenly over its entries.
    Bank,
    /// All at once, if all writes were spread evenly over all lines.
    Levelled,
}

impl Wear {
    /// All of them.
    pub const ALL: [Wear; 3] = [Wear::Hottest, Wear::Bank, Wear::Levelled];

    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Wear::Hottest => "hottest",
            Wear::Bank => "bank",
            Wear::Levelled => "levelled",
        }
    }

    /// The cells, and the assumption, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Wear::Hottest => "the most-written line",
            Wear::Bank => {
                "an entry of the most-written bank, if its writes were spread evenly over its entries"
            }
            Wear::Levelled => "any line, if all writes were spread evenly over all lines",
        }
    }
}

/// How often the cells are written that wear out first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Which cells.
    pub wear: Wear,
    /// Writes of each of them in the run.
    pub writes: f64,
}

impl Lifetime {
    /// The reading of one kind, if the array's section allows it.
    pub fn reading(&self, wear: Wear) -> Option<Reading> {
        self.readings.iter().find(|reading| reading.wear == wear).copied()
    }

    /// Seconds until the cells of a reading are worn out; infinite if they are not written.
    pub fn seconds(&self, reading: Reading) -> f64 {
        lifetime_seconds(reading.writes, self.run_seconds, self.cell_writes)
    }

    /// The calculation of a reading's lifetime, with its result.
    pub fn arithmetic(&self, reading: Reading) -> String {
        arithmetic(reading.writes, self.run_seconds, self.cell_writes)
    }
}

/// Seconds in a month, a twelfth of a year of 365.25 days.
pub const MONTH: f64 = 365.25 * 24.0 * 3600.0 / 12.0;

/// Seconds until a line has taken `cell_writes` writes, at a rate of `writes` writes in `seconds` seconds;
/// infinite if there are no writes.
pub fn lifetime_seconds(writes: f64, seconds: f64, cell_writes: f64) -> f64 {
    if writes > 0.0 { cell_writes / writes * seconds } else { f64::INFINITY }
}

/// The calculation of [`lifetime_seconds`], with its result: `1e12 / (21 writes / 1e-6 s) = 13.2 hours`.
pub fn arithmetic(writes: f64, seconds: f64, cell_writes: f64) -> String {
    let lasts = in_words(lifetime_seconds(writes, seconds, cell_writes));
    if writes > 0.0 {
        let writes = if writes.fract() == 0.0 { writes.to_string() } else { format!("{writes:.3}") };
        format!("{cell_writes:e} / ({writes} writes / {seconds:.3e} s) = {lasts}")
    } else {
        format!("{lasts}: no writes")
    }
}

/// A time in its largest unit of which there is at least one, up to two years in months.
fn in_words(seconds: f64) -> String {
    const HOUR: f64 = 3600.0;
    if seconds.is_infinite() {
        return "without end".into();
    }
    let units =
        [(24.0 * MONTH, 12.0 * MONTH, "years"), (MONTH, MONTH, "months"), (24.0 * HOUR, 24.0 * HOUR, "days")];
    let shorter = [(HOUR, HOUR, "hours"), (60.0, 60.0, "minutes"), (0.0, 1.0, "seconds")];
    let mut units = units.into_iter().chain(shorter);
    let (_, unit, name) = units.find(|(from, ..)| seconds >= *from).unwrap_or((0.0, 1.0, "seconds"));
    let count = seconds / unit;
    if count < 1e5 { format!("{count:.1} {name}") } else { format!("{count:.3e} {name}") }
}

/// Values of an array's counters.
struct Counts {
    writes: u64,
    hottest: u64,
    hottest_bank: Option<u64>,
}

impl ArraySection {
    /// Values of the counters. The error names the key.
    fn count(&self, groups: &[Group]) -> Result<Counts, String> {
        let group = groups.iter().find(|group| group.name == self.counts).ok_or_else(|| {
            let known: Vec<&str> = groups.iter().map(|group| group.name).collect();
            format!("counts: found `{}`, expected one of {}", self.counts, known.join(", "))
        })?;
        let counter = |key: &str, name: &str, mark: Option<Mark>| {
            group
                .definitions
                .iter()
                .zip(&group.values)
                .filter(|(definition, _)| mark.is_none_or(|mark| definition.mark == mark))
                .find(|(definition, _)| definition.name == name)
                .map(|(_, value)| *value)
                .ok_or_else(|| {
                    let what = if mark.is_some() { "a counter marked as a maximum" } else { "a counter" };
                    format!("{key}: found `{name}`, expected {what} of `{}`", group.name)
                })
        };
        let greatest = |key: &str, name: &str| counter(key, name, Some(Mark::Maximum));
        Ok(Counts {
            writes: counter("writes", &self.writes, None)?,
            hottest: greatest("hottest", &self.hottest)?,
            hottest_bank: self
                .hottest_bank
                .as_ref()
                .map(|name| greatest("hottest_bank", name))
                .transpose()?,
        })
    }

    /// Writes of the cells that wear out first, for each way to look at it that the section allows.
    fn readings(&self, counts: &Counts, instances: u64) -> Vec<Reading> {
        let mut readings = vec![Reading { wear: Wear::Hottest, writes: counts.hottest as f64 }];
        if let (Some(writes), Some(entries)) = (counts.hottest_bank, &self.entries) {
            readings.push(Reading { wear: Wear::Bank, writes: writes as f64 / **entries as f64 });
        }
        if let Some(lines) = &self.lines {
            let lines = **lines as f64 * instances as f64;
            readings.push(Reading { wear: Wear::Levelled, writes: counts.writes as f64 / lines });
        }
        readings
    }
}

/// The lifetimes of a machine's arrays that wear out, after `cycles` core cycles.
///
/// # Errors
/// An `endurance` section that names no counter of the machine; the error gives file, key, what was found and
/// what was expected.
pub fn lifetimes(machine: &Machine, groups: &[Group], cycles: u64) -> Result<Vec<Lifetime>, String> {
    let run_seconds = cycles as f64 / (f64::from(*machine.file().clocks.core_mhz) * 1e6);
    let lifetime = |(name, section): (&String, &ArraySection)| {
        let counts = section
            .count(groups)
            .map_err(|error| format!("{}: endurance.{name}.{error}", machine.origin()))?;
        let instances = section.per.instances(&machine.file().gpu);
        Ok(Lifetime {
            structure: name.clone(),
            writes: counts.writes,
            cell_writes: *section.cell_writes,
            run_seconds,
            readings: section.readings(&counts, instances),
        })
    };
    machine.file().endurance.iter().map(lifetime).collect()
}
