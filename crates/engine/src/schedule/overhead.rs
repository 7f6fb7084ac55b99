//! What a window costs beside its work.

use super::THREADS;

/// What a window costs a number of threads beside its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// Seconds a window.
    pub seconds: f64,
    /// Whether the host has that many cores; otherwise it is what fewer threads cost, and an assumption about each more.
    pub is_measured: bool,
}

impl Overhead {
    /// For each of [`THREADS`], from the seconds of a window with the first few of them.
    pub(crate) fn of_each(measured: &[f64]) -> [Overhead; THREADS.len()] {
        let last = measured.len() - 1;
        std::array::from_fn(|at| match measured.get(at) {
            Some(seconds) => Overhead { seconds: *seconds, is_measured: true },
            None => {
                // What is not measured grows with the threads, as all of them write to the same lines.
                let more = (THREADS[at] - THREADS[last]) as f64;
                Overhead { seconds: measured[last] + more * EACH_MORE, is_measured: false }
            }
        })
    }
}

/// What each thread more adds, where that cannot be measured: it takes two lines of the host's caches from another core, to
/// tell what it found and to learn that the next window has begun, at some 100 ns each between cores of one die.
const EACH_MORE: f64 = 2e-7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_beyond_the_cores_costs_as_much() {
        let found = Overhead::of_each(&[1.0, 3.0]);
        for (overhead, more) in found[2..].iter().zip([2.0, 6.0, 14.0, 62.0]) {
            assert!((overhead.seconds - 3.0 - more * EACH_MORE).abs() < 1e-12, "{overhead:?}");
        }
        assert_eq!(found.map(|overhead| overhead.is_measured), [true, true, false, false, false, false]);
    }
}
