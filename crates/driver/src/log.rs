//! What is said on standard error: `STRATA_LOG`.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only why `cuInit` fails.
    Quiet,
    /// Also, once each, what is not supported, and what went wrong in a kernel.
    Once,
    /// Also every call and what it answers.
    Calls,
}

impl Level {
    /// The level that `STRATA_LOG` names.
    pub fn parse(text: &str) -> Option<Level> {
        Some(match text {
            "quiet" => Level::Quiet,
            "once" => Level::Once,
            "calls" => Level::Calls,
            _ => return None,
        })
    }
}

/// The level of this process; a value that means nothing is complained of by `cuInit`.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let text = std::env::var("STRATA_LOG").ok();
        text.and_then(|text| Level::parse(&text)).unwrap_or(Level::Once)
    })
}

/// Says something at a level.
pub fn say(at: Level, text: impl FnOnce() -> String) {
    if level() >= at {
        eprintln!("strata: {}", text());
    }
}

/// Says something the first time.
pub fn once(text: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if level() >= Level::Once && !said.contains(&text) {
        eprintln!("strata: {text}");
        said.insert(text);
    }
}
