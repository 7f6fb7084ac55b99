//! Colours. A system has the same one in every figure of every page.
//!
//! The hues are told apart with any kind of colour blindness (Okabe and Ito's, and ramps of one hue). Systems
//! that are steps of one idea are steps of one ramp. A page takes only those it needs, as CSS variables with a
//! value for light and one for dark pages.

use std::fmt::Write;

/// A colour on a light and on a dark page, as `rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    light: u32,
    dark: u32,
}

const fn of(light: u32, dark: u32) -> Colour {
    Colour { light, dark }
}

/// The systems that come along.
const SYSTEMS: &[(&str, Colour)] = &[
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

/// For systems of a user's own, in the order in which a page names them.
const OTHERS: [Colour; 6] = [
    of(0xd55e00, 0xe8743a),
    of(0x2f7f86, 0x58b3bb),
    of(0x8f2d56, 0xd4709c),
    of(0x7f7f00, 0xb8b840),
    of(0x0072b2, 0x4aa5e0),
    of(0xb07d62, 0xc99b82),
];

/// Parts of a whole, from the first.
const PARTS: [Colour; 8] = [
    of(0xd55e00, 0xe8743a),
    of(0xf0c8a0, 0x6b4a33),
    of(0x4a90b8, 0x5aa3cc),
    of(0xbcd6e6, 0x32566b),
    of(0x6f9e4c, 0x86b861),
    of(0xcfe0bd, 0x43592f),
    of(0x8f6fae, 0xa98cc6),
    of(0xd9cde4, 0x4d3f5e),
];

/// The colours that a page uses, by the names of its CSS variables.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    used: Vec<(String, Colour)>,
    others: usize,
}

impl Palette {
    /// The CSS variable of a system, by the system's name.
    pub fn system(&mut self, name: &str) -> String {
        let variable = format!("s-{}", word(name));
        let known = SYSTEMS.iter().find(|(system, _)| *system == plain(name)).map(|(_, colour)| *colour);
        if !self.has(&variable) {
            let colour = known.unwrap_or_else(|| self.next_other());
            self.used.push((variable.clone(), colour));
        }
        variable
    }

    /// The CSS variables of several steps of one system, as in a sweep: light to dark.
    pub fn steps(&mut self, system: &str, names: &[String]) -> Vec<String> {
        let base = self.system(system);
        let colour = self.used.iter().find(|(name, _)| *name == base).expect("just added").1;
        let count = names.len();
        let step = |(place, name): (usize, &String)| {
            let variable = format!("s-{}", word(name));
            if !self.has(&variable) {
                let share = if count < 2 { 1.0 } else { 0.3 + 0.7 * place as f64 / (count - 1) as f64 };
                let step = of(mix(colour.light, 0x00ff_ffff, share), mix(colour.dark, 0x0014_181f, share));
                self.used.push((variable.clone(), step));
            }
            variable
        };
        names.iter().enumerate().map(step).collect()
    }

    /// The CSS variable of a part of a whole, counted from 0.
    pub fn part(&mut self, place: usize) -> String {
        let place = place % PARTS.len();
        let variable = format!("p-{place}");
        if !self.has(&variable) {
            self.used.push((variable.clone(), PARTS[place]));
        }
        variable
    }

    /// The variables as a style sheet.
    #[must_use]
    pub fn css(&self) -> String {
        let rules = |value: fn(&Colour) -> u32| {
            let mut text = String::new();
            for (name, colour) in &self.used {
                write!(text, "--{name}:#{:06x};", value(colour)).expect("a string grows");
            }
            text
        };
        let (light, dark) = (rules(|colour| colour.light), rules(|colour| colour.dark));
        format!(":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}")
    }

    fn has(&self, variable: &str) -> bool {
        self.used.iter().any(|(name, _)| name == variable)
    }

    fn next_other(&mut self) -> Colour {
        self.others += 1;
        OTHERS[(self.others - 1) % OTHERS.len()]
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

    #[test]
    fn a_system_has_one_colour_in_any_company() {
        let (mut one, mut other) = (Palette::default(), Palette::default());
        other.system("somebodys");
        other.system("by-nvm");
        for palette in [&mut one, &mut other] {
            assert_eq!(palette.system("dy-fuse"), "s-dy-fuse");
            assert_eq!(palette.system("dy-fuse-128k on volta-fuse"), "s-dy-fuse-128k_on_volta-fuse");
            let colour = |name: &str| palette.used.iter().find(|(used, _)| used == name).unwrap().1;
            assert_eq!(colour("s-dy-fuse"), colour("s-dy-fuse-128k_on_volta-fuse"));
            assert_eq!(colour("s-dy-fuse").light, 0x0012_3f8c);
        }
    }

    #[test]
    fn different_systems_of_a_paper_have_different_colours() {
        for (place, (name, colour)) in SYSTEMS.iter().enumerate() {
            let same = SYSTEMS[..place].iter().find(|(_, other)| other.light == colour.light);
            assert!(OTHERS.iter().all(|other| other.light != colour.light), "{name}");
            // 1/2 is Dy-FUSE itself.
            assert_eq!(same.is_some(), *name == "dy-fuse-1-2", "{name}");
        }
    }

    #[test]
    fn a_page_defines_what_it_uses_for_light_and_dark() {
        let mut palette = Palette::default();
        let steps = palette.steps("gtx480", &["gtx480 l1d.ways=2".into(), "gtx480 l1d.ways=4".into()]);
        assert_eq!(steps, ["s-gtx480_l1d_ways_2", "s-gtx480_l1d_ways_4"]);
        palette.part(9);
        let css = palette.css();
        assert_eq!(css.matches("--s-gtx480_l1d_ways_4:#").count(), 2, "{css}");
        assert_eq!(css.matches("--p-1:#").count(), 2, "{css}");
        assert_eq!(mix(0, 0x00ff_ffff, 0.0), 0x00ff_ffff);
    }
}
