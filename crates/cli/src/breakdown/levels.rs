//! What each level of the hierarchy has served, and after how many cycles.

use strata_gpu::results::Breakdown;

use crate::table::{Cells, numbers};

/// A line for each range of latencies, a column for each level that has served something.
pub fn text(breakdown: &Breakdown) -> String {
    let of = |path: &str| -> Vec<u64> {
        breakdown.counter(path).into_iter().map(Option::unwrap_or_default).collect()
    };
    let accesses = of("served.accesses");
    let shown: Vec<usize> = (0..accesses.len()).filter(|place| accesses[*place] > 0).collect();
    if shown.is_empty() {
        return "\nby level: no access was served\n".to_owned();
    }
    let line = |head: String, cell: &dyn Fn(usize) -> String| -> Cells {
        std::iter::once(head).chain(shown.iter().map(|place| cell(*place))).collect()
    };
    let (bytes, cycles) = (of("served.bytes"), of("served.cycles"));
    let mut lines = vec![
        line("by level".to_owned(), &|place| breakdown.parts[place].name.clone()),
        line("accesses".to_owned(), &|place| accesses[place].to_string()),
        line("bytes".to_owned(), &|place| bytes[place].to_string()),
        line("mean cycles".to_owned(), &|place| {
            format!("{:.1}", cycles[place] as f64 / accesses[place] as f64)
        }),
    ];
    let ranges: Vec<String> =
        breakdown.paths().into_iter().filter(|path| path.starts_with("latency.")).collect();
    let counts: Vec<Vec<u64>> = ranges.iter().map(|path| of(path)).collect();
    let is_used = |counts: &Vec<u64>| counts.iter().any(|count| *count > 0);
    let first = counts.iter().position(is_used).unwrap_or_default();
    let last = counts.iter().rposition(is_used).unwrap_or_default();
    for range in first..=last {
        let least = if range == 0 { 0 } else { 1_u64 << (range - 1) };
        let head = match range + 1 == counts.len() {
            true => format!("{least} cycles and more"),
            false => format!("{least} to {} cycles", (1_u64 << range) - 1),
        };
        lines.push(line(head, &|place| match counts[range][place] {
            0 => String::new(),
            count => count.to_string(),
        }));
    }
    format!("\n{}", numbers(&lines, 1, None))
}
