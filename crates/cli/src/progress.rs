//! The progress bar, drawn on standard error when that is a terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use strata_gpu::Progress;

/// Redraw interval of the bar.
const PERIOD: Duration = Duration::from_millis(100);

/// A bar that counts finished CTAs and shows simulated cycles and their rate.
pub struct Bar {
    bar: ProgressBar,
    started: Instant,
    shown: Instant,
}

impl Bar {
    /// A bar, hidden unless standard error is a terminal.
    pub fn new(name: &str) -> Bar {
        let bar = ProgressBar::new(1);
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{prefix} [{bar:32}] {percent:>3}% {msg}, {eta} left")
            .expect("the template is well formed")
            .progress_chars("=> ");
        bar.set_style(style);
        bar.set_prefix(name.to_owned());
        let now = Instant::now();
        Bar { bar, started: now, shown: now }
    }

    /// Updates the bar to the run's current state.
    pub fn show(&mut self, progress: &Progress) {
        let now = Instant::now();
        if self.bar.is_hidden() || now - self.shown < PERIOD {
            return;
        }
        self.shown = now;
        let rate = progress.cycle as f64 / (now - self.started).as_secs_f64();
        self.bar.set_length(progress.ctas);
        self.bar.set_position(progress.ctas_done);
        self.bar.set_message(format!(
            "launch {} `{}`: {} cycles, {:.0} k/s",
            progress.launch,
            progress.kernel,
            progress.cycle,
            rate / 1e3
        ));
    }

    /// Removes the bar from the terminal.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}
