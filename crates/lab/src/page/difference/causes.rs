//! What the cycles of two runs went to, drawn to one scale, and what of the difference each cause has.

use maud::{Markup, html};
use strata_gpu::results::STALLS;
use strata_measure::exact::Exact;

use super::{signed, signed_percent};
use crate::diff::{Attribution, Cause, Difference, HOST, OUTSIDE};
use crate::page::bars::{self, Part};
use crate::page::colour::Palette;
use crate::page::stack::CAUSES;
use crate::report::number;

/// Where the cycles went, and on the SM that has warps the longest.
pub fn cycles(difference: &Difference, palette: &mut Palette) -> Markup {
    let attribution = match &difference.attribution {
        Ok(attribution) => attribution,
        Err(reason) => return html! { p.note { "Where the cycles went is not known: " (reason) } },
    };
    html! {
        p.note { "Each cycle of a launch is an issue slot of every scheduler. The slots of a cause over all schedulers are its cycles, and those of all causes the run's." }
        (causes(attribution, "cycles", palette))
        @if let Some((sm, busiest)) = &difference.busiest {
            h3 { "On " (sm) }
            p.note { "The SM that has warps the longest. SMs without a warp wait for others." }
            (causes(busiest, &format!("cycles of {sm}"), palette))
        }
    }
}

fn causes<'a>(attribution: &'a Attribution, title: &str, palette: &mut Palette) -> Markup {
    let (left, right) = (attribution.left as f64, attribution.right as f64);
    let most = left.max(right);
    let whole = Exact::change(attribution.left, attribution.right).as_f64();
    let widest = attribution.causes.iter().map(|cause| cause.change().abs().as_f64()).fold(0.0, f64::max);
    let parts = |side: fn(&Cause) -> Exact| -> Vec<Part<'a>> {
        let part = |cause: &'a Cause| {
            let (name, place) = shown(&cause.name);
            Part { name, place, value: side(cause).as_f64() }
        };
        attribution.causes.iter().map(part).collect()
    };
    let [of_left, of_right] = [parts(|cause| cause.left), parts(|cause| cause.right)];
    html! {
        div.stacks {
            div.one { span { "left" } (bars::within(&of_left, most, 22.0, &format!("{title} of the left run by cause"), palette)) }
            div.one { span { "right" } (bars::within(&of_right, most, 22.0, &format!("{title} of the right run by cause"), palette)) }
        }
        div.scroll tabindex="0" role="group" aria-label=(title) {
            table.sort.wide data-title=(title) {
                thead { tr { th.words { "spent" } th { "left" } th { "right" } th { "change" } th { "of the change" } th.words { "what it means" } } }
                tbody {
                    @for cause in &attribution.causes {
                        @let (name, place) = shown(&cause.name);
                        @let change = cause.change().as_f64();
                        tr {
                            td.words { span.key { i class=(palette.part(place)) {} (name) } }
                            td data-value=(cause.left.as_f64()) { (number(cause.left.as_f64())) }
                            td data-value=(cause.right.as_f64()) { (number(cause.right.as_f64())) }
                            td data-value=(change) { (bars::change(change, widest, &signed(change))) }
                            td data-value=(if whole == 0.0 { 0.0 } else { change / whole }) { (signed_percent(change, whole)) }
                            td.words.meaning { (meaning(&cause.name)) }
                        }
                    }
                }
            }
        }
    }
}

/// The name of a cause and the place of its colour.
fn shown(cause: &str) -> (&str, usize) {
    match cause {
        HOST => ("host phases", 3),
        OUTSIDE => ("in no issue slot", 7),
        name => CAUSES
            .iter()
            .find(|(counter, ..)| *counter == name)
            .map_or((name, 7), |(_, name, place)| (*name, *place)),
    }
}

fn meaning(cause: &str) -> &str {
    match cause {
        "issued" => "issuing instructions",
        HOST => "host phases, in which no SM runs",
        OUTSIDE => "cycles that no slot stands for, of a run that was stopped",
        name => STALLS.iter().find(|(counter, _)| *counter == name).map_or("", |(_, what)| what),
    }
}
