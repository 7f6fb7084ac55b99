//! What is around every page: its head, the way around the site, and the script that keeps it up to date.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use strata_lab::page::Parts;

use crate::address::{ICON, SCRIPT, STYLE};

/// What a page follows: names of the numbers in events.
#[derive(Clone, Copy, Debug)]
pub enum Topic {
    /// Results and failures.
    Results,
    /// Sweeps.
    Sweeps,
    /// Papers' pages.
    Papers,
}

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Topic::Results => "results",
            Topic::Sweeps => "sweeps",
            Topic::Papers => "papers",
        }
    }
}

/// A page and what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The title.
    pub title: &'a str,
    /// What is to be seen.
    pub body: &'a Markup,
    /// What the page follows; nothing for one that never changes.
    pub topics: &'a [Topic],
    /// Where the page is one of the lab's: its facts and links.
    pub parts: Option<&'a Parts>,
    /// The style sheet of its colours.
    pub colours: &'a str,
    /// Whether there is soon more, so that browsers without scripts shall ask again.
    pub waits: bool,
    /// Whether the reader has no way to the rest of the site.
    pub bare: bool,
}

impl<'a> Frame<'a> {
    /// A page that follows nothing.
    pub fn new(title: &'a str, body: &'a Markup) -> Frame<'a> {
        Frame { title, body, topics: &[], parts: None, colours: "", waits: false, bare: false }
    }

    /// The whole document.
    pub fn document(&self) -> String {
        let topics: Vec<&str> = self.topics.iter().map(|topic| topic.name()).collect();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    @if self.waits { noscript { meta http-equiv="refresh" content="3"; } }
                    title { (self.title) " – Strata" }
                    link rel="icon" href=(ICON);
                    link rel="stylesheet" href=(STYLE);
                    @if !self.colours.is_empty() { style { (PreEscaped(self.colours)) } }
                    @if !self.bare { script src=(SCRIPT) defer {} }
                }
                body data-topics=[(!topics.is_empty()).then(|| topics.join(" "))] {
                    @if !self.bare {
                        a.skip href="#main" { "Skip to the content" }
                        nav.site aria-label="Site" {
                            a.name href="/" { "Strata" }
                            a href="/runs" { "Runs" }
                            a href="/failures" { "Failures" }
                            @if !topics.is_empty() { span.live role="status" {} }
                        }
                    }
                    @match self.parts {
                        Some(parts) => (parts.head()),
                        None => header { h1 { (self.title) } },
                    }
                    main id="main" tabindex="-1" { (self.body) }
                }
            }
        };
        page.into_string()
    }
}
