//! `strata validate`: microbenchmarks on a machine, beside what GPUs were measured to do.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use strata_gpu::machine::Machine;
use strata_lab::validate::{
    self, Apart, Beside, Hardware, Line, Validation, benchmarks, families, measure, own_card, validation,
};
use strata_workloads::micro::{self, Benchmark, Scale, Target};

use crate::files::Files;
use crate::origin::origin;
use crate::output::Output;
use crate::progress::Display;
use crate::{Finished, interrupt, print, report, table};

/// Arguments of `strata validate`.
#[derive(Args)]
pub struct ValidateArguments {
    /// Machine to measure: a built-in name (see `strata list machines`) or a machine file.
    machine: String,
    /// System to lay over the machine. Repeat the option, or write `a+b`, to lay over several.
    #[arg(long = "system", value_name = "SYSTEM")]
    systems: Vec<String>,
    /// Override a value of the machine, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    sets: Vec<String>,
    /// Measure only these families of microbenchmarks, separated by commas.
    #[arg(long = "family", value_delimiter = ',', value_name = "FAMILY")]
    families: Vec<String>,
    /// Show the figures of this card, too: h200, h100, a100, v100, rtx3080 or gtx480. May be repeated. Those of the card that the machine
    /// models are always shown, if there are any.
    #[arg(long = "machine-data", value_name = "CARD")]
    cards: Vec<String>,
    /// Run so many microbenchmarks at once. By default, as many as there are cores.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print everything as JSON in place of the tables.
    #[arg(long)]
    json: bool,
    /// Write an HTML page with curves and tables to this file.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Write the microbenchmarks for a GPU into this folder, as launch files that `probe/micro.py` measures, and run nothing.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "out", "cards"])]
    export: Option<PathBuf>,
    /// SMs of the GPU that the exported files are for. By default, the machine's.
    #[arg(long, value_name = "N", requires = "export")]
    sms: Option<u32>,
    /// Its compute capability times ten, as 90.
    #[arg(long, value_name = "CC", requires = "export", default_value_t = 90)]
    capability: u32,
}

/// Measures the machine and prints its figures, or exports the microbenchmarks.
///
/// # Errors
/// A machine, a family or a card that there is not, or a file that cannot be written.
pub fn validate(arguments: &ValidateArguments) -> Result<Finished, String> {
    let machine = Machine::load_with(&arguments.machine, &arguments.systems, &arguments.sets)
        .map_err(|error| error.to_string())?;
    let known = families();
    if let Some(unknown) = arguments.families.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("--family {unknown}: expected one of {}", known.join(", ")));
    }
    let is_asked = |benchmark: &Benchmark| {
        arguments.families.is_empty() || arguments.families.iter().any(|name| name == benchmark.family)
    };
    if let Some(folder) = &arguments.export {
        return export(folder, arguments, &machine, is_asked);
    }
    let cards = cards(arguments, &machine)?;
    Files::new().reads_machine(&machine).writes("--out", arguments.out.as_deref()).check()?;
    let mut out = arguments.out.as_deref().map(Output::new).transpose()?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = arguments.threads.unwrap_or(cores);
    if threads == 0 {
        return Err("--threads 0: expected at least 1".into());
    }
    let benchmarks: Vec<Benchmark> = benchmarks(&machine).into_iter().filter(is_asked).collect();
    let display = Mutex::new(Display::new(machine.name(), true));
    let done = |ended: usize, benchmark: &Benchmark| {
        let message = format!("{} {}", benchmark.family, benchmark.name);
        let mut display = display.lock().expect("no thread panics with it");
        display.show(ended as u64, benchmarks.len() as u64, message);
    };
    let measured = measure(&machine, &benchmarks, threads, Some(interrupt::flag()), &done);
    display.into_inner().expect("no thread panicked with it").finish();
    let Ok(measured) = measured else { return Ok(Finished::Interrupted) };
    let validation = validation(&machine, measured, cards);
    if let Some(out) = &mut out {
        out.write(validation.page(&origin()))?;
    }
    if arguments.json {
        print(&report::text(&validation.to_json()))?;
    } else {
        print(&text(&validation))?;
    }
    Ok(Finished::Well)
}

/// Writes the whole set for a GPU.
fn export(
    folder: &Path,
    arguments: &ValidateArguments,
    machine: &Machine,
    is_asked: impl Fn(&Benchmark) -> bool,
) -> Result<Finished, String> {
    let own = u32::try_from(machine.file().gpu.compute_sms().len()).expect("few SMs");
    let sms = arguments.sms.unwrap_or(own);
    if !(1..=1024).contains(&sms) {
        return Err(format!("--sms {sms}: expected 1 to 1024"));
    }
    let target = Target { sms, capability: arguments.capability, l2_bytes: machine.llc_bytes() };
    let all: Vec<Benchmark> = micro::all(Scale::Full, target).into_iter().filter(is_asked).collect();
    micro::export(&all, folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let figures: usize = all.iter().map(|benchmark| benchmark.figures.len()).sum();
    print(&format!(
        "{}: {} launch files for {sms} SMs, {figures} figures; `probe/micro.py {}` measures them on a GPU\n",
        folder.display(),
        all.len(),
        folder.display()
    ))?;
    Ok(Finished::Well)
}

/// The card that the machine models, then those that are asked for.
fn cards(arguments: &ValidateArguments, machine: &Machine) -> Result<Vec<Hardware>, String> {
    let mut cards: Vec<Hardware> =
        own_card(machine.name()).map(Hardware::of).into_iter().collect::<Result<_, _>>()?;
    for name in &arguments.cards {
        if cards.iter().all(|known| known.card.name != name) {
            cards.push(validate::Hardware::named(name).map_err(|error| format!("--machine-data: {error}"))?);
        }
    }
    Ok(cards)
}

/// The tables: figures by family, then how far each kind is off.
fn text(validation: &Validation) -> String {
    let mut text = String::new();
    let mut family = "";
    let mut lines: Vec<table::Cells> = Vec::new();
    let titles = titles(validation);
    let mut end = |lines: &mut Vec<table::Cells>| {
        if !lines.is_empty() {
            lines.insert(0, titles.clone());
            text += &table::numbers(lines, 2, None);
            text.push('\n');
            lines.clear();
        }
    };
    for line in validation.shown() {
        if line.measured.family != family {
            end(&mut lines);
            family = line.measured.family;
        }
        lines.push(cells(line));
    }
    end(&mut lines);
    for (place, hardware) in validation.cards.iter().enumerate() {
        let apart = validation.apart(place);
        text += &format!("{}: {}\n", hardware.card.name, hardware.card.about);
        if apart.is_empty() {
            text += "  no figure has a counterpart\n";
            continue;
        }
        let lines: Vec<table::Cells> = apart
            .iter()
            .map(|Apart { of, count, mean }| {
                vec![of.clone(), format!("{:.1} %", 100.0 * mean), format!("of {count}")]
            })
            .collect();
        text += &table::numbers(&lines, 1, None);
        for source in sources(validation, place) {
            text += &format!("  source: {source}\n");
        }
    }
    if validation.cards.is_empty() {
        text += "No figures of hardware are known for this machine; --machine-data shows those of a card.\n";
    }
    text
}

fn titles(validation: &Validation) -> table::Cells {
    let mut titles = vec!["figure".to_owned(), "unit".to_owned(), validation.machine.clone()];
    for hardware in &validation.cards {
        titles.extend([hardware.card.name.to_owned(), "error".to_owned()]);
    }
    titles
}

fn cells(line: &Line) -> table::Cells {
    let figure = &line.measured.figure;
    let value = line.measured.value.as_ref().map_or("-".to_owned(), |value| number(*value));
    let mut cells = vec![format!("{}: {}", line.measured.family, figure.case), figure.unit.to_owned(), value];
    for beside in &line.beside {
        let Some(Beside { fact, error }) = beside else {
            cells.extend([String::new(), String::new()]);
            continue;
        };
        let said = if fact.low == fact.high {
            number(fact.low)
        } else {
            format!("{} to {}", number(fact.low), number(fact.high))
        };
        cells.extend([said, error.map_or(String::new(), |error| format!("{:+.1} %", 100.0 * error))]);
    }
    cells
}

fn number(value: f64) -> String {
    strata_lab::report::number(value)
}

/// Where the figures that were shown come from, each once.
fn sources(validation: &Validation, card: usize) -> Vec<&str> {
    let mut sources: Vec<&str> = Vec::new();
    for line in validation.shown() {
        if let Some(Some(Beside { fact, .. })) = line.beside.get(card)
            && !sources.contains(&fact.source.as_str())
        {
            sources.push(&fact.source);
        }
    }
    sources
}
