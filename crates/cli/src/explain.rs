//! `strata explain`: the meaning of statistics and energies.

use clap::Args;
use strata_engine::statistics::Mark;
use strata_gpu::{catalogue, energy};

use crate::choice::MachineChoice;
use crate::{Finished, print};

/// Arguments of `strata explain`.
#[derive(Args)]
pub struct ExplainArguments {
    /// What to explain: a counter (`l1d.load_hits`), a group (`l1d`), `energy` for all of a machine's
    /// energies and their sources, or `energy.l1d` for those of one structure. Default: list all groups.
    statistic: Option<String>,
    #[command(flatten)]
    machine: MachineChoice,
}

/// Prints the explanation.
///
/// # Errors
/// An unknown group, counter or structure; the message lists the known ones.
pub fn explain(arguments: &ExplainArguments) -> Result<Finished, String> {
    let machine = arguments.machine.load(&[])?;
    if let Some(structure) = arguments.statistic.as_deref().and_then(energies) {
        print(&energy::explain(&machine, structure)?)?;
        return Ok(Finished::Well);
    }
    let groups = catalogue::statistics(&machine)?;
    let Some(asked) = &arguments.statistic else {
        let lines: Vec<String> = groups
            .iter()
            .map(|group| format!("{} ({} counters)\n", group.name, group.definitions.len()))
            .collect();
        print(&lines.concat())?;
        return Ok(Finished::Well);
    };
    // A group's name may itself contain a dot, so try the whole text as a group first.
    let (group_name, counter) = match asked.rsplit_once('.') {
        Some((group, counter)) if groups.iter().all(|group| group.name != asked) => (group, Some(counter)),
        _ => (asked.as_str(), None),
    };
    let names: Vec<&str> = groups.iter().map(|group| group.name).collect();
    let group = groups
        .iter()
        .find(|group| group.name == group_name)
        .ok_or_else(|| format!("no statistics group `{group_name}`, expected one of {}", names.join(", ")))?;
    let mut text = String::new();
    let mut found = false;
    for definition in group.definitions {
        if counter.is_none_or(|counter| counter == definition.name) {
            found = true;
            text += &format!(
                "{}.{} [{}]: {}{}\n",
                group.name,
                definition.name,
                definition.unit,
                definition.meaning,
                match definition.mark {
                    Mark::Plain => "",
                    Mark::Energy => " Costs energy.",
                    Mark::Maximum => " The largest of the parts' counts.",
                }
            );
        }
    }
    if !found {
        let names: Vec<&str> = group.definitions.iter().map(|definition| definition.name).collect();
        return Err(format!("no statistic `{asked}`, `{group_name}` has {}", names.join(", ")));
    }
    let laws: Vec<&&str> =
        group.laws.iter().filter(|law| counter.is_none_or(|counter| mentions(law, counter))).collect();
    for law in laws {
        text += &format!("law: {law}\n");
    }
    print(&text)?;
    Ok(Finished::Well)
}

/// For `energy`, `Some(None)`; for `energy.<structure>`, `Some(Some(structure))`; `None` for anything else.
fn energies(asked: &str) -> Option<Option<&str>> {
    match asked.strip_prefix("energy") {
        Some("") => Some(None),
        Some(rest) => rest.strip_prefix('.').map(Some),
        None => None,
    }
}

/// Whether a law mentions a counter as a whole word.
fn mentions(law: &str, counter: &str) -> bool {
    law.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == counter)
}
