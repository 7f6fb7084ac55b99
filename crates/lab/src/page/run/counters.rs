//! Counters of a run as a table, with unit and meaning of each.

use maud::{Markup, html};
use strata_engine::statistics::Array;

use super::super::meanings::Meanings;
use super::super::run_numbers::grouped;
use crate::record::{Record, Row, Value};
use crate::report::number;

/// The counters of a group as a table, without those of arrays; `None` if there are none.
pub fn counters(record: &Record, group: &str, meanings: &Meanings) -> Option<Markup> {
    let names = record.numbers().counters(group);
    let arrays = Array::among(&names);
    let is_of_array =
        |place: usize| arrays.iter().any(|array| (array.first..array.first + array.length).contains(&place));
    let rows: Vec<&Row> =
        record.rows.iter().filter(|row| row.launch.is_none() && row.group == group).collect();
    let single: Vec<&&Row> =
        rows.iter().enumerate().filter(|(place, _)| !is_of_array(*place)).map(|(_, row)| row).collect();
    (!single.is_empty()).then(|| {
        html! {
            div.scroll tabindex="0" role="group" aria-label=(format!("counters of {group}")) {
                table.counters data-title=(format!("counters of {group}")) {
                    thead { tr { th { "counter" } th { "value" } th.words { "unit" } th.words { "meaning" } } }
                    tbody {
                        @for row in single {
                            @let (unit, meaning) = meanings.get(&row.group, &row.counter);
                            tr.zero[row.value.as_f64() == 0.0] {
                                td { (row.counter) }
                                (value(&row.counter, row.value))
                                td.words { (unit) }
                                td.words.meaning { (meaning) }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// A value as a cell, with all its digits.
pub fn value(counter: &str, value: Value) -> Markup {
    html! {
        @match value {
            Value::Count(hash) if counter == "statistics_hash" => { td { code { (format!("{hash:016x}")) } } }
            Value::Count(count) => { td data-value=(count.to_string()) { (grouped(count)) } }
            Value::Real(real) => { td data-value=(real.to_string()) { (number(real)) } }
        }
    }
}
