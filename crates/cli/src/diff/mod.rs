//! `strata diff`: what changed between two runs, and why.

mod named;
mod text;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use strata_lab::diff::{Ask, Difference, How, Side, attribute, definitions, first};
use strata_lab::page::{self, Compared};

use self::named::Named;
use crate::files::Files;
use crate::origin::origin;
use crate::output::Output;
use crate::progress::during;
use crate::{Finished, interrupt, print, report, sweep};

/// Arguments of `strata diff`.
#[derive(Args)]
pub struct DiffArguments {
    /// A run: a JSON file of `strata run --json`, the key of a run in a store or its first digits (with `--store`), or a command in
    /// quotes, as in "run atax --set l1d.ways=8", which is run here.
    left: String,
    /// The run to compare it with, named in the same ways.
    right: String,
    /// Folder of a result store. Keys are looked up in it, and commands' runs come from and go to it.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Run both again, side by side, and find the first cycle in which they part, and in what part of the machine.
    #[arg(long)]
    first: bool,
    /// Run machines between the two, and say what of the difference in cycles each value brings that differs. Up to four values:
    /// every subset of them, with interactions; more: orders drawn at random.
    #[arg(long)]
    attribute: bool,
    /// Orders in which values are changed one by one, where more than four differ.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "attribute")]
    chains: usize,
    /// Seed that these orders are drawn from.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "attribute")]
    seed: u64,
    /// Change these values, or all below these keys, together, as in `l1d.sram`. May be repeated.
    #[arg(long, value_name = "KEY,KEY,...", requires = "attribute")]
    together: Vec<String>,
    /// Worker threads that both runs may have together. Does not affect results. Default: all cores.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print every counter and value that differs, not only the first of each level.
    #[arg(long)]
    all: bool,
    /// Write everything as JSON to this file, or to standard output with `-`, in place of the text.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page of the difference to this file, for a browser.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
}

/// Compares two runs and prints in what they differ.
///
/// # Errors
/// A run that cannot be read, found or made.
pub fn diff(arguments: &DiffArguments) -> Result<Finished, String> {
    files(arguments).check()?;
    let store = arguments.store.as_deref();
    let opened = match store {
        Some(folder)
            if folder.is_dir() || named::is_key(&arguments.left) || named::is_key(&arguments.right) =>
        {
            Some(sweep::open(folder, None)?)
        }
        _ => None,
    };
    let names = [&arguments.left, &arguments.right];
    let [left, right] = names.map(|name| Named::find(name, opened.as_ref()));
    let named = [left?, right?];
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let at_once = arguments.threads.unwrap_or_else(cores);
    if at_once == 0 {
        return Err("--threads 0: expected at least 1".into());
    }
    if arguments.chains == 0 {
        return Err("--chains 0: expected at least 1".into());
    }
    let mut output = match arguments.json.as_deref() {
        None => None,
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(Output::new(path)?),
    };
    let mut page = arguments.out.as_deref().map(Output::new).transpose()?;
    let how =
        How { threads: at_once.div_ceil(2), at_once: 2.min(at_once), store, interrupt: interrupt::flag() };
    let sides = during("running both", || sides(&named, how))?;
    let difference = Difference::between(&sides[0], &sides[1], &definitions(&sides));
    let again = || -> Result<_, String> { Ok([named[0].repeat(&sides[0])?, named[1].repeat(&sides[1])?]) };
    let first = match arguments.first {
        false => None,
        true => {
            let [left, right] = again().map_err(|error| format!("--first: {error}"))?;
            Some(during("running both side by side", || first(left, right, how))?)
        }
    };
    let shares = match arguments.attribute {
        false => None,
        true => {
            let [left, right] = again().map_err(|error| format!("--attribute: {error}"))?;
            let how = How { threads: 1, at_once, ..how };
            let (left, right) = ((left, &sides[0]), (right, &sides[1]));
            let shares =
                during("running machines between the two", || attribute(left, right, &ask(arguments), how));
            Some(shares.map_err(|error| format!("--attribute: {error}"))?)
        }
    };
    let json = || {
        let mut value = difference.to_json(&sides[0], &sides[1]);
        value["first"] = first.as_ref().map_or(Value::Null, |first| first.to_json());
        value["attribution"] = shares.as_ref().map_or(Value::Null, |shares| shares.to_json());
        report::text(&value)
    };
    match (&mut output, &arguments.json) {
        (Some(output), _) => output.write(json())?,
        (None, Some(_)) => print(&json())?,
        (None, None) => {
            let mut text = text::difference(&sides, &difference, arguments.all);
            text += &first.as_ref().map_or_else(String::new, |first| text::first(first, arguments.all));
            text += &shares.as_ref().map_or_else(String::new, text::shares);
            print(&text)?;
        }
    }
    if let Some(page) = &mut page {
        let compared = Compared {
            sides: &sides,
            difference: &difference,
            first: first.as_ref(),
            shares: shares.as_ref(),
        };
        page.write(page::difference(&compared, &origin()))?;
    }
    let problems =
        sides.iter().flat_map(|side| side.problems.iter().map(move |problem| (&side.name, problem)));
    let wrong = problems.map(|(name, problem)| eprintln!("wrong: {name}: {problem}")).count();
    Ok(if wrong == 0 { Finished::Well } else { Finished::Wrong })
}

/// What both runs measured: those that are commands are made at once.
fn sides(named: &[Named; 2], how: How<'_>) -> Result<[Side; 2], String> {
    let [left, right] = named;
    if how.at_once < 2 {
        return Ok([left.side(how)?, right.side(how)?]);
    }
    let (left, right) = std::thread::scope(|scope| {
        let left = scope.spawn(|| left.side(how));
        let right = right.side(how);
        (left.join().expect("no run panics"), right)
    });
    Ok([left?, right?])
}

fn ask(arguments: &DiffArguments) -> Ask {
    let list = |keys: &String| keys.split(',').map(|key| key.trim().to_owned()).collect();
    Ask {
        chains: arguments.chains,
        seed: arguments.seed,
        together: arguments.together.iter().map(list).collect(),
    }
}

fn files(arguments: &DiffArguments) -> Files {
    let names = [&arguments.left, &arguments.right];
    let read = names.into_iter().map(Path::new).filter(|path| path.is_file());
    let files = read.fold(Files::new(), |files, path| files.reads("the run", path));
    files.writes("--json", arguments.json.as_deref()).writes("--out", arguments.out.as_deref())
}
