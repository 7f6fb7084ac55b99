//! How many threads pay, tried out while running. Results do not depend on it.

use std::time::Duration;

/// A run that ends sooner gains nothing from further threads.
const ALONE: Duration = Duration::from_millis(3);
/// What a stretch of a trial should take: long beside the starting of threads.
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(4);
/// How many of them a stretch between trials is as long as.
const STEADY: u32 = 8;
/// Cycles of the first stretch: on a large machine, each may take some tens of microseconds.
const FIRST: u64 = 64;
/// Pairs of stretches in a trial, one with one thread and one with all. A program's work changes from stretch to stretch,
/// so only neighbours can be compared, and one pair says little.
const PAIRS: usize = 5;
/// Stretches from one trial to the next, which grow whenever a trial changes nothing.
const OFTEN: u32 = 8;
const GROWTH: u32 = 4;
const RAREST: u32 = 256;
/// What all threads must gain over one to be taken up again, and to be kept.
const GAIN: f64 = 1.05;
const KEEP: f64 = 1.0;
/// What tells at once that they still do not pay, and in two pairs that they no longer do; and what, in two pairs, that they
/// still do.
const LOSS: f64 = 0.8;
const PLENTY: f64 = 1.3;

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

/// Decides, stretch by stretch, whether a simulation goes on with one thread or with all. After its first milliseconds it has
/// all, until a trial shows that they do not pay.
#[derive(Debug)]
pub struct Pace {
    threads: usize,
    all: bool,
    trial: Option<Trial>,
    elapsed: Duration,
    /// Length of a stretch of a trial, in cycles.
    cycles: u64,
    /// On the stretch so far.
    spent: Spent,
    until_trial: u32,
    between_trials: u32,
}

/// What a stretch has had: in one run, or in several short ones.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    cycles: u64,
    work: u64,
    time: Duration,
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
    /// Whether the next stretch has all threads, and what it is for. Of a pair, the first has what the stretch before has;
    /// then comes one that is not rated, which finds the state of the islands in other cores' caches.
    fn next(&self) -> (bool, Rated) {
        let Some(step) = self.stretches.checked_sub(1) else { return (false, Rated::Not) };
        let begins_with_all = step / 3 % 2 == 1;
        match step % 3 {
            0 => (begins_with_all, Rated::First),
            1 => (!begins_with_all, Rated::Not),
            _ => (!begins_with_all, Rated::Second),
        }
    }

    fn took(&mut self, rate: f64) {
        match self.next() {
            (_, Rated::Not) => {}
            (_, Rated::First) => self.rate = rate,
            (true, Rated::Second) => self.gains.push(rate / self.rate),
            (false, Rated::Second) => self.gains.push(self.rate / rate),
        }
        self.stretches += 1;
    }

    /// Whether all threads pay, where they do already or not, once it is known.
    fn verdict(&self, already: bool) -> Option<bool> {
        let (sure, gains) = (if already { 2 } else { 1 }, &self.gains);
        if gains.len() == sure && gains.iter().all(|gain| *gain < LOSS) {
            return Some(false);
        }
        if already && gains.len() == sure && gains.iter().all(|gain| *gain > PLENTY) {
            return Some(true);
        }
        (self.gains.len() == PAIRS).then(|| {
            let mut gains = self.gains.clone();
            gains.sort_by(f64::total_cmp);
            gains[PAIRS / 2] > if already { KEEP } else { GAIN }
        })
    }
}

impl Pace {
    /// For up to `threads` threads.
    pub fn new(threads: usize) -> Self {
        Pace {
            threads,
            all: true,
            trial: None,
            elapsed: Duration::ZERO,
            cycles: FIRST,
            spent: Spent::default(),
            until_trial: 0,
            between_trials: OFTEN,
        }
    }

    /// Number of threads for the next stretch.
    pub fn threads(&self) -> usize {
        let all = self.trial.as_ref().map_or(self.all && self.elapsed >= ALONE, |trial| trial.next().0);
        if all { self.threads } else { 1 }
    }

    /// Cycles that are left of the stretch.
    pub fn cycles(&self) -> u64 {
        (self.cycles * u64::from(self.length())).saturating_sub(self.spent.cycles).max(1)
    }

    /// Length of the stretch, in stretches of a trial.
    fn length(&self) -> u32 {
        if self.trial.is_none() && self.until_trial > 0 { STEADY } else { 1 }
    }

    /// Takes note of the cycles that were simulated, of the work, in any unit, and of the time that it took. A run may end
    /// before the stretch does.
    pub fn took(&mut self, cycles: u64, work: u64, time: Duration) {
        self.elapsed += time;
        let is_over = cycles >= self.cycles();
        let Spent { cycles: before, work: worked, time: waited } = self.spent;
        self.spent = Spent { cycles: before + cycles, work: worked.wrapping_add(work), time: waited + time };
        if is_over {
            self.end_stretch();
        }
    }

    fn end_stretch(&mut self) {
        let Spent { work, time, .. } = std::mem::take(&mut self.spent);
        let each = time / self.length();
        if each < SHORT {
            self.cycles = self.cycles.saturating_mul(2).min(1 << 32);
        } else if each > LONG {
            self.cycles = (self.cycles / 2).max(FIRST);
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

    /// Stretches: their threads, and their time.
    type Stretches = Vec<(usize, Duration)>;

    /// `milliseconds` of a run of which one thread does 100 cycles a millisecond. By the millisecond, so much work is in a
    /// cycle, and all four threads together do so many percent of what one does.
    fn phases(milliseconds: u64, work: impl Fn(u64) -> u64, gain: impl Fn(u64) -> u64) -> Stretches {
        runs(milliseconds, u64::MAX, work, gain)
    }

    /// The same in runs that end after `most` cycles.
    fn runs(milliseconds: u64, most: u64, work: impl Fn(u64) -> u64, gain: impl Fn(u64) -> u64) -> Stretches {
        let mut pace = Pace::new(4);
        let (mut found, mut now) = (Vec::new(), Duration::ZERO);
        while now < Duration::from_millis(milliseconds) {
            let at = now.as_millis() as u64;
            let (threads, cycles) = (pace.threads(), pace.cycles().min(most));
            let percent = if threads == 4 { gain(at) } else { 100 };
            let time = Duration::from_micros(cycles * 10 * 100 / percent);
            pace.took(cycles, cycles * work(at), time);
            found.push((threads, time));
            now += time;
        }
        found
    }

    fn steady(milliseconds: u64, gain: u64) -> Stretches {
        phases(milliseconds, |_| 10, |_| gain)
    }

    /// Milliseconds with one thread.
    fn alone(found: &[(usize, Duration)]) -> u64 {
        found.iter().filter(|(threads, _)| *threads == 1).map(|(_, time)| time).sum::<Duration>().as_millis()
            as u64
    }

    fn with_all(found: &[(usize, Duration)]) -> u64 {
        found.iter().map(|(_, time)| time).sum::<Duration>().as_millis() as u64 - alone(found)
    }

    #[test]
    fn a_short_run_has_one_thread() {
        let mut pace = Pace::new(4);
        for _ in 0..10 {
            assert_eq!(pace.threads(), 1);
            pace.took(100, 100, Duration::from_micros(200));
        }
    }

    #[test]
    fn all_threads_are_kept_when_they_pay() {
        let found = steady(1000, 300);
        assert!(alone(&found) <= 35, "{found:?}");
    }

    #[test]
    fn threads_that_double_the_speed_survive_irregular_work() {
        // Some hash of the millisecond.
        let work = |at: u64| 10 + 30 * (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62);
        let found = phases(2000, work, |_| 200);
        assert!(alone(&found) < 200, "{found:?}");
    }

    #[test]
    fn short_runs_make_a_stretch_together() {
        let found = runs(1000, 7, |_| 10, |_| 300);
        assert!(alone(&found) <= 60, "{found:?}");
        // Then a long run begins, whose first stretch is no longer for them.
        let mut pace = Pace::new(4);
        for _ in 0..10_000 {
            pace.took(7, 7, Duration::from_micros(70));
        }
        assert!(pace.cycles() <= 400 * u64::from(STEADY), "{pace:?}");
    }

    #[test]
    fn threads_that_lose_are_given_up() {
        for (gain, most) in [(50, 20), (97, 60)] {
            let found = steady(1000, gain);
            assert!(with_all(&found) <= most, "{gain}: {} {found:?}", with_all(&found));
        }
    }

    #[test]
    fn phases_of_a_program_do_not_mislead_a_trial() {
        let found = phases(2000, |at| if at / 25 % 2 == 0 { 10 } else { 40 }, |_| 150);
        assert!(alone(&found) <= 115, "{found:?}");
    }

    #[test]
    fn threads_that_pay_once_are_soon_given_up() {
        // By chance they are fast for some time in the beginning.
        let found = phases(2000, |_| 10, |at| if at > 20 { 60 } else { 200 });
        assert!(with_all(&found) < 600, "{found:?}");
    }

    #[test]
    fn threads_that_do_not_pay_are_tried_ever_more_rarely() {
        let found = steady(10_000, 40);
        let trials = found.iter().filter(|(threads, _)| *threads == 4).count();
        assert!((9..=40).contains(&trials), "{trials}");
        assert!(with_all(&found) < 150, "{found:?}");
    }

    #[test]
    fn stretches_come_to_last_some_milliseconds() {
        let found = steady(1000, 300);
        let (_, times) = found.split_at(12);
        let (least, most) =
            (times.iter().map(|(_, time)| *time).min(), times.iter().map(|(_, time)| *time).max());
        assert!(least.is_some_and(|time| time * 3 >= SHORT), "{found:?}");
        assert!(most.is_some_and(|time| time <= LONG * STEADY), "{found:?}");
    }
}
