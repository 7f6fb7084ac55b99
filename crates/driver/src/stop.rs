//! Requests to stop: whoever runs the process holds a lock on a file (`STRATA_LOCK`) for as long as it may run.
//!
//! The host lets go of a lock when its holder dies, so a request needs nobody who is still able to make one.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often the lock is tried during a launch.
const PERIOD: Duration = Duration::from_millis(25);

/// Stops launches; never cleared.
pub static STOP: AtomicBool = AtomicBool::new(false);

static LOCK: OnceLock<File> = OnceLock::new();

/// Looks at this lock from now on.
///
/// # Errors
/// Why the file cannot be opened.
pub fn look_at(path: &Path) -> Result<(), String> {
    let file = File::open(path).map_err(|error| {
        format!("STRATA_LOCK: found `{}`, expected a file that is kept locked: {error}", path.display())
    })?;
    LOCK.get_or_init(|| file);
    Ok(())
}

/// Whether the process is to stop: nobody holds the lock any more.
pub fn is_requested() -> bool {
    let free = |file: &File| !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    if !STOP.load(Ordering::Relaxed) && LOCK.get().is_some_and(free) {
        STOP.store(true, Ordering::Relaxed);
    }
    STOP.load(Ordering::Relaxed)
}

/// Runs `body`, which [`STOP`] stops. The watching thread ends with it: a client may unload the library between calls.
pub fn watched<R>(body: impl FnOnce() -> R) -> R {
    if LOCK.get().is_none() || is_requested() {
        return body();
    }
    thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        let watch = move || {
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) && !is_requested() {}
        };
        // Without a thread the launch runs to its end.
        let _ = thread::Builder::new().name("strata-stop".into()).spawn_scoped(scope, watch);
        let result = body();
        drop(running);
        result
    })
}
