//! Self-contained HTML pages: no scripts and no other files.

use std::fmt::Write;

use super::number;
use crate::grid::Grid;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1500px;margin:2em auto;padding:0 1em;color:#1f2937}\
h2{margin-top:2.5em;border-top:1px solid #e5e7eb;padding-top:1em}\
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}\
th,td{padding:.15em .7em;border-bottom:1px solid #e5e7eb;text-align:right}\
th:first-child,td:first-child,.words{text-align:left}\
tr.mean td{font-weight:600}td.missing{color:#9ca3af}\
.claims{width:100%}.claims td:first-child{font-family:ui-monospace,monospace;font-size:.9em}\
.claims tr:has(+.why) td{border-bottom:0}.why td{padding-bottom:.6em}\
.claims td:nth-child(n+3):not(.note){white-space:nowrap}\
summary{cursor:pointer;color:#4b5563}.contents a{margin-left:.5em}a{color:#2563eb}\
.figure svg{max-width:100%;height:auto}\
.reproduced{color:#15803d;font-weight:600}.direction{color:#b45309;font-weight:600}\
.far{color:#c2410c;font-weight:600}.contradicted{color:#b91c1c;font-weight:600}.not-measured{color:#6b7280}\
.note{color:#4b5563;font-size:.92em}";

/// A whole page with title and body.
#[must_use]
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}</body></html>\n"
    )
}

/// A grid as an HTML table, followed by why numbers are missing.
#[must_use]
pub fn grid(grid: &Grid) -> String {
    table(grid) + &missing(grid)
}

/// A grid as an HTML table.
#[must_use]
pub fn table(grid: &Grid) -> String {
    let mut text = String::from("<table><tr><th></th>");
    for column in &grid.columns {
        write!(text, "<th>{}</th>", escape(column)).expect("a string grows");
    }
    text += "</tr>\n";
    for (place, (name, cells)) in grid.lines().enumerate() {
        let class = if place < grid.rows.len() { "" } else { " class=\"mean\"" };
        write!(text, "<tr{class}><td>{}</td>", escape(name)).expect("a string grows");
        for cell in cells {
            match cell {
                Ok(value) => write!(text, "<td>{}</td>", number(*value)),
                Err(reason) if reason.is_empty() => write!(text, "<td></td>"),
                Err(reason) => {
                    write!(text, "<td class=\"missing\" title=\"{}\">not measured</td>", escape(reason))
                }
            }
            .expect("a string grows");
        }
        text += "</tr>\n";
    }
    text + "</table>\n"
}

/// Why numbers of a grid are missing, as HTML.
#[must_use]
pub fn missing(grid: &Grid) -> String {
    let note = |(reason, cells): (String, usize)| {
        format!("<p class=\"note\">Not measured ({cells}): {}</p>\n", escape(&reason))
    };
    grid.reasons().into_iter().map(note).collect()
}

/// Escapes text for HTML.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
