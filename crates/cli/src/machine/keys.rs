//! `strata machine keys`: every key that `--set` takes, and what it means.

use clap::Args;
use serde_json::Value;
use strata_engine::config::did_you_mean;
use strata_gpu::machine::{Machine, MachineKey, Range, designs_with_key, overrides};
use strata_lab::catalogue;

use crate::choice::MachineChoice;
use crate::{Finished, print, table};

/// Arguments of `strata machine keys`.
#[derive(Args)]
pub struct KeysArguments {
    /// Print only keys that contain this text, in any spelling that `--set` takes: `l1d.ways` finds `l1d.sram.ways`.
    filter: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineChoice,
}

/// Columns before the lines that explain a key.
const INDENT: usize = 4;

/// Prints each key with its value, unit, range, meaning and source.
///
/// # Errors
/// A machine that cannot be loaded, or a filter that no key contains.
pub fn keys(arguments: &KeysArguments) -> Result<Finished, String> {
    let machine = arguments.machine.load(&[])?;
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let found = matching(&machine, filter)?;
    if arguments.json {
        let keys: Vec<Value> = found.iter().map(catalogue::key).collect();
        let text = serde_json::to_string_pretty(&keys).expect("strings and numbers serialise");
        print(&format!("{text}\n"))?;
    } else {
        let width = table::width();
        let keys: Vec<String> = found.iter().map(|key| text(key, found.len() == 1, width)).collect();
        print(&keys.join("\n"))?;
    }
    Ok(Finished::Well)
}

/// The keys whose path, whole or without the designs behind doors, contains a text.
fn matching(machine: &Machine, filter: &str) -> Result<Vec<MachineKey>, String> {
    let keys = machine.keys();
    let wanted = overrides::unquoted(filter);
    let has = |key: &&MachineKey| key.path.contains(&wanted) || key.short_path().contains(&wanted);
    // A key that is named whole is meant, and not those that begin as it does.
    let is_named = |key: &&MachineKey| key.path == wanted || key.short_path() == wanted;
    let named: Vec<MachineKey> = keys.iter().filter(is_named).cloned().collect();
    let found = if named.is_empty() { keys.iter().filter(has).cloned().collect() } else { named };
    if !found.is_empty() {
        return Ok(found);
    }
    if let Some(designs) = designs_with_key(&wanted) {
        return Err(format!(
            "no key of {} contains `{filter}`: {designs} has it, choose a machine or `--system` with that design",
            machine.name()
        ));
    }
    let alike = did_you_mean(&wanted, keys.iter().flat_map(|key| key.path.split('.')));
    Err(format!("no key contains `{filter}`{alike}, `strata machine keys` shows all"))
}

/// A key's lines: path and value, what the value may be, the meaning, the source; with the meanings of choices if it is the
/// only one.
fn text(key: &MachineKey, is_only: bool, width: usize) -> String {
    let facts = &key.facts;
    let value = key.value.as_ref().map_or("(left out)".to_owned(), ToString::to_string);
    let mut lines = vec![format!("{} = {value} {}", key.path, facts.unit).trim_end().to_owned()];
    let mut add = |text: &str| {
        let wrapped = textwrap::wrap(text, width.saturating_sub(INDENT));
        lines.extend(wrapped.into_iter().map(|line| format!("{:INDENT$}{line}", "")));
    };
    if !facts.meaning.is_empty() {
        add(&facts.meaning);
    }
    let range = facts.range();
    if !range.is_empty() {
        add(&format!("expected: {range}"));
    }
    for (name, meaning) in facts.choices.iter().filter(|(_, meaning)| is_only && !meaning.is_empty()) {
        add(&format!("{name}: {meaning}"));
    }
    if let Some(source) = &key.source {
        add(&format!("source: {source}"));
    }
    if let Some(Range { span, because, together }) = &key.range {
        let with =
            together.as_ref().map_or_else(String::new, |name| format!(", together with all of {name}"));
        add(&format!("may be {span}{with}: {because}"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(systems: &[&str], filter: &str) -> Result<Vec<String>, String> {
        let machine = Machine::load_with("gtx480", systems, &[]).unwrap();
        matching(&machine, filter).map(|keys| keys.into_iter().map(|key| key.path).collect())
    }

    #[test]
    fn every_spelling_that_set_takes_finds_the_key() {
        for spelling in ["l1d.ways", "l1d.sram.ways", "\"l1d\".ways", "'l1d'.'sram'.'ways'", "l1d . ways"] {
            assert_eq!(found(&[], spelling).unwrap(), ["l1d.sram.ways"], "{spelling}");
            Machine::load("gtx480", &[format!("{spelling}=8")]).unwrap_or_else(|error| panic!("{error}"));
        }
        let dotted = "energy.network_replies.pj.\"network.reply\".flit_hops";
        assert_eq!(found(&[], dotted).unwrap(), ["energy.network_replies.pj.network.reply.flit_hops"]);
        Machine::load("gtx480", &[format!("{dotted}=8.0")]).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn a_text_finds_every_key_that_contains_it() {
        let keys = found(&[], "mshr_merges").unwrap();
        assert_eq!(
            keys,
            ["l1d.sram.mshr_merges", "llc.conventional.mshr_merges", "memory_cache.mshr_merges"]
        );
        let error = found(&[], "mshr_mergs").unwrap_err();
        assert!(error.starts_with("no key contains `mshr_mergs` (did you mean `mshr_merges`"), "{error}");
        let error = found(&[], "l1d.stt.ways").unwrap_err();
        assert_eq!(
            error,
            "no key of gtx480 contains `l1d.stt.ways`: `l1d.fuse` has it, choose a machine or `--system` with that design"
        );
        assert_eq!(found(&["dy-fuse"], "l1d.stt.ways").unwrap(), ["l1d.fuse.stt.ways"]);
    }

    #[test]
    fn a_key_is_explained() {
        let machine = Machine::load("gtx480", &[]).unwrap();
        let text = |filter: &str| {
            let keys = matching(&machine, filter).unwrap();
            keys.iter().map(|key| text(key, keys.len() == 1, 80)).collect::<String>()
        };
        assert_eq!(
            text("l1d.ways"),
            "l1d.sram.ways = 4 ways\n    Ways of each set: lines with the same index that it holds at a time.\n    expected: 1 to 64\n    source: FUSE Table I: L1-SRAM, 4 ways\n"
        );
        let policy = text("l1d.replacement");
        assert!(
            policy.contains("    expected: lru | fifo | random | tree-plru | srrip | brrip | drrip | ship\n    lru: Evicts the least"),
            "{policy}"
        );
        assert!(text("clocks.l2_mhz").starts_with("clocks.l2_mhz = (left out) MHz\n"));
    }

    #[test]
    fn every_key_that_a_machine_has_can_be_set() {
        for key in Machine::load("gtx480", &[]).unwrap().keys() {
            let short = key.short_path();
            let Some(value) = key.value else { continue };
            for path in [&key.path, &short] {
                let set = format!("{path}={value}");
                Machine::load("gtx480", &[set]).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}
