//! What each value by which two machines differ brings.

use maud::{Markup, html};
use strata_measure::exact::Exact;

use super::{signed, signed_percent};
use crate::diff::{Found, Shares};
use crate::page::bars;
use crate::report::number;

/// The share of each value in the difference of cycles, and of values together.
pub fn shares(shares: &Shares) -> Markup {
    let all = Exact::change(shares.cycles[0], shares.cycles[1]).as_f64();
    let mut order: Vec<usize> = (0..shares.changes.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(shares.values[*place].abs()));
    let widest = shares.values.iter().map(|value| value.abs().as_f64()).fold(0.0, f64::max);
    html! {
        p.note {
            @match &shares.found {
                Found::Subsets { .. } => { "From all " (shares.machines) " machines between the two." }
                Found::Chains { chains, seed } => {
                    "The mean of " (chains) " random orders with its standard error, seed " (seed) "; " (shares.machines) " machines."
                }
            }
        }
        div.scroll tabindex="0" role="group" aria-label="what each value brings" {
            table.sort.wide data-title="what each value brings" {
                thead { tr { th.words { "value" } th.words { "left" } th.words { "right" } th { "cycles" } th { "of the change" } } }
                tbody {
                    @for place in order {
                        @let value = shares.values[place].as_f64();
                        @let [left, right] = shares.changes[place].values();
                        @let error = shares.errors[place].map_or_else(String::new, |error| format!(" ± {}", number(error)));
                        tr {
                            td.words { code { (shares.changes[place].name()) } }
                            td.words { (left) }
                            td.words { (right) }
                            td data-value=(value) { (bars::change(value, widest, &(signed(value) + &error))) }
                            td data-value=(value / all) { (signed_percent(value, all)) }
                        }
                    }
                }
            }
        }
        @if let Found::Subsets { parts } = &shares.found {
            @if shares.changes.len() > 1 { (together(shares, parts)) }
        }
    }
}

/// What values bring alone, and beside others beyond that.
fn together(shares: &Shares, parts: &[(u32, i128)]) -> Markup {
    let mut parts: Vec<&(u32, i128)> = parts.iter().collect();
    parts.sort_by_key(|(subset, _)| subset.count_ones());
    let widest = parts.iter().map(|(_, cycles)| cycles.unsigned_abs()).max().unwrap_or_default() as f64;
    html! {
        h3 { "Alone, and beside others beyond that" }
        div.scroll tabindex="0" role="group" aria-label="alone and together" {
            table.sort.wide data-title="alone and together" {
                thead { tr { th.words { "values" } th { "cycles" } } }
                tbody {
                    @for (subset, cycles) in parts {
                        @let cycles = *cycles as f64;
                        tr { td.words { code { (shares.name(*subset)) } } td data-value=(cycles) { (bars::change(cycles, widest, &signed(cycles))) } }
                    }
                }
            }
        }
    }
}
