//! Figures beside their counterparts, and how far they are apart.

use strata_gpu::machine::Machine;
use strata_workloads::micro::Reading;

use super::facts::{Fact, Hardware, Levels};
use super::measure::Measured;

/// A figure of the model beside those of cards.
#[derive(Clone, Debug)]
pub struct Line {
    /// The figure.
    pub measured: Measured,
    /// For each card, what it has in its place.
    pub beside: Vec<Option<Beside>>,
}

/// A card's counterpart of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// What hardware does.
    pub fact: Fact,
    /// How far the model is off, as a part of the hardware's figure: 0.1 is ten percent more. Zero within an interval.
    pub error: Option<f64>,
}

/// How far a kind of figures is off.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// Latencies or rates, or a family.
    pub of: String,
    /// How many figures have a counterpart.
    pub count: usize,
    /// The mean of the errors without their signs.
    pub mean: f64,
}

/// A machine's figures beside those of cards.
#[derive(Clone, Debug)]
pub struct Validation {
    /// The machine's name.
    pub machine: String,
    /// The cards that its figures stand beside.
    pub cards: Vec<Hardware>,
    /// The figures.
    pub lines: Vec<Line>,
}

/// Puts a machine's figures beside those of cards.
#[must_use]
pub fn validation(machine: &Machine, measured: Vec<Measured>, cards: Vec<Hardware>) -> Validation {
    let levels = Levels { l2_bytes: machine.llc_bytes() };
    let lines = measured
        .into_iter()
        .map(|measured| {
            let beside = |card: &Hardware| {
                let fact = card.counterpart(measured.family, &measured.figure, levels)?;
                let error = measured.value.as_ref().ok().and_then(|value| error(*value, &fact));
                Some(Beside { fact, error })
            };
            let beside = cards.iter().map(beside).collect();
            Line { measured, beside }
        })
        .collect();
    Validation { machine: machine.name().to_owned(), cards, lines }
}

/// From the nearest number that the fact allows.
fn error(value: f64, fact: &Fact) -> Option<f64> {
    let nearest = value.clamp(fact.low.min(fact.high), fact.high.max(fact.low));
    (nearest > 0.0).then(|| value / nearest - 1.0)
}

/// Latencies or rates.
fn kind(reading: Reading) -> &'static str {
    match reading {
        Reading::CyclesPerWork | Reading::TimePerWork | Reading::Quantile(_) => "latencies and intervals",
        Reading::WorkPerCycle | Reading::WorkPerTime | Reading::CyclesPerTime => "bandwidths and rates",
    }
}

impl Validation {
    /// How far the model is from a card: by kind, then by family.
    #[must_use]
    pub fn apart(&self, card: usize) -> Vec<Apart> {
        let mut sums: Vec<(String, usize, f64)> = Vec::new();
        let mut add = |of: &str, error: f64| {
            let place = sums.iter().position(|(known, ..)| known == of).unwrap_or_else(|| {
                sums.push((of.to_owned(), 0, 0.0));
                sums.len() - 1
            });
            sums[place].1 += 1;
            sums[place].2 += error.abs();
        };
        let errors: Vec<(&Line, f64)> = self
            .lines
            .iter()
            .filter_map(|line| Some((line, line.beside.get(card)?.as_ref()?.error?)))
            .collect();
        for (line, error) in &errors {
            add(kind(line.measured.figure.reading), *error);
        }
        for (line, error) in &errors {
            add(line.measured.family, *error);
        }
        sums.into_iter().map(|(of, count, sum)| Apart { of, count, mean: sum / count as f64 }).collect()
    }

    /// The figures that have something beside them, and those alone where no card is asked for.
    pub fn shown(&self) -> impl Iterator<Item = &Line> {
        let all = self.cards.is_empty();
        self.lines.iter().filter(move |line| all || line.beside.iter().any(Option::is_some))
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let lines: Vec<serde_json::Value> = self.lines.iter().map(|line| self.line(line)).collect();
        let apart = self.cards.iter().enumerate().map(|(place, hardware)| {
            let of = self.apart(place).into_iter().map(
                |Apart { of, count, mean }| serde_json::json!({ "of": of, "figures": count, "mean_absolute_error": mean }),
            );
            serde_json::json!({
                "card": hardware.card.name, "about": hardware.card.about, "errors": of.collect::<Vec<_>>()
            })
        });
        serde_json::json!({
            "machine": self.machine, "simulator": crate::SIMULATOR,
            "cards": apart.collect::<Vec<_>>(), "figures": lines
        })
    }

    fn line(&self, line: &Line) -> serde_json::Value {
        let Line { measured, beside } = line;
        let figure = &measured.figure;
        let parameters: serde_json::Map<String, serde_json::Value> = figure
            .parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.as_str().into()))
            .collect();
        let beside = self.cards.iter().zip(beside).filter_map(|(hardware, beside)| {
            let Beside { fact, error } = beside.as_ref()?;
            Some(serde_json::json!({
                "card": hardware.card.name, "low": fact.low, "high": fact.high, "error": error,
                "source": fact.source
            }))
        });
        let mut json = serde_json::json!({
            "family": measured.family, "case": figure.case, "parameters": parameters,
            "quantity": figure.quantity, "unit": figure.unit, "hardware": beside.collect::<Vec<_>>()
        });
        match &measured.value {
            Ok(value) => json["value"] = (*value).into(),
            Err(reason) => json["missing"] = reason.as_str().into(),
        }
        json
    }
}
