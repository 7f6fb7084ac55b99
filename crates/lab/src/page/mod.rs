//! Pages: one HTML file each, with style, script and drawings inside; nothing is loaded.

mod arrays;
mod chart;
mod claims;
mod colour;
mod comparison;
mod heat;
mod lines;
mod paper;
mod runs;
mod strip;
mod table;
#[cfg(test)]
mod tests;
mod wheel;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use runs::Runs;

use colour::Palette;

/// What a page says of its own making.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// When it was made, in words.
    pub date: String,
    /// The command that made it.
    pub command: String,
}

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A whole page. `facts` are shown below the title, each with its name; `links` lead to the page's parts.
fn document(
    title: &str,
    facts: &[(&str, String)],
    links: &[(String, String)],
    body: &Markup,
    palette: &Palette,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(palette.css())) (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    dl.facts {
                        @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                            div { dt { (name) } dd { (value) } }
                        }
                    }
                }
                @if links.len() > 1 {
                    nav aria-label="Parts of this page" {
                        @for (anchor, name) in links { a href=(format!("#{anchor}")) { (name) } }
                    }
                }
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
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
