//! A paper's page, around what the lab shows of it: other sizes, and figures by themselves.

use std::collections::BTreeSet;

use maud::{Markup, html};
use strata_lab::page::Parts;
use strata_lab::paper::Paper;
use strata_workloads::Size;

use super::list::address;

/// Whether a paper has a figure or table of that number.
pub fn has_part(paper: &Paper, number: &str) -> bool {
    parts(paper).any(|(id, _)| id == number)
}

/// Numbers of a paper's figures and tables, with what they are called.
fn parts(paper: &Paper) -> impl Iterator<Item = (&str, String)> {
    let figures = paper.figures.iter().map(|figure| (figure.id.as_str(), format!("Fig. {}", figure.id)));
    let tables = paper.tables.iter().map(|table| table.id.as_str());
    let lists = paper.lists.iter().map(|list| list.id.as_str());
    figures.chain(tables.chain(lists).map(|id| (id, format!("Table {id}"))))
}

/// Other sizes at which the store has results, and the figures and tables by themselves, with their own runs.
pub fn choice(paper: &Paper, size: Size, figure: Option<&str>, held: &BTreeSet<Size>) -> Markup {
    let sizes: Vec<Size> = Size::ALL
        .into_iter()
        .filter(|other| {
            *other == size || (held.contains(other) && (*other == Size::Test || paper.sizes.contains(other)))
        })
        .collect();
    let path = format!("/paper/{}", paper.name);
    let to = |size: Size, figure: &str| address(&path, &[("size", size.name()), ("figure", figure)]);
    html! {
        div.choices {
            @if sizes.len() > 1 {
                nav aria-label="Size of the inputs" {
                    span { "Size" }
                    @for other in sizes {
                        a href=(to(other, figure.unwrap_or_default())) aria-current=[(other == size).then_some("page")] { (other) }
                    }
                }
            }
            details open[figure.is_some()] {
                summary { "One figure with its runs" }
                nav aria-label="Figures by themselves" {
                    a href=(to(size, "")) aria-current=[figure.is_none().then_some("page")] { "All" }
                    @for (id, name) in parts(paper) {
                        a href=(to(size, id)) aria-current=[(figure == Some(id)).then_some("page")] { (name) }
                    }
                }
            }
        }
    }
}

/// The page.
pub fn markup(choice: &Markup, parts: &Parts, problem: Option<&str>, simulator: Option<&str>) -> Markup {
    html! {
        (choice)
        @if let Some(problem) = problem { p.note.problem { (problem) } }
        @match simulator {
            None => {},
            Some("any") => p.note { "Results of any version of the simulator." },
            Some(version) => p.note { "Results of version " code { (version) } " of the simulator." },
        }
        (parts.body)
    }
}

/// What is seen until the page is made.
pub fn waiting(choice: &Markup) -> Markup {
    html! {
        (choice)
        section { p.note { "The numbers are being looked up. They appear here in a moment." } }
    }
}
