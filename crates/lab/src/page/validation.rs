//! A validation's page: latency and bandwidth over the footprint, the model's and hardware's, and every figure.

use maud::{Markup, html};

use super::chart::{FONT, Scale, letters, px, tick, with_unit};
use super::colour::Palette;
use super::{Origin, Parts};
use crate::report::number;
use crate::validate::{Apart, Beside, Line, Validation};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 260.0;
const TOP: f64 = 24.0;
const BELOW: f64 = 40.0;

/// A line of a drawing: its name, its colour's class, whether its points are marked, and the points by footprint.
struct Curve {
    name: String,
    colour: String,
    marked: bool,
    points: Vec<(f64, f64)>,
}

impl Validation {
    /// The validation as an HTML page.
    #[must_use]
    pub fn page(&self, origin: &Origin) -> String {
        let mut palette = Palette::default();
        let drawings: Vec<Markup> =
            [("latency", "space", "Latency of a load"), ("bandwidth", "operation", "Bandwidth of the GPU")]
                .into_iter()
                .flat_map(|(family, by, title)| self.drawings(family, by, title, &mut palette))
                .collect();
        let body = html! {
            @if !drawings.is_empty() {
                section id="curves" { h2 { "Over the footprint" } @for drawing in &drawings { (drawing) } }
            }
            @if !self.cards.is_empty() { section id="errors" { h2 { "How far off" } (self.errors()) } }
            section id="figures" { h2 { "Figures" } (self.figures()) }
        };
        let links = [("curves", "Over the footprint"), ("errors", "How far off"), ("figures", "Figures")];
        let is_there = |anchor: &str| match anchor {
            "curves" => !drawings.is_empty(),
            "errors" => !self.cards.is_empty(),
            _ => true,
        };
        let links = links.into_iter().filter(|(anchor, _)| is_there(anchor));
        let facts = vec![
            ("Machine", self.machine.clone()),
            ("Beside", self.cards.iter().map(|hardware| hardware.card.about).collect::<Vec<_>>().join("; ")),
            ("Made", origin.date.clone()),
            ("Simulator", crate::SIMULATOR.to_owned()),
            ("Command", origin.command.clone()),
        ];
        let parts = Parts {
            title: format!("Microbenchmarks: {}", self.machine),
            facts,
            links: links.map(|(anchor, name)| (anchor.to_owned(), name.to_owned())).collect(),
            body,
            colours: palette.css(),
        };
        parts.document()
    }

    /// A drawing for each value of a parameter, where a family's figures run over footprints in random order or none.
    fn drawings(&self, family: &str, by: &str, title: &str, palette: &mut Palette) -> Vec<Markup> {
        let mut kinds: Vec<&str> = Vec::new();
        let over = |line: &&Line| {
            line.measured.family == family
                && parameter(line, "footprint").is_some()
                && parameter(line, "order").is_none_or(|order| order == "random")
        };
        for line in self.lines.iter().filter(over) {
            if let Some(kind) = parameter(line, by)
                && !kinds.contains(&kind)
            {
                kinds.push(kind);
            }
        }
        let mut drawings = Vec::new();
        for kind in kinds {
            let lines: Vec<&Line> =
                self.lines.iter().filter(over).filter(|line| parameter(line, by) == Some(kind)).collect();
            let point = |line: &&Line| {
                let footprint: f64 = parameter(line, "footprint")?.parse().ok()?;
                Some((footprint, *line.measured.value.as_ref().ok()?))
            };
            let mut points: Vec<(f64, f64)> = lines.iter().filter_map(point).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            points.dedup_by(|one, other| one.0 == other.0);
            if points.len() < 2 {
                continue;
            }
            let mut curves = Vec::new();
            for hardware in &self.cards {
                let points = hardware.curve(family, &lines[0].measured.figure);
                if points.len() > 1 {
                    let name = hardware.card.name.to_owned();
                    curves.push(Curve { colour: palette.system(&name), name, marked: false, points });
                }
            }
            let name = self.machine.clone();
            curves.push(Curve { colour: palette.system(&name), name, marked: true, points });
            let unit = lines[0].measured.figure.unit;
            drawings.push(drawing(&format!("{title}: {kind}"), unit, &curves));
        }
        drawings
    }

    fn errors(&self) -> Markup {
        html! {
            @for (place, hardware) in self.cards.iter().enumerate() {
                h3 { (hardware.card.about) }
                table.sort {
                    thead { tr { th.words { "figures" } th { "mean absolute error" } th { "of" } } }
                    tbody {
                        @for Apart { of, count, mean } in self.apart(place) {
                            tr { td { (of) } td data-value=(mean) { (percent(mean)) } td { (count) } }
                        }
                    }
                }
            }
        }
    }

    fn figures(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="group" aria-label="Figures" {
                table.sort data-title="Figures" {
                    thead {
                        tr {
                            th.words { "family" } th.words { "case" } th.words { "quantity" } th.words { "unit" }
                            th { (self.machine) }
                            @for hardware in &self.cards { th { (hardware.card.name) } th { "error" } th.words { "source" } }
                        }
                    }
                    tbody { @for line in &self.lines { (row(line)) } }
                }
            }
        }
    }
}

fn parameter<'a>(line: &'a Line, name: &str) -> Option<&'a str> {
    let found = line.measured.figure.parameters.iter().find(|(known, _)| *known == name)?;
    Some(found.1.as_str())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn row(line: &Line) -> Markup {
    let figure = &line.measured.figure;
    html! {
        tr {
            td { (line.measured.family) } td { (figure.case) } td { (figure.quantity) } td { (figure.unit) }
            @match &line.measured.value {
                Ok(value) => { td data-value=(value) { (number(*value)) } }
                Err(reason) => { td.missing title=(reason) { "not measured" } }
            }
            @for beside in &line.beside {
                @match beside {
                    None => { td {} td {} td {} }
                    Some(Beside { fact, error }) => {
                        td data-value=(fact.low) {
                            (number(fact.low)) @if fact.low != fact.high { " to " (number(fact.high)) }
                        }
                        @match error {
                            Some(error) => { td data-value=(error) { (percent(*error)) } }
                            None => { td {} }
                        }
                        td { (fact.source) }
                    }
                }
            }
        }
    }
}

/// Curves over footprints, which stand by factors.
fn drawing(title: &str, unit: &str, curves: &[Curve]) -> Markup {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    // The model's footprints, and as much of the hardware's as lies within a factor of four around them.
    let own = curves.last().map_or(&[][..], |curve| &curve.points);
    let (first, last) = (own.first().map_or(1.0, |at| at.0), own.last().map_or(2.0, |at| at.0));
    let (first, last) = (first / 4.0, last * 4.0);
    let least = points().map(|at| at.0).filter(|at| *at >= first).fold(last, f64::min);
    let most = points().map(|at| at.0).filter(|at| *at <= last).fold(first, f64::max);
    let is_shown = |at: &&(f64, f64)| (least..=most).contains(&at.0);
    let scale = Scale::between(0.0, points().filter(is_shown).map(|at| at.1).fold(0.0, f64::max));
    let left = scale.ticks().into_iter().map(|value| letters(&tick(value), FONT)).fold(0.0, f64::max) + 10.0;
    let right = WIDTH - 16.0;
    let x = |footprint: f64| left + (right - left) * (footprint / least).ln() / (most / least).ln();
    let (from, to) = scale.range;
    let y = |value: f64| TOP + HEIGHT * (1.0 - (value - from) / (to - from));
    let (width, height) = (px(WIDTH), px(TOP + HEIGHT + BELOW));
    let marks: Vec<f64> = (0..40)
        .map(|power| f64::from(power).exp2())
        .filter(|at| (least..=most).contains(at))
        .step_by(2)
        .collect();
    html! {
        figure data-title=(title) {
            figcaption { (title) }
            div.legend { @for curve in curves { span.key { i class=(curve.colour) {} (curve.name) } } }
            div.plot tabindex="0" role="group" aria-label=(title) {
                svg.chart.lines width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img"
                    aria-label=(title) {
                    g.rule {
                        @for value in scale.ticks() {
                            line.zero[value == 0.0] x1=(px(left)) x2=(px(right)) y1=(px(y(value))) y2=(px(y(value))) {}
                        }
                        @for at in &marks {
                            line x1=(px(x(*at))) x2=(px(x(*at))) y1=(px(TOP + HEIGHT)) y2=(px(TOP + HEIGHT + 4.0)) {}
                        }
                    }
                    g.axis {
                        @for value in scale.ticks() {
                            text x=(px(left - 6.0)) y=(px(y(value) + 4.0)) text-anchor="end" { (tick(value)) }
                        }
                    }
                    g.names {
                        @for at in &marks {
                            text x=(px(x(*at))) y=(px(TOP + HEIGHT + 17.0)) text-anchor="middle" { (bytes(*at)) }
                        }
                        text.unit x=(px((left + right) / 2.0)) y=(px(TOP + HEIGHT + 35.0)) text-anchor="middle" {
                            "footprint (log)"
                        }
                    }
                    @for curve in curves {
                        @let shown: Vec<&(f64, f64)> = curve.points.iter().filter(is_shown).collect();
                        g class=(curve.colour) data-series=(curve.name) {
                            polyline stroke-width=(if curve.marked { "2" } else { "4" })
                                points=(shown.iter().map(|at| format!("{},{}", px(x(at.0)), px(y(at.1)))).collect::<Vec<_>>().join(" ")) {}
                            @if curve.marked {
                                @for at in &shown {
                                    circle cx=(px(x(at.0))) cy=(px(y(at.1))) r="3.2" {
                                        title { (curve.name) ", " (bytes(at.0)) ": " (with_unit(at.1, unit)) }
                                    }
                                }
                            }
                        }
                    }
                    text.unit x="0" y="12" { (unit) }
                }
            }
        }
    }
}

/// A footprint in the largest unit that divides it well.
fn bytes(count: f64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, power) in units {
        let whole = f64::from(power).exp2();
        if count >= whole {
            return format!("{} {unit}", tick(count / whole));
        }
    }
    format!("{} B", tick(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footprints_are_named_in_their_largest_unit() {
        let named = [512.0, 1024.0, 1536.0, 3.0 * 1024.0 * 1024.0, 2f64.powi(31)].map(bytes);
        assert_eq!(named, ["512 B", "1 KiB", "1.5 KiB", "3 MiB", "2 GiB"]);
    }

    #[test]
    fn a_point_stands_where_its_numbers_say() {
        let curve = |name: &str, marked, points: &[(f64, f64)]| Curve {
            name: name.into(),
            colour: "c".into(),
            marked,
            points: points.to_vec(),
        };
        let of_card = curve("card", false, &[(16.0, 10.0), (1024.0, 30.0), (1e12, 900.0)]);
        let drawn = drawing("t", "cycles", &[of_card, curve("m", true, &[(1024.0, 10.0), (4096.0, 40.0)])]);
        let drawn = drawn.into_string();
        // What is further than a factor of four from the model's footprints is left out.
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert!(drawn.contains("m, 4 KiB: 40.00 cycles") && !drawn.contains("900"), "{drawn}");
        let middle = |text: &str| {
            text.split("cx=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
        };
        let circles: Vec<f64> =
            drawn.split("<circle").skip(1).map(|part| middle(&format!("x{part}"))).collect();
        assert!(circles[0] < circles[1]);
    }

    #[test]
    fn a_row_says_how_far_off_a_figure_is_and_why_one_is_missing() {
        use strata_workloads::micro::{Figure, Reading, Span};

        use crate::validate::{Fact, Measured};

        let long = Span { launch: 0, pair: 0, pairs: 1 };
        let figure = |case: &str| Figure {
            case: case.into(),
            parameters: vec![],
            quantity: "latency",
            unit: "cycles",
            reading: Reading::CyclesPerWork,
            work: 1.0,
            short: None,
            long,
        };
        let fact = Fact {
            family: "f".into(),
            case: "c".into(),
            parameters: std::collections::BTreeMap::default(),
            quantity: "latency".into(),
            unit: "cycles".into(),
            low: 8.0,
            high: 10.0,
            source: "someone".into(),
        };
        let beside = vec![Some(Beside { fact, error: Some(-0.5) }), None];
        let measured = |case: &str, value| Measured { family: "f", figure: figure(case), value };
        let there = row(&Line { measured: measured("c", Ok(4.0)), beside }).into_string();
        assert!(there.contains("8.000 to 10.00") && there.contains("-50.0 %"), "{there}");
        assert!(there.ends_with("<td>someone</td><td></td><td></td><td></td></tr>"), "{there}");
        let reason = Err("no such instruction".to_owned());
        let missing = row(&Line { measured: measured("d", reason), beside: vec![] }).into_string();
        assert!(missing.contains("title=\"no such instruction\">not measured</td>"), "{missing}");
    }
}
