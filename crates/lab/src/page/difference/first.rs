//! Where two runs part.

use maud::{Markup, html};

use super::whole;
use crate::diff::{First, Parting};

/// The first cycles in which two runs differ, and the counters that do.
pub fn first(first: &First) -> Markup {
    let parting = match first {
        First::Never { looks } => {
            return html! { p { "The runs do not part: all parts counted the same at " (looks) " cycles." } };
        }
        First::Here(parting) => parting,
    };
    let Parting { launch, kernel, from, to, began, .. } = &**parting;
    let cycles = |from: u64, to: u64| {
        let [one, other] = [from, to].map(|cycle| whole(cycle.into()));
        if from == to { format!("cycle {one}") } else { format!("cycles {one} to {other}") }
    };
    html! {
        p {
            "In " (cycles(*from, *to)) " of the run, " (cycles(from.saturating_sub(*began), to.saturating_sub(*began)))
            " of launch " (launch) " (" code { (kernel) } "). "
            @if let Some(side) = parting.goes_on { "The launch goes on on the " (side) " and ends on the other side. " }
            @if parting.every_cycle { "Before it, all parts counted the same in every cycle." }
            @else { "Before it, all parts counted the same at the " (parting.looks) " cycles that were compared." }
        }
        @if !parting.slots { p.note { "Issue slots are not compared: the SMs have different numbers of schedulers." } }
        @if !parting.parts.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="parts that differ first" {
                table.sort data-title="parts that differ first" {
                    thead { tr { th.words { "part" } th.words { "counter" } th { "left" } th { "right" } } }
                    tbody {
                        @for part in &parting.parts {
                            @for (counter, values) in &part.counters {
                                tr {
                                    td.words { (part.part) } td.words { code { (counter) } }
                                    @for value in values { td data-value=(value) { (whole((*value).into())) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
