//! `strata repro`: a paper's evaluation, repeated.

use std::path::{Path, PathBuf};

use clap::Args;
use strata_lab::claims;
use strata_lab::page::Address;
use strata_lab::paper::{self, Paper};
use strata_lab::repro::{Part, Selection};
use strata_lab::uncertain::{Asked, Claims, Options};
use strata_workloads::Size;

use crate::files::Files;
use crate::origin::origin;
use crate::output::Output;
use crate::progress::{PREPARING, during};
use crate::sweep::SweepArguments;
use crate::uncertain::{self, UncertainArguments};
use crate::{Finished, print, run_pages};

/// Arguments of `strata repro`.
#[derive(Args)]
pub struct ReproArguments {
    /// Paper to repeat: a built-in name, or a file that describes an evaluation (`*.toml`).
    paper: String,
    /// Only the figures or tables with this number, as in `13`, `7b` or `III`.
    #[arg(long, value_name = "NUMBER")]
    figure: Option<String>,
    /// Only the sensitivity study: the choices that the paper leaves open, each with its other values.
    #[arg(long, conflicts_with = "figure")]
    sensitivity: bool,
    /// Only figures, tables and claims: no choice is varied, and no explanation's experiment is made.
    #[arg(long, conflicts_with_all = ["figure", "sensitivity"])]
    figures: bool,
    /// Size of the workloads: test, small or paper; for some papers also suite, or one of their own: stash, morpheus.
    #[arg(long, default_value = "test")]
    size: String,
    /// Continue an earlier sweep; fails if the store does not exist. With or without this option, jobs in the
    /// store are not run again.
    #[arg(long)]
    resume: bool,
    /// File of the HTML page. Default: the paper's name and the size, as in `fuse-test.html`.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Write a page of each run too, into the folder `runs` beside the page, which links them.
    #[arg(long)]
    run_pages: bool,
    #[command(flatten)]
    uncertain: UncertainArguments,
    /// With `--uncertain`: only these claims. Default: those of the paper's abstract, or if it has none its first five.
    #[arg(long, value_name = "CLAIM,...", value_delimiter = ',', requires = "uncertain")]
    claims: Vec<String>,
    /// With `--uncertain`: write the draws with their numbers, as JSON, to this file.
    #[arg(long, value_name = "FILE.json", requires = "uncertain")]
    draws: Option<PathBuf>,
    #[command(flatten)]
    sweep: SweepArguments,
}

/// Runs the jobs that the store lacks and writes the page.
///
/// # Errors
/// An unknown paper or figure, a wrong description file, or a store or page that cannot be written.
pub fn repro(arguments: &ReproArguments) -> Result<Finished, String> {
    let size: Size = arguments.size.parse().map_err(|error| format!("--size: {error}"))?;
    let paper = Paper::load(&arguments.paper)?;
    if !paper::names().contains(&arguments.paper.as_str()) {
        paper.check_size(size)?;
    }
    if let Some(options) = arguments.uncertain.options()? {
        return uncertain(arguments, &paper, size, options);
    }
    let part = match &arguments.figure {
        Some(number) => Part::Number(number.clone()),
        None if arguments.sensitivity => Part::Sensitivity,
        None if arguments.figures => Part::Figures,
        None => Part::All,
    };
    let out = arguments.out.clone().unwrap_or_else(|| format!("{}-{size}.html", paper.name).into());
    Files::new()
        .reads("the evaluation's file", Path::new(&arguments.paper))
        .writes("--out", Some(&out))
        .check()?;
    let mut page = (!arguments.sweep.only_writes()).then(|| Output::new(&out)).transpose()?;
    let selection = Selection::new(&paper, part)?;
    let folder = &arguments.sweep.store;
    if arguments.resume && !folder.is_dir() {
        return Err(format!("--resume: no store in {}", folder.display()));
    }
    let mut store = arguments.sweep.open()?;
    let mut jobs = during(PREPARING, || selection.jobs(&store, size))?;
    if jobs.is_empty() {
        return Err(format!("{}: found no workload with a size `{size}`", paper.name));
    }
    let mut swept = arguments.sweep.run(&jobs, &mut store)?;
    if arguments.sweep.only_writes() {
        return Ok(Finished::Well);
    }
    if swept.left > 0 {
        return Ok(Finished::Interrupted);
    }
    // What machines are chosen from has run now; what they need comes next.
    let with_chosen = during(PREPARING, || selection.jobs(&store, size))?;
    if with_chosen.len() > jobs.len() {
        jobs = with_chosen;
        swept = arguments.sweep.run(&jobs, &mut store)?;
    }
    if swept.left > 0 {
        return Ok(Finished::Interrupted);
    }
    let finished = jobs.iter().filter(|job| store.find(job).is_some()).count();
    if let Some(page) = &mut page {
        let folder = arguments.run_pages.then(|| run_pages::folder(&out)).transpose()?;
        page.write(&during("writing the page", || {
            if let Some(folder) = &folder {
                run_pages::write(folder, &jobs, &store)?;
            }
            let address = folder.as_ref().map(|_| run_pages::address as Address);
            Ok::<_, String>(selection.parts(&store, size, &origin(), address)?.document())
        })?)?;
    }
    print(&format!("{finished} of {} jobs are in {}\n{}\n", jobs.len(), folder.display(), out.display()))?;
    Ok(if swept.failures.is_empty() { Finished::Well } else { Finished::Wrong })
}

/// Says how much claims of the paper depend on what is assumed.
fn uncertain(
    arguments: &ReproArguments,
    paper: &Paper,
    size: Size,
    options: Options,
) -> Result<Finished, String> {
    if arguments.figure.is_some() || arguments.sensitivity || arguments.figures || arguments.out.is_some() {
        return Err("--uncertain: found it with an option of the page, expected --claims and --draws".into());
    }
    Files::new()
        .reads("the evaluation's file", Path::new(&arguments.paper))
        .writes("--draws", arguments.draws.as_deref())
        .check()?;
    claims::check(paper)?;
    let asked = Claims::new(paper, &arguments.claims).map_err(|error| format!("--claims: {error}"))?;
    let mut store = arguments.sweep.open()?;
    let outputs = uncertain::Outputs { draws: arguments.draws.as_deref(), ..Default::default() };
    let of = (&asked as &dyn Asked, paper.name.clone());
    uncertain::run(of, size, options, (&arguments.sweep, &mut store), outputs)
}
