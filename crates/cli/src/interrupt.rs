//! Ctrl-C and the signals that ask a command to end: the first one stops the run, which reports what it has; the second one ends
//! the command.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The first signal that came.
static FIRST: AtomicI32 = AtomicI32::new(SIGINT);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Exit status of a command that an interrupt ended, as a shell gives it: 128 and the first signal.
pub fn status() -> u8 {
    128 + FIRST.load(Ordering::Relaxed) as u8
}

/// Catches signals from now on. Without that a signal ends the command, as it would have.
fn catch(caught: fn(usize)) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let before = COUNT.load(Ordering::Relaxed);
            if before == 0 {
                FIRST.store(signal, Ordering::Relaxed);
            }
            COUNT.store(before + 1, Ordering::Relaxed);
            caught(before);
        }
    });
}

/// Catches interrupts from now on. The flag is set by the first.
#[must_use]
pub fn flag() -> &'static AtomicBool {
    static CATCH: std::sync::Once = std::sync::Once::new();
    CATCH.call_once(|| {
        catch(|before| {
            INTERRUPTED.store(true, Ordering::Relaxed);
            if before > 0 {
                std::process::exit(status().into());
            }
        });
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
    catch(|_| ());
    Counter(())
}
