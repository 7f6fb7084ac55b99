//! The counters that parts of a machine have most unequally.

use strata_gpu::results::Breakdown;

use crate::table::{Cells, numbers};

/// Counters that are shown.
const MOST: usize = 20;

/// Least mean of a counter that is shown: of few events, all are unequal.
const LEAST_MEAN: f64 = 10.0;

/// A counter that parts have more or less of.
struct Unequal {
    path: String,
    mean: f64,
    least: u64,
    most: u64,
    /// Which part has most.
    place: usize,
}

/// The counters of which one part has most over the mean.
pub fn text(breakdown: &Breakdown) -> String {
    let mut found: Vec<Unequal> = breakdown
        .paths()
        .into_iter()
        .filter_map(|path| {
            let values: Vec<u64> = breakdown.counter(&path).into_iter().flatten().collect();
            let place = (0..values.len()).max_by_key(|place| (values[*place], usize::MAX - place))?;
            let (most, least) = (values[place], *values.iter().min()?);
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            (values.len() > 1 && most > least && mean >= LEAST_MEAN).then_some(Unequal {
                path,
                mean,
                least,
                most,
                place,
            })
        })
        .collect();
    let over = |counter: &Unequal| counter.most as f64 / counter.mean;
    found.sort_by(|one, other| over(other).total_cmp(&over(one)).then_with(|| one.path.cmp(&other.path)));
    let by = breakdown.by;
    if found.is_empty() {
        return format!("\nby {by}: {} of them, all alike\n", breakdown.parts.len());
    }
    let heads =
        [format!("by {by}"), "least".into(), "mean".into(), "most".into(), "most / mean".into(), "at".into()];
    let line = |counter: &Unequal| {
        vec![
            counter.path.clone(),
            counter.least.to_string(),
            format!("{:.1}", counter.mean),
            counter.most.to_string(),
            format!("{:.2}", over(counter)),
            breakdown.parts[counter.place].name.clone(),
        ]
    };
    let lines: Vec<Cells> =
        std::iter::once(heads.to_vec()).chain(found.iter().take(MOST).map(line)).collect();
    let rest = match found.len().saturating_sub(MOST) {
        0 => String::new(),
        rest => format!("  and {rest} more that differ; --count {} shows one of each {by}\n", found[0].path),
    };
    format!("\n{}{rest}", numbers(&lines, 1, None))
}
