//! The lines, CTAs or buffers that most is charged to.

use strata_gpu::results::{Breakdown, Key};

use crate::table::{Cells, numbers};

/// Parts that are shown.
const MOST: usize = 20;

/// Counters that are shown, by their names and by what they are called in the table; the first decides about the order.
const OF_INSTRUCTIONS: [(&str, &str); 8] = [
    ("sm.issue_slots", "slots"),
    ("sm.issued", "issued"),
    ("sm.stall_memory", "memory"),
    ("awaited.memory", "awaited"),
    ("lsu.accesses", "accesses"),
    ("served.l1d", "L1D"),
    ("served.llc", "LLC"),
    ("served.memory", "DRAM"),
];
const OF_BUFFERS: [(&str, &str); 5] = [
    ("lsu.accesses", "accesses"),
    ("lsu.bytes_accessed", "bytes"),
    ("served.l1d", "L1D"),
    ("served.llc", "LLC"),
    ("served.memory", "DRAM"),
];

/// The parts that have most, with the counters that say why.
pub fn text(breakdown: &Breakdown, key: Key) -> String {
    let shown: &[(&str, &str)] = if key == Key::Buffer { &OF_BUFFERS } else { &OF_INSTRUCTIONS };
    let columns: Vec<Vec<u64>> = shown
        .iter()
        .map(|(path, _)| breakdown.counter(path).into_iter().map(Option::unwrap_or_default).collect())
        .collect();
    let mut order: Vec<usize> = (0..breakdown.parts.len()).filter(|place| columns[0][*place] > 0).collect();
    order.sort_by_key(|place| std::cmp::Reverse(columns[0][*place]));
    let heads = std::iter::once(format!("by {}", breakdown.by));
    let has_energy = breakdown.parts.iter().any(|part| part.dynamic_pj().is_some());
    let energy_head = has_energy.then(|| "nJ".to_owned());
    let heads = heads.chain(shown.iter().map(|(_, name)| (*name).to_owned())).chain(energy_head);
    let mut lines: Vec<Cells> = vec![heads.collect()];
    for place in order.iter().take(MOST) {
        let part = &breakdown.parts[*place];
        let values = columns.iter().map(|column| column[*place].to_string());
        let energy = part.dynamic_pj().map(|pj| format!("{:.0}", pj / 1000.0));
        lines.push(std::iter::once(part.name.clone()).chain(values).chain(energy).collect());
    }
    let rest = match order.len().saturating_sub(MOST) {
        0 => String::new(),
        rest => format!("  and {rest} more; --count {} shows one of each {}\n", shown[0].0, breakdown.by),
    };
    format!("\n{}{rest}", numbers(&lines, 1, None))
}
