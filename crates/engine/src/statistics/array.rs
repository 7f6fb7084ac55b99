//! Arrays of counters: one counter for each of many like parts, as in `bank_00`, `bank_01`, ...
//!
//! An array is known by the names of its counters, so whoever reads results by name finds it too.

use std::sync::Mutex;

use super::{Definition, Group};

/// Least number of digits after an array's name.
const DIGITS: usize = 2;

/// A group of arrays of counters. Each array has a definition, whose name is the array's, and its counters'
/// values: an array `bank` of 64 values has the counters `bank_00` to `bank_63`, with the definition's unit,
/// meaning and mark.
///
/// ```
/// use strata_engine::statistics::{Definition, Mark, array_group};
/// let bank = Definition { name: "bank", unit: "writes", meaning: "Writes of the bank.", mark: Mark::Plain };
/// let word = Definition {
///     name: "word",
///     unit: "writes",
///     meaning: "Writes of the bank's most written word.",
///     mark: Mark::Maximum,
/// };
/// let group = array_group("register_wear", &[(bank, &[5, 0]), (word, &[3, 0])]);
/// assert_eq!(group.get("bank_00"), Some(5));
/// assert_eq!(group.get("word_01"), Some(0));
/// ```
pub fn array_group(name: &'static str, arrays: &[(Definition, &[u64])]) -> Group {
    let shapes: Vec<Shape> = arrays.iter().map(|(definition, values)| (*definition, values.len())).collect();
    let values = arrays.iter().flat_map(|(_, values)| values.iter().copied()).collect();
    Group { name, definitions: definitions(shapes), laws: Vec::new(), values, broken: None }
}

/// An array's definition and its number of counters.
type Shape = (Definition, usize);

/// The definitions of the counters of some arrays. Each combination is made once and kept.
fn definitions(shapes: Vec<Shape>) -> &'static [Definition] {
    static KNOWN: Mutex<Vec<(Vec<Shape>, &'static [Definition])>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().expect("no holder of the lock panics");
    if let Some((_, made)) = known.iter().find(|(other, _)| *other == shapes) {
        return made;
    }
    let made: &'static [Definition] = shapes.iter().copied().flat_map(counters).collect::<Vec<_>>().leak();
    known.push((shapes, made));
    made
}

fn counters((array, length): Shape) -> impl Iterator<Item = Definition> {
    let digits = length.saturating_sub(1).to_string().len().max(DIGITS);
    (0..length)
        .map(move |place| Definition { name: format!("{}_{place:0digits$}", array.name).leak(), ..array })
}

/// Consecutive counters that are one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array<'a> {
    /// The counters' name, without the number.
    pub name: &'a str,
    /// Place of counter 0 among the names.
    pub first: usize,
    /// Number of counters.
    pub length: usize,
}

impl<'a> Array<'a> {
    /// The arrays among the names of a group's counters, in order.
    pub fn among(names: &[&'a str]) -> Vec<Array<'a>> {
        let mut arrays = Vec::new();
        let mut first = 0;
        while first < names.len() {
            let array = Array::at(names, first);
            first += array.map_or(1, |array| array.length);
            arrays.extend(array);
        }
        arrays
    }

    fn at(names: &[&'a str], first: usize) -> Option<Array<'a>> {
        let (name, digits) = numbered(names[first])?;
        let belongs = |place: usize| {
            let (other, number) = numbered(names[first + place])?;
            (other == name && number.len() == digits.len() && number.parse() == Ok(place)).then_some(())
        };
        let length = (0..names.len() - first).take_while(|place| belongs(*place).is_some()).count();
        (length > 0).then_some(Array { name, first, length })
    }
}

/// Splits `bank_07` into `bank` and `07`.
fn numbered(name: &str) -> Option<(&str, &str)> {
    let (name, digits) = name.rsplit_once('_')?;
    let number = digits.len() >= DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    (number && !name.is_empty()).then_some((name, digits))
}

#[cfg(test)]
mod tests {
    use super::super::Mark;
    use super::*;

    const BANK: Definition =
        Definition { name: "bank", unit: "writes", meaning: "Writes of the bank.", mark: Mark::Plain };
    const WORD: Definition =
        Definition { name: "word", unit: "writes", meaning: "Writes of its word.", mark: Mark::Maximum };

    #[test]
    fn a_group_of_arrays_merges_like_any_other() {
        let mut group = array_group("wear", &[(BANK, &[1, 2, 3]), (WORD, &[1, 1, 2])]);
        group.merge(&array_group("wear", &[(BANK, &[10, 0, 0]), (WORD, &[9, 0, 0])]));
        assert_eq!(group.values, [11, 2, 3, 9, 1, 2]);
        let names: Vec<&str> = group.definitions.iter().map(|definition| definition.name).collect();
        assert_eq!(names, ["bank_00", "bank_01", "bank_02", "word_00", "word_01", "word_02"]);
        assert_eq!((group.definitions[4].unit, group.definitions[4].meaning), ("writes", WORD.meaning));
        assert_eq!(group.get("word_00"), Some(9));
    }

    #[test]
    fn definitions_are_made_once() {
        let definitions = |length| array_group("wear", &[(BANK, &vec![0; length])]).definitions;
        assert!(std::ptr::eq(definitions(40), definitions(40)));
        assert_eq!((definitions(41).len(), definitions(40).len()), (41, 40));
    }

    #[test]
    fn large_arrays_have_more_digits() {
        let names = |length: usize| {
            let definitions = array_group("wear", &[(BANK, &vec![0; length])]).definitions;
            (definitions[0].name, definitions[length - 1].name)
        };
        assert_eq!(names(1), ("bank_00", "bank_00"));
        assert_eq!(names(100), ("bank_00", "bank_99"));
        assert_eq!(names(101), ("bank_000", "bank_100"));
    }

    #[test]
    fn arrays_are_found_by_the_names_of_their_counters() {
        let group = array_group("wear", &[(BANK, &[0; 101]), (WORD, &[0; 2])]);
        let mut names: Vec<&str> = group.definitions.iter().map(|definition| definition.name).collect();
        names.insert(0, "writes");
        // A counter that is not part of an array: its number is short, out of turn, or not all of its end.
        names.extend(["delta_0", "delta_1", "since_07", "of_00_lines", "_00"]);
        let bank = Array { name: "bank", first: 1, length: 101 };
        let word = Array { name: "word", first: 102, length: 2 };
        assert_eq!(Array::among(&names), [bank, word]);
        assert_eq!(Array::among(&[]), []);
    }
}
