//! The difference of two runs, around what the lab shows of it: where these runs are, what to know before it is read, and the command
//! for what stored results do not have.

use std::path::Path;

use maud::{Markup, html};
use strata_lab::SIMULATOR;
use strata_lab::diff::{Asked, Difference, Repeat, Side, changes, definitions};
use strata_lab::job::Key;
use strata_lab::page::{Compared, Parts, difference_parts};
use strata_lab::record::Record;
use strata_lab::store::Store;

use super::{list, run};
use crate::words::count;

/// In what questions differ, other than in the machine.
const PROGRAM: [&str; 4] = ["workload", "size", "PTX", "inputs"];

/// Two runs and what lies between them.
pub struct Shown<'a> {
    keys: &'a [Key; 2],
    records: &'a [Record; 2],
    sides: [Side; 2],
    difference: Difference,
}

impl<'a> Shown<'a> {
    /// Compares two results.
    ///
    /// # Errors
    /// Which of them was not measured on a machine.
    pub fn of(keys: &'a [Key; 2], records: &'a [Record; 2]) -> Result<Shown<'a>, String> {
        let side = |side: usize| Side::from_record(&keys[side].to_string(), &records[side]);
        let sides = [side(0)?, side(1)?];
        let difference = Difference::between(&sides[0], &sides[1], &definitions(&sides));
        Ok(Shown { keys, records, sides, difference })
    }

    /// The page; `folder` is that of the store.
    pub fn parts(&self, folder: &Path) -> Parts {
        let compared =
            Compared { sides: &self.sides, difference: &self.difference, first: None, shares: None };
        let mut parts = difference_parts(&compared);
        let [left, right] = self.keys;
        let cautions = self.cautions();
        parts.body = html! {
            p.facts.held {
                a href=(format!("/run/{left}")) { "Left run" }
                a href=(format!("/run/{right}")) { "Right run" }
                a href=(list::difference(right, left)) { "Swap them" }
                @if let Some(others) = list::others(left, &self.records[0].job) { a href=(others) { "Another right run" } }
            }
            @if !cautions.is_empty() { p.note.problem { (cautions.join(" ")) } }
            (parts.body)
            section id="command" { h2 { "By the command" } (self.command(folder)) }
        };
        parts.links.push(("command".to_owned(), "By the command".to_owned()));
        parts
    }

    /// What the runs do not have in common, although comparing machines needs it.
    fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let [left, right] = [0, 1].map(|side| program(&self.sides[side]));
        let differ: Vec<&str> = self.of_program().map(|asked| asked.what.as_str()).collect();
        if !differ.is_empty() {
            let found = if left == right {
                format!("{left} on both sides, but not with the same {}", differ.join(" and "))
            } else {
                format!("{left} on the left and {right} on the right")
            };
            cautions.push(format!(
                "Found {found}, expected the same program for a difference of machines alone: what follows is the programs' as well."
            ));
        }
        let [left, right] = [0, 1].map(|side| &self.sides[side].simulator);
        if left != right {
            cautions.push(format!(
                "Found results of the simulator's versions {left} and {right}, expected one version: what changed between these is in what follows, too."
            ));
        }
        cautions
    }

    /// In what the programs differ.
    fn of_program(&self) -> impl Iterator<Item = &Asked> {
        self.difference.asked.iter().filter(|asked| PROGRAM.contains(&asked.what.as_str()))
    }

    /// The command, and what it adds.
    fn command(&self, folder: &Path) -> Markup {
        let line = |more: &str| line(self.keys, folder, more);
        let why_not = (0..2).find_map(|side| self.why_not_again(side));
        html! {
            @match why_not {
                None => {
                    p { "In which cycle the runs part, and in what part of the machine, no result says. On the host with the store, this runs both again, side by side, and finds it:" }
                    (line(" --first"))
                    @if self.has_shares() {
                        p { "And this runs the machines between the two, and says which value brings how many of the cycles:" }
                        (line(" --attribute"))
                    }
                },
                Some(why) => {
                    p { "In which cycle the runs part, no result says, and these cannot both be run again: " (why) "." }
                    p { "The same as text, on the host with the store:" }
                    (line(""))
                },
            }
        }
    }

    /// Why a run cannot be made again.
    fn why_not_again(&self, side: usize) -> Option<String> {
        let Record { job, .. } = &self.records[side];
        let name = &self.sides[side].name;
        let version = || {
            let is_other = job.simulator != SIMULATOR;
            is_other.then(|| format!("{name}: simulator: found `{}`, expected `{SIMULATOR}`", job.simulator))
        };
        Repeat::of(name, &self.records[side]).err().or_else(version)
    }

    /// Whether the runs differ in values of their machines and in nothing else.
    fn has_shares(&self) -> bool {
        let [left, right] = [0, 1].map(|side| self.sides[side].values.as_ref());
        let differ = left.zip(right).is_some_and(|(left, right)| !changes(left, right).is_empty());
        differ && self.of_program().next().is_none()
    }
}

/// A program for readers.
fn program(side: &Side) -> String {
    match &side.size {
        Some(size) => format!("{} ({size})", side.workload),
        None => side.workload.clone(),
    }
}

/// A line for a shell, to be copied. A folder that is no text cannot be.
fn line([left, right]: &[Key; 2], folder: &Path, more: &str) -> Markup {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let quoted = folder.to_str().and_then(|folder| shlex::try_quote(folder).ok());
    html! {
        @match quoted {
            Some(folder) => pre.line tabindex="0" { "strata diff " (left) " " (right) " --store " (folder) (more) },
            None => p.note { "The folder's name is not text, so there is no line to copy." },
        }
    }
}

/// What is known of jobs that have no result.
pub fn lacking(store: &Store, keys: &[&Key]) -> Markup {
    html! {
        p.note { "Of the two runs, found " (count(2 - keys.len(), "result")) ", expected 2." }
        @for key in keys { (run::lacking(store, key)) }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_line_is_what_a_shell_takes_back() {
        let keys = ["0", "1"].map(|digit| Key::read(&digit.repeat(32)).unwrap());
        for folder in ["/a/store", "/a store", "/it's <b>", "/$(x)`y`\\\"!", "/a\nb"] {
            let text = line(&keys, Path::new(folder), " --first").into_string();
            let (_, text) = text.split_once('>').unwrap();
            let text = text.strip_suffix("</pre>").unwrap();
            assert!(!text.contains('<'), "{text}");
            let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
            let text = named.iter().fold(text.to_owned(), |text, (name, sign)| text.replace(name, sign));
            let [left, right] = keys.each_ref().map(Key::to_string);
            let expected = ["strata", "diff", &left, &right, "--store", folder, "--first"];
            assert_eq!(shlex::split(&text).unwrap(), expected);
        }
        let no_text = line(&keys, Path::new(OsStr::from_bytes(b"/a\xff")), "").into_string();
        assert!(no_text.contains("no line to copy"), "{no_text}");
    }
}
