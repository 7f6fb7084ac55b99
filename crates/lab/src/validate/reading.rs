//! Figures from clock readings and the times of launches.

use strata_workloads::micro::{Figure, Reading, Span};

/// Why a run tells no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// The figure of one run: `clocks` are its clock readings, beginning and end by turns, `nanoseconds` the times of its launches.
///
/// # Errors
/// The longer span was not longer than the shorter one.
pub fn read(figure: &Figure, clocks: &[u64], nanoseconds: &[f64]) -> Result<f64, Unreadable> {
    let cycles = || more(figure, |span| span_cycles(span, clocks));
    let time = || more(figure, |span| nanoseconds[span.launch]);
    let (above, below) = match figure.reading {
        Reading::CyclesPerWork => (cycles(), figure.work),
        Reading::WorkPerCycle => (figure.work, cycles()),
        Reading::TimePerWork => (time(), figure.work),
        Reading::WorkPerTime => (figure.work, time()),
        Reading::CyclesPerTime => (cycles(), time() / 1e3),
        Reading::Quantile(percent) => (quantile(figure.long, clocks, percent), figure.work),
    };
    if above > 0.0 && below > 0.0 { Ok(above / below) } else { Err(Unreadable) }
}

/// What the longer span has more than the shorter one, if there is one.
fn more(figure: &Figure, of: impl Fn(Span) -> f64) -> f64 {
    of(figure.long) - figure.short.map_or(0.0, of)
}

fn pairs(span: Span, clocks: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let [first, count] = [span.pair, span.pairs].map(|number| usize::try_from(number).expect("few pairs"));
    clocks[2 * first..2 * (first + count)].chunks(2).map(|pair| (pair[0], pair[1]))
}

/// From the first beginning to the last end.
fn span_cycles(span: Span, clocks: &[u64]) -> f64 {
    let begin = pairs(span, clocks).map(|(begin, _)| begin).min().unwrap_or(0);
    let end = pairs(span, clocks).map(|(_, end)| end).max().unwrap_or(0);
    end.saturating_sub(begin) as f64
}

/// The cycles that so many percent of the pairs do not exceed: the first of the sorted ones of which that is true.
fn quantile(span: Span, clocks: &[u64], percent: u32) -> f64 {
    let mut lengths: Vec<u64> = pairs(span, clocks).map(|(begin, end)| end.saturating_sub(begin)).collect();
    lengths.sort_unstable();
    let place = (lengths.len() * percent as usize).div_ceil(100).max(1) - 1;
    lengths.get(place).map_or(0.0, |cycles| *cycles as f64)
}
