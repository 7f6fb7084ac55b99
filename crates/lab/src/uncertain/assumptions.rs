//! What is assumed of some machines, and machines with other values for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use strata_gpu::machine::identity::digest;
use strata_gpu::machine::{Range, Span};

use crate::setup::assignment;
use crate::variant::Variant;

/// Something that is assumed: a value, or several that move together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assumption {
    /// The path of the value without the designs behind doors, or the name under which several move together.
    pub name: String,
    /// Between what the value may lie; of several that move together the first, and how many others.
    pub values: String,
    /// Why.
    pub because: String,
    /// The paths of its values.
    pub paths: Vec<String>,
}

/// A value of a machine that is assumed.
#[derive(Clone, Debug)]
struct Member {
    assumption: usize,
    path: String,
    span: Span,
}

/// What is assumed of some machines.
///
/// A value that two machines have is one assumption, also where it belongs to different designs behind one door: `l1d.write_buffer`
/// is that of any L1D.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    /// By name.
    pub all: Vec<Assumption>,
    /// The values of each machine, by its name.
    members: BTreeMap<String, Vec<Member>>,
}

impl Assumptions {
    /// What is assumed of some machines, and has a range.
    ///
    /// # Errors
    /// A machine that cannot be built.
    pub fn of(variants: &[Variant]) -> Result<Assumptions, String> {
        let mut found: BTreeMap<String, Assumption> = BTreeMap::new();
        let mut values = BTreeMap::new();
        let mut groups = BTreeSet::new();
        for variant in variants {
            if values.contains_key(&variant.name) {
                continue;
            }
            let machine = variant.machine()?;
            let mut of = Vec::new();
            for key in machine.keys() {
                let short = key.short_path();
                let Some(Range { span, because, together }) = key.range else { continue };
                groups.extend(together.clone());
                let name = together.unwrap_or(short);
                let assumption = found.entry(name.clone()).or_insert_with(|| Assumption {
                    values: span.to_string(),
                    because,
                    paths: vec![],
                    name: name.clone(),
                });
                if !assumption.paths.contains(&key.path) {
                    assumption.paths.push(key.path.clone());
                }
                of.push((name, key.path, span));
            }
            values.insert(variant.name.clone(), of);
        }
        for assumption in found.values_mut().filter(|of| groups.contains(&of.name)) {
            if let [first, others @ ..] = &assumption.paths[..]
                && !others.is_empty()
            {
                assumption.values += &format!(" ({first}), and {} others likewise", others.len());
            }
        }
        let number = |name: &str| found.keys().position(|known| known == name).expect("it was put there");
        let member =
            |(name, path, span): (String, String, Span)| Member { assumption: number(&name), path, span };
        let members =
            values.into_iter().map(|(name, of)| (name, of.into_iter().map(member).collect())).collect();
        Ok(Assumptions { members, all: found.into_values().collect() })
    }

    /// A machine with the values at a point, which has a place for each assumption. It has a name of its own, by which its runs are
    /// found, unless nothing is assumed of it.
    #[must_use]
    pub fn at(&self, point: &[f64], variant: &Variant) -> Variant {
        let members = self.members.get(&variant.name).map_or(&[][..], Vec::as_slice);
        let set = |of: &Member| assignment(&of.path, &of.span.at(point[of.assumption]));
        let sets: Vec<String> = members.iter().map(set).collect();
        if sets.is_empty() {
            return variant.clone();
        }
        let digits = digest(sets.join("\n").as_bytes());
        let name = format!("{} drawn {}", variant.name, &digits[..12]);
        Variant { name, sets: [&variant.sets[..], &sets].concat(), ..variant.clone() }
    }
}
