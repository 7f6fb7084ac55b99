//! The launches of a run, by page.

use maud::{Markup, html};

use super::counters::value;
use crate::record::{Record, Row};

/// Most launches that a page lists.
pub const LAUNCHES: usize = 100;

/// The launches of a part as a table; `None` for a run without any.
pub fn launches(record: &Record, part: usize, address: &dyn Fn(usize) -> String) -> Option<Markup> {
    let rows: Vec<&Row> = record.rows.iter().filter(|row| row.launch.is_some()).collect();
    let all: Vec<&[&Row]> = rows.chunk_by(|one, other| one.launch == other.launch).collect();
    let parts = all.len().div_ceil(LAUNCHES);
    let part = part.min(parts.checked_sub(1)?);
    let shown: Vec<&&[&Row]> = all.iter().skip(part * LAUNCHES).take(LAUNCHES).collect();
    let mut columns: Vec<&str> = Vec::new();
    for row in shown.iter().flat_map(|rows| rows.iter()) {
        if !columns.contains(&row.counter.as_str()) {
            columns.push(&row.counter);
        }
    }
    let cell =
        |rows: &[&Row], column: &str| rows.iter().find(|row| row.counter == column).map(|row| row.value);
    Some(html! {
        div.scroll tabindex="0" role="group" aria-label="launches" {
            table.sort data-title="launches" {
                thead {
                    tr { th { "launch" } th.words { "kernel" } @for column in &columns { th { (column.replace('_', " ")) } } }
                }
                tbody {
                    @for rows in shown {
                        tr {
                            td { (rows[0].launch.unwrap_or_default()) }
                            td.words { (rows[0].group) }
                            @for column in &columns {
                                @match cell(rows, column) { Some(found) => (value(column, found)), None => { td {} } }
                            }
                        }
                    }
                }
            }
        }
        (pages(part, parts, "Launches", address))
    })
}

/// Links to the first, the previous, the next and the last part of a list; nothing if it has one.
#[must_use]
pub fn pages(part: usize, parts: usize, of: &str, address: &dyn Fn(usize) -> String) -> Markup {
    let steps = [
        ("First", 0, part > 0),
        ("Previous", part.saturating_sub(1), part > 0),
        ("Next", part + 1, part + 1 < parts),
        ("Last", parts.saturating_sub(1), part + 1 < parts),
    ];
    html! {
        @if parts > 1 {
            nav.pages aria-label=(format!("{of}, by page")) {
                @for (name, to, goes) in steps {
                    @if goes { a href=(address(to)) { (name) } } @else { span aria-hidden="true" { (name) } }
                }
                span.note { "Page " (part + 1) " of " (parts) }
            }
        }
    }
}
