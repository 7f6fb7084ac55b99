//! Ranges of powers of two, in which histograms count.

use strata_gpu::results::Breakdown;

/// Some values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Its counter's place.
    pub place: usize,
    /// The range in words, such as `4 to 7`.
    pub values: String,
}

/// The ranges from the first to the last that is used, of so many.
#[must_use]
pub fn ranges(all: usize, used: impl Fn(usize) -> bool) -> Vec<Range> {
    let (Some(first), Some(last)) =
        ((0..all).find(|place| used(*place)), (0..all).rev().find(|place| used(*place)))
    else {
        return Vec::new();
    };
    let range = |place: usize| {
        let least = if place == 0 { 0 } else { 1_u64 << (place - 1) };
        let most = (1_u64 << place) - 1;
        let values = match place + 1 == all {
            true => format!("{least} and more"),
            false if least == most => least.to_string(),
            false => format!("{least} to {most}"),
        };
        Range { place, values }
    };
    (first..=last).map(range).collect()
}

/// By part of a breakdown, its counts in the ranges of a group.
pub(crate) fn counts(breakdown: &Breakdown, group: &str) -> Vec<Vec<u64>> {
    let is_of_group = |path: &String| path.split_once('.').is_some_and(|(of, _)| of == group);
    let paths = breakdown.paths().into_iter().filter(is_of_group);
    let ranges: Vec<Vec<Option<u64>>> = paths.map(|path| breakdown.counter(&path)).collect();
    let of_part = |part: usize| ranges.iter().map(|range| range[part].unwrap_or_default()).collect();
    (0..breakdown.parts.len()).map(of_part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_from_the_first_to_the_last_that_is_used() {
        let words = |used: &[usize]| -> Vec<String> {
            ranges(6, |place| used.contains(&place)).into_iter().map(|range| range.values).collect()
        };
        assert_eq!(words(&[0, 3]), ["0", "1", "2 to 3", "4 to 7"]);
        assert_eq!(words(&[4, 5]), ["8 to 15", "16 and more"]);
        assert!(words(&[]).is_empty());
    }
}
