//! Messages on standard error, controlled by `STRATA_LOG` as in the driver.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// How much is logged. The driver reports invalid values of the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only why there is no driver.
    Quiet,
    /// Also unsupported calls and problems in fat binaries, each once.
    Once,
    /// Also every call and its result.
    Calls,
}

fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| match std::env::var("STRATA_LOG").as_deref() {
        Ok("quiet") => Level::Quiet,
        Ok("calls") => Level::Calls,
        _ => Level::Once,
    })
}

/// Logs a message at a level.
pub fn say(at: Level, text: impl FnOnce() -> String) {
    if level() >= at {
        eprintln!("strata: {}", text());
    }
}

/// Logs a message the first time it occurs.
pub fn once(text: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if level() >= Level::Once && said.insert(text.to_owned()) {
        eprintln!("strata: {text}");
    }
}
