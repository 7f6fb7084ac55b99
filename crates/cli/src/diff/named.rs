//! The runs that `strata diff` compares, by how they are named.

use std::path::Path;

use clap::{Parser, Subcommand};
use serde_json::Value;
use strata_gpu::machine::Machine;
use strata_lab::diff::{How, Repeat, Side};
use strata_lab::job::Key;
use strata_lab::store::Store;

use crate::run::RunArguments;

/// A run by its name.
pub struct Named {
    name: String,
    /// What it measured, of one that has been made.
    side: Option<Side>,
    /// How to make it again, or why it cannot be.
    repeat: Result<Repeat, String>,
}

/// The words of `strata run`, and what may stand beside them on a command line.
#[derive(Parser)]
#[command(name = "strata", no_binary_name = true)]
struct Line {
    #[arg(long, global = true, hide = true)]
    quiet: bool,
    #[arg(long, global = true, hide = true)]
    color: Option<String>,
    #[command(subcommand)]
    command: Words,
}

#[derive(Subcommand)]
enum Words {
    Run(Box<RunArguments>),
}

/// Whether a name may be a key of a store, or its first digits.
pub fn is_key(name: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    !Path::new(name).is_file() && (1..=32).contains(&name.len()) && name.chars().all(digits)
}

impl Named {
    /// Finds a run.
    ///
    /// # Errors
    /// What was found, and what was expected.
    pub fn find(name: &str, store: Option<&Store>) -> Result<Named, String> {
        let path = Path::new(name);
        if path.is_file() || path.extension().is_some_and(|extension| extension == "json") {
            return Named::from_file(path);
        }
        if is_key(name) {
            return match store {
                Some(store) => Named::from_store(name, store),
                None => Err(format!("{name}: found a key, expected --store DIR to look it up in")),
            };
        }
        let words = shlex::split(name).ok_or_else(|| format!("{name}: found a quote without its end"))?;
        if words.first().is_none_or(|word| word != "run") {
            return Err(format!(
                "{name}: found no such file, expected a JSON file of `strata run --json`, the key of a run in a store, or a command in quotes, as in \"run atax\""
            ));
        }
        Named::from_command(name, &words)
    }

    fn from_command(name: &str, words: &[String]) -> Result<Named, String> {
        let arguments = parse(words).map_err(|error| format!("{name}: {error}"))?;
        if let Some(option) = arguments.asks_for_more() {
            return Err(format!("{name}: found {option}, expected options that decide numbers"));
        }
        let repeat = arguments.repeat().map_err(|error| format!("{name}: {error}"))?;
        Ok(Named { name: name.to_owned(), side: None, repeat: Ok(repeat) })
    }

    fn from_file(path: &Path) -> Result<Named, String> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        let run: Value =
            serde_json::from_str(&text).map_err(|error| format!("{name}: {error}, expected JSON"))?;
        let mut side = Side::from_json(&name, &run)?;
        let command = run["provenance"]["command"].as_array().into_iter().flatten();
        let words: Vec<String> =
            command.skip(1).filter_map(|word| word.as_str().map(str::to_owned)).collect();
        let repeat = parse(&words)
            .and_then(|arguments| arguments.repeat())
            .map_err(|error| format!("{name}: its command cannot be run again: {error}"));
        let machine = repeat.as_ref().ok().and_then(|repeat| repeat.machine().ok());
        let machine = machine.filter(|machine| side.was_on(machine)).or_else(|| by_name(&side, &run));
        if let Some(machine) = machine {
            side.on(&machine);
        }
        Ok(Named { name, side: Some(side), repeat })
    }

    fn from_store(name: &str, store: &Store) -> Result<Named, String> {
        let folder = store.folder().display();
        let matching: Vec<&Key> = store.keys().filter(|key| key.to_string().starts_with(name)).collect();
        let key = match matching[..] {
            [key] => key,
            [] => {
                return Err(format!(
                    "{name}: found no run of this key in {folder}; `strata list runs --store {folder}` shows keys"
                ));
            }
            [one, other, ..] => {
                let count = matching.len();
                return Err(format!(
                    "{name}: found {count} keys, such as {one} and {other}, expected the first digits of one"
                ));
            }
        };
        let record = store.get(key)?.ok_or_else(|| format!("{name}: is gone from {folder}"))?;
        let side = Side::from_record(name, &record)?;
        Ok(Named { name: name.to_owned(), side: Some(side), repeat: Repeat::of(name, &record) })
    }

    /// What the run measured. One that has not been made is.
    ///
    /// # Errors
    /// Why there are no numbers.
    pub fn side(&self, how: How<'_>) -> Result<Side, String> {
        match (&self.side, &self.repeat) {
            (Some(side), _) => Ok(side.clone()),
            (None, Ok(repeat)) => {
                repeat.side(&self.name, how).map_err(|error| format!("{}: {error}", self.name))
            }
            (None, Err(error)) => Err(error.clone()),
        }
    }

    /// The run, to be made again; `side` is what it measured.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn repeat(&self, side: &Side) -> Result<&Repeat, String> {
        let repeat = self.repeat.as_ref().map_err(Clone::clone)?;
        if self.side.is_some() {
            repeat.check(side)?;
        }
        Ok(repeat)
    }
}

/// The arguments of `strata run` that some words are.
fn parse(words: &[String]) -> Result<RunArguments, String> {
    let line = Line::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        text.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    })?;
    let Words::Run(arguments) = line.command;
    Ok(*arguments)
}

/// The machine that the fields of a run name, if it still has the values of then.
fn by_name(side: &Side, run: &Value) -> Option<Machine> {
    let file = run["provenance"]["machine_file"].as_str().unwrap_or(&side.machine);
    let machine = Machine::load_with(file, side.system.as_slice(), &side.overrides).ok()?;
    side.was_on(&machine).then_some(machine)
}
