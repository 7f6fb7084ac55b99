//! A barrier that spins briefly and then parks.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// How often a waiting thread checks before it parks when every thread has a core: about 20 microseconds.
const SPINS: u32 = 4_000;
/// How often a waiting thread checks, yielding its core each time, when threads share cores.
const YIELDS: u32 = 200;

/// The point where all threads of a run meet between windows.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    shares_cores: bool,
    arrived: AtomicUsize,
    generation: AtomicU64,
    poisoned: AtomicBool,
    sleepers: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    /// A barrier for `threads` threads.
    pub fn new(threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Barrier {
            threads,
            shares_cores: threads > cores,
            arrived: AtomicUsize::new(0),
            generation: AtomicU64::new(0),
            poisoned: AtomicBool::new(false),
            sleepers: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Waits until all threads have arrived. Returns false if another thread panicked and will never arrive.
    pub fn wait(&self) -> bool {
        if self.threads == 1 {
            return true;
        }
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation + 1, Ordering::Release);
            // A sleeper checks the generation under this lock, so it cannot miss the wake-up.
            drop(self.sleepers.lock());
            self.wake.notify_all();
            return !self.poisoned.load(Ordering::Relaxed);
        }
        for _ in 0..if self.shares_cores { YIELDS } else { SPINS } {
            if self.is_past(generation) {
                return !self.poisoned.load(Ordering::Relaxed);
            }
            if self.shares_cores {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        let mut guard = self.sleepers.lock().unwrap_or_else(|poison| poison.into_inner());
        while !self.is_past(generation) {
            guard = self.wake.wait(guard).unwrap_or_else(|poison| poison.into_inner());
        }
        !self.poisoned.load(Ordering::Relaxed)
    }

    fn is_past(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Acquire) != generation || self.poisoned.load(Ordering::Relaxed)
    }

    /// Returns a guard that releases the other threads if it is dropped by a panic.
    pub fn poison_on_panic(&self) -> PoisonOnPanic<'_> {
        PoisonOnPanic(self)
    }
}

/// Releases waiting threads when dropped by a panic; see [`Barrier::poison_on_panic`].
pub struct PoisonOnPanic<'a>(&'a Barrier);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Relaxed);
            drop(self.0.sleepers.lock());
            self.0.wake.notify_all();
        }
    }
}
