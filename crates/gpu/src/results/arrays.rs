//! Arrays of counters in the summary: a line each, instead of one for each counter.

use strata_engine::statistics::{Array, Group};

use super::rows::{Page, group};

/// Adds the arrays among the counters of some groups to the page.
pub(super) fn rows(groups: &[Group], page: &mut Page) {
    for of in groups {
        let names: Vec<&str> = of.definitions.iter().map(|definition| definition.name).collect();
        let arrays = Array::among(&names);
        if !arrays.is_empty() {
            page.section(&of.name.replace('_', " "));
        }
        for array in arrays {
            page.row(array.name, &row(of, array));
        }
    }
}

/// The least, mean and greatest value of an array.
fn row(of: &Group, array: Array<'_>) -> String {
    let values = &of.values[array.first..array.first + array.length];
    let sum: f64 = values.iter().map(|value| *value as f64).sum();
    let least = values.iter().min().copied().unwrap_or(0);
    let greatest = values.iter().max().copied().unwrap_or(0);
    format!(
        "{} {} on average, {} to {}; {} counters",
        group_mean(sum / array.length as f64),
        of.definitions[array.first].unit,
        group(least),
        group(greatest),
        array.length
    )
}

fn group_mean(mean: f64) -> String {
    if mean < 1000.0 { format!("{mean:.1}") } else { group(mean.round() as u64) }
}

#[cfg(test)]
mod tests {
    use strata_engine::statistics::{Definition, Mark, array_group};

    use super::*;

    #[test]
    fn an_array_is_a_line_and_single_counters_are_none() {
        let bank = |name| Definition { name, unit: "writes", meaning: "Writes of it.", mark: Mark::Plain };
        let wear = array_group("made_up_wear", &[(bank("bank"), &[1, 2, 6000]), (bank("word"), &[1, 0, 1])]);
        const ONE: &[Definition] =
            &[Definition { name: "reads", unit: "rows", meaning: "Read.", mark: Mark::Plain }];
        let other = Group { name: "other", definitions: ONE, laws: vec![], values: vec![3], broken: None };
        let mut page = Page::default();
        rows(&[other, wear], &mut page);
        let lines = [
            " made up wear",
            "  bank                        2 001 writes on average, 1 to 6 000; 3 counters",
            "  word                        0.7 writes on average, 0 to 1; 3 counters",
            "",
        ];
        assert_eq!(page.text(), lines.join("\n"));
    }
}
