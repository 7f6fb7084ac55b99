//! What each value by which two machines differ brings: the difference of cycles as a sum over values and their interactions.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strata_measure::exact::Exact;
use strata_measure::shapley;

use super::asked::asked;
use super::changes::{Change, changes, together, with};
use super::repeat::{How, Repeat, each};
use super::report::{exact, i128_json};
use super::side::Side;

/// How changes are attributed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Orders that are drawn where there are too many changes for every subset.
    pub chains: usize,
    /// What they are drawn from.
    pub seed: u64,
    /// Paths of values that change together.
    pub together: Vec<Vec<String>>,
}

/// A difference of cycles and what of it each change brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The changes.
    pub changes: Vec<Change>,
    /// Cycles without any of them and with all.
    pub cycles: [u64; 2],
    /// What each brings on average over the orders in which they can be made; together the whole difference.
    pub values: Vec<Exact>,
    /// Standard errors of the values, where they are means over orders drawn at random.
    pub errors: Vec<Option<f64>>,
    /// How that was found.
    pub found: Found,
    /// Machines that were looked at.
    pub machines: usize,
}

/// How shares were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// From every subset.
    Subsets {
        /// What the changes of each subset bring together, beyond what smaller subsets of them bring: bit n of a subset is set if
        /// it has change n. Together the whole difference.
        parts: Vec<(u32, i128)>,
    },
    /// From orders drawn at random.
    Chains {
        /// How many.
        chains: usize,
        /// What they were drawn from.
        seed: u64,
    },
}

impl Shares {
    /// The names of a subset's changes, joined by ` x `.
    #[must_use]
    pub fn name(&self, subset: u32) -> String {
        let of = self.changes.iter().enumerate().filter(|(place, _)| subset >> place & 1 == 1);
        of.map(|(_, change)| change.name()).collect::<Vec<_>>().join(" x ")
    }

    /// The shares as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let change = |((change, value), error): ((&Change, &Exact), &Option<f64>)| {
            let [left, right] = change.values();
            json!({
                "values": change.name(),
                "left": left,
                "right": right,
                "shapley": exact(*value),
                "standard_error": error,
            })
        };
        let part = |(subset, cycles): &(u32, i128)| {
            let of = self.changes.iter().enumerate().filter(|(place, _)| subset >> place & 1 == 1);
            let of: Vec<String> = of.map(|(_, change)| change.name()).collect();
            json!({ "of": of, "cycles": i128_json(*cycles) })
        };
        let (parts, chains, seed) = match &self.found {
            Found::Subsets { parts } => (Some(parts.iter().map(part).collect::<Vec<_>>()), None, None),
            Found::Chains { chains, seed } => (None, Some(chains), Some(seed)),
        };
        json!({
            "left_cycles": self.cycles[0],
            "right_cycles": self.cycles[1],
            "change": i128_json(i128::from(self.cycles[1]) - i128::from(self.cycles[0])),
            "changes": self.changes.iter().zip(&self.values).zip(&self.errors).map(change).collect::<Vec<_>>(),
            "parts": parts,
            "chains": chains,
            "seed": seed,
            "machines": self.machines,
        })
    }
}

/// Attributes the difference of two runs' cycles to the values by which their machines differ.
///
/// # Errors
/// If the runs differ in more than their machines, a machine between them cannot be, or a run fails.
pub fn attribute(
    (left, one): (&Repeat, &Side),
    (right, other): (&Repeat, &Side),
    ask: &Ask,
    how: How<'_>,
) -> Result<Shares, String> {
    for what in asked(one, other) {
        if ["workload", "size", "PTX", "inputs", "launches measured", "simulator"]
            .contains(&what.what.as_str())
        {
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
            let (left, right) = (text(&what.left), text(&what.right));
            return Err(format!(
                "{}: found `{left}` and `{right}`, expected runs that differ in their machines",
                what.what
            ));
        }
    }
    if left.max_cycles != right.max_cycles {
        return Err("--max-cycles: found two limits, expected runs that differ in their machines".to_owned());
    }
    let changes = changes(&left.values, &right.values);
    let changes = together(changes, &ask.together).map_err(|error| format!("--together: {error}"))?;
    let count = changes.len();
    let orders = match count {
        0..=shapley::MOST => vec![],
        _ => shapley::orders(count, ask.chains, ask.seed),
    };
    let sets = sets(count, &orders);
    let cycles = each(&sets, how.at_once, |made| {
        let name = name(left, &changes, made);
        let values = with(&left.values, &changes, made).into();
        let repeat = left.on(name, values);
        repeat.machine().map_err(|reason| cannot_be(&changes, made, &reason))?;
        repeat.cycles(how)
    })?;
    let by_set: BTreeMap<&[bool], u64> = sets.iter().map(Vec::as_slice).zip(cycles.iter().copied()).collect();
    let (values, errors, found) = if orders.is_empty() {
        let parts = shapley::parts(&cycles);
        (shapley::values(&parts, count), vec![None; count], Found::Subsets { parts })
    } else {
        let means = shapley::means(&orders, |made| Ok::<u64, String>(by_set[made]))?;
        let (values, errors) = means.into_iter().unzip();
        (values, errors, Found::Chains { chains: ask.chains, seed: ask.seed })
    };
    let ends = [vec![false; count], vec![true; count]].map(|made| by_set[made.as_slice()]);
    Ok(Shares { changes, cycles: ends, values, errors, found, machines: sets.len() })
}

/// The sets of changes that are looked at, each once: every subset in the order of its bits; or those on the way of each order.
fn sets(changes: usize, orders: &[Vec<usize>]) -> Vec<Vec<bool>> {
    if orders.is_empty() {
        let set = |subset: u32| (0..changes).map(|change| subset >> change & 1 == 1).collect();
        return (0..1 << changes).map(set).collect();
    }
    let mut sets = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for order in orders {
        let mut made = vec![false; changes];
        for next in order.iter().map(Some).chain([None]) {
            if known.insert(made.clone()) {
                sets.push(made.clone());
            }
            if let Some(change) = next {
                made[*change] = true;
            }
        }
    }
    sets
}

fn made_names(changes: &[Change], made: &[bool]) -> Vec<String> {
    changes.iter().zip(made).filter(|(_, made)| **made).map(|(change, _)| change.name()).collect()
}

/// The machine's name, for readers of a store.
fn name(left: &Repeat, changes: &[Change], made: &[bool]) -> String {
    let set = |change: &Change| format!("{}={}", change.name(), change.values()[1]);
    let sets = changes.iter().zip(made).filter(|(_, made)| **made).map(|(change, _)| set(change));
    let sets: Vec<String> = sets.collect();
    match sets.is_empty() {
        true => left.about.name.clone(),
        false => format!("{} with {}", left.about.name, sets.join(", ")),
    }
}

fn cannot_be(changes: &[Change], made: &[bool], reason: &str) -> String {
    let names = made_names(changes, made).join(", ");
    format!(
        "the left machine cannot take {names} from the right one without the others: {reason}; --together KEY,KEY changes values together"
    )
}
