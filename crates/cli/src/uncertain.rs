//! `--uncertain`: how much numbers depend on what is assumed.

use std::ops::ControlFlow;
use std::path::Path;

use clap::Args;
use strata_lab::job::Job;
use strata_lab::report::number;
use strata_lab::store::Store;
use strata_lab::uncertain::{self, Asked, Drawn, Moved, OTHERS, Options, Study, Sureness, sureness};
use strata_workloads::Size;

use crate::output::Output;
use crate::progress::{PREPARING, during};
use crate::sweep::SweepArguments;
use crate::{Finished, print, table};

/// What is drawn.
#[derive(Args)]
pub struct UncertainArguments {
    /// Draw what the machines assume from its ranges, and say between what the numbers lie and which assumptions move them.
    /// First come trajectories, which find the assumptions that count; then N pairs of points, which say how much each does.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "16")]
    pub uncertain: Option<usize>,
    /// What draws come from: the same seed gives the same draws.
    #[arg(long, value_name = "S", default_value_t = 1, requires = "uncertain")]
    seed: u64,
    /// Trajectories, each of as many draws as there are assumptions and one.
    #[arg(long, value_name = "R", default_value_t = 10, requires = "uncertain")]
    trajectories: usize,
    /// Most assumptions that are looked at one by one with the pairs. All others are drawn together.
    #[arg(long, value_name = "K", default_value_t = 6, requires = "uncertain")]
    most: usize,
}

/// Most pairs and trajectories.
const MOST: usize = 100_000;

impl UncertainArguments {
    /// How much is drawn, if anything is.
    ///
    /// # Errors
    /// Too few or too many.
    pub fn options(&self) -> Result<Option<Options>, String> {
        let Some(rows) = self.uncertain else { return Ok(None) };
        let Self { trajectories, most, seed, .. } = *self;
        for (option, found, least) in
            [("--uncertain", rows, 2), ("--trajectories", trajectories, 1), ("--most", most, 1)]
        {
            if !(least..=MOST).contains(&found) {
                return Err(format!("{option} {found}: expected {least} to {MOST}"));
            }
        }
        Ok(Some(Options { rows, trajectories, most, seed }))
    }
}

/// Where what a study says goes.
#[derive(Clone, Copy, Default)]
pub struct Outputs<'a> {
    /// A line for each number and assumption.
    pub csv: Option<&'a Path>,
    /// The study and its numbers.
    pub json: Option<&'a Path>,
    /// The draws with their numbers.
    pub draws: Option<&'a Path>,
}

/// Runs the jobs of a study that the store lacks, then prints what it says.
///
/// # Errors
/// Nothing that is assumed has a range, a draw that cannot be made, or a store or file that cannot be used.
pub fn run(
    (asked, of): (&dyn Asked, String),
    size: Size,
    options: Options,
    (sweep, store): (&SweepArguments, &mut Store),
    outputs: Outputs<'_>,
) -> Result<Finished, String> {
    let files = [outputs.csv, outputs.json, outputs.draws].map(opened);
    let [csv, json, draws] = files;
    let mut files = [csv?, json?, draws?];
    let study = during(PREPARING, || Study::new(asked, of, size, options))?;
    let (first, second) = study.points();
    eprintln!(
        "{} assumptions: {first} points to find those that count, then at most {second}",
        study.assumptions().all.len()
    );
    let chooses = asked.chooses();
    let first = run_part(&|store| study.jobs(store), chooses, sweep, store)?;
    if let ControlFlow::Break(finished) = first {
        return Ok(finished);
    }
    let screened = during("looking at the first part", || study.screened(store))?;
    let second = run_part(&|store| screened.jobs(store), chooses, sweep, store)?;
    if let ControlFlow::Break(finished) = second {
        return Ok(finished);
    }
    let drawn = during("reading the results", || screened.drawn(store));
    write(&drawn, outputs, &mut files)?;
    let all_ran = [first, second].iter().all(|part| matches!(part, ControlFlow::Continue(true)));
    Ok(if all_ran { Finished::Well } else { Finished::Wrong })
}

/// Runs the jobs of a part that the store lacks; what machines are chosen from first, then what they need. Says whether all of them
/// ran, or with what the command ends before the part has.
fn run_part(
    jobs: &dyn Fn(&Store) -> Result<Vec<Job>, String>,
    chooses: bool,
    sweep: &SweepArguments,
    store: &mut Store,
) -> Result<ControlFlow<Finished, bool>, String> {
    let mut all_ran = true;
    let mut wanted = during(PREPARING, || jobs(store))?;
    loop {
        let missing = wanted.iter().any(|job| !store.has(&job.key()));
        let swept = sweep.run(&wanted, store)?;
        all_ran &= swept.failures.is_empty();
        if swept.left > 0 {
            return Ok(ControlFlow::Break(Finished::Interrupted));
        }
        if sweep.only_writes() && missing {
            return Ok(ControlFlow::Break(Finished::Well));
        }
        if !chooses {
            return Ok(ControlFlow::Continue(all_ran));
        }
        let before = wanted.len();
        wanted = during(PREPARING, || jobs(store))?;
        if wanted.len() == before {
            return Ok(ControlFlow::Continue(all_ran));
        }
    }
}

/// Opens a file, unless it is standard output.
fn opened(path: Option<&Path>) -> Result<Option<Output>, String> {
    path.filter(|path| *path != Path::new("-")).map(Output::new).transpose()
}

/// Writes what a study says to files, and to standard output what is asked for there: tables by default.
fn write(drawn: &Drawn, outputs: Outputs<'_>, files: &mut [Option<Output>; 3]) -> Result<(), String> {
    let texts: [&dyn Fn() -> String; 3] =
        [&|| uncertain::csv(drawn), &|| lines(&uncertain::json(drawn)), &|| {
            serde_json::to_string(drawn).expect("numbers and strings serialise") + "\n"
        }];
    let mut printed = false;
    for ((path, file), text) in [outputs.csv, outputs.json, outputs.draws].into_iter().zip(files).zip(texts) {
        match (path, file) {
            (None, _) => {}
            (Some(_), Some(file)) => file.write(text())?,
            (Some(_), None) => {
                print(&text())?;
                printed = true;
            }
        }
    }
    if printed { Ok(()) } else { print(&tables(drawn, table::width())) }
}

fn lines(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).expect("numbers and strings serialise") + "\n"
}

/// Shows what a store has of a study.
///
/// # Errors
/// As [`run`]; a store without the first part's runs.
pub fn look_up(
    (asked, of): (&dyn Asked, String),
    size: Size,
    options: Options,
    store: &Store,
    outputs: Outputs<'_>,
) -> Result<Finished, String> {
    let name = of.clone();
    let drawn = during("reading the results", || {
        Study::new(asked, of, size, options)?.screened(store).map(|screened| screened.drawn(store))
    });
    let drawn = drawn.map_err(|error| {
        let Options { rows, trajectories, most, seed } = options;
        let size = size.name();
        format!(
            "{error}; `strata repro {name} --uncertain {rows} --trajectories {trajectories} --most {most} --seed {seed} --size {size}` \
             makes these draws"
        )
    })?;
    write(&drawn, outputs, &mut [const { None }; 3])?;
    Ok(Finished::Well)
}

/// Shows what a kept study says.
///
/// # Errors
/// A file that is no study.
pub fn show(draws: &Path, outputs: Outputs<'_>) -> Result<Finished, String> {
    let named = |error: String| format!("{}: {error}", draws.display());
    let text = std::fs::read_to_string(draws).map_err(|error| named(error.to_string()))?;
    let drawn: Drawn = serde_json::from_str(&text).map_err(|error| named(error.to_string()))?;
    drawn.check().map_err(named)?;
    write(&drawn, outputs, &mut [const { None }; 3])?;
    Ok(Finished::Well)
}

/// Most assumptions that a table shows.
const SHOWN: usize = 10;

/// The numbers, then for each of them what moves it.
fn tables(drawn: &Drawn, width: usize) -> String {
    let all = sureness(drawn);
    let mut text = format!(
        "{} at size {}: {} assumptions, {} trajectories, {} rows, seed {}\n",
        drawn.of,
        drawn.size,
        drawn.assumptions.len(),
        drawn.walks.len(),
        drawn.rows.len(),
        drawn.seed
    );
    let head = ["", "published", "modelled", "median", "5 % below", "5 % above", "draws"];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    cells.extend(all.iter().map(|of| {
        let text = |value: Option<f64>| value.map_or("-".to_owned(), |value| of.number.text(value));
        let [low, median, high] = of.spread.map_or([None; 3], |ends| ends.map(Some));
        let published = of.number.published.clone().unwrap_or_else(|| "-".into());
        let id = of.number.id.clone();
        vec![id, published, text(of.modelled), text(median), text(low), text(high), of.draws.to_string()]
    }));
    if all.iter().all(|of| of.number.published.is_none()) {
        cells.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    text += &table::numbers(&cells, 1, Some(width));
    for of in &all {
        text += &moved(of, width);
    }
    let lacking = drawn.lacking();
    if lacking > 0 {
        text += &format!("\nnumbers that are missing: {lacking}\n");
    }
    if !drawn.refused.is_empty() {
        text += &format!("\ndraws that no machine takes, made again: {}\n", drawn.refused.len());
        for refused in drawn.refused.iter().take(3) {
            text += &table::paragraph(&format!("  {}:", refused.draw), &refused.reason, width);
        }
    }
    text
}

/// What moves a number, most of all first.
fn moved(of: &Sureness<'_>, width: usize) -> String {
    let moves =
        |of: &&Moved<'_>| of.effect.size > 0.0 || of.index.is_some_and(|index| index.total.value > 0.0);
    let moving: Vec<&Moved<'_>> = of.moved.iter().filter(moves).collect();
    let title = format!("\n{}: what moves it\n", of.number.id);
    if moving.is_empty() {
        return title + "  nothing that was drawn\n";
    }
    let head = ["assumption", "mu*", "sigma", "first order", "total", "90 %", "values"];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    let index = |index: Option<uncertain::Index>| match index {
        None => [const { String::new() }; 3],
        Some(index) => [
            share(index.first.value),
            share(index.total.value),
            format!("{} to {}", share(index.total.low), share(index.total.high)),
        ],
    };
    for Moved { assumption, effect, index: of_index } in moving.iter().take(SHOWN) {
        let effect = [number(effect.size), number(effect.deviation)];
        let names = std::iter::once(assumption.name.clone()).chain(effect);
        cells.push(names.chain(index(*of_index)).chain([assumption.values.clone()]).collect());
    }
    if of.others.is_some() {
        let names = [OTHERS, "", ""].map(str::to_owned);
        cells.push(names.into_iter().chain(index(of.others)).collect());
    }
    // Values are the longest, and `machine keys` has them too.
    let mut table = table::numbers(&cells, 1, None);
    if !table::is_within(&table, width) {
        cells.iter_mut().for_each(|row| row.truncate(head.len() - 1));
        table = table::numbers(&cells, 1, None);
    }
    let more = moving.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!("  {more} more move it less\n") } else { String::new() };
    title + &table + &rest
}

/// A part of a whole.
fn share(part: f64) -> String {
    format!("{part:.2}")
}
