//! What is said on standard error: `STRATA_LOG`, as the driver understands it.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// How much is said. The driver complains of a value that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only why there is no driver.
    Quiet,
    /// Also, once each, what is not supported, and what is wrong with a fat binary.
    Once,
    /// Also every call and what it answers.
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

/// Says something at a level.
pub fn say(at: Level, text: impl FnOnce() -> String) {
    if level() >= at {
        eprintln!("strata: {}", text());
    }
}

/// Says something the first time.
pub fn once(text: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if level() >= Level::Once && said.insert(text.to_owned()) {
        eprintln!("strata: {text}");
    }
}
