//! The fewest possible misses: what a cache would miss that knew every request to come (Belady, IBM Systems Journal 1966).

use std::collections::{BTreeSet, HashMap};

use crate::address::LineAddress;

/// The lines in a set by their next use, and when that is.
#[derive(Default)]
struct Set {
    order: BTreeSet<(usize, LineAddress)>,
    here: HashMap<LineAddress, usize>,
}

/// Counts the misses of sets of `ways` ways on a stream of look-ups, each a set and a line. A line that misses takes a way, and
/// the one whose next use lies furthest in the future is evicted; with `may_bypass`, that may be the new line itself.
pub fn fewest_misses(look_ups: &[(usize, LineAddress)], ways: usize, may_bypass: bool) -> u64 {
    let never = look_ups.len();
    let mut next = vec![never; look_ups.len()];
    let mut seen = HashMap::new();
    for (at, look_up) in look_ups.iter().enumerate().rev() {
        if let Some(later) = seen.insert(*look_up, at) {
            next[at] = later;
        }
    }
    let mut sets: HashMap<usize, Set> = HashMap::new();
    let mut misses = 0;
    for (at, (set, line)) in look_ups.iter().enumerate() {
        let Set { order, here } = sets.entry(*set).or_default();
        if let Some(use_) = here.remove(line) {
            order.remove(&(use_, *line));
        } else {
            misses += 1;
            if here.len() == ways {
                let furthest = *order.last().expect("a full set has lines");
                if may_bypass && furthest.0 <= next[at] {
                    continue;
                }
                order.remove(&furthest);
                here.remove(&furthest.1);
            }
        }
        order.insert((next[at], *line));
        here.insert(*line, next[at]);
    }
    misses
}

/// Counts the loads that miss at least, of a stream of look-ups, each a set, a line and whether it is a load. Others take ways, too,
/// but whether they miss does not count: no line is kept for them.
pub fn fewest_load_misses(look_ups: &[(usize, LineAddress, bool)], ways: usize) -> u64 {
    // To another look-up a line is a new one, and the one before is never used again: of the two one has to go.
    let mut names = HashMap::new();
    let (mut known, mut others) = (0, 0);
    let renamed: Vec<_> = look_ups
        .iter()
        .map(|(set, line, loads)| {
            let name = names.entry((*set, *line)).or_insert(LineAddress(u64::MAX));
            if !loads || name.0 == u64::MAX {
                *name = LineAddress(known);
                known += 1;
            }
            others += u64::from(!loads);
            (*set, *name)
        })
        .collect();
    fewest_misses(&renamed, ways, false) - others
}
