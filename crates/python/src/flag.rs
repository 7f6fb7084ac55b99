//! Flags that stop runs, one for each run under way.
//!
//! The simulator asks for flags that live as long as the process, so those of ended runs are lent again.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static FREE: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

/// A flag that nobody else has. Whoever looks at it must have ended before this goes.
pub struct Flag(&'static AtomicBool);

impl Flag {
    /// A flag that is not set.
    pub fn lend() -> Flag {
        let free = FREE.lock().expect("no holder panics").pop();
        let flag = free.unwrap_or_else(|| Box::leak(Box::new(AtomicBool::new(false))));
        flag.store(false, Ordering::Relaxed);
        Flag(flag)
    }

    /// The flag, for who looks at it.
    pub fn get(&self) -> &'static AtomicBool {
        self.0
    }

    /// Stops the run.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        FREE.lock().expect("no holder panics").push(self.0);
    }
}
