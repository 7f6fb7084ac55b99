//! The energy of a run by structure.

use maud::{Markup, html};

use super::bars::{self, Part};
use super::colour::Palette;
use super::run_numbers::{seconds, value_of};
use crate::record::Record;
use crate::report::number;

/// A structure's energy.
struct Structure<'a> {
    name: &'a str,
    pj: f64,
    leakage_pj: f64,
}

/// The structures by their energy; `None` if the machine has no energies.
pub fn table(record: &Record, palette: &mut Palette) -> Option<Markup> {
    let names = record.numbers().counters("energy");
    let structures = names.iter().filter_map(|counter| {
        let name = counter.strip_suffix("_leakage_pj")?;
        let of = |what: &str| value_of(record, "energy", &format!("{name}{what}"));
        Some(Structure { name, pj: of("_pj")?, leakage_pj: of("_leakage_pj")? })
    });
    let mut structures: Vec<Structure<'_>> = structures.collect();
    structures.sort_by(|one, other| other.pj.total_cmp(&one.pj));
    let all: f64 = structures.iter().map(|structure| structure.pj).sum();
    if all <= 0.0 {
        return None;
    }
    let titles: Vec<String> = structures.iter().map(|structure| structure.name.replace('_', " ")).collect();
    let parts: Vec<Part<'_>> = structures
        .iter()
        .zip(&titles)
        .enumerate()
        .map(|(place, (structure, title))| Part { name: title, place, value: structure.pj })
        .collect();
    let micro = |pj: f64| format!("{} µJ", number(pj * 1e-6));
    Some(html! {
        @if let Some(seconds) = seconds(record) {
            p.note { (micro(all)) " in all, " (number(all * 1e-12 / seconds)) " W on average." }
        }
        (bars::whole(&parts, 34.0, "energy by structure", palette))
        div.scroll tabindex="0" role="group" aria-label="energy" {
            table.sort.wide data-title="energy" {
                thead { tr { th.words { "structure" } th { "share" } th { "energy" } th { "of events" } th { "leakage" } } }
                tbody {
                    @for (structure, part) in structures.iter().zip(&parts) {
                        @let colour = palette.part(part.place);
                        tr {
                            td.words { span.key { i class=(colour) {} (part.name) } }
                            td data-value=(structure.pj / all) {
                                (bars::share(structure.pj / all, &colour, &bars::percent(structure.pj, all)))
                            }
                            td data-value=(structure.pj) { (micro(structure.pj)) }
                            td data-value=(structure.pj - structure.leakage_pj) { (micro(structure.pj - structure.leakage_pj)) }
                            td data-value=(structure.leakage_pj) { (micro(structure.leakage_pj)) }
                        }
                    }
                }
            }
        }
    })
}
