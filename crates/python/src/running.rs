//! Long work on a thread of its own, while the interpreter goes on.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::flag::Flag;

/// How often signals and the caller's event are looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// What became of the work.
pub struct Ended<T> {
    /// What it gave, whole or until it was stopped.
    pub value: T,
    /// Why it was stopped: an exception that is under way, as `KeyboardInterrupt`, or the caller's event.
    pub stopped: Option<Stopped>,
}

/// Why work was stopped.
pub enum Stopped {
    /// A signal's handler or a callback raised this.
    Raised(PyErr),
    /// The caller's event was set.
    Cancelled,
}

/// Runs `work` on a thread of its own, without the interpreter's lock. Until it ends, this thread passes what the work sends
/// to `told`, runs signal handlers, and looks whether `cancel`, a `threading.Event`, is set. An exception or the event sets the
/// flag that the work was given; then this waits for its end. A panic of the work goes on here.
pub fn during<T: Send, E: Send>(
    py: Python<'_>,
    cancel: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&'static AtomicBool, Sender<E>) -> T + Send,
    mut told: impl FnMut(E) -> PyResult<()>,
) -> Ended<T> {
    let flag = Flag::lend();
    let stop = flag.get();
    let (send, events) = channel();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || work(stop, send));
        let mut events = events;
        let mut stopped = None;
        loop {
            let (back, event) = py.detach(move || next(events));
            events = back;
            let seen = match event {
                Ok(event) => told(event),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if stopped.is_some() {
                continue;
            }
            let look = || {
                seen?;
                py.check_signals()?;
                cancel.map_or(Ok(false), |event| event.call_method0("is_set")?.is_truthy())
            };
            match look() {
                Ok(false) => continue,
                Ok(true) => stopped = Some(Stopped::Cancelled),
                Err(raised) => stopped = Some(Stopped::Raised(raised)),
            }
            flag.set();
        }
        let value = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        Ended { value, stopped }
    })
}

/// Waits for the next event, for a while.
fn next<E>(events: Receiver<E>) -> (Receiver<E>, Result<E, RecvTimeoutError>) {
    let event = events.recv_timeout(PERIOD);
    (events, event)
}

/// Panics as a run might, so that tests see what becomes of it.
#[cfg(debug_assertions)]
#[pyfunction]
pub fn panic(py: Python<'_>, message: String) {
    let work = |_, events: Sender<()>| {
        drop(events);
        assert!(message.is_empty(), "{message}");
    };
    during(py, None, work, |()| Ok(()));
}
