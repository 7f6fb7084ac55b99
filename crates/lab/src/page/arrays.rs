//! What a run has beside single numbers: arrays of counters as heat maps, and lifetimes with their arithmetic.

use maud::{Markup, html};
use strata_engine::statistics::Array;
use strata_gpu::endurance::{Wear, arithmetic};

use crate::record::{LIFETIME, Record};
use crate::report::number;

/// The arrays and lifetimes of a run on a system, folded up; nothing if it has neither.
pub fn of_run(system: &str, record: &Record) -> Markup {
    let (maps, lifetimes) = (maps(record), lifetimes(record));
    let mut parts: Vec<&str> = maps.iter().map(|map| map.group).collect();
    parts.dedup();
    if !lifetimes.is_empty() {
        parts.push("lifetime");
    }
    html! {
        @if !parts.is_empty() {
            details.arrays {
                summary { (record.job.workload) ": " (parts.join(", ").replace('_', " ")) }
                @for line in &lifetimes { p.note { (line) } }
                @if !maps.is_empty() {
                    div.heats { @for map in &maps { (map.markup(&record.job.workload, system)) } }
                }
            }
        }
    }
}

/// The counters of an array.
struct Map<'a> {
    group: &'a str,
    array: &'a str,
    /// Name and value of each counter.
    counters: Vec<(&'a str, f64)>,
}

fn maps(record: &Record) -> Vec<Map<'_>> {
    let mut maps = Vec::new();
    for group in record.groups() {
        let names = record.numbers().counters(group);
        let value = |name: &str| record.get(group, name).map_or(0.0, |value| value.as_f64());
        for array in Array::among(&names) {
            let names = &names[array.first..array.first + array.length];
            let counters = names.iter().map(|name| (*name, value(name))).collect();
            maps.push(Map { group, array: array.name, counters });
        }
    }
    maps
}

impl Map<'_> {
    /// The numbers, of which the page's script draws a map when a reader unfolds them: shaded from 0 to the greatest value,
    /// so that even arrays look even. A page has some hundred thousand of them; drawn here, they would take ten times the
    /// room.
    fn markup(&self, workload: &str, system: &str) -> Markup {
        let values = || self.counters.iter().map(|(_, value)| *value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let mean = values().sum::<f64>() / self.counters.len() as f64;
        let title = format!("{workload} on {system}: {}.{}", self.group, self.array);
        let first = self.counters.first().map_or("", |(name, _)| *name);
        let numbers: Vec<String> = values().map(|value| value.to_string()).collect();
        html! {
            div.heat.array {
                table data-title=(title) data-short=(self.array) data-first=(format!("{}.{first}", self.group)) {
                    caption {
                        (self.array) " "
                        span.note { (least) " to " (most) ", " (number(mean)) " on average" }
                    }
                    tbody { tr { td { (numbers.join(" ")) } } }
                }
            }
        }
    }
}

/// A sentence for each lifetime of a run, with its arithmetic.
fn lifetimes(record: &Record) -> Vec<String> {
    let value = |group: &str, counter: &str| record.get(group, counter).map(|value| value.as_f64());
    let of = |group: &str, wear: Wear| {
        let writes = value(group, &format!("{}_writes", wear.name()))?;
        let seconds = value("run", "cycles")? / (value("run", "core_mhz")? * 1e6);
        let lasts = arithmetic(writes, seconds, value(group, "cell_writes")?);
        let structure = group.strip_prefix(LIFETIME)?.replace('_', " ");
        Some(format!("Lifetime of {structure}: {lasts}, for {}", wear.meaning()))
    };
    let groups = record.groups();
    let groups = groups.iter().filter(|group| group.starts_with(LIFETIME));
    groups.flat_map(|group| Wear::ALL.into_iter().filter_map(|wear| of(group, wear))).collect()
}

#[cfg(test)]
mod tests {
    use strata_workloads::Size;

    use super::*;
    use crate::job::Job;
    use crate::record::{Row, Value};

    fn record(rows: &[(&str, String, f64)]) -> Record {
        let row = |(group, counter, value): &(&str, String, f64)| Row {
            launch: None,
            group: (*group).to_owned(),
            counter: counter.clone(),
            value: Value::Real(*value),
        };
        let job = Job::profile("saxpy", Size::Test).unwrap();
        Record { job, rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn an_array_has_every_number_and_the_name_of_the_first() {
        let mut rows: Vec<(&str, String, f64)> =
            (0..40).map(|bank| ("made_up", format!("bank_{bank:02}"), f64::from(bank) * 10.0)).collect();
        rows.push(("made_up", "reads".into(), 7.0));
        let page = of_run("a-system", &record(&rows)).into_string();
        assert_eq!((page.matches("<table").count(), page.matches("<td").count()), (1, 1));
        let head = "<table data-title=\"saxpy on a-system: made_up.bank\" data-short=\"bank\" data-first=\"made_up.bank_00\">";
        assert!(page.contains(head), "{page}");
        let numbers: Vec<String> = (0..40).map(|bank| (bank * 10).to_string()).collect();
        assert!(page.contains(&format!("<td>{}</td>", numbers.join(" "))), "{page}");
        assert!(page.contains("0 to 390, 195.0 on average"), "{page}");
        assert!(page.contains("<summary>saxpy: made up</summary>") && !page.contains("reads"), "{page}");
    }

    #[test]
    fn an_array_takes_few_bytes_a_number() {
        let rows = |banks: u32| -> Vec<(&'static str, String, f64)> {
            (0..banks).map(|bank| ("made_up", format!("bank_{bank:04}"), 12345.0)).collect()
        };
        let length = |banks: u32| of_run("a-system", &record(&rows(banks))).into_string().len();
        assert_eq!(length(2000) - length(1000), 6 * 1000);
    }

    #[test]
    fn a_run_without_arrays_shows_nothing() {
        assert_eq!(of_run("a-system", &record(&[("run", "cycles".into(), 1.0)])).into_string(), "");
    }

    #[test]
    fn a_lifetime_shows_its_arithmetic() {
        let rows = [
            ("run", "cycles".to_owned(), 700.0),
            ("run", "core_mhz".to_owned(), 700.0),
            ("lifetime.register_file", "cell_writes".to_owned(), 1e12),
            ("lifetime.register_file", "hottest_writes".to_owned(), 21.0),
            ("lifetime.register_file", "hottest_months".to_owned(), 0.018),
        ];
        let page = of_run("a-system", &record(&rows)).into_string();
        let line = "Lifetime of register file: 1e12 / (21 writes / 1.000e-6 s) = 13.2 hours, for the most-written line";
        assert!(page.contains(line), "{page}");
        assert_eq!(page.matches("Lifetime of").count(), 1);
    }
}
