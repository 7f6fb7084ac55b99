//! Each thread's stack of current contexts.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use crate::objects::Context;
use crate::table::Handle;

thread_local! {
    // Never dropped: programs and their runtime still call at exit, after the destructors of thread-local variables. A
    // thread that ends with a current context leaves the few bytes of its stack behind.
    static CURRENT: ManuallyDrop<RefCell<Vec<Handle<Context>>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
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
