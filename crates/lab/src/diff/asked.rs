//! In what two runs were asked different things.

use std::collections::{BTreeMap, BTreeSet};

use super::side::Side;

/// One thing in which the questions differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What it is: `workload`, or the path of a machine's value.
    pub what: String,
    /// What it is on the left; `None` where that has none.
    pub left: Option<String>,
    /// What it is on the right.
    pub right: Option<String>,
}

/// Everything in which the questions of two runs differ: program, machine, simulator; then the machines' values by path.
#[must_use]
pub fn asked(left: &Side, right: &Side) -> Vec<Asked> {
    let plain = |side: &Side| -> Vec<(&'static str, Option<String>)> {
        let known = |text: &String| (!text.is_empty()).then(|| text.clone());
        vec![
            ("workload", known(&side.workload)),
            ("size", side.size.clone()),
            ("PTX", known(&side.ptx)),
            ("inputs", known(&side.inputs)),
            ("launches measured", known(&side.region)),
            ("machine", known(&side.machine)),
            ("system", side.system.clone()),
            ("simulator", known(&side.simulator)),
        ]
    };
    // A machine goes by its file's name, or by the file's and its own.
    let same_machine = left.values.is_some() && left.values == right.values;
    let questions = plain(left).into_iter().zip(plain(right));
    let mut differing: Vec<Asked> = questions
        .filter(|((what, left), (_, right))| left != right && !(same_machine && *what == "machine"))
        .map(|((what, left), (_, right))| Asked { what: what.to_owned(), left, right })
        .collect();
    match (&left.values, &right.values) {
        (Some(one), Some(other)) => differing.extend(values(one.lines(), other.lines())),
        _ if left.machine_hash != right.machine_hash => {
            differing.push(Asked {
                what: "hash of the machine".to_owned(),
                left: left.machine_hash.clone(),
                right: right.machine_hash.clone(),
            });
            if left.overrides != right.overrides {
                let sets = |side: &Side| (!side.overrides.is_empty()).then(|| side.overrides.join(" "));
                differing.push(Asked { what: "overrides".to_owned(), left: sets(left), right: sets(right) });
            }
        }
        _ => {}
    }
    differing
}

/// The values that differ, of lines `path = value`.
fn values(left: &[String], right: &[String]) -> Vec<Asked> {
    let by_path = |lines: &[String]| -> BTreeMap<String, String> {
        let split = |line: &String| {
            let line = line.trim_end();
            let (path, value) = line.split_once(" = ").or_else(|| line.split_once(" has "))?;
            Some((path.to_owned(), value.to_owned()))
        };
        lines.iter().filter_map(split).collect()
    };
    let (left, right) = (by_path(left), by_path(right));
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differ = paths.into_iter().filter(|path| left.get(*path) != right.get(*path));
    differ
        .map(|path| Asked {
            what: path.clone(),
            left: left.get(path).cloned(),
            right: right.get(path).cloned(),
        })
        .collect()
}
