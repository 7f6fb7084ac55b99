//! What a study says, as CSV and JSON.

use serde_json::{Value, json};
use strata_measure::uncertain::sobol::Index;

use super::{Drawn, Moved, Sureness, sureness};

/// Columns of the CSV.
const COLUMNS: [&str; 19] = [
    "number",
    "unit",
    "published",
    "modelled",
    "low",
    "median",
    "high",
    "draws",
    "assumption",
    "values",
    "size",
    "mean",
    "deviation",
    "first",
    "first_low",
    "first_high",
    "total",
    "total_low",
    "total_high",
];

/// A line for each number and assumption. What was not measured is empty.
///
/// # Panics
/// Never: a string takes all that is written.
#[must_use]
pub fn csv(drawn: &Drawn) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).expect("a string grows");
    for of in sureness(drawn) {
        for Moved { assumption, effect, index } in &of.moved {
            let numbers = [effect.size, effect.mean, effect.deviation].map(Some);
            let cells =
                [&of.number.id, of.number.unit.trim(), of.number.published.as_deref().unwrap_or_default()]
                    .map(str::to_owned)
                    .into_iter()
                    .chain(about(&of))
                    .chain([assumption.name.clone(), assumption.values.clone()])
                    .chain(numbers.into_iter().chain(ends(*index)).map(written));
            writer.write_record(cells).expect("a string grows");
        }
        if of.others.is_some() {
            let names = [
                of.number.id.as_str(),
                of.number.unit.trim(),
                of.number.published.as_deref().unwrap_or_default(),
            ];
            let cells = names.map(str::to_owned).into_iter().chain(about(&of));
            let cells = cells.chain([OTHERS.to_owned(), String::new()]);
            let numbers = [None; 3].into_iter().chain(ends(of.others));
            writer.write_record(cells.chain(numbers.map(written))).expect("a string grows");
        }
    }
    String::from_utf8(writer.into_inner().expect("a string grows")).expect("it was made of text")
}

/// What all assumptions are called together that are not looked at one by one.
pub const OTHERS: &str = "all others";

/// A number's value as modelled, its spread and its draws.
fn about(of: &Sureness<'_>) -> [String; 5] {
    let [low, median, high] = of.spread.map_or([None; 3], |ends| ends.map(Some));
    let [modelled, low, median, high] = [of.modelled, low, median, high].map(written);
    [modelled, low, median, high, of.draws.to_string()]
}

fn written(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// First-order and total index, each with its ends.
fn ends(index: Option<Index>) -> [Option<f64>; 6] {
    index.map_or([None; 6], |Index { first, total }| {
        [first.value, first.low, first.high, total.value, total.low, total.high].map(Some)
    })
}

/// The study and what it says of each number.
#[must_use]
pub fn json(drawn: &Drawn) -> Value {
    let number = |of: &Sureness<'_>| {
        let text = |value: f64| of.number.text(value);
        json!({
            "id": of.number.id,
            "unit": of.number.unit.trim(),
            "published_text": of.number.published,
            "modelled": of.modelled,
            "modelled_text": of.modelled.map(text),
            "spread": of.spread.map(|[low, median, high]| json!({ "low": low, "median": median, "high": high })),
            "spread_texts": of.spread.map(|ends| ends.map(text)),
            "draws": of.draws,
            "rows": of.rows,
            "assumptions": of.moved,
            "others": of.others,
        })
    };
    json!({
        "of": drawn.of,
        "simulator": drawn.simulator,
        "size": drawn.size.name(),
        "seed": drawn.seed,
        "trajectories": drawn.walks.len(),
        "rows": drawn.rows.len(),
        "lacking": drawn.lacking(),
        "refused": drawn.refused,
        "kept": drawn.kept.iter().map(|kept| &drawn.assumptions[*kept].name).collect::<Vec<_>>(),
        "numbers": sureness(drawn).iter().map(number).collect::<Vec<_>>(),
    })
}
