//! The critical path of launches, as text.

use clap::Args;
use strata_gpu::critical_path::{LeftOut, PathOptions, Paths};
use strata_gpu::results::RunResult;

use crate::table::{Cells, numbers};

/// Lines of PTX that are shown.
const MOST_LINES: usize = 20;

/// Characters of a line of PTX that are shown.
const MOST_TEXT: usize = 44;

/// Launches without a path that are shown.
const MOST_LEFT_OUT: usize = 5;

/// Whether the critical path is asked for, and of what.
#[derive(Args)]
pub struct PathArguments {
    /// Print the critical path of each launch: the chain of what came last, from the launch's end back to its beginning, whose cycles add up to
    /// the launch's; by cause, by level of the machine and by line of PTX. Writes all with `--json`.
    #[arg(long, conflicts_with = "trace")]
    critical_path: bool,
    /// Only that of this launch, counted from 0.
    #[arg(long, value_name = "N", requires = "critical_path")]
    critical_path_launch: Option<u64>,
}

impl PathArguments {
    /// What is asked for, if anything is.
    pub fn options(&self) -> Option<PathOptions> {
        self.critical_path
            .then_some(PathOptions { launch: self.critical_path_launch, ..PathOptions::default() })
    }

    /// Checks that there is a path where one was asked for.
    ///
    /// # Errors
    /// The launch that there is not, or why it has no path.
    pub fn check(&self, result: &RunResult) -> Result<(), String> {
        let Some(paths) = result.critical_paths.as_ref().filter(|paths| paths.launches.is_empty()) else {
            return Ok(());
        };
        let asked = self.critical_path_launch.map_or(String::new(), |launch| format!(" of launch {launch}"));
        Err(match paths.left_out.first() {
            Some(left) => format!("no critical path{asked}: {}", reason(left)),
            None => format!("no critical path{asked}: found {} measured launches", result.launches.len()),
        })
    }
}

/// The paths of a program whose module has this text.
pub fn text(paths: &Paths, ptx: &str) -> String {
    if paths.launches.is_empty() {
        return String::new();
    }
    let all = paths.cycles();
    let count = paths.launches.len();
    let launches = if count == 1 { "launch" } else { "launches" };
    let mut text = format!("\ncritical path of {count} {launches}, {all} cycles\n");
    let row = |name: &str, cycles: u64| vec![name.to_owned(), cycles.to_string(), share(cycles, all)];
    let heads = |name: &str| vec![name.to_owned(), "cycles".to_owned(), "share".to_owned()];
    let causes = paths.by_cause();
    let causes = causes.iter().map(|(cause, cycles)| row(cause.name(), *cycles));
    text += &numbers(&std::iter::once(heads("by cause")).chain(causes).collect::<Vec<_>>(), 1, None);
    let levels = paths.by_level();
    let levels = levels.iter().map(|(level, cycles)| row(level.name(), *cycles));
    text += "\n";
    text += &numbers(&std::iter::once(heads("by level")).chain(levels).collect::<Vec<_>>(), 1, None);
    text += "\n";
    text += &lines(paths, ptx, all);
    for left in paths.left_out.iter().take(MOST_LEFT_OUT) {
        text += &format!("  left out: {}\n", reason(left));
    }
    if let Some(more @ 1..) = paths.left_out.len().checked_sub(MOST_LEFT_OUT) {
        text += &format!("  and {more} more\n");
    }
    text
}

fn lines(paths: &Paths, ptx: &str, all: u64) -> String {
    let texts: Vec<&str> = ptx.lines().collect();
    let found = paths.by_line();
    let heads = ["by line", "", "most of it", "cycles", "share"].map(str::to_owned).to_vec();
    let mut rows: Vec<Cells> = vec![heads];
    for (line, cycles, causes) in found.iter().take(MOST_LINES) {
        let most = causes.first().map_or("", |(cause, _)| cause.name());
        rows.push(vec![
            line.unwrap_or("no instruction").to_owned(),
            line.map_or(String::new(), |line| stands(line, &texts)),
            most.to_owned(),
            cycles.to_string(),
            share(*cycles, all),
        ]);
    }
    let more = match found.len().saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!("  and {more} more lines; --json has them\n"),
    };
    numbers(&rows, 3, None) + &more
}

/// What stands in a line of PTX.
fn stands(line: &str, texts: &[&str]) -> String {
    // What is linked in has a text of its own, which is not at hand.
    let own = line.rsplit_once(':').filter(|(kernel, _)| !kernel.contains(' '));
    let number = own.and_then(|(_, number)| number.parse::<usize>().ok());
    let text = number.and_then(|number| texts.get(number.checked_sub(1)?));
    let words: Vec<&str> = text.map_or(vec![], |text| text.split_whitespace().collect());
    let text = words.join(" ");
    if text.chars().count() <= MOST_TEXT {
        return text;
    }
    text.chars().take(MOST_TEXT - 3).chain("...".chars()).collect()
}

fn reason(left: &LeftOut) -> String {
    format!("launch {} ({}): {}", left.launch, left.kernel, left.reason)
}

fn share(cycles: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * cycles as f64 / all.max(1) as f64)
}
