//! The values by which two machines differ, each of which can be changed alone.

use std::collections::BTreeSet;

use strata_gpu::machine::identity;
use toml::{Table, Value};

/// A value that differs, or several that change together.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The paths of the values.
    pub places: Vec<Place>,
}

/// A value of a machine that differs: a number or a word, an array, or a table of a design that the other machine lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its keys, from the machine's sections down.
    pub keys: Vec<String>,
    /// What stands there on the left; `None` where nothing does.
    pub left: Option<Value>,
    /// What stands there on the right.
    pub right: Option<Value>,
}

/// Sections and keys that decide no cycle.
const BESIDE: [&str; 4] = ["name", "description", "energy", "endurance"];

impl Place {
    /// Its path, as `l1d.sram.ways`.
    #[must_use]
    pub fn path(&self) -> String {
        self.keys.join(".")
    }
}

impl Change {
    /// The paths of its values, joined by `+`.
    #[must_use]
    pub fn name(&self) -> String {
        self.places.iter().map(Place::path).collect::<Vec<_>>().join("+")
    }

    /// Its values on the left and on the right, for readers.
    #[must_use]
    pub fn values(&self) -> [String; 2] {
        let text = |of: fn(&Place) -> &Option<Value>| {
            self.places.iter().map(|place| short(of(place).as_ref())).collect::<Vec<_>>().join(", ")
        };
        [text(|place| &place.left), text(|place| &place.right)]
    }
}

/// A value in a few words.
fn short(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::Table(table)) => match cited(table) {
            Some(value) => short(Some(value)),
            None => table.keys().cloned().collect::<Vec<_>>().join("+"),
        },
        Some(Value::Array(items)) => format!("{} entries", items.len()),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// The value of a table that is a value and its source.
fn cited(table: &Table) -> Option<&Value> {
    table.get("value").filter(|_| table.contains_key("source"))
}

/// Every value by which two machines differ and that decides cycles.
#[must_use]
pub fn changes(left: &Table, right: &Table) -> Vec<Change> {
    let mut places = Vec::new();
    for key in keys(left, right).into_iter().filter(|key| !BESIDE.contains(&key.as_str())) {
        add(std::slice::from_ref(key), left.get(key), right.get(key), &mut places);
    }
    places.into_iter().map(|place| Change { places: vec![place] }).collect()
}

fn keys<'a>(left: &'a Table, right: &'a Table) -> BTreeSet<&'a String> {
    left.keys().chain(right.keys()).collect()
}

fn add(path: &[String], left: Option<&Value>, right: Option<&Value>, places: &mut Vec<Place>) {
    if lines(left) == lines(right) {
        return;
    }
    if let (Some(Value::Table(one)), Some(Value::Table(other))) = (left, right)
        && cited(one).is_none()
        && cited(other).is_none()
        && !is_another_design(one, other)
    {
        for key in keys(one, other) {
            let path: Vec<String> = path.iter().chain([key]).cloned().collect();
            add(&path, one.get(key), other.get(key), places);
        }
        return;
    }
    places.push(Place { keys: path.to_vec(), left: left.cloned(), right: right.cloned() });
}

/// A value's lines, as they decide a machine's identity.
fn lines(value: Option<&Value>) -> Vec<String> {
    let table: Table = value.map(|value| ("of".to_owned(), value.clone())).into_iter().collect();
    identity::lines(&table)
}

/// Whether one of two tables has a table that the other lacks: the name of a design, which stands and falls with its values.
fn is_another_design(one: &Table, other: &Table) -> bool {
    let is_alone = |key: &String| {
        let of = |table: &Table| table.get(key).cloned();
        match (of(one), of(other)) {
            (Some(Value::Table(table)), None) | (None, Some(Value::Table(table))) => cited(&table).is_none(),
            _ => false,
        }
    };
    keys(one, other).into_iter().any(is_alone)
}

/// Joins changes that are to be made together: for each list of paths, those with such a path or below it.
///
/// # Errors
/// A path of which nothing changes.
pub fn together(mut changes: Vec<Change>, lists: &[Vec<String>]) -> Result<Vec<Change>, String> {
    for list in lists {
        let is_below = |path: &str, change: &Change| {
            change.places.iter().any(|place| {
                let rest = place.path();
                rest.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        if let Some(path) = list.iter().find(|path| !changes.iter().any(|change| is_below(path, change))) {
            let known: Vec<String> = changes.iter().map(Change::name).collect();
            let known = known.join(", ");
            return Err(format!("found `{path}`, which does not differ, expected one of {known}"));
        }
        let (joined, others): (Vec<Change>, Vec<Change>) =
            changes.into_iter().partition(|change| list.iter().any(|path| is_below(path, change)));
        changes = others;
        changes.push(Change { places: joined.into_iter().flat_map(|change| change.places).collect() });
    }
    Ok(changes)
}

/// The left machine with some changes made.
#[must_use]
pub fn with(left: &Table, changes: &[Change], made: &[bool]) -> Table {
    let mut table = left.clone();
    for (change, _) in changes.iter().zip(made).filter(|(_, made)| **made) {
        for place in &change.places {
            set(&mut table, &place.keys, place.right.as_ref());
        }
    }
    table
}

fn set(table: &mut Table, keys: &[String], value: Option<&Value>) {
    let (key, rest) = keys.split_first().expect("a place has keys");
    match (rest.is_empty(), value) {
        (false, _) => {
            if let Some(Value::Table(inner)) = table.get_mut(key) {
                set(inner, rest, value);
            }
        }
        (true, Some(value)) => drop(table.insert(key.clone(), value.clone())),
        (true, None) => drop(table.remove(key)),
    }
}

#[cfg(test)]
mod tests {
    use strata_gpu::machine::Machine;

    use super::*;

    fn table(systems: &[&str], sets: &[&str]) -> Table {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load_with("gtx480", systems, &sets).unwrap().table().clone()
    }

    #[test]
    fn all_changes_make_the_other_machine() {
        let left = table(&[], &[]);
        for right in
            [table(&["l1-sram"], &["sm.schedulers=1"]), table(&["dy-fuse"], &["dram.queue_entries=8"])]
        {
            let changes = changes(&left, &right);
            assert!(!changes.is_empty());
            let all = with(&left, &changes, &vec![true; changes.len()]);
            let deciding = |table: &Table| {
                let kept = table.iter().filter(|(key, _)| !BESIDE.contains(&key.as_str()));
                identity::lines(&kept.map(|(key, value)| (key.clone(), value.clone())).collect())
            };
            assert_eq!(deciding(&all), deciding(&right));
            assert_eq!(with(&left, &changes, &vec![false; changes.len()]), left);
        }
    }

    #[test]
    fn each_value_is_a_change_and_some_are_made_together() {
        let (left, right) = (table(&[], &[]), table(&[], &["l1d.ways=8", "l1d.sets=16", "sm.schedulers=1"]));
        let names = |changes: &[Change]| changes.iter().map(Change::name).collect::<Vec<_>>();
        let found = changes(&left, &right);
        assert_eq!(names(&found), ["l1d.sram.sets", "l1d.sram.ways", "sm.schedulers"]);
        assert_eq!(found[1].values(), ["4", "8"]);
        let joined = together(found.clone(), &[vec!["l1d.sram".to_owned()]]).unwrap();
        assert_eq!(names(&joined), ["sm.schedulers", "l1d.sram.sets+l1d.sram.ways"]);
        let error = together(found, &[vec!["l1d.sra".to_owned()]]).unwrap_err();
        assert!(error.starts_with("found `l1d.sra`, which does not differ, expected one of l1d.sram.sets, "));
    }
}
