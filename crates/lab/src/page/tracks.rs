//! A run over time: tracks below each other, each as wide as the page. The page's script shows the numbers where a pointer rests.

use maud::{Markup, html};

use super::colour::Palette;
use super::run_numbers::grouped;
use super::stack::CAUSES;
use crate::report::number;
use crate::timeline::{Span, Timeline};

/// Width and height of a track, before it is stretched.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;
/// Most launches whose beginnings are marked.
const MARKED: usize = 60;

/// What is drawn of each span: a name, the place of its colour, and its values.
struct Series {
    name: &'static str,
    place: usize,
    values: Vec<Option<f64>>,
}

/// Series below each other in one drawing.
struct Track {
    title: &'static str,
    unit: &'static str,
    series: Vec<Series>,
    /// Whether the series stand on each other.
    stacked: bool,
    /// The upper end of the axis; else it is the greatest value's.
    top: Option<f64>,
}

/// The tracks of a run, and their numbers as a table; `None` if it was not sampled.
pub fn drawing(
    timeline: &Timeline,
    core_mhz: f64,
    dram_peak: Option<f64>,
    palette: &mut Palette,
) -> Option<Markup> {
    let spans: Vec<&Span> = timeline.spans().collect();
    if spans.is_empty() {
        return None;
    }
    let tracks = tracks(&spans, core_mhz, dram_peak);
    let froms: Vec<String> = spans.iter().map(|span| span.from.to_string()).collect();
    Some(html! {
        div.tracks data-from=(froms.join(" ")) data-end=(timeline.end()) {
            (launches(timeline))
            @for track in &tracks { (track.markup(&spans, timeline, palette)) }
            div.axis { span { "0" } span.at {} span { (grouped(timeline.end())) " cycles" } }
        }
        details.system { summary { "Numbers over time" } (numbers(&spans, &tracks)) }
    })
}

fn tracks(spans: &[&Span], core_mhz: f64, dram_peak: Option<f64>) -> Vec<Track> {
    let values = |of: &dyn Fn(&Span) -> Option<f64>| spans.iter().map(|span| of(span)).collect::<Vec<_>>();
    let ratio = |span: &Span, above: &[&str], below: &[&str], scale: f64| {
        let (above, below) = (span.sum(above)? as f64, span.sum(below)? as f64);
        (below > 0.0).then(|| scale * above / below)
    };
    let a_cycle =
        |span: &Span, of: &[&str], scale: f64| Some(scale * span.sum(of)? as f64 / span.cycles() as f64);
    let series = |name, place, of: &dyn Fn(&Span) -> Option<f64>| Series { name, place, values: values(of) };
    let slots = CAUSES.iter().map(|(counter, name, place)| {
        let path = format!("sm.{counter}");
        series(name, *place, &|span| ratio(span, &[&path], &["sm.issue_slots"], 100.0))
    });
    let hits = |read: &'static [&'static str], of: &'static [&'static str]| {
        move |span: &Span| ratio(span, read, of, 100.0)
    };
    let tracks = [
        Track { title: "issue slots", unit: "%", series: slots.collect(), stacked: true, top: Some(100.0) },
        Track {
            title: "IPC",
            unit: "thread instructions a cycle",
            series: vec![series("IPC", 2, &|span| a_cycle(span, &["sm.thread_instructions"], 1.0))],
            stacked: true,
            top: None,
        },
        Track {
            title: "hit rates",
            unit: "%",
            series: vec![
                series("L1D", 2, &hits(&["l1d.load_hits", "l1d.store_hits"], &["l1d.loads", "l1d.stores"])),
                series(
                    "LLC",
                    4,
                    &hits(&["l2.read_hits", "l2.write_hits", "l2.atomic_hits"], &["l2.requests"]),
                ),
                series("DRAM rows", 0, &hits(&["dram.row_hits"], &["dram.reads", "dram.writes"])),
            ],
            stacked: false,
            top: Some(100.0),
        },
        Track {
            title: "L1D misses",
            unit: "a 1000 cycles",
            series: vec![
                series("loads", 0, &|span| {
                    a_cycle(span, &["l1d.load_misses", "l1d.load_partial_hits"], 1000.0)
                }),
                series("stores", 1, &|span| {
                    a_cycle(span, &["l1d.store_misses", "l1d.store_partial_hits"], 1000.0)
                }),
            ],
            stacked: true,
            top: None,
        },
        Track {
            title: "DRAM",
            unit: "bytes a cycle",
            series: vec![
                series("read", 2, &|span| a_cycle(span, &["dram.read_bytes"], 1.0)),
                series("written", 1, &|span| a_cycle(span, &["dram.written_bytes"], 1.0)),
            ],
            stacked: true,
            top: dram_peak.filter(|_| core_mhz > 0.0).map(|peak| peak / (core_mhz * 1e6)),
        },
        Track {
            title: "power",
            unit: "W",
            series: vec![series("power", 6, &|span| Some(span.pj? * core_mhz * 1e-6 / span.cycles() as f64))],
            stacked: true,
            top: None,
        },
    ];
    tracks.into_iter().filter_map(Track::of_something).collect()
}

/// Where each launch begins, as a ribbon in which kernels have their names.
fn launches(timeline: &Timeline) -> Markup {
    let mut kernels: Vec<&str> = Vec::new();
    for (_, kernel) in timeline.starts() {
        if !kernels.contains(&kernel) {
            kernels.push(kernel);
        }
    }
    let place = |kernel: &str| kernels.iter().position(|known| *known == kernel).unwrap_or_default() % 4;
    html! {
        div.ribbon {
            svg width="100%" height="14" viewBox="0 0 1000 14" preserveAspectRatio="none" role="img" aria-label="launches" {
                @for piece in pieces(timeline) {
                    rect class=(format!("k{}", place(piece.kernel))) x=(format!("{:.2}", piece.from))
                        width=(format!("{:.2}", (piece.to - piece.from).max(0.3))) height="14" { title { (piece.said()) } }
                }
            }
            div.legend {
                @for kernel in kernels.iter().take(8) { span.key { i class=(format!("k{}", place(kernel))) {} (kernel) } }
            }
        }
    }
}

/// A piece of the ribbon: a launch, or several that would be too narrow to be seen.
struct Piece<'a> {
    launches: (u64, u64),
    kernel: &'a str,
    cycles: u64,
    from: f64,
    to: f64,
}

impl Piece<'_> {
    fn said(&self) -> String {
        let cycles = grouped(self.cycles);
        match self.launches {
            (first, last) if first == last => format!("launch {first}, {}: {cycles} cycles", self.kernel),
            (first, last) => format!("launches {first} to {last}: {cycles} cycles"),
        }
    }
}

fn pieces(timeline: &Timeline) -> Vec<Piece<'_>> {
    let end = timeline.end().max(1) as f64;
    let x = |cycle: u64| WIDTH * cycle as f64 / end;
    let starts: Vec<_> = timeline.starts().collect();
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for (place, (start, kernel)) in starts.iter().enumerate() {
        let next = starts.get(place + 1).map_or(timeline.end(), |(next, _)| next.cycle);
        match pieces.last_mut().filter(|last| starts.len() > MARKED && last.to - last.from < 1.0) {
            Some(last) => {
                last.launches.1 = start.launch;
                last.cycles += next - start.cycle;
                last.to = x(next);
            }
            None => pieces.push(Piece {
                launches: (start.launch, start.launch),
                kernel,
                cycles: next - start.cycle,
                from: x(start.cycle),
                to: x(next),
            }),
        }
    }
    pieces
}

impl Track {
    /// The track without series that have nothing; `None` if none is left.
    fn of_something(mut self) -> Option<Track> {
        self.series.retain(|series| series.values.iter().flatten().any(|value| *value > 0.0));
        (!self.series.is_empty()).then_some(self)
    }

    /// The greatest value, of stacks the greatest sum.
    fn greatest(&self) -> f64 {
        let count = self.series.first().map_or(0, |series| series.values.len());
        let at = |place: usize| self.series.iter().filter_map(move |series| series.values[place]);
        let tops = (0..count)
            .map(|place| if self.stacked { at(place).sum() } else { at(place).fold(0.0, f64::max) });
        tops.fold(0.0, f64::max)
    }

    fn markup(&self, spans: &[&Span], timeline: &Timeline, palette: &mut Palette) -> Markup {
        let greatest = self.greatest();
        // A peak far above what was reached would flatten the track.
        let top = self.top.filter(|top| *top < 4.0 * greatest).unwrap_or(greatest * 1.05);
        let scale = match self.top {
            Some(_) if self.unit == "%" => "0 to 100 %".to_owned(),
            Some(peak) => format!("up to {}, of {} that it can", number(greatest), number(peak)),
            None => format!("up to {}", number(greatest)),
        };
        let end = timeline.end().max(1) as f64;
        let x = |cycle: u64| format!("{:.1}", WIDTH * cycle as f64 / end);
        let y = |value: f64| HEIGHT * (1.0 - (value / top).min(1.0));
        let mut below = vec![0.0; spans.len()];
        let starts: Vec<u64> = timeline.starts().skip(1).map(|(start, _)| start.cycle).collect();
        html! {
            div.track {
                div.head {
                    b { (self.title) } span.note { (self.unit) }
                    @for series in &self.series { span.key { i class=(palette.part(series.place)) {} (series.name) " " output {} } }
                    span.note.top { (scale) }
                }
                div.field {
                    svg width="100%" height="84" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img"
                        aria-label=(format!("{} over time", self.title)) {
                        @for series in &self.series {
                            @let colour = palette.part(series.place);
                            @let values: Vec<String> = series.values.iter().map(|value| value.map_or("-".into(), number)).collect();
                            g class=(colour) data-values=(values.join(" ")) {
                                @if self.stacked {
                                    path.area d=(area(series, spans, &mut below, &x, &y)) {}
                                } @else { path.line d=(line(series, spans, &x, &y)) {} }
                            }
                        }
                        @if starts.len() < MARKED { @for start in &starts { line.start x1=(x(*start)) x2=(x(*start)) y1="0" y2="100" {} } }
                    }
                }
            }
        }
    }
}

/// A series on top of what is below it, in steps.
fn area(
    series: &Series,
    spans: &[&Span],
    below: &mut [f64],
    x: &dyn Fn(u64) -> String,
    y: &dyn Fn(f64) -> f64,
) -> String {
    let mut upper = String::new();
    let mut lower = String::new();
    for ((span, value), below) in spans.iter().zip(&series.values).zip(below) {
        let base = *below;
        *below += value.unwrap_or_default();
        let (top, bottom) = (y(*below), y(base));
        upper +=
            &format!("{}{},{top:.1}H{}", if upper.is_empty() { "M" } else { "L" }, x(span.from), x(span.to));
        lower = format!("L{},{bottom:.1}H{}{lower}", x(span.to), x(span.from));
    }
    upper + &lower + "Z"
}

/// A series as a line in steps, broken where there is nothing.
fn line(series: &Series, spans: &[&Span], x: &dyn Fn(u64) -> String, y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::new();
    let mut goes_on = false;
    for (span, value) in spans.iter().zip(&series.values) {
        if let Some(value) = value {
            path += &format!(
                "{}{},{:.1}H{}",
                if goes_on { "L" } else { "M" },
                x(span.from),
                2.0 + 0.96 * y(*value),
                x(span.to)
            );
        }
        goes_on = value.is_some();
    }
    path
}

fn numbers(spans: &[&Span], tracks: &[Track]) -> Markup {
    let series = || tracks.iter().flat_map(|track| track.series.iter().map(move |series| (track, series)));
    let head = |track: &Track, series: &Series| match track.series.len() {
        1 => format!("{} ({})", track.title, track.unit),
        _ => format!("{}: {} ({})", track.title, series.name, track.unit),
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label="numbers over time" {
            table data-title="over time" {
                thead { tr { th { "from cycle" } th { "to cycle" } @for (track, series) in series() { th { (head(track, series)) } } } }
                tbody {
                    @for (place, span) in spans.iter().enumerate() {
                        tr {
                            td { (span.from) } td { (span.to) }
                            @for (_, series) in series() { td { @if let Some(value) = series.values[place] { (number(value)) } } }
                        }
                    }
                }
            }
        }
    }
}
