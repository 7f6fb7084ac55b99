//! Pages: one HTML file each, with style, script and drawings inside; nothing is loaded.

mod arrays;
mod bandwidth;
mod bars;
mod chart;
mod claims;
mod colour;
mod comparison;
mod difference;
mod each;
mod energies;
mod heat;
mod kernel;
mod latencies;
mod levels;
mod lines;
mod meanings;
mod paper;
mod queues;
mod roofline;
mod run;
mod run_numbers;
mod runs;
mod stack;
mod statements;
mod strip;
mod table;
#[cfg(test)]
mod tests;
mod tracks;
mod validation;
mod wheel;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::job::Key;
use runs::Runs;

pub use claims::counts;
pub use comparison::comparison;
pub use difference::{Compared, difference, parts as difference_parts};
pub use run::{LAUNCHES, fresh, pages, run};
pub use run_numbers::grouped;

/// What a page says of its own making.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// When it was made, in words.
    pub date: String,
    /// The command that made it.
    pub command: String,
}

/// The style sheet of every page.
pub const STYLE: &str = include_str!("style.css");
/// The script of every page: tables that sort, figures and tables to save, arrays that are drawn when they are unfolded.
pub const SCRIPT: &str = include_str!("script.js");

/// What a page shows, for whoever makes a document of it.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The title.
    pub title: String,
    /// Facts below the title, each with its name. Empty ones are left out.
    pub facts: Vec<(&'static str, String)>,
    /// Links to the page's parts: an anchor and a name.
    pub links: Vec<(String, String)>,
    /// The rest, as HTML.
    pub body: Markup,
    /// A style sheet with the colours that the page uses.
    pub colours: String,
}

/// Where a page's reader finds a run by itself. A page that is one file has no such place.
pub type Address = fn(&Key) -> String;

impl Parts {
    /// A whole page in one file.
    #[must_use]
    pub fn document(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style { (PreEscaped(&self.colours)) (PreEscaped(STYLE)) }
                }
                body {
                    (self.head())
                    main { (self.body) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    /// The title, the facts and the links to the page's parts.
    #[must_use]
    pub fn head(&self) -> Markup {
        html! {
            header {
                h1 { (self.title) }
                dl.facts {
                    @for (name, value) in self.facts.iter().filter(|(_, value)| !value.is_empty()) {
                        div { dt { (name) } dd { (value) } }
                    }
                }
            }
            @if self.links.len() > 1 {
                nav.parts aria-label="Parts of this page" {
                    @for (anchor, name) in &self.links { a href=(format!("#{anchor}")) { (name) } }
                }
            }
        }
    }
}

/// The parts of the origin as facts. The simulator is the one that ran, not the one that draws.
fn made(origin: &Origin, runs: &Runs<'_>) -> [(&'static str, String); 3] {
    let simulators: Vec<String> = runs.simulators().into_iter().collect();
    [
        ("Made", origin.date.clone()),
        ("Simulator of the runs", simulators.join(", ")),
        ("Command", origin.command.clone()),
    ]
}
