//! Messages on standard error, controlled by `STRATA_LOG`.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only why `cuInit` fails.
    Quiet,
    /// Also unsupported calls and kernel failures, each once.
    Once,
    /// Also every call and its result.
    Calls,
}

impl Level {
    /// Parses a value of `STRATA_LOG`.
    pub fn parse(text: &str) -> Option<Level> {
        Some(match text {
            "quiet" => Level::Quiet,
            "once" => Level::Once,
            "calls" => Level::Calls,
            _ => return None,
        })
    }
}

/// The level of this process. `cuInit` reports an invalid value.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let text = std::env::var("STRATA_LOG").ok();
        text.and_then(|text| Level::parse(&text)).unwrap_or(Level::Once)
    })
}

/// Logs a message at a level.
pub fn say(at: Level, text: impl FnOnce() -> String) {
    if level() >= at {
        eprintln!("strata: {}", text());
    }
}

/// Logs a message the first time it occurs.
pub fn once(text: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if level() >= Level::Once && !said.contains(&text) {
        eprintln!("strata: {text}");
        said.insert(text);
    }
}
