//! How full queues and MSHRs were, and how many credits of links were in use.

use maud::{Markup, html};
use strata_gpu::results::Breakdown;

use super::bars;
use super::run_numbers::grouped;
use crate::queues::{Of, Queues};
use crate::report::number;

/// Tables of queues and of links' credits; `None` if no launch took a cycle.
pub fn tables(breakdown: &Breakdown) -> Option<Markup> {
    let all = Queues::of(breakdown);
    (!all.is_empty()).then(|| html! { @for some in &all { (table(some)) } })
}

/// A row for each range of entries in use, a column for each kind of queue.
fn table(found: &Queues<'_>) -> Markup {
    let (name, what) = match found.of {
        Of::Entries => (
            "queues",
            "Share of the cycles of launches in which so many entries were in use, over all queues of a kind.",
        ),
        Of::Credits => (
            "links",
            "The same of the credits of the network's links, in flits: from when a packet is sent until its sender has the room again.",
        ),
    };
    html! {
        p { (what) }
        div.scroll tabindex="0" role="group" aria-label=(name) {
            table data-title=(name) {
                thead { tr { th.words { "in use" } @for queue in &found.queues { th { (queue.name) } } } }
                tbody {
                    @for range in found.ranges() {
                        tr {
                            td.words { (range.values) }
                            @for queue in &found.queues {
                                @match queue.within(&range) {
                                    0 => { td {} }
                                    cycles => {
                                        td data-value=(cycles) title=(format!("{} cycles", grouped(cycles))) {
                                            (bars::share(queue.share(&range), "cool", &bars::percent(cycles as f64, queue.cycles as f64)))
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                tfoot {
                    tr { td.words { "most" } @for queue in &found.queues { td { (grouped(queue.most)) } } }
                    tr { td.words { "mean" } @for queue in &found.queues { td { (number(queue.mean())) } } }
                }
            }
        }
    }
}
