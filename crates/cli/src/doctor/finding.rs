//! What was found out about one feature, and how it is shown.

use serde_json::{Value, json};

use crate::table::Cells;

/// How one feature fares on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It works.
    Ok,
    /// Something that it needs, and that the rest of the command does without, is not there.
    Missing,
    /// Something is there and does not do what the command relies on.
    Broken,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Missing => "missing",
            State::Broken => "broken",
        }
    }
}

/// What was found out about one feature.
#[derive(Debug)]
pub struct Finding {
    /// What the host is asked for.
    feature: &'static str,
    /// How it fares.
    pub state: State,
    /// What is there, or is not.
    pub found: String,
    /// How to get what is missing; empty where nothing is.
    remedy: String,
}

impl Finding {
    /// The feature works.
    pub fn ok(feature: &'static str, found: impl Into<String>) -> Finding {
        Finding { feature, state: State::Ok, found: found.into(), remedy: String::new() }
    }

    /// Something that the feature needs is not there.
    pub fn missing(feature: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { feature, state: State::Missing, found: found.into(), remedy: remedy.into() }
    }

    /// Something is there and does not do what the command relies on.
    pub fn broken(feature: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { state: State::Broken, ..Finding::missing(feature, found, remedy) }
    }

    /// A row of a table: the feature, its state, what was found and the remedy.
    pub fn cells(&self) -> Cells {
        let found = if self.remedy.is_empty() {
            self.found.clone()
        } else {
            format!("{}; {}", self.found, self.remedy)
        };
        vec![self.feature.to_owned(), self.state.name().to_owned(), found]
    }

    /// The same as an object.
    pub fn json(&self) -> Value {
        json!({
            "feature": self.feature,
            "state": self.state.name(),
            "found": self.found,
            "remedy": self.remedy,
        })
    }
}
