//! The default stream: what the null stream means to the call that a thread is in.

use std::cell::Cell;

/// What the null stream means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// The stream that all threads share.
    Legacy,
    /// A stream of the calling thread.
    PerThread,
}

thread_local! {
    static DEFAULT: Cell<Default> = const { Cell::new(Default::Legacy) };
}

/// Runs a call to which the null stream means `default`.
pub(crate) fn with<R>(default: Default, call: impl FnOnce() -> R) -> R {
    let outer = DEFAULT.replace(default);
    let result = call();
    DEFAULT.set(outer);
    result
}

/// What the null stream means to the call that this thread is in.
pub(crate) fn get() -> Default {
    DEFAULT.get()
}
