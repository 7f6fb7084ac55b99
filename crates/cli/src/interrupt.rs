//! Ctrl-C: the first one stops the run, which reports what it has; the second one ends the command.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Exit status of a command that an interrupt ended, as a shell gives it: 128 + SIGINT.
pub const STATUS: u8 = 130;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Catches interrupts from now on. The flag is set by the first.
#[must_use]
pub fn flag() -> &'static AtomicBool {
    // Without a handler an interrupt ends the command, as it would have.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(STATUS.into());
        }
    });
    &INTERRUPTED
}

/// Counts interrupts.
pub struct Counter(());

impl Counter {
    /// Interrupts so far.
    pub fn count(&self) -> usize {
        COUNT.load(Ordering::Relaxed)
    }
}

/// Catches all interrupts from now on, for a command that ends by itself.
#[must_use]
pub fn counter() -> Counter {
    let _ = ctrlc::set_handler(|| _ = COUNT.fetch_add(1, Ordering::Relaxed));
    Counter(())
}
