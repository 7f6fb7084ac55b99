//! What each level of the hierarchy has served, and after how many cycles, as text.

use strata_gpu::results::Breakdown;
use strata_lab::latencies::{Latencies, Level};

use crate::table::{Cells, numbers};

/// A line for each range of latencies, a column for each level that has served something.
pub fn text(breakdown: &Breakdown) -> String {
    let Some(found) = Latencies::of(breakdown) else {
        return "\nby level: no access was served\n".to_owned();
    };
    let line = |head: String, cell: &dyn Fn(&Level<'_>) -> String| -> Cells {
        std::iter::once(head).chain(found.levels.iter().map(cell)).collect()
    };
    let mut lines = vec![
        line("by level".to_owned(), &|level| level.name.to_owned()),
        line("accesses".to_owned(), &|level| level.accesses.to_string()),
        line("bytes".to_owned(), &|level| level.bytes.to_string()),
        line("mean cycles".to_owned(), &|level| format!("{:.1}", level.mean())),
    ];
    for range in found.ranges() {
        let cell = |level: &Level<'_>| match level.within(&range) {
            0 => String::new(),
            count => count.to_string(),
        };
        lines.push(line(format!("{} cycles", range.values), &cell));
    }
    format!("\n{}", numbers(&lines, 1, None))
}
