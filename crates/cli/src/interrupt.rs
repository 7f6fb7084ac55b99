//! Ctrl-C: the first one stops the run, which reports what it has; the second one ends the command.

use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a command that an interrupt ended, as a shell gives it: 128 + SIGINT.
pub const STATUS: u8 = 130;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

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
