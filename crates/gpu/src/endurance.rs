//! Lifetime of memory cells that wear out, computed from writes, time and cell endurance.
//!
//! A design with such cells counts all writes to its array, and the writes of the most-written line with a
//! counter marked `[maximum]`. A machine or system names both counters in its `endurance` section.

use strata_engine::statistics::{Group, Mark};

use crate::machine::{ArraySection, Machine};

/// How long an array lasts if the run repeats forever.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifetime {
    /// Name of the structure in the `endurance` section.
    pub structure: String,
    /// Writes to all lines, over all instances.
    pub writes: u64,
    /// Writes to the most-written line.
    pub hottest_line_writes: u64,
    /// Mean writes per line.
    pub mean_line_writes: f64,
    /// Seconds until the most-written line wears out; infinite if nothing is written.
    pub hottest_seconds: f64,
    /// Seconds until all lines wear out if writes are spread evenly over them.
    pub levelled_seconds: f64,
}

/// Seconds until a line has taken `cell_writes` writes, at a rate of `writes` writes in `seconds` seconds.
pub fn lifetime_seconds(writes: f64, seconds: f64, cell_writes: f64) -> f64 {
    if writes > 0.0 { cell_writes / writes * seconds } else { f64::INFINITY }
}

impl ArraySection {
    /// Values of both counters: all writes, and those of the most-written line. The error names the key.
    fn count(&self, groups: &[Group]) -> Result<(u64, u64), String> {
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
        let writes = counter("writes", &self.writes, None)?;
        Ok((writes, counter("hottest", &self.hottest, Some(Mark::Maximum))?))
    }
}

/// The lifetimes of a machine's arrays that wear out, after `cycles` core cycles.
///
/// # Errors
/// An `endurance` section that names no counter of the machine; the error gives file, key, what was found and
/// what was expected.
pub fn lifetimes(machine: &Machine, groups: &[Group], cycles: u64) -> Result<Vec<Lifetime>, String> {
    let seconds = cycles as f64 / (f64::from(*machine.file().clocks.core_mhz) * 1e6);
    let lifetime = |(name, section): (&String, &ArraySection)| {
        let (writes, hottest) = section
            .count(groups)
            .map_err(|error| format!("{}: endurance.{name}.{error}", machine.origin()))?;
        let lines = *section.lines * section.per.instances(&machine.file().gpu);
        let mean = writes as f64 / lines as f64;
        Ok(Lifetime {
            structure: name.clone(),
            writes,
            hottest_line_writes: hottest,
            mean_line_writes: mean,
            hottest_seconds: lifetime_seconds(hottest as f64, seconds, *section.cell_writes),
            levelled_seconds: lifetime_seconds(mean, seconds, *section.cell_writes),
        })
    };
    machine.file().endurance.iter().map(lifetime).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use strata_engine::statistics::Statistics;

    use super::*;
    use crate::machine::builtin;

    strata_engine::statistics! {
        /// Counters of an array of the test.
        pub struct ArrayStatistics: "array" {
            /// Writes to any line.
            array_writes: "writes",
            /// Writes of the line written most.
            hottest_line_writes: "writes" [maximum],
        }
        laws {
            "hottest_line_writes <= array_writes": |s| s.hottest_line_writes <= s.array_writes,
        }
    }

    strata_engine::statistics! {
        /// Counters of something else.
        pub struct OtherStatistics: "other" {
            /// Accesses of any kind.
            accesses: "accesses",
        }
        laws {}
    }

    fn machine(section: &str) -> Result<Machine, String> {
        let text = format!("{}\n{section}", builtin()[0].text);
        Machine::parse(Path::new("m.toml"), &text, &[]).map_err(|error| error.to_string())
    }

    const SECTION: &str = r#"
[endurance.l1d]
counts = "array"
writes = "array_writes"
hottest = "hottest_line_writes"
per = "sm"
lines = { value = 512, source = "test" }
cell_writes = { value = 1e12, source = "test" }
"#;

    /// Counts of 15 SMs: 1000 writes each, with 7, 8, 9, ... of them to the most-written line.
    fn groups() -> Vec<Group> {
        let mut groups = Vec::new();
        for sm in 0..15 {
            let counted = ArrayStatistics { array_writes: 1000, hottest_line_writes: 7 + sm };
            crate::results::merge_groups(&mut groups, vec![counted.report()]);
        }
        groups
    }

    #[test]
    fn the_hottest_line_wears_out_first() {
        let machine = machine(SECTION).unwrap();
        // 700 cycles at 700 MHz are a microsecond.
        let lifetime = lifetimes(&machine, &groups(), 700).unwrap().remove(0);
        assert_eq!((lifetime.writes, lifetime.hottest_line_writes), (15_000, 21));
        assert_eq!(lifetime.mean_line_writes, 15_000.0 / (15.0 * 512.0));
        // At 21 writes per microsecond, 1e12 writes take 47,619 seconds.
        assert!((lifetime.hottest_seconds - 1e6 / 21.0).abs() < 1e-6, "{lifetime:?}");
        assert!((lifetime.levelled_seconds - 1e6 * 15.0 * 512.0 / 15_000.0).abs() < 1e-6, "{lifetime:?}");
    }

    #[test]
    fn what_is_not_written_lasts_for_ever() {
        assert_eq!(lifetime_seconds(0.0, 1.0, 1e12), f64::INFINITY);
        assert_eq!(lifetime_seconds(2.0, 1.0, 1e12), 5e11);
    }

    #[test]
    fn mistakes_are_named() {
        for (found, replaced, message) in [
            (
                "counts = \"array\"",
                "counts = \"other\"",
                "writes: found `array_writes`, expected a counter of `other`",
            ),
            ("\"array_writes\"", "\"writes\"", "writes: found `writes`, expected a counter of `array`"),
            (
                "\"hottest_line_writes\"",
                "\"array_writes\"",
                "hottest: found `array_writes`, expected a counter marked as a maximum of `array`",
            ),
        ] {
            let machine = machine(&SECTION.replace(found, replaced)).unwrap();
            let mut groups = groups();
            groups.push(OtherStatistics::default().report());
            let error = lifetimes(&machine, &groups, 700).unwrap_err();
            assert_eq!(error, format!("m.toml: endurance.l1d.{message}"));
        }
        let error = machine(&SECTION.replace("512", "0")).unwrap_err();
        assert!(error.ends_with(": endurance.l1d.lines: found 0, expected at least 1"), "{error}");
        let error = machine(&SECTION.replace("1e12", "-1.0")).unwrap_err();
        assert!(error.ends_with(": endurance.l1d.cell_writes: found -1, expected at least 1"), "{error}");
    }
}
