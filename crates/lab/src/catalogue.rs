//! What there is to choose from, as JSON objects; of the lab's own, papers.

use serde_json::{Value, json};
pub use strata_measure::catalogue::*;

use crate::paper::{self, Paper};

/// The built-in papers.
///
/// # Panics
/// If a built-in paper's file is invalid.
#[must_use]
pub fn papers() -> Vec<Value> {
    let load = |name| Paper::load(name).unwrap_or_else(|error| panic!("{error}"));
    let of = |paper: Paper| json!({ "name": paper.name, "title": paper.title });
    paper::names().into_iter().map(load).map(of).collect()
}
