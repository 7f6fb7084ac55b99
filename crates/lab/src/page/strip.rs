//! Measured effects beside published ones: on one line for a claim, and all of a page's claims together.

use maud::{Markup, html};

use super::chart::px;
use crate::claims::{Reading, Row, Verdict, effect};
use crate::paper::Kind;

/// What of the published effect is drawn, and the pixels that one published effect takes.
const FROM: f64 = -0.6;
const TO: f64 = 2.6;
const UNIT: f64 = 50.0;

/// A measured effect as a multiple of the published one; `None` where there is no such thing.
pub fn times(row: &Row) -> Option<f64> {
    let measured = row.measured.as_ref().ok()?;
    if measured.kind == Kind::Choice {
        return None;
    }
    let published = effect(measured.kind, row.claim.value().ok()?);
    (published != 0.0).then(|| effect(measured.kind, measured.value) / published)
}

/// A reading's effect as a multiple of the published one.
fn times_of(row: &Row, reading: &Reading) -> Option<f64> {
    let published = effect(reading.kind, row.claim.value().ok()?);
    Some(effect(reading.kind, *reading.value.as_ref().ok()?) / published)
        .filter(|times| times.is_finite() && reading.kind != Kind::Choice)
}

/// Class of a verdict.
pub fn class(verdict: Verdict) -> String {
    verdict.name().replace(' ', "-")
}

fn x(times: f64) -> f64 {
    6.0 + (times.clamp(FROM, TO) - FROM) * UNIT
}

/// The effect of one claim: filled where measured, hollow under its other readings, a line at the published.
pub fn strip(row: &Row) -> Markup {
    let Some(measured) = times(row) else { return html! {} };
    let readings = row.measured.iter().flat_map(|measured| &measured.readings);
    let others = readings.filter_map(|reading| Some((times_of(row, reading)?, reading.name.as_str())));
    line(
        &of_effect(measured),
        &others.collect::<Vec<_>>(),
        &dot(measured, 9.0, &class(row.verdict), &said(row)),
    )
}

/// One claim's effects under the values of a choice, the first of which is ours.
pub fn choices(title: &str, effects: &[(f64, &str)]) -> Markup {
    let Some(((ours, label), others)) = effects.split_first() else { return html! {} };
    line(title, others, &dot(*ours, 9.0, "ours", label))
}

fn line(title: &str, others: &[(f64, &str)], dot: &Markup) -> Markup {
    let width = px(x(TO) + 6.0);
    html! {
        svg.strip width=(width) height="18" viewBox=(format!("0 0 {width} 18")) role="img" aria-label=(title) {
            (bands(0.0, 18.0))
            @for (times, name) in others {
                circle.hollow cx=(px(x(*times))) cy="9" r="3.4" { title { (name) ": " (of_effect(*times)) } }
            }
            (dot)
        }
    }
}

/// All claims of a page: a dot for each, over its measured effect as a multiple of the published one.
pub fn overview(rows: &[&Row]) -> Markup {
    let mut columns: Vec<(i64, Vec<(f64, &Row)>)> = Vec::new();
    for row in rows {
        let Some(times) = times(row) else { continue };
        let column = (times.clamp(FROM, TO) * 5.5).round() as i64;
        match columns.iter_mut().find(|(of, _)| *of == column) {
            Some((_, dots)) => dots.push((times, row)),
            None => columns.push((column, vec![(times, row)])),
        }
    }
    let most = columns.iter().map(|(_, dots)| dots.len()).max().unwrap_or(0);
    let below = (most as f64).max(3.0) * 9.5 + 8.0;
    let width = px(x(TO) * 2.0 + 46.0);
    html! {
        @if most > 0 {
            svg.overview width=(width) height=(px(below + 36.0))
                viewBox=(format!("0 0 {width} {}", px(below + 36.0))) role="group"
                aria-label="Measured effects over published ones" {
                g transform="translate(18 0)" {
                    (bands_of(2.0, 0.0, below))
                    @for (column, dots) in &columns {
                        @for (place, (times, row)) in dots.iter().enumerate() {
                            @let at = 2.0 * x(*column as f64 / 5.5);
                            a href=(format!("#{}", anchor(row))) {
                                circle class=(class(row.verdict)) cx=(px(at)) cy=(px(below - 7.0 - 9.5 * place as f64))
                                    r="4.2" { title { (row.claim.id) ": " (said(row)) ", " (of_effect(*times)) } }
                            }
                        }
                    }
                    @for (times, text) in
                        [(-0.5, "opposite"), (0.0, "none"), (0.5, "½"), (1.0, "published"), (2.0, "2×"), (2.55, "more")] {
                        text x=(px(2.0 * x(times))) y=(px(below + 15.0)) text-anchor="middle" { (text) }
                    }
                }
                text.note x=(px(x(1.0) * 2.0 + 18.0)) y=(px(below + 31.0)) text-anchor="middle" {
                    "measured effects, as multiples of the published ones"
                }
            }
        }
    }
}

/// The anchor of a claim.
pub fn anchor(row: &Row) -> String {
    format!("claim-{}", row.claim.id)
}

/// Published and measured number.
fn said(row: &Row) -> String {
    let measured = row.measured.as_ref().map_or("-".into(), |of| row.claim.measured_text(of.kind, of.value));
    format!("published {}, measured {measured}", row.claim.published_text())
}

fn of_effect(times: f64) -> String {
    format!("{times:.2} of the published effect")
}

fn dot(times: f64, y: f64, class: &str, said: &str) -> Markup {
    html! {
        @if (FROM..=TO).contains(&times) {
            circle class=(class) cx=(px(x(times))) cy=(px(y)) r="4.2" { title { (said) ": " (of_effect(times)) } }
        } @else {
            @let (tip, back) = if times > TO { (x(TO) + 5.0, x(TO) - 4.0) } else { (x(FROM) - 5.0, x(FROM) + 4.0) };
            path class=(class)
                d=(format!("M{} {}L{} {}L{} {}Z", px(tip), px(y), px(back), px(y - 4.5), px(back), px(y + 4.5))) {
                title { (said) ": " (of_effect(times)) }
            }
        }
    }
}

fn bands(top: f64, height: f64) -> Markup {
    bands_of(1.0, top, height)
}

/// What counts as reproduced and as the right direction, and lines at no effect and at the published one.
fn bands_of(factor: f64, top: f64, height: f64) -> Markup {
    let band = |from: f64, to: f64| (px(factor * x(from)), px(factor * (x(to) - x(from))));
    let lines = [("none", 0.0), ("published", 1.0)];
    html! {
        @for (name, from, to) in [("direction", 0.5, 2.0), ("reproduced", 0.75, 1.25)] {
            @let (left, width) = band(from, to);
            rect class=(format!("band {name}")) x=(left) y=(px(top)) width=(width) height=(px(height)) {}
        }
        @for (name, at) in lines {
            @let at = px(factor * x(at));
            line class=(name) x1=(at) x2=(at) y1=(px(top)) y2=(px(top + height)) {}
        }
    }
}
