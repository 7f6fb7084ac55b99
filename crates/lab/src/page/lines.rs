//! Lines over a swept number: a panel for each workload, a line for each system. Where a second parameter is swept, a
//! panel for each workload and system, a line for each of that parameter's values.

use maud::{Markup, html};

use super::chart::{FONT, Scale, letters, px, short, tick, with_unit};
use super::colour::Palette;
use crate::axes::{Axes, Sweep};
use crate::grid::Grid;

/// Width of a panel: that of a telephone's window.
const WIDTH: f64 = 352.0;
/// Height of the area of the lines.
const HEIGHT: f64 = 190.0;
/// Space above the area, for the unit.
const TOP: f64 = 24.0;
/// Space below the area, for the swept values and their key.
const BELOW: f64 = 40.0;
/// Space between the ends of the area and the first and last value.
const INSET: f64 = 10.0;

/// Panels with lines.
pub struct Lines {
    title: String,
    unit: String,
    across: Across,
    /// Names and CSS variables of the lines.
    series: Vec<(String, String)>,
    panels: Vec<Panel>,
}

struct Panel {
    name: String,
    /// The numbers of each line, at each value across; `None` where one is missing.
    lines: Vec<Vec<Option<f64>>>,
}

/// The swept parameter that lines run over.
struct Across {
    path: String,
    /// The values from the least to the greatest, each with its place in the sweep.
    values: Vec<(f64, usize)>,
    /// Whether values that differ by a factor are as far apart as others that differ by the same factor.
    logarithmic: bool,
}

impl Across {
    /// `None` if the parameter has a single value, or one that is not a number.
    fn of(sweep: &Sweep) -> Option<Across> {
        let number = |(place, text): (usize, &String)| {
            Some((text.parse::<f64>().ok().filter(|value| value.is_finite())?, place))
        };
        let mut values: Vec<(f64, usize)> =
            sweep.values.iter().enumerate().map(number).collect::<Option<_>>()?;
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        values.dedup_by(|one, other| one.0 == other.0);
        let numbers: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        (values.len() > 1).then(|| Across {
            path: sweep.path.clone(),
            values,
            logarithmic: is_by_factors(&numbers),
        })
    }

    /// Where a value stands between the least (0) and the greatest (1).
    fn share(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.logarithmic { value.ln() } else { value };
        let (first, last) = (self.values[0].0, self.values[self.values.len() - 1].0);
        (scaled(value) - scaled(first)) / (scaled(last) - scaled(first))
    }
}

/// Whether sorted numbers are spaced by factors rather than by sums: whether the steps between their logarithms are more
/// alike than those between themselves.
fn is_by_factors(numbers: &[f64]) -> bool {
    let unlike = |numbers: &[f64]| {
        let steps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
        let (least, most) = steps
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), step| (least.min(step), most.max(step)));
        most / least
    };
    let logarithms: Vec<f64> = numbers.iter().map(|number| number.ln()).collect();
    numbers[0] > 0.0 && unlike(&logarithms) < 0.999 * unlike(numbers)
}

impl Lines {
    /// Lines over the swept parameter that has the most values, the last of equals. `None` if no parameter is swept
    /// over several numbers.
    pub fn of(grid: &Grid, unit: &str, axes: &Axes, palette: &mut Palette) -> Option<Lines> {
        let swept = axes.sweeps.iter().enumerate();
        let swept = swept.filter_map(|(place, sweep)| Some((place, Across::of(sweep)?)));
        let (place, across) = swept.max_by_key(|(_, across)| across.values.len())?;
        let other =
            axes.sweeps.iter().enumerate().find(|(other, sweep)| *other != place && sweep.values.len() > 1);
        let series: Vec<(String, String)> = match other {
            None => axes.systems.iter().map(|system| (system.clone(), palette.system(system))).collect(),
            Some((_, sweep)) => {
                let names: Vec<String> =
                    sweep.values.iter().map(|value| format!("{}={value}", sweep.path)).collect();
                let colours = palette.steps(&sweep.path, &names);
                names.into_iter().zip(colours).collect()
            }
        };
        let panel = |name: &str, cells: &[crate::question::Cell], system: Option<usize>| {
            let line = |series: usize| {
                let mut at = vec![0; 1 + axes.sweeps.len()];
                at[0] = system.unwrap_or(series);
                if let Some((other, _)) = other {
                    at[1 + other] = series;
                }
                let number = |(_, value): &(f64, usize)| {
                    at[1 + place] = *value;
                    cells[axes.variant(&at)].as_ref().ok().copied()
                };
                across.values.iter().map(number).collect()
            };
            let name = match system {
                Some(system) => format!("{}, {}", short(name), axes.systems[system]),
                None => short(name),
            };
            Panel { name, lines: (0..series.len()).map(line).collect() }
        };
        let systems: Vec<Option<usize>> =
            if other.is_some() { (0..axes.systems.len()).map(Some).collect() } else { vec![None] };
        let mut lines: Vec<(&str, &[crate::question::Cell])> = grid.lines().collect();
        // The answer comes first.
        lines.rotate_left(grid.rows.len());
        let panels = lines
            .iter()
            .flat_map(|(name, cells)| systems.iter().map(|system| panel(name, cells, *system)))
            .filter(|panel| panel.lines.iter().flatten().any(Option::is_some))
            .collect();
        Some(Lines { title: grid.title.clone(), unit: unit.to_owned(), across, series, panels })
    }

    /// The drawings with their legend; `None` if there is no number to draw.
    pub fn markup(&self) -> Option<Markup> {
        (!self.panels.is_empty()).then(|| {
            html! {
                (self.legend())
                div.panels {
                    @for panel in &self.panels {
                        @let title = format!("{}: {}", self.title, panel.name);
                        div.panel {
                            figure data-title=(title) {
                                figcaption { (panel.name) }
                                // A figure that is saved by itself takes its legend along.
                                (self.legend())
                                (self.drawing(panel, &title))
                            }
                        }
                    }
                }
            }
        })
    }

    fn legend(&self) -> Markup {
        html! {
            div.legend {
                @for (name, variable) in &self.series {
                    span.key { i class=(variable) {} (name) }
                }
            }
        }
    }

    fn drawing(&self, panel: &Panel, title: &str) -> Markup {
        let frame = Frame::of(self, panel);
        let (width, height) = (px(WIDTH), px(TOP + HEIGHT + BELOW));
        let (left, right, bottom) = (px(frame.left), px(frame.right), px(TOP + HEIGHT));
        let middle = px((frame.left + frame.right) / 2.0);
        let key = if self.across.logarithmic {
            format!("{} (log)", self.across.path)
        } else {
            self.across.path.clone()
        };
        html! {
            svg.chart.lines width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img"
                aria-label=(title) {
                g.rule {
                    @for value in frame.scale.ticks() {
                        @let y = px(frame.y(value));
                        line.zero[value == 0.0] x1=(left) x2=(right) y1=(y) y2=(y) {}
                    }
                }
                g.axis {
                    @for value in frame.scale.ticks() {
                        text x=(px(frame.left - 6.0)) y=(px(frame.y(value) + 4.0)) text-anchor="end" { (tick(value)) }
                    }
                }
                g.rule {
                    @for (value, _) in &self.across.values {
                        @let x = px(frame.x(self, *value));
                        line x1=(x) x2=(x) y1=(bottom) y2=(px(TOP + HEIGHT + 4.0)) {}
                    }
                }
                g.names {
                    @for (x, label) in frame.labels(self) {
                        text x=(px(x)) y=(px(TOP + HEIGHT + 17.0)) text-anchor="middle" { (label) }
                    }
                    text.unit x=(middle) y=(px(TOP + HEIGHT + 35.0)) text-anchor="middle" { (key) }
                }
                @for series in 0..self.series.len() { (self.line(panel, series, &frame)) }
                @if !self.unit.is_empty() { text.unit x="0" y="12" { (self.unit) } }
            }
        }
    }

    /// A line, broken where numbers are missing, with a dot at each number. Earlier lines are thicker, so that lines that
    /// lie on each other are all seen.
    fn line(&self, panel: &Panel, series: usize, frame: &Frame) -> Markup {
        let (name, variable) = &self.series[series];
        let thicker = (self.series.len() - 1 - series).min(5) as f64;
        let numbers = self.across.values.iter().zip(&panel.lines[series]);
        let points: Vec<Option<(f64, f64, f64, f64)>> = numbers
            .map(|((value, _), number)| {
                number.map(|number| (*value, number, frame.x(self, *value), frame.y(number)))
            })
            .collect();
        let runs = points.split(Option::is_none).filter(|run| run.len() > 1).map(|run| {
            let at = run.iter().flatten().map(|(.., x, y)| format!("{},{}", px(*x), px(*y)));
            at.collect::<Vec<_>>().join(" ")
        });
        html! {
            g class=(variable) data-series=(name) {
                @for run in runs { polyline points=(run) stroke-width=(px(2.0 + thicker)) {} }
                @for (value, number, x, y) in points.iter().flatten() {
                    circle cx=(px(*x)) cy=(px(*y)) r=(px(3.2 + thicker)) {
                        title {
                            (panel.name) ", " (name) ", " (self.across.path) "=" (tick(*value)) ": "
                            (with_unit(*number, &self.unit))
                        }
                    }
                }
            }
        }
    }
}

/// Where things are in a panel.
struct Frame {
    left: f64,
    right: f64,
    scale: Scale,
}

impl Frame {
    fn of(lines: &Lines, panel: &Panel) -> Frame {
        let numbers = || panel.lines.iter().flatten().flatten().copied();
        let (least, most) =
            (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
        // From zero, unless that would hide how the numbers differ.
        let is_narrow = most > least && (most - least) < 0.25 * most;
        let scale = if is_narrow {
            Scale::between(least, most)
        } else {
            Scale::between(least.min(0.0), most.max(0.0))
        };
        let axis = scale.ticks().into_iter().map(|value| letters(&tick(value), FONT)).fold(0.0, f64::max);
        let last = lines.across.values.last().map_or(0.0, |(value, _)| letters(&tick(*value), FONT));
        Frame { left: axis + 10.0, right: WIDTH - (last / 2.0 - INSET).max(4.0), scale }
    }

    fn x(&self, lines: &Lines, value: f64) -> f64 {
        self.left + INSET + lines.across.share(value) * (self.right - self.left - 2.0 * INSET)
    }

    fn y(&self, value: f64) -> f64 {
        let (from, to) = self.scale.range;
        TOP + HEIGHT * (1.0 - (value - from) / (to - from))
    }

    /// The swept values with their places, without those that would touch the one before.
    fn labels(&self, lines: &Lines) -> Vec<(f64, String)> {
        let mut labels: Vec<(f64, String)> = Vec::new();
        let mut end = f64::NEG_INFINITY;
        for (value, _) in &lines.across.values {
            let (x, label) = (self.x(lines, *value), tick(*value));
            let half = letters(&label, FONT) / 2.0;
            if x - half > end + 4.0 {
                end = x + half;
                labels.push((x, label));
            }
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn across(sweep: &str) -> Option<Across> {
        Across::of(&Sweep::parse(sweep).unwrap())
    }

    #[test]
    fn values_spaced_by_factors_are_on_a_logarithmic_scale() {
        let is_logarithmic = |sweep: &str| across(sweep).unwrap().logarithmic;
        assert!(
            is_logarithmic("k.a=8..64*2")
                && is_logarithmic("k.a=64,8,16,32")
                && is_logarithmic("k.a=1,10,100")
        );
        for sums in ["k.a=2..8+2", "k.a=1..3", "k.a=0..4", "k.a=0,1,2,4,8", "k.a=2,4", "k.a=-1,1,3"] {
            assert!(!is_logarithmic(sums), "{sums}");
        }
        let shares: Vec<f64> =
            [8.0, 16.0, 64.0].map(|value| across("k.a=8..64*2").unwrap().share(value)).to_vec();
        assert!((shares[1] - 1.0 / 3.0).abs() < 1e-9 && shares[0] == 0.0 && shares[2] == 1.0, "{shares:?}");
    }

    #[test]
    fn words_and_single_values_have_no_lines() {
        assert!(
            across("k.a=lru,fifo").is_none() && across("k.a=1,max").is_none() && across("k.a=4").is_none()
        );
        assert!(across("k.a=inf,1").is_none() && across("k.a=1,1.0").is_none());
    }

    /// The drawing of a grid whose numbers are 10, 20, ...
    fn drawn(systems: &[&str], sweeps: &[&str], missing: &[usize]) -> String {
        let sweeps = sweeps.iter().map(|sweep| Sweep::parse(sweep).unwrap()).collect();
        let systems = systems.iter().map(|system| (*system).to_owned()).collect();
        let axes = Axes::new("m", systems, sweeps).unwrap();
        let cell = |variant: usize| match missing.contains(&variant) {
            true => Err("not run yet".to_owned()),
            false => Ok(10.0 * (variant + 1) as f64),
        };
        let grid = Grid {
            title: "IPC".into(),
            rows: vec!["saxpy".into()],
            columns: (0..axes.count()).map(|variant| axes.name(variant)).collect(),
            cells: vec![(0..axes.count()).map(cell).collect()],
            means: vec![],
        };
        let lines = Lines::of(&grid, "u", &axes, &mut Palette::default()).unwrap();
        lines.markup().map(Markup::into_string).unwrap_or_default()
    }

    #[test]
    fn a_system_is_a_line_and_a_missing_number_a_gap() {
        let drawing = drawn(&["m", "s"], &["k.a=1,2,4,8,16"], &[7]);
        assert_eq!((drawing.matches("<svg").count(), drawing.matches("<circle").count()), (1, 9));
        // The second line is broken in two.
        assert_eq!(drawing.matches("<polyline").count(), 3);
        assert!(drawing.contains("<title>saxpy, s, k.a=16: 100.0 u</title>"), "{drawing}");
        assert!(drawing.contains(">k.a (log)</text>"));
        assert_eq!(drawn(&["m"], &["k.a=1,2"], &[0, 1]), "");
    }

    #[test]
    fn of_two_parameters_the_longer_is_across_and_the_other_gives_the_lines() {
        let drawing = drawn(&["m", "s"], &["k.a=1,2,3", "k.b=lru,fifo"], &[]);
        assert_eq!((drawing.matches("<svg").count(), drawing.matches("<polyline").count()), (2, 4));
        // Numbered s, k.a=2, k.b=fifo: 1 * 6 + 1 * 2 + 1.
        assert!(drawing.contains("<title>saxpy, s, k.b=fifo, k.a=2: 100.0 u</title>"), "{drawing}");
        assert!(drawing.contains(">k.a</text>") && !drawing.contains("(log)"));
    }

    #[test]
    fn values_stand_in_the_order_of_their_numbers() {
        let drawing = drawn(&["m"], &["k.a=4,1,2"], &[]);
        let x = |value: &str| {
            let circle =
                drawing.split("<circle").find(|part| part.contains(&format!("k.a={value}:"))).unwrap();
            circle.split("cx=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(x("1") < x("2") && x("2") < x("4"));
    }

    #[test]
    fn labels_do_not_touch() {
        let drawing = drawn(&["m"], &["k.a=100000..100250"], &[]);
        let labels = drawing.split("<g class=\"names\">").nth(1).unwrap().split("</g>").next().unwrap();
        let count = labels.matches("<text").count();
        assert!((2..9).contains(&count), "{count}");
    }
}
