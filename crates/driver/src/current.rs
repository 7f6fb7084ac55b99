//! The contexts that a thread has made current, the last of them above.

use std::cell::RefCell;

use crate::objects::Context;
use crate::table::Handle;

thread_local! {
    static CURRENT: RefCell<Vec<Handle<Context>>> = const { RefCell::new(Vec::new()) };
}

/// The thread's current context, dead or alive.
pub fn context() -> Option<Handle<Context>> {
    CURRENT.with_borrow(|stack| stack.last().copied())
}

/// Makes a context current above the others.
pub fn push(context: Handle<Context>) {
    CURRENT.with_borrow_mut(|stack| stack.push(context));
}

/// Takes the current context off.
pub fn pop() -> Option<Handle<Context>> {
    CURRENT.with_borrow_mut(Vec::pop)
}
