//! Each thread's stack of current contexts.

use std::cell::RefCell;

use crate::objects::Context;
use crate::table::Handle;

thread_local! {
    static CURRENT: RefCell<Vec<Handle<Context>>> = const { RefCell::new(Vec::new()) };
}

/// The thread's current context, whether or not it still exists.
pub fn context() -> Option<Handle<Context>> {
    CURRENT.with_borrow(|stack| stack.last().copied())
}

/// Pushes a context onto the stack, which makes it current.
pub fn push(context: Handle<Context>) {
    CURRENT.with_borrow_mut(|stack| stack.push(context));
}

/// Pops the current context.
pub fn pop() -> Option<Handle<Context>> {
    CURRENT.with_borrow_mut(Vec::pop)
}
