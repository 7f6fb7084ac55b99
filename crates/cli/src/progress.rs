//! Progress on standard error: a bar where that is a terminal, a line now and then elsewhere.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use strata_gpu::Progress;

/// Redraw interval of the bar.
const PERIOD: Duration = Duration::from_millis(100);

/// Interval of lines where standard error is not a terminal.
const LINES: Duration = Duration::from_secs(30);

/// Whether progress is asked for; a choice of the whole process.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Shows no progress from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// What is shown while jobs are made: machines are built, inputs hashed.
pub const PREPARING: &str = "preparing the jobs";

/// How long something may take before a terminal shows that it goes on.
const PATIENCE: Duration = Duration::from_millis(400);

/// Does something that has no measure of its progress, and shows meanwhile what it is: a spinner on a terminal, a line now and
/// then elsewhere.
pub fn during<T>(message: &str, work: impl FnOnce() -> T) -> T {
    if QUIET.load(Ordering::Relaxed) {
        return work();
    }
    let (busy, done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || show_until(&done, message));
        let result = work();
        drop(busy);
        result
    })
}

/// Shows a message until the other end of a channel is gone.
fn show_until(done: &Receiver<()>, message: &str) {
    let goes_on = |time| done.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    if !std::io::stderr().is_terminal() {
        while goes_on(LINES) {
            eprintln!("{message}");
        }
    } else if goes_on(PATIENCE) {
        let spinner = ProgressBar::new_spinner().with_message(message.to_owned());
        spinner.enable_steady_tick(PERIOD);
        // The sender sends nothing: this ends when it goes.
        let _ = done.recv();
        spinner.finish_and_clear();
    }
}

/// How far something is: a bar, lines, or nothing.
pub struct Display {
    name: String,
    bar: ProgressBar,
    /// When the last line was written; `None` where none is.
    said: Option<Instant>,
}

impl Display {
    /// Progress under a name. A bar that `ticks` is redrawn while nothing happens.
    pub fn new(name: &str, ticks: bool) -> Display {
        let quiet = QUIET.load(Ordering::Relaxed);
        let terminal = std::io::stderr().is_terminal();
        let prefix = if name.is_empty() { String::new() } else { format!("{name} ") };
        let bar = bar(&prefix, quiet || !terminal);
        if ticks {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Display { name: prefix, bar, said: (!quiet && !terminal).then(Instant::now) }
    }

    /// Whether nothing is ever shown.
    fn is_silent(&self) -> bool {
        self.bar.is_hidden() && self.said.is_none()
    }

    /// Shows that `done` of `all` is done.
    pub fn show(&mut self, done: u64, all: u64, message: String) {
        let now = Instant::now();
        if self.said.is_some_and(|said| now - said >= LINES) {
            self.said = Some(now);
            eprintln!("{}", line(&self.name, done, all, &message));
        }
        self.bar.set_length(all);
        self.bar.set_position(done);
        self.bar.set_message(message);
    }

    /// Writes a line; the bar is drawn again below it.
    pub fn say(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    /// Removes the bar from the terminal, until something else is shown.
    pub fn clear(&mut self) {
        // A bar that is reset is drawn, a new one is not.
        let fresh = bar(&self.name, self.bar.is_hidden());
        std::mem::replace(&mut self.bar, fresh).finish_and_clear();
    }

    /// Removes the bar from the terminal.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// A bar that nothing is drawn of yet.
fn bar(prefix: &str, is_hidden: bool) -> ProgressBar {
    let bar = ProgressBar::new(1);
    if is_hidden {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style = ProgressStyle::with_template("{prefix}[{bar:32}] {percent:>3}% {msg}{left}")
        .expect("the template is well formed")
        .with_key("left", |state: &ProgressState, text: &mut dyn Write| {
            // A failed write leaves the bar as it is.
            let _ = text.write_str(&left(state.pos(), state.eta()));
        })
        .progress_chars("=> ");
    bar.set_style(style);
    bar.set_prefix(prefix.to_owned());
    bar
}

/// What a bar says of the time that is left: nothing before there is anything to go by.
fn left(done: u64, time: Duration) -> String {
    if done == 0 { String::new() } else { format!(", {:#} left", indicatif::HumanDuration(time)) }
}

/// A line in place of a bar.
fn line(name: &str, done: u64, all: u64, message: &str) -> String {
    let percent = if all == 0 { 0.0 } else { 100.0 * done as f64 / all as f64 };
    format!("{name}{percent:.0} % {message}")
}

/// Counts finished CTAs of a run and shows simulated cycles and their rate.
pub struct Bar {
    display: Display,
    started: Instant,
    shown: Instant,
}

impl Bar {
    /// The progress of a program.
    pub fn new(name: &str) -> Bar {
        let now = Instant::now();
        Bar { display: Display::new(name, false), started: now, shown: now }
    }

    /// Shows the run's current state.
    pub fn show(&mut self, progress: &Progress) {
        let now = Instant::now();
        if self.display.is_silent() || now - self.shown < PERIOD {
            return;
        }
        self.shown = now;
        let rate = progress.cycle as f64 / (now - self.started).as_secs_f64();
        let message = format!(
            "launch {} `{}`: {} cycles, {:.0} k/s",
            progress.launch,
            progress.kernel,
            progress.cycle,
            rate / 1e3
        );
        self.display.show(progress.ctas_done, progress.ctas, message);
    }

    /// Writes a warning; the bar is drawn again below it.
    pub fn warn(&self, warning: &str) {
        self.display.say(&format!("warning: {warning}"));
    }

    /// Removes the bar from the terminal.
    pub fn finish(self) {
        self.display.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_say_before_anything_is_done() {
        assert_eq!(left(0, Duration::ZERO), "");
        assert_eq!(left(1, Duration::from_secs(3)), ", 3s left");
    }

    #[test]
    fn a_line_is_written_once_in_a_while() {
        let mut display =
            Display { name: "gemm ".into(), bar: ProgressBar::hidden(), said: Some(Instant::now()) };
        let first = display.said;
        display.show(1, 4, "m".into());
        assert_eq!(display.said, first, "it is too early");
        display.said = Instant::now().checked_sub(LINES);
        display.show(1, 4, "m".into());
        assert!(display.said > first);
        assert_eq!(line("gemm ", 1, 4, "launch 2"), "gemm 25 % launch 2");
        assert_eq!(line("", 0, 0, "m"), "0 % m");
    }
}
