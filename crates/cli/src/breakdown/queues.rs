//! How full queues and MSHRs were, as text.

use strata_gpu::results::Breakdown;
use strata_lab::queues::{Of, Queue, Queues};

use crate::table::{Cells, numbers};

/// Tables of queues and of links' credits.
pub fn text(breakdown: &Breakdown) -> String {
    match &Queues::of(breakdown)[..] {
        [] => "\nby queue: no launch took a cycle\n".to_owned(),
        some => some.iter().map(table).collect(),
    }
}

/// A line for each range of entries in use, a column for each kind of queue, with shares of its cycles.
fn table(found: &Queues<'_>) -> String {
    let head = match found.of {
        Of::Entries => "by queue",
        Of::Credits => "by link, in flits",
    };
    let line = |head: String, cell: &dyn Fn(&Queue<'_>) -> String| -> Cells {
        std::iter::once(head).chain(found.queues.iter().map(cell)).collect()
    };
    let mut lines = vec![
        line(head.to_owned(), &|queue| queue.name.to_owned()),
        line("most in use".to_owned(), &|queue| queue.most.to_string()),
        line("mean in use".to_owned(), &|queue| format!("{:.2}", queue.mean())),
    ];
    for range in found.ranges() {
        let cell = |queue: &Queue<'_>| match queue.within(&range) {
            0 => String::new(),
            _ => format!("{:.2} %", 100.0 * queue.share(&range)),
        };
        lines.push(line(format!("{} in use", range.values), &cell));
    }
    format!("\n{}", numbers(&lines, 1, None))
}
