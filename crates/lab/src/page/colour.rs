//! Colours. A system has the same one in every figure of every page.
//!
//! FUSE's are chosen by hand: steps of one idea are steps of one ramp, and the hues are told apart with any kind of
//! colour blindness (Okabe and Ito's). All others are made from the names. A page takes only those it needs, as CSS
//! variables with a value for light and one for dark pages.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use strata_gpu::machine;

use super::wheel::{self, Colour};
use crate::paper::{self, Paper};

const fn of(light: u32, dark: u32) -> Colour {
    Colour { light, dark }
}

/// FUSE's systems.
const FUSE: &[(&str, Colour)] = &[
    ("l1-sram", of(0x4b5563, 0xa3adbb)),
    ("fa-sram", of(0x56b4e9, 0x3e9bd1)),
    ("by-nvm", of(0xe69f00, 0xe0a020)),
    ("stt-mram", of(0xcc79a7, 0xcf86ae)),
    ("oracle", of(0xb8a400, 0xe3d34a)),
    ("victim-buffer", of(0x8c564b, 0xb98275)),
    ("hybrid", of(0x009e73, 0x22b58a)),
    ("base-fuse", of(0x97bbec, 0x4a72ad)),
    ("fa-fuse", of(0x5189d6, 0x6ea3ec)),
    ("fa-fuse-true", of(0x7a7fa8, 0x8b90bb)),
    ("dy-fuse", of(0x123f8c, 0xc3dbff)),
    ("dy-fuse-1-16", of(0xcdb7e9, 0x654f88)),
    ("dy-fuse-1-8", of(0xac89d7, 0x7f62a9)),
    ("dy-fuse-1-4", of(0x8d62c2, 0x9b7acb)),
    ("dy-fuse-1-2", of(0x123f8c, 0xc3dbff)),
    ("dy-fuse-3-4", of(0x4a2379, 0xd2bdf0)),
    ("cbf-1func", of(0x8fd0c1, 0x38756a)),
    ("cbf-2func", of(0x45a894, 0x46a08e)),
    ("cbf-3func", of(0x0b5f54, 0xa9e6d9)),
    ("cbf-32slots", of(0xeda68c, 0x8a4d38)),
    ("cbf-64slots", of(0xd8704a, 0xc9704f)),
    ("cbf-128slots", of(0x8f3413, 0xf5c3af)),
];

/// The machines and systems that come along, and the papers' names for them. Those that appear together, which are the
/// machines and the systems of one paper, look different; no two are the same.
static KNOWN: LazyLock<BTreeMap<String, Colour>> = LazyLock::new(|| {
    let mut known: BTreeMap<String, Colour> =
        FUSE.iter().map(|(name, colour)| ((*name).to_owned(), *colour)).collect();
    let machines = machine::builtin().iter().map(|machine| machine.name.to_owned()).collect();
    add(&mut known, machines);
    for name in paper::names() {
        let paper = Paper::load(name).expect("a paper that comes along can be read");
        add(&mut known, paper.systems().map(str::to_owned).collect());
    }
    add(&mut known, machine::system::builtin().iter().map(|system| system.name.to_owned()).collect());
    known
});

/// Gives colours to the names that have none, each different from those of the other names and of the machines.
fn add(known: &mut BTreeMap<String, Colour>, mut names: Vec<String>) {
    names.sort();
    let machines: Vec<&str> = machine::builtin().iter().map(|machine| machine.name).collect();
    for name in names.iter().map(|name| plain(name)) {
        if known.contains_key(name) {
            continue;
        }
        let beside = names.iter().map(String::as_str).chain(machines.iter().copied());
        let beside: Vec<Colour> = beside.filter_map(|name| known.get(plain(name)).copied()).collect();
        let taken: Vec<Colour> = known.values().copied().collect();
        known.insert(name.to_owned(), wheel::of_name(name, wheel::CLEAR, &beside, &taken));
    }
}

/// How much of a system's colour the first of several steps has.
const PALEST: f64 = 0.4;

/// Parts of a whole, from the first.
const PARTS: [Colour; 14] = [
    of(0xd55e00, 0xe8743a),
    of(0xf0c8a0, 0x6b4a33),
    of(0x4a90b8, 0x5aa3cc),
    of(0xbcd6e6, 0x32566b),
    of(0x6f9e4c, 0x86b861),
    of(0xcfe0bd, 0x43592f),
    of(0x8f6fae, 0xa98cc6),
    of(0xd9cde4, 0x4d3f5e),
    of(0x2f6f6a, 0x57b3aa),
    of(0xe3c34b, 0xb89a2c),
    of(0xb8556f, 0xd97a92),
    of(0x8a6a4f, 0xb8957a),
    of(0x9aa3ad, 0x6d7784),
    of(0x5a5f9e, 0x8d93d6),
];

/// The colours that a page uses.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    used: Vec<Used>,
}

/// A colour with what it stands for and the CSS variable that holds it.
#[derive(Clone, Debug)]
struct Used {
    name: String,
    variable: String,
    colour: Colour,
}

impl Palette {
    /// The CSS variable of a system, by the system's name. A system that does not come along has the colour that its
    /// name leads to, unless the page uses one like it already.
    pub fn system(&mut self, name: &str) -> String {
        let colour = |palette: &Palette| {
            let known = KNOWN.get(plain(name)).copied();
            known.unwrap_or_else(|| {
                let beside: Vec<Colour> = palette.used.iter().map(|used| used.colour).collect();
                wheel::of_name(plain(name), wheel::ENOUGH, &beside, &beside)
            })
        };
        self.variable("s", name, colour)
    }

    /// The CSS variables of several steps of one system, as in a sweep: light to dark. A single one has the system's
    /// own colour.
    pub fn steps(&mut self, system: &str, names: &[String]) -> Vec<String> {
        let base = self.system(system);
        if names.len() < 2 {
            return names.iter().map(|_| base.clone()).collect();
        }
        let colour = self.used.iter().find(|used| used.variable == base).expect("just added").colour;
        let step = |(place, name): (usize, &String)| {
            let share = PALEST + (1.0 - PALEST) * place as f64 / (names.len() - 1) as f64;
            let step = of(mix(colour.light, 0x00ff_ffff, share), mix(colour.dark, 0x0014_181f, share));
            self.variable("s", name, |_| step)
        };
        names.iter().enumerate().map(step).collect()
    }

    /// The variable that stands for a name, whose colour is asked for when the page does not have it yet.
    fn variable(&mut self, kind: &str, name: &str, colour: impl FnOnce(&Palette) -> Colour) -> String {
        let begins = format!("{kind}-");
        let same = |used: &&Used| used.name == name && used.variable.starts_with(&begins);
        if let Some(used) = self.used.iter().find(same) {
            return used.variable.clone();
        }
        // Names that differ in signs alone are different variables.
        let plain = format!("{begins}{}", word(name));
        let is_taken = |variable: &String| self.used.iter().any(|used| used.variable == *variable);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut variables = std::iter::once(plain.clone()).chain(numbered);
        let variable = variables.find(|variable| !is_taken(variable)).expect("numbers do not end");
        let colour = colour(self);
        self.used.push(Used { name: name.to_owned(), variable: variable.clone(), colour });
        variable
    }

    /// The CSS variable of a part of a whole, counted from 0.
    pub fn part(&mut self, place: usize) -> String {
        let place = place % PARTS.len();
        self.variable("p", &place.to_string(), |_| PARTS[place])
    }

    /// The variables as a style sheet. What has a variable's name as its class has its colour as `--part`: pages need no styles
    /// at their elements, which strict policies forbid.
    #[must_use]
    pub fn css(&self) -> String {
        let rules = |value: fn(&Colour) -> u32| {
            let mut text = String::new();
            for Used { variable, colour, .. } in &self.used {
                write!(text, "--{variable}:#{:06x};", value(colour)).expect("a string grows");
            }
            text
        };
        let (light, dark) = (rules(|colour| colour.light), rules(|colour| colour.dark));
        let mut text = format!(":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}");
        for Used { variable, .. } in &self.used {
            write!(text, ".{variable}{{--part:var(--{variable})}}").expect("a string grows");
        }
        text
    }
}

/// A system's name without its machine and its size: the same design has the same colour on every machine.
fn plain(name: &str) -> &str {
    let name = name.split_once(" on ").map_or(name, |(system, _)| system);
    name.strip_suffix("-128k").unwrap_or(name)
}

/// A name as part of an identifier.
pub fn word(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(letter).collect()
}

/// `share` of one colour, the rest of another.
fn mix(one: u32, other: u32, share: f64) -> u32 {
    let channel = |shift: u32| {
        let of = |colour: u32| f64::from((colour >> shift) & 0xff);
        ((of(one) * share + of(other) * (1.0 - share)).round() as u32) << shift
    };
    channel(16) | channel(8) | channel(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(palette: &Palette, variable: &str) -> Colour {
        palette.used.iter().find(|used| used.variable == variable).unwrap().colour
    }

    #[test]
    fn a_system_has_one_colour_in_any_company() {
        let (mut one, mut other) = (Palette::default(), Palette::default());
        for name in ["somebodys", "by-nvm", "hi-end"] {
            other.system(name);
        }
        for palette in [&mut one, &mut other] {
            assert_eq!(palette.system("dy-fuse"), "s-dy-fuse");
            assert_eq!(palette.system("dy-fuse-128k on volta-fuse"), "s-dy-fuse-128k_on_volta-fuse");
            assert_eq!(colour(palette, "s-dy-fuse"), colour(palette, "s-dy-fuse-128k_on_volta-fuse"));
            assert_eq!(colour(palette, "s-dy-fuse").light, 0x0012_3f8c);
            assert_eq!(palette.system("stash"), "s-stash");
            assert_eq!(palette.system("anybodys"), "s-anybodys");
        }
        for system in ["s-stash", "s-anybodys"] {
            assert_eq!(colour(&one, system), colour(&other, system));
        }
    }

    #[test]
    fn no_two_systems_that_come_along_have_the_same_colour() {
        let known: Vec<(&String, &Colour)> = KNOWN.iter().collect();
        assert!(known.len() > 80, "{}", known.len());
        for (place, (name, colour)) in known.iter().enumerate() {
            // 1/2 is Dy-FUSE itself.
            let same = known[..place].iter().find(|(_, other)| other == colour);
            assert_eq!(same.is_some(), *name == "dy-fuse-1-2", "{name}");
        }
    }

    #[test]
    fn systems_of_one_paper_and_machines_look_different() {
        let apart = |one: &str, other: &str| wheel::distance(KNOWN[one], KNOWN[other]);
        assert!(apart("gtx480", "l1-sram") > 0.08 && apart("gtx480", "dy-fuse") > 0.08);
        for name in ["hi-end", "stash"] {
            let paper = Paper::load(name).unwrap();
            let systems: Vec<&str> = paper.systems().collect();
            for (place, one) in systems.iter().enumerate() {
                for other in &systems[..place] {
                    assert!(apart(one, other) > 0.06, "{one}, {other}: {}", apart(one, other));
                }
            }
        }
    }

    #[test]
    fn a_page_of_forty_systems_of_a_users_own_has_forty_colours() {
        let mut palette = Palette::default();
        let systems: Vec<String> =
            (0..40).map(|place| palette.system(&format!("mine-{place}.toml"))).collect();
        for (place, one) in systems.iter().enumerate() {
            let one = colour(&palette, one);
            assert!(systems[..place].iter().all(|other| colour(&palette, other) != one), "{place}");
        }
    }

    #[test]
    fn names_that_differ_in_signs_alone_are_different_variables() {
        let mut palette = Palette::default();
        let names = ["a.b", "a_b", "a.b"].map(|name| palette.system(name));
        assert_eq!(names, ["s-a_b", "s-a_b_2", "s-a_b"]);
    }

    #[test]
    fn a_page_defines_what_it_uses_for_light_and_dark() {
        let mut palette = Palette::default();
        let steps = palette.steps("gtx480", &["gtx480 l1d.ways=2".into(), "gtx480 l1d.ways=4".into()]);
        assert_eq!(steps, ["s-gtx480_l1d_ways_2", "s-gtx480_l1d_ways_4"]);
        palette.part(15);
        let css = palette.css();
        assert_eq!(css.matches("--s-gtx480_l1d_ways_4:#").count(), 2, "{css}");
        assert_eq!(css.matches("--p-1:#").count(), 2, "{css}");
        assert_eq!(mix(0, 0x00ff_ffff, 0.0), 0x00ff_ffff);
    }
}
