//! How long loads take, by the level that serves them.

use maud::{Markup, html};
use strata_gpu::results::Breakdown;

use super::bars;
use super::run_numbers::grouped;
use crate::latencies::Latencies;
use crate::report::number;

/// A row for each range of latencies, a column for each level; `None` if no load was served.
pub fn table(breakdown: &Breakdown) -> Option<Markup> {
    let found = Latencies::of(breakdown)?;
    Some(html! {
        div.scroll tabindex="0" role="group" aria-label="latencies of loads" {
            table data-title="latencies of loads" {
                thead { tr { th.words { "cycles" } @for level in &found.levels { th { (level.name) } } } }
                tbody {
                    @for range in found.ranges() {
                        tr {
                            td.words { (range.values) }
                            @for level in &found.levels {
                                @match level.within(&range) {
                                    0 => { td {} }
                                    count => {
                                        td data-value=(count) title=(bars::percent(count as f64, level.accesses as f64)) {
                                            (bars::share(count as f64 / level.accesses as f64, "cool", &grouped(count)))
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                tfoot {
                    tr { td.words { "accesses" } @for level in &found.levels { td { (grouped(level.accesses)) } } }
                    tr { td.words { "mean" } @for level in &found.levels { td { (number(level.mean())) } } }
                }
            }
        }
    })
}
