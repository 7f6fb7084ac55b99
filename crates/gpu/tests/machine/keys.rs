//! Every key of every machine and system has a meaning and a unit, and the bounds that are told are those that hold.

use std::collections::BTreeMap;

use strata_engine::config::{KeyFacts, Kind};
use strata_gpu::machine::{Machine, MachineKey, builtin, system};

/// Every built-in machine, alone and with each built-in system that fits it.
fn machines() -> Vec<(Machine, String)> {
    let systems: Vec<&str> = system::builtin().iter().map(|system| system.name).collect();
    let mut machines = Vec::new();
    for machine in builtin() {
        for systems in std::iter::once(vec![]).chain(systems.iter().map(|system| vec![*system])) {
            if let Ok(loaded) = Machine::load_with(machine.name, &systems, &[]) {
                machines.push((loaded, format!("{} {systems:?}", machine.name)));
            }
        }
    }
    machines
}

/// Every key once: on the first machine that has a value for it or, if none has, the first that may have one.
fn keys() -> BTreeMap<String, (MachineKey, Machine)> {
    let mut keys: BTreeMap<String, (MachineKey, Machine)> = BTreeMap::new();
    for (machine, _) in machines() {
        for key in machine.keys() {
            let known =
                keys.get(&key.path).is_some_and(|(known, _)| known.value.is_some() || key.value.is_none());
            if !known {
                keys.insert(key.path.clone(), (key, machine.clone()));
            }
        }
    }
    keys
}

#[test]
fn every_key_has_a_meaning_and_every_number_a_unit() {
    let mut wrong = Vec::new();
    for (machine, name) in machines() {
        let keys = machine.keys();
        for MachineKey { path, facts, .. } in &keys {
            let words = facts.meaning.split_whitespace().count();
            if words < 3 || !facts.meaning.ends_with('.') {
                wrong.push(format!("{name}: {path} means `{}`", facts.meaning));
            }
            let is_number = matches!(facts.kind, Kind::Whole | Kind::Number);
            // The bounds of this one are other keys.
            let is_bound = !facts.range().is_empty() || path.ends_with("compression.blocks");
            if is_number && (facts.unit.is_empty() || !is_bound) {
                wrong.push(format!("{name}: {path} is a number of `{}`, `{}`", facts.unit, facts.range()));
            }
        }
        // What the file has and what the types know are the same.
        for value in machine.values() {
            match keys.iter().find(|key| key.path == value.path) {
                None => wrong.push(format!("{name}: no type knows {}", value.path)),
                Some(key) => {
                    assert_eq!((key.value.as_ref(), &key.source), (Some(&value.value), &value.source));
                    assert_eq!(key.facts.is_cited, value.source.is_some(), "{name}: {}", key.path);
                }
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a machine says of a key's value.
fn with(machine: &Machine, path: &str, value: &str) -> Result<(), String> {
    let text = machine.table().to_string();
    let set = format!("{path}={value}");
    Machine::parse("machine.toml".as_ref(), &text, &[set]).map(|_| ()).map_err(|error| error.to_string())
}

/// Whether a refusal is that this key's value lies outside a range: `l1d.sram: ways: must be 1 to 64, found 65` or
/// `sm.warp_slots = 65: expected 1 to 64`.
fn is_out_of_range(error: &str, path: &str) -> bool {
    let message = error
        .split_once("--set ")
        .and_then(|(_, rest)| rest.split_once(": "))
        .map_or(error, |(_, rest)| rest);
    let parts: Vec<&str> = path.split('.').collect();
    let names = (0..parts.len()).map(|from| parts[from..].join("."));
    let is_of_key = names.into_iter().any(|name| {
        message.match_indices(&name).any(|(at, _)| {
            let (before, after) = (&message[..at], &message[at + name.len()..]);
            (before.is_empty() || before.ends_with(": "))
                && [":", " is ", " = "].iter().any(|end| after.starts_with(end))
        })
    });
    let is_number = |word: &str| word.trim_end_matches([',', ':']).bytes().all(|c| c.is_ascii_digit());
    let words: Vec<&str> = message.split_whitespace().collect();
    is_of_key && words.windows(3).any(|words| words[1] == "to" && is_number(words[0]) && is_number(words[2]))
}

/// Numbers at a key's bounds and one beyond them, and whether each can be.
fn trials(facts: &KeyFacts) -> Vec<(String, bool)> {
    let whole = |bound: &serde_json::Number, step: i64| match bound.as_i64() {
        Some(whole) if facts.kind == Kind::Whole => (whole + step).to_string(),
        _ => format!("{:.1}", bound.as_f64().expect("a bound is a number") + step as f64),
    };
    let mut trials = Vec::new();
    if let Some(least) = &facts.least {
        trials.push((whole(least, -1), false));
        trials.push((whole(least, 0), !facts.is_above));
        if facts.is_above {
            trials.push((whole(least, 1), true));
        }
    }
    if let Some(most) = &facts.most {
        trials.extend([(whole(most, 0), true), (whole(most, 1), false)]);
    }
    trials
}

#[test]
fn bounds_are_those_that_hold() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (path, (key, machine)) in keys() {
        // The energies of events are all alike.
        if path.contains(".pj.") && tried % 16 != 0 {
            continue;
        }
        for (value, can_be) in trials(&key.facts) {
            tried += 1;
            let told = key.facts.range();
            let name = path.rsplit('.').next().unwrap_or(&path);
            match (with(&machine, &path, &value), can_be) {
                (Err(error), true) if is_out_of_range(&error, &path) => {
                    wrong.push(format!("{path} = {value}: {told}, but: {error}"));
                }
                (Err(error), false) if key.value.is_some() && !error.contains(name) => {
                    wrong.push(format!("{path} = {value}: {told}, but: {error}"));
                }
                (Ok(()), false) => wrong.push(format!("{path} = {value}: {told}, but it is not refused")),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 1000, "found {tried} numbers");
}

#[test]
fn every_choice_that_is_told_is_one() {
    let mut wrong = Vec::new();
    for (path, (key, machine)) in keys() {
        let names = key.facts.choices.iter().map(|(name, _)| name).filter(|name| !name.contains('{'));
        for choice in names {
            let refused = with(&machine, &path, &format!("\"{choice}\"")).err();
            if let Some(error) =
                refused.filter(|error| error.contains("unknown variant") || error.contains("must be "))
            {
                wrong.push(format!("{path} = {choice}: {error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
