//! Systems: what papers compare, each a file that is laid over a machine.
//!
//! A system names the designs behind some of the machine's doors, with all their numbers, and may replace
//! other values. Any system can be laid over any machine.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use strata_designs::systems;
use strata_engine::config::{self, ConfigError};

use super::layer::Layer;
use super::{Builtin, doors, read_file};

/// The systems that come with the program.
pub fn builtin() -> &'static [Builtin] {
    static BUILTIN: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
        systems::builtin().iter().map(|file| Builtin { name: file.name, text: file.text }).collect()
    });
    &BUILTIN
}

/// A system, as read from its file.
#[derive(Clone, Debug)]
pub struct System {
    /// The `about` part of the file.
    pub about: About,
    /// The rest of the file, which replaces parts of the machine.
    pub(super) layer: Layer,
}

/// What a system's file says about the system.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct About {
    /// Name of the system in results.
    pub name: String,
    /// The paper that compares it; `None` for a user's own system.
    pub paper: Option<String>,
    /// Description, in one sentence.
    pub description: String,
}

impl System {
    /// Reads a system by name or from a file (`*.toml`).
    ///
    /// # Errors
    /// What is wrong with it, with line and column where known.
    pub fn load(name_or_file: &str) -> Result<System, ConfigError> {
        if let Some(file) = systems::builtin().iter().find(|file| file.name == name_or_file) {
            return System::parse(Path::new(file.path), file.text);
        }
        System::parse(Path::new(name_or_file), &read_file("system", builtin(), name_or_file)?)
    }

    /// Reads the systems to lay over one machine. Each is a name, a file, or several of them as `a+b`.
    ///
    /// # Errors
    /// As [`System::load`]; or two systems that replace the same door, structure or value.
    pub fn load_all(given: &[impl AsRef<str>]) -> Result<Vec<System>, ConfigError> {
        let several = |given: &str| match Path::new(given).is_file() {
            true => vec![given.to_owned()],
            false => given.split('+').map(str::to_owned).collect(),
        };
        let systems: Result<Vec<_>, _> =
            given.iter().flat_map(|given| several(given.as_ref())).map(|name| System::load(&name)).collect();
        let systems = systems?;
        refuse_overlap(&systems)?;
        Ok(systems)
    }

    /// Reads a system from text; `file` appears in errors.
    ///
    /// # Errors
    /// As [`System::load`].
    pub fn parse(file: &Path, text: &str) -> Result<System, ConfigError> {
        let about = config::parse(file, text)?;
        let layer = Layer::new(file, text, &["name", "paper", "description"])?;
        if layer.is_empty() {
            let doors: Vec<&str> = doors().iter().map(|door| door.name).collect();
            let message =
                format!("found nothing that it replaces, expected a table for a door: {}", doors.join(", "));
            return Err(ConfigError { file: file.into(), place: None, message });
        }
        Ok(System { about, layer })
    }
}

/// Refuses two systems that replace the same door, structure or value, because the result would depend on
/// their order.
fn refuse_overlap(systems: &[System]) -> Result<(), ConfigError> {
    for (index, system) in systems.iter().enumerate() {
        let paths = system.layer.paths();
        for other in &systems[..index] {
            if let Some(path) = other.layer.paths().into_iter().find(|path| paths.contains(path)) {
                let message = format!(
                    "`{path}` is replaced by the system `{}` already, expected one system for it",
                    other.about.name
                );
                return Err(ConfigError { file: system.layer.file().to_owned(), place: None, message });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::machine::Machine;

    /// How a machine ends the sentence that refuses a built-in system which cannot stand in it.
    fn refusal(machine: &str, system: &System) -> Option<&'static str> {
        match (machine, system.about.name.as_str(), system.about.paper.as_deref()) {
            (owners, "stash", _) if owners != "stash-apu" => {
                Some("(`scratchpad.stash.accesses`), as the system `stash-flush` has")
            }
            ("rtx3080" | "rtx3080-quarter" | "apu-all", "stash-flush", _) => None,
            (_, "stash-flush", _) => Some("found 102400"),
            ("apu-all", "denovo", _) => Some("expected one of the same protocol"),
            (
                "gtx480" | "volta-fuse" | "v100",
                "morpheus-as-published" | "morpheus-as-published-all" | "morpheus-free",
                _,
            ) => None,
            ("gtx480" | "volta-fuse" | "v100", name, Some("morpheus")) if name != "unified-sm-mem" => {
                Some("bytes of sm.shared_bytes (`strata machine fit` prints numbers that fit)")
            }
            ("a100" | "h200", "unified-sm-mem", _) => {
                Some("which the smallest carve-out of sm.unified leaves")
            }
            ("rtx3080" | "rtx3080-quarter" | "apu-all" | "v100" | "a100" | "h200", ..) => None,
            (_, "unified-sm-mem", _) => Some("missing field `storage_bytes`"),
            ("stash-apu", _, Some("fuse")) => Some("such as l1d.denovo, for the registry llc.denovo"),
            ("stash-apu", _, Some("morpheus")) => Some("which l1d.denovo needs"),
            ("fermi-apu", "morpheus-as-published" | "morpheus-as-published-all" | "morpheus-free", _) => {
                Some("expected at most 24")
            }
            ("fermi-apu", _, Some("morpheus")) => {
                Some("expected at most 24 (`strata machine fit` prints numbers that fit)")
            }

            _ => None,
        }
    }

    /// A built-in machine with a built-in system; `None` if it cannot have it and says why.
    pub(crate) fn machine_with(machine: &str, system: &str) -> Option<Machine> {
        let expected = refusal(machine, &System::load(system).unwrap_or_else(|error| panic!("{error}")));
        match (Machine::load_with(machine, &[system], &[]), expected) {
            (Ok(machine), None) => Some(machine),
            (Err(error), Some(why)) if error.to_string().ends_with(why) => None,
            (Err(error), _) => panic!("{error}"),
            (Ok(_), Some(why)) => panic!("{machine} takes {system}, expected: {why}"),
        }
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |text| System::parse(Path::new("s.toml"), text).unwrap_err().to_string();
        assert_eq!(refused("name = \"s\"\n"), "s.toml:1:1: missing field `description`");
        let nothing = refused("name = \"s\"\ndescription = \"d\"\n");
        assert!(
            nothing.starts_with("s.toml: found nothing that it replaces, expected a table for a door: sm.")
        );
        let unknown = System::load("fuze").unwrap_err().to_string();
        assert!(unknown.starts_with("fuze: no such system, expected one of "), "{unknown}");
    }

    #[test]
    fn a_mistake_is_named_with_its_place_in_the_system_and_its_key() {
        let text = crate::machine::builtin()[0].text;
        let blamed = |overlay: &str| {
            let text_of = format!("name = \"s\"\ndescription = \"d\"\n{overlay}");
            let system = System::parse(Path::new("s.toml"), &text_of)?;
            super::super::Machine::build(Path::new("m.toml"), text, vec![system], &[]).map(|_| ())
        };
        for (overlay, expected) in [
            (
                "[gpu]\nsms = { value = \"x\", source = \"s\" }\n",
                "s.toml:4:1: `gpu.sms`: invalid type: string \"x\", expected a whole number from 0 to 65535",
            ),
            (
                "[gpu]\nsm = 4\n",
                "s.toml:4:1: `gpu.sm`: unknown field `sm` (did you mean `sms`?), expected one of ",
            ),
            (
                "[l1d.sram]\nways = 4\n",
                "s.toml:4:1: `l1d.sram.ways`: invalid type: integer `4`, expected a value with",
            ),
            (
                "[gpu]\nsms = 99999999999999999999\n",
                "s.toml:4:7: `gpu.sms`: found 99999999999999999999, expected a",
            ),
        ] {
            let error = blamed(overlay).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn every_system_that_comes_along_is_named_as_its_file_and_stands_in_machines() {
        for builtin in builtin() {
            let system = System::load(builtin.name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(system.about.name, builtin.name);
            for machine in super::super::builtin() {
                machine_with(machine.name, builtin.name);
            }
        }
    }
}
