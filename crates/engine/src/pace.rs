//! How many threads pay, tried out while running. Results do not depend on it.

use std::time::Duration;

/// A run that ends sooner gains nothing from further threads.
const ALONE: Duration = Duration::from_millis(3);
/// What a stretch between two decisions should take.
const SHORT: Duration = Duration::from_millis(3);
const LONG: Duration = Duration::from_millis(12);
/// The stretches of a trial: whether each has all threads, and what it is for. A program's work changes from stretch to
/// stretch, so only neighbours can be compared: these make three pairs, of which one says little. The first stretch with
/// another number of threads is not compared, since it finds the state of the islands in other cores' caches.
const TRIAL: [(bool, Rated); 10] = [
    (false, Rated::Not),
    (false, Rated::First),
    (true, Rated::Not),
    (true, Rated::Second),
    (true, Rated::First),
    (false, Rated::Not),
    (false, Rated::Second),
    (false, Rated::First),
    (true, Rated::Not),
    (true, Rated::Second),
];
const PAIRS: usize = 3;
/// Stretches from one trial to the next, which grow whenever a trial changes nothing.
const OFTEN: u32 = 8;
const GROWTH: u32 = 4;
const RAREST: u32 = 512;
/// What all threads must gain over one to be taken up, and to be kept.
const GAIN: f64 = 1.05;
const KEEP: f64 = 1.02;
/// What tells at once that they do not pay.
const LOSS: f64 = 0.8;

/// What a stretch of a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rated {
    /// It warms the caches.
    Not,
    /// It is the first of a pair, or
    First,
    /// the second.
    Second,
}

/// Decides, stretch by stretch, whether a simulation goes on with one thread or with all. One goes on alone until a trial
/// shows that all pay.
#[derive(Debug)]
pub struct Pace {
    threads: usize,
    all: bool,
    trial: Option<Trial>,
    elapsed: Duration,
    cycles: u64,
    until_trial: u32,
    between_trials: u32,
}

/// A trial under way.
#[derive(Clone, Debug, Default)]
struct Trial {
    stretches: usize,
    /// Work a second of the first stretch of a pair.
    rate: f64,
    /// By pair, what all threads did to what one did.
    gains: Vec<f64>,
}

impl Trial {
    /// Whether the next stretch has all threads.
    fn uses_all(&self) -> bool {
        TRIAL[self.stretches].0
    }

    fn took(&mut self, rate: f64) {
        match TRIAL[self.stretches] {
            (_, Rated::Not) => {}
            (_, Rated::First) => self.rate = rate,
            (true, Rated::Second) => self.gains.push(rate / self.rate),
            (false, Rated::Second) => self.gains.push(self.rate / rate),
        }
        self.stretches += 1;
    }

    /// Whether all threads pay, where they do already or not, once it is known.
    fn verdict(&self, already: bool) -> Option<bool> {
        if !already && self.gains.first().is_some_and(|gain| *gain < LOSS) {
            return Some(false);
        }
        (self.gains.len() == PAIRS).then(|| {
            let mut gains = self.gains.clone();
            gains.sort_by(f64::total_cmp);
            gains[PAIRS / 2] > if already { KEEP } else { GAIN }
        })
    }
}

impl Pace {
    /// For up to `threads` threads; the first stretches have one.
    pub fn new(threads: usize) -> Self {
        Pace {
            threads,
            all: false,
            trial: None,
            elapsed: Duration::ZERO,
            cycles: 4096,
            until_trial: 0,
            between_trials: OFTEN,
        }
    }

    /// Number of threads for the next stretch.
    pub fn threads(&self) -> usize {
        if self.trial.as_ref().map_or(self.all, Trial::uses_all) { self.threads } else { 1 }
    }

    /// Length of the next stretch in cycles.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Takes note of the work, in any unit, that a stretch did, and of the time that it took.
    pub fn took(&mut self, work: u64, time: Duration) {
        self.elapsed += time;
        if time < SHORT {
            self.cycles = self.cycles.saturating_mul(2).min(1 << 32);
        } else if time > LONG {
            self.cycles = (self.cycles / 2).max(64);
        }
        if let Some(trial) = &mut self.trial {
            trial.took(work.max(1) as f64 / time.as_secs_f64().max(1e-9));
            if let Some(pays) = trial.verdict(self.all) {
                self.decide(pays);
            }
        } else if self.until_trial > 0 {
            self.until_trial -= 1;
        } else if self.elapsed >= ALONE {
            self.trial = Some(Trial::default());
        }
    }

    fn decide(&mut self, pays: bool) {
        self.between_trials =
            if pays == self.all { (GROWTH * self.between_trials).min(RAREST) } else { OFTEN };
        (self.all, self.trial, self.until_trial) = (pays, None, self.between_trials);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads of each of `count` stretches of 5 ms when all four threads together do `work` where one does 100.
    fn stretches(count: usize, work: u64) -> Vec<usize> {
        phases(count, |_| 100, |_| work)
    }

    /// The same when a stretch does `one` with one thread, and as much more with all as `gain` says in percent.
    fn phases(count: usize, one: impl Fn(usize) -> u64, gain: impl Fn(usize) -> u64) -> Vec<usize> {
        let mut pace = Pace::new(4);
        let step = |stretch| {
            let threads = pace.threads();
            let work = if threads == 4 { one(stretch) * gain(stretch) / 100 } else { one(stretch) };
            pace.took(work, Duration::from_millis(5));
            threads
        };
        (0..count).map(step).collect()
    }

    fn alone(found: &[usize]) -> usize {
        found.iter().filter(|threads| **threads == 1).count()
    }

    #[test]
    fn a_short_run_has_one_thread() {
        let mut pace = Pace::new(4);
        for _ in 0..10 {
            assert_eq!(pace.threads(), 1);
            pace.took(100, Duration::from_micros(200));
        }
    }

    #[test]
    fn all_threads_are_kept_when_they_pay() {
        let found = stretches(200, 300);
        assert!(alone(&found) <= 18, "{found:?}");
    }

    #[test]
    fn threads_that_gain_next_to_nothing_are_not_taken_up() {
        for work in [97, 103] {
            let found = stretches(200, work);
            assert!(found.len() - alone(&found) <= 15, "{found:?}");
        }
    }

    #[test]
    fn phases_of_a_program_do_not_mislead_a_trial() {
        // The work of a stretch changes by four, every five stretches.
        let found = phases(400, |stretch| if stretch / 5 % 2 == 0 { 100 } else { 400 }, |_| 150);
        assert!(alone(&found) <= 23, "{found:?}");
    }

    #[test]
    fn threads_that_pay_once_are_soon_given_up() {
        // By chance they are fast for some time in the beginning.
        let found = phases(100, |_| 100, |stretch| if stretch > 8 { 60 } else { 200 });
        assert!(100 - alone(&found) < 28, "{found:?}");
    }

    #[test]
    fn threads_that_do_not_pay_are_tried_ever_more_rarely() {
        let found = &stretches(2000, 40)[30..];
        let trials = found.len() - alone(found);
        assert!((9..=40).contains(&trials), "{trials}");
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
