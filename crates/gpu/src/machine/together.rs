//! Why systems do not stand in one machine: which of them, and the keys that they set.

use strata_engine::config::ConfigError;

use super::System;

/// Most systems of which every subset is tried: as many as a factorial comparison takes.
const MOST: usize = 6;

/// What the refusal of a machine says if it takes several of its systems: the smallest subset that is refused for the same reason, and the
/// keys in the message that they set. `refuse` builds the machine with a subset.
pub(super) fn explain(
    error: ConfigError,
    systems: &[System],
    refuse: impl Fn(Vec<System>) -> Option<ConfigError>,
) -> ConfigError {
    if systems.len() < 2 || systems.len() > MOST {
        return error;
    }
    let subset = |set: u32| {
        let systems = systems.iter().enumerate().filter(move |(index, _)| set >> index & 1 == 1);
        systems.map(|(_, system)| system.clone()).collect::<Vec<_>>()
    };
    let all = (1 << systems.len()) - 1;
    let mut sets: Vec<u32> = (1..all).collect();
    sets.sort_by_key(|set| (set.count_ones(), *set));
    let says_so = |set: &u32| refuse(subset(*set)).is_some_and(|other| is_the_same(&other, &error));
    let culprits = subset(sets.into_iter().find(says_so).unwrap_or(all));
    if culprits.len() < 2 {
        return error;
    }
    let named: Vec<String> = culprits.iter().map(|system| named(system, &error.message)).collect();
    let alone = if culprits.len() == 2 { "each of them alone can" } else { "fewer of them can" };
    let message =
        format!("{}; {} cannot stand in this machine together, {alone}", error.message, and(&named));
    ConfigError { message, ..error }
}

/// Whether two refusals have one reason: of one place and key, whatever stands beside it that was found.
fn is_the_same(one: &ConfigError, other: &ConfigError) -> bool {
    let reason = |error: &ConfigError| error.message.split(" found ").next().map(str::to_owned);
    (&one.file, one.place, reason(one)) == (&other.file, other.place, reason(other))
}

/// A system, with the keys in a message that it sets.
fn named(system: &System, message: &str) -> String {
    let paths = system.layer.paths();
    let sets = |key: &str| {
        paths
            .iter()
            .any(|path| key == path || key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    };
    let mut keys: Vec<&str> = Vec::new();
    for word in message.split(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))) {
        let word = word.trim_matches('.');
        if word.contains('.') && sets(word) && !keys.contains(&word) {
            keys.push(word);
        }
    }
    let name = &system.about.name;
    match keys.is_empty() {
        true => format!("`{name}`"),
        false => format!("`{name}` (which sets {})", keys.join(", ")),
    }
}

/// Names, as a sentence lists them.
fn and(names: &[String]) -> String {
    let (last, first) = names.split_last().expect("there are names");
    format!("{} and {last}", first.join(", "))
}
