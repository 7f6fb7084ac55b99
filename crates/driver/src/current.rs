//! What each thread has of its own: a stack of current contexts, and what the null stream means to its call.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::objects::Context;
use crate::table::Handle;

/// Threads that have asked for their number.
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Never dropped: programs and their runtime still call at exit, after the destructors of thread-local variables. A
    // thread that ends with a current context leaves the few bytes of its stack behind.
    static CURRENT: ManuallyDrop<RefCell<Vec<Handle<Context>>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
    static THREAD: u64 = THREADS.fetch_add(1, Ordering::Relaxed);
    static DEFAULT: Cell<Default> = const { Cell::new(Default::Legacy) };
}

/// The thread's current context, whether or not it still exists.
pub fn context() -> Option<Handle<Context>> {
    CURRENT.with(|stack| stack.borrow().last().copied())
}

/// Pushes a context onto the stack, which makes it current.
pub fn push(context: Handle<Context>) {
    CURRENT.with(|stack| stack.borrow_mut().push(context));
}

/// Pops the current context.
pub fn pop() -> Option<Handle<Context>> {
    CURRENT.with(|stack| {
        let mut stack = stack.borrow_mut();
        let popped = stack.pop();
        if stack.is_empty() {
            *stack = Vec::new();
        }
        popped
    })
}

/// A number that no other thread has.
pub fn thread() -> u64 {
    THREAD.with(|thread| *thread)
}

/// What the null stream means to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// The stream that all threads share.
    Legacy,
    /// A stream of the calling thread.
    PerThread,
}

/// What the null stream means to the call that this thread is in.
pub fn default() -> Default {
    DEFAULT.get()
}

/// Runs a call to which the null stream means `default`. A call from within a call has its own.
pub fn with_default<R>(default: Default, call: impl FnOnce() -> R) -> R {
    let outer = DEFAULT.replace(default);
    let result = call();
    DEFAULT.set(outer);
    result
}
