//! How many threads pay, tried out while running. Results do not depend on it.

use std::time::Duration;

/// A run that ends sooner gains nothing from further threads.
const ALONE: Duration = Duration::from_millis(20);
/// What a stretch between two decisions should take.
const SHORT: Duration = Duration::from_millis(3);
const LONG: Duration = Duration::from_millis(12);
/// A trial of the other number of threads is so much shorter than other stretches: it may cost more than it tells.
const TRIAL: u64 = 4;
/// Stretches from one trial to the next, with one thread and with all: doubled whenever the other does not pay. All
/// threads are soon found out where they paid by chance.
const TRIALS: [u32; 2] = [16, 2];
const RAREST: u32 = 256;
/// What all threads must gain over one to be kept.
const GAIN: f64 = 1.1;

/// Decides, stretch by stretch, whether a simulation goes on with one thread or with all.
#[derive(Debug)]
pub struct Pace {
    threads: usize,
    all: bool,
    /// Whether the stretch under way tries the other number out.
    trial: bool,
    elapsed: Duration,
    /// Work a second of the last stretch with one thread and with all.
    rates: [f64; 2],
    cycles: u64,
    until_trial: u32,
    between_trials: u32,
}

impl Pace {
    /// For up to `threads` threads; the first stretches have one.
    pub fn new(threads: usize) -> Self {
        Pace {
            threads,
            all: false,
            trial: false,
            elapsed: Duration::ZERO,
            rates: [0.0; 2],
            cycles: 4096,
            until_trial: 0,
            between_trials: TRIALS[0],
        }
    }

    fn uses_all(&self) -> bool {
        self.all != self.trial
    }

    /// Number of threads for the next stretch.
    pub fn threads(&self) -> usize {
        if self.uses_all() { self.threads } else { 1 }
    }

    /// Length of the next stretch in cycles.
    pub fn cycles(&self) -> u64 {
        if self.trial { (self.cycles / TRIAL).max(64) } else { self.cycles }
    }

    /// Takes note of the work, in any unit, that a stretch did, and of the time that it took.
    pub fn took(&mut self, work: u64, time: Duration) {
        self.elapsed += time;
        self.rates[usize::from(self.uses_all())] = work as f64 / time.as_secs_f64().max(1e-9);
        // The length of a trial says nothing about that of other stretches.
        if !self.trial && time < SHORT {
            self.cycles = self.cycles.saturating_mul(2).min(1 << 32);
        } else if !self.trial && time > LONG {
            self.cycles = (self.cycles / 2).max(64);
        }
        if self.elapsed < ALONE {
            return;
        }
        if self.trial {
            let pays = self.rates[1] > GAIN * self.rates[0];
            let least = TRIALS[usize::from(pays)];
            self.between_trials =
                if pays == self.all { (2 * self.between_trials).min(RAREST) } else { least };
            (self.all, self.trial, self.until_trial) = (pays, false, self.between_trials);
        } else if self.until_trial == 0 {
            self.trial = true;
        } else {
            self.until_trial -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads of each of `count` stretches of 5 ms when all threads together do `work` where one does 100.
    fn stretches(count: usize, work: u64) -> Vec<usize> {
        let mut pace = Pace::new(4);
        let step = |_| {
            let threads = pace.threads();
            pace.took(if threads == 4 { work } else { 100 }, Duration::from_millis(5));
            threads
        };
        (0..count).map(step).collect()
    }

    #[test]
    fn a_short_run_has_one_thread() {
        assert_eq!(stretches(4, 400), [1; 4]);
    }

    #[test]
    fn all_threads_are_kept_when_they_pay() {
        let found = stretches(200, 300);
        let alone = found[5..].iter().filter(|threads| **threads == 1).count();
        assert!(alone <= 8, "{found:?}");
    }

    #[test]
    fn threads_that_pay_once_are_soon_given_up() {
        let mut pace = Pace::new(2);
        let mut with_all = 0;
        for stretch in 0..100 {
            let all = pace.threads() == 2;
            with_all += usize::from(all && stretch > 8);
            // By chance they are fast for some time in the beginning.
            let work = if all && stretch > 8 {
                60
            } else if all {
                200
            } else {
                100
            };
            pace.took(work, Duration::from_millis(5));
        }
        assert!(with_all < 12, "{with_all}");
    }

    #[test]
    fn threads_that_do_not_pay_are_tried_ever_more_rarely() {
        for work in [40, 105] {
            let found = stretches(2000, work);
            let trials = found.iter().filter(|threads| **threads == 4).count();
            assert!((5..=12).contains(&trials), "{trials}");
        }
    }

    #[test]
    fn stretches_come_to_last_some_milliseconds() {
        let mut pace = Pace::new(2);
        let mut cycles = 0;
        for _ in 0..40 {
            cycles = pace.cycles();
            pace.took(cycles, Duration::from_micros(cycles / 10));
        }
        assert!((3..=12).contains(&(cycles / 10_000)), "{cycles}");
    }
}
