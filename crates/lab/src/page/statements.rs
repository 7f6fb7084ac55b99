//! What a paper's text says of programs by name, as a table: a row for each program, with what was measured of it.

use maud::{Markup, html};

use crate::claims::statement::{OfProgram, Statement};
use crate::report::number;

/// The sentences, each with its programs.
pub fn of_programs(statements: &[Statement]) -> Markup {
    html! {
        p.note {
            "The programs' own numbers, as the text has them only in words. A mean of others is that of the programs that the "
            "sentence does not name."
        }
        div.scroll tabindex="0" role="group" aria-label="What the text says of named programs" {
            table data-title="What the text says of named programs" {
                thead { tr { th { "program" } th { "measured" } th { "so it should be" } th { "which" } } }
                @for statement in statements {
                    tbody {
                        tr { td.words colspan="4" { (statement.says) " (" (statement.source) ") " (statement.what) "." } }
                        @for of in &statement.programs { (row(statement, of)) }
                    }
                }
            }
        }
    }
}

fn row(statement: &Statement, of: &OfProgram) -> Markup {
    let side = if of.above { "above" } else { "below" };
    html! {
        tr {
            td { (of.program) }
            @match &of.value {
                Ok(value) => { td data-value=(value.to_string()) { (number(*value)) " " (statement.unit) } }
                Err(reason) => { td.missing title=(reason) { "not measured" } }
            }
            td { @if let Ok(limit) = &of.limit { (side) " " (number(*limit)) } }
            td.words { (of.verdict()) }
        }
    }
}
