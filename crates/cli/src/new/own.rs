//! Crates with a part of a machine of one's own: a policy or a design, its tests, a system that chooses it, and a command.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use strata_gpu::machine::{self, Machine};
use toml::{Table, Value};

use super::strata::Place;
use super::{Kind, name, write as files};
use crate::print;

/// What the name of a part must differ from.
#[derive(Clone, Copy, Debug)]
enum Kin {
    /// The designs behind a door.
    Behind(&'static str),
    /// The policies that a key chooses.
    Chosen(&'static str),
}

/// A kind of crate.
#[derive(Clone, Copy)]
pub struct Part {
    /// The article before what it is.
    article: &'static str,
    /// What it is, in words.
    pub what: &'static str,
    /// Its like.
    kin: Kin,
    /// Strata's crates that it uses beside `strata-designs` and `strata-memory`, by what follows `strata-`.
    rooms: &'static [&'static str],
    /// Files of its own, where they go and what they hold.
    files: &'static [(&'static str, &'static str)],
    /// Its system file.
    system: &'static str,
    /// The door whose section of the system file is that of [`MACHINE`] but for what the file says.
    completes: Option<&'static str>,
    /// What the first file decides, in words.
    decides: &'static str,
    /// A run of `compare` in which it makes a difference to the cycles of [`MACHINE`].
    differs: &'static [&'static str],
    /// What to compare it in, and on machines with which values, as options of `compare`.
    compare: &'static str,
}

/// The machine that a new part is compared on.
const MACHINE: &str = "gtx480";

/// The name of the part in the files, in each of its spellings.
const NAME: &str = "my-idea";
const IDENTIFIER: &str = "my_idea";

/// Files that every crate has.
const COMMON: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("crate/manifest.toml")),
    (".gitignore", "/target\n"),
    ("src/main.rs", include_str!("crate/main.rs")),
    ("tests/command.rs", include_str!("crate/command.rs")),
];

/// A file of a template.
macro_rules! file {
    ($path:literal, $from:literal) => {
        ($path, include_str!($from))
    };
}

impl Part {
    /// What a kind writes; `None` for a program, which is no crate.
    pub fn of(kind: Kind) -> Option<Part> {
        Some(match kind {
            Kind::Program => return None,
            Kind::Replacement => Part {
                article: "a",
                what: "replacement policy",
                kin: Kin::Chosen("l1d.sram.replacement"),
                rooms: &["engine"],
                files: &[
                    file!("src/lib.rs", "replacement/lib.rs"),
                    file!("tests/contract.rs", "replacement/contract.rs"),
                ],
                system: include_str!("replacement/system.toml"),
                completes: Some("l1d"),
                decides: "which line is evicted",
                differs: &["atax"],
                compare: "--metric ipc --metric l1d-miss-rate",
            },
            Kind::Prefetch => Part {
                article: "a",
                what: "prefetch policy",
                kin: Kin::Chosen("l1d.sram.prefetch"),
                rooms: &["engine"],
                files: &[
                    file!("src/lib.rs", "prefetch/lib.rs"),
                    file!("tests/contract.rs", "prefetch/contract.rs"),
                ],
                system: include_str!("prefetch/system.toml"),
                completes: Some("l1d"),
                decides: "what is fetched ahead",
                differs: &["atax"],
                compare: "--metric ipc --metric l1d-miss-rate",
            },
            Kind::DramScheduler => Part {
                article: "a",
                what: "DRAM scheduler",
                kin: Kin::Chosen("dram.scheduler"),
                rooms: &[],
                files: &[file!("src/lib.rs", "dram-scheduler/lib.rs")],
                system: include_str!("dram-scheduler/system.toml"),
                completes: None,
                decides: "which request a bank serves next",
                // One channel and a small cache, so that reads and writes wait for the same banks.
                differs: &["transpose", "--set", "gpu.channels=1", "--set", "llc.sets=8"],
                compare: "--metric cycles --metric 'dram.row_hits / (dram.reads + dram.writes)'",
            },
            Kind::WarpScheduler => Part {
                article: "a",
                what: "warp scheduler",
                kin: Kin::Chosen("sm.scheduling"),
                rooms: &["sm"],
                files: &[file!("src/lib.rs", "warp-scheduler/lib.rs")],
                system: include_str!("warp-scheduler/system.toml"),
                completes: None,
                decides: "which ready warp issues",
                differs: &["gemm"],
                compare: "--metric ipc --metric memory-stall",
            },
            Kind::L1d => Part {
                article: "an",
                what: "L1 data cache",
                kin: Kin::Behind("l1d"),
                rooms: &["engine"],
                files: &[
                    file!("src/lib.rs", "l1d/lib.rs"),
                    file!("src/store.rs", "l1d/store.rs"),
                    file!("src/l1d.rs", "l1d/l1d.rs"),
                    file!("src/config.rs", "l1d/config.rs"),
                    file!("tests/contract.rs", "l1d/contract.rs"),
                ],
                system: include_str!("l1d/system.toml"),
                completes: None,
                decides: "where lines live",
                differs: &["atax"],
                compare: "--metric ipc --metric l1d-miss-rate",
            },
            Kind::Llc => Part {
                article: "a",
                what: "last-level cache",
                kin: Kin::Behind("llc"),
                rooms: &["engine"],
                files: &[
                    file!("src/lib.rs", "llc/lib.rs"),
                    file!("src/protocol.rs", "llc/protocol.rs"),
                    file!("src/config.rs", "llc/config.rs"),
                    file!("tests/contract.rs", "llc/contract.rs"),
                ],
                system: include_str!("llc/system.toml"),
                completes: None,
                decides: "what a request finds and fetches",
                // L1Ds that ask for less than a line.
                differs: &["gather", "--set", "l1d.sector_bytes=32"],
                compare: "--set l1d.sector_bytes=32 --metric ipc --metric l2-hit-rate --metric dram-requests",
            },
            Kind::Network => Part {
                article: "a",
                what: "network",
                kin: Kin::Behind("network"),
                rooms: &["engine"],
                files: &[
                    file!("src/lib.rs", "network/lib.rs"),
                    file!("src/ideal.rs", "network/ideal.rs"),
                    file!("tests/contract.rs", "network/contract.rs"),
                ],
                system: include_str!("network/system.toml"),
                completes: None,
                decides: "how long a packet takes",
                differs: &["gather"],
                compare: "--metric ipc --metric outgoing",
            },
            Kind::RegisterFile => Part {
                article: "a",
                what: "register file",
                kin: Kin::Behind("sm.register_file"),
                rooms: &["engine", "warp"],
                files: &[
                    file!("src/lib.rs", "register-file/lib.rs"),
                    file!("src/ported.rs", "register-file/ported.rs"),
                    file!("tests/contract.rs", "register-file/contract.rs"),
                ],
                system: include_str!("register-file/system.toml"),
                completes: None,
                decides: "which rows are read and written in a cycle",
                differs: &["gemm"],
                compare: "--metric ipc",
            },
        })
    }

    /// Names of its like that come with the program.
    pub fn taken(&self) -> Vec<String> {
        match self.kin {
            Kin::Behind(door) => {
                let doors = machine::doors();
                let of_door = doors.iter().filter(|known| known.name == door);
                of_door.flat_map(|door| &door.choices).map(ToString::to_string).collect()
            }
            Kin::Chosen(key) => {
                let of_key = machine::policies().into_iter().filter(|known| known.key == key);
                of_key.flat_map(|key| key.policies).map(|policy| policy.name).collect()
            }
        }
    }

    /// The file that decides: the second of those with several, behind the list of modules.
    fn heart(&self) -> &'static str {
        let sources = || self.files.iter().filter(|(path, _)| path.starts_with("src/"));
        sources().nth(1).or(sources().next()).expect("a crate has a source").0
    }

    /// The files of a crate.
    fn files(&self, name: &str, strata: &Place) -> Vec<(PathBuf, String)> {
        let identifier = name.replace('-', "_");
        let differs: Vec<String> = self.differs.iter().map(|word| format!("{word:?}")).collect();
        let depends = |room: &str| format!("strata-{room} = {}", strata.dependency(room));
        let mut rooms = [&["designs", "memory"], self.rooms].concat();
        rooms.sort_unstable();
        let rooms: Vec<String> = rooms.into_iter().map(depends).collect();
        let fill = |text: &str| {
            text.replace(NAME, name)
                .replace(IDENTIFIER, &identifier)
                .replace("\"DIFFERS\"", &differs.join(", "))
                .replace("strata-workbench = STRATA", &depends("workbench"))
                .replace("ROOMS", &rooms.join("\n"))
        };
        let all = COMMON.iter().chain(self.files).map(|(path, text)| (PathBuf::from(path), fill(text)));
        let mut all: Vec<(PathBuf, String)> = all.collect();
        let mut system = fill(self.system);
        if let Some(door) = self.completes {
            system = complete(&system, door);
        }
        all.push((format!("{name}.toml").into(), system));
        all
    }
}

/// Writes a crate with a part and prints what to do with it.
///
/// # Errors
/// A name that it cannot have, a file that exists, a folder that cannot be written, or a place that has no Strata.
pub fn write(part: Part, name: &str, dir: Option<&Path>, strata: Option<&str>) -> Result<(), String> {
    name::of_part(name, part.what, &part.taken())?;
    let strata = Place::find(strata)?;
    let dir = dir.unwrap_or(Path::new(name));
    let all: Vec<(PathBuf, String)> =
        part.files(name, &strata).into_iter().map(|(path, text)| (dir.join(path), text)).collect();
    files::all(&all)?;
    let at = |path: &str| dir.join(path).display().to_string();
    let Part { article, what, decides, compare, .. } = part;
    let programs = "atax bicg bfs gather";
    print(&format!(
        "{manifest}: a crate with {article} {what}, on Strata from {strata}\n{heart}: {decides}\n{tests}: its tests\n\
         {system}: a system that chooses it\n\nNext:\n  cd {dir}\n  cargo test\n  \
         cargo run --release -- run atax --check --system {name}.toml\n  \
         cargo run --release -- compare {programs} --size small --systems {MACHINE},{name}.toml {compare}\n",
        manifest = at("Cargo.toml"),
        strata = strata.words(),
        heart = at(part.heart()),
        tests = at("tests"),
        system = at(&format!("{name}.toml")),
        dir = dir.display(),
    ))
}

/// A system file whose section of a door has every key of [`MACHINE`]'s that it does not give, and that machine's energies for
/// the door.
fn complete(system: &str, door: &str) -> String {
    let machine = Machine::load(MACHINE, &[]).expect("a built-in machine can be built");
    let given: Table = system.parse().expect("a template is TOML");
    let mut text = system.trim_end().to_owned() + "\n";
    let designs = machine.table()[door].as_table().expect("a door is a table");
    for (design, keys) in designs {
        let given = &given[door][design];
        for (key, value) in keys.as_table().expect("a design is a table") {
            if given.get(key).is_none() {
                line(&mut text, key, value);
            }
        }
    }
    let energies = machine.table().get("energy").and_then(Value::as_table);
    let of_door = |structure: &&Value| structure.get("door").and_then(Value::as_str) == Some(door);
    for (name, structure) in energies.into_iter().flatten().filter(|(_, structure)| of_door(structure)) {
        write!(text, "\n[energy.{name}]\n").expect("a string grows");
        for (key, value) in structure.as_table().expect("a structure is a table") {
            line(&mut text, key, value);
        }
    }
    text
}

/// Writes a value of a table: in one line, or, where it is a table of others, in a line for each.
fn line(text: &mut String, key: &str, value: &Value) {
    match value.as_table().filter(|table| !table.contains_key("value")) {
        Some(table) => table.iter().for_each(|(inner, value)| line(text, &format!("{key}.{inner}"), value)),
        None => writeln!(text, "{key} = {}", inline(value)).expect("a string grows"),
    }
}

/// A value with its source behind it, as machine files write it.
fn inline(value: &Value) -> String {
    match (value.get("value"), value.get("source")) {
        (Some(value), Some(source)) => format!("{{ value = {value}, source = {source} }}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use strata_gpu::machine::system::System;

    use super::*;

    #[test]
    fn no_template_keeps_a_name_of_its_own() {
        for (kind, part) in Kind::value_variants().iter().filter_map(|kind| Some((kind, Part::of(*kind)?))) {
            for (path, text) in part.files("else-where", &Place::Registry) {
                let path = path.display();
                for word in [NAME, IDENTIFIER, "STRATA", "DIFFERS", "ROOMS"] {
                    assert!(!text.contains(word), "{kind:?}: {path} has {word}:\n{text}");
                }
                if path.to_string().ends_with(".toml") {
                    text.parse::<Table>().unwrap_or_else(|error| panic!("{kind:?}: {path}: {error}"));
                }
            }
        }
    }

    #[test]
    fn a_completed_system_is_the_machine_but_for_the_policy() {
        let part = Part::of(Kind::Replacement).unwrap();
        let (_, text) = part.files("mine", &Place::Registry).pop().unwrap();
        System::parse(Path::new("mine.toml"), &text).unwrap();
        let system: Table = text.parse().unwrap();
        let machine = Machine::load(MACHINE, &[]).unwrap();
        for (section, inner) in [("l1d", "sram"), ("energy", "l1d")] {
            let (own, theirs) = (&system[section][inner], &machine.table()[section][inner]);
            let (mut own, mut theirs) = (own.as_table().unwrap().clone(), theirs.as_table().unwrap().clone());
            for table in [&mut own, &mut theirs] {
                table.remove("replacement");
                // Ranges say how sure a value is, and are no part of the machine.
                let inner = table.iter_mut().filter_map(|(_, value)| value.as_table_mut());
                inner.for_each(|value| _ = value.remove("range"));
            }
            assert_eq!(own, theirs, "{section}.{inner}");
        }
        assert_eq!(system["l1d"]["sram"]["replacement"]["value"]["mine"]["chances"].as_integer(), Some(3));
    }

    /// What a README shows stays short.
    #[test]
    fn a_policy_is_at_most_forty_lines() {
        for kind in [Kind::Replacement, Kind::Prefetch, Kind::DramScheduler, Kind::WarpScheduler] {
            let (_, text) = Part::of(kind).unwrap().files[0];
            let lines = text.split("/// Adds").next().unwrap().lines();
            let code = lines.filter(|line| !line.trim().is_empty() && !line.starts_with("//!"));
            let count = code.count();
            assert!(count <= 40, "{kind:?}: {count}");
        }
    }

    fn of(kind: Kind, name: &str) -> Result<(), String> {
        let part = Part::of(kind).expect("a crate");
        name::of_part(name, part.what, &part.taken())
    }

    #[test]
    fn a_name_is_a_crates_and_no_other_parts() {
        for name in ["mine", "my-lru", "l1d2", "not_lru", "lru2"] {
            assert_eq!(of(Kind::Replacement, name), Ok(()), "{name}");
        }
        for (kind, name, expected) in [
            (Kind::Replacement, "lru", "`lru` is a built-in replacement policy, expected another name"),
            (Kind::Prefetch, "stride", "`stride` is a built-in prefetch policy, expected another name"),
            (Kind::DramScheduler, "fcfs", "`fcfs` is a built-in DRAM scheduler, expected another name"),
            (Kind::WarpScheduler, "ccws", "`ccws` is a built-in warp scheduler, expected another name"),
            (Kind::L1d, "fuse", "`fuse` is a built-in L1 data cache, expected another name"),
            (Kind::Llc, "morpheus", "`morpheus` is a built-in last-level cache, expected another name"),
            (Kind::Network, "mesh", "`mesh` is a built-in network, expected another name"),
            (Kind::RegisterFile, "sram", "`sram` is a built-in register file, expected another name"),
            (Kind::L1d, "gtx480", "`gtx480` is a built-in machine or system, expected another name"),
            (Kind::L1d, "l1-sram", "`l1-sram` is a built-in machine or system, expected another name"),
            (Kind::L1d, "match", "`match` means something to Rust or to cargo, expected another name"),
            (
                Kind::L1d,
                "serde-json",
                "`serde-json` means something to Rust or to cargo, expected another name",
            ),
            (
                Kind::L1d,
                "strata-mine",
                "`strata-mine` begins as Strata's own crates do, expected another name",
            ),
        ] {
            assert_eq!(of(kind, name).unwrap_err(), expected);
        }
        for name in ["", "Mine", "-mine", "1st", "a.b", "a/b", "..", "é", "a b", &"a".repeat(101)] {
            let error = of(Kind::L1d, name).unwrap_err();
            assert!(error.contains("expected a name of small letters"), "{name}: {error}");
        }
        // What is taken elsewhere is free here.
        assert_eq!(of(Kind::L1d, "lru"), Ok(()));
    }
}
