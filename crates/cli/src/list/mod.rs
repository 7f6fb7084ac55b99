//! `strata list`: the built-in workloads, machines, systems, doors, policies, metrics and papers, and the runs of a store.

mod runs;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use strata_engine::config::did_you_mean;
use strata_lab::catalogue;
use strata_workloads::{Measured, Size, Workload};

use crate::table::{self, Cells};
use crate::{Finished, print};

/// Arguments of `strata list`.
#[derive(Args)]
pub struct ListArguments {
    /// Kind of items to list.
    #[arg(value_enum, default_value_t = What::Workloads)]
    what: What,
    /// List only items that contain this text in any of their fields.
    pattern: Option<String>,
    /// Write a JSON array of objects.
    #[arg(long)]
    json: bool,
    /// Folder of the result store whose runs to list.
    #[arg(long, value_name = "DIR", default_value = "strata-store")]
    store: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Built-in workloads, with buffer size and thread-instructions at each input size.
    Workloads,
    /// Built-in machines, each with a description.
    Machines,
    /// Built-in systems: the designs that papers compare, to be laid over a machine.
    Systems,
    /// Doors (the interfaces where a design plugs in) and the designs that fit each.
    Doors,
    /// Policies: small parts of a machine that one key chooses by name.
    Policies,
    /// Built-in metrics: expressions over counters, for `strata compare --metric`.
    Metrics,
    /// Papers whose evaluation `strata repro` repeats.
    Papers,
    /// Runs that a result store holds: programs, machines, cycles.
    Runs,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Workloads => "workload",
            What::Machines => "machine",
            What::Systems => "system",
            What::Doors => "door",
            What::Policies => "policy",
            What::Metrics => "metric",
            What::Papers => "paper",
            What::Runs => "run",
        }
    }

    /// The table's columns, which are keys of [`What::rows`].
    fn columns(self) -> &'static [&'static str] {
        match self {
            What::Workloads => &["name", "suite", "test", "small", "paper", "stash", "morpheus", "kernels"],
            What::Machines => &["name", "description"],
            What::Systems => &["name", "paper", "description"],
            What::Doors => &["name", "between", "choices"],
            What::Policies => &["key", "name", "description"],
            What::Metrics => &["name", "title", "unit"],
            What::Papers => &["name", "title"],
            What::Runs => &["name", "size", "program", "machine", "launches", "cycles"],
        }
    }

    /// All items, as objects; runs are those of a store.
    fn rows(self, store: &Path) -> Result<Vec<Value>, String> {
        Ok(match self {
            What::Workloads => catalogue::workloads(),
            What::Machines => catalogue::machines(),
            What::Systems => catalogue::systems(),
            What::Doors => catalogue::doors(),
            What::Policies => catalogue::policies(),
            What::Metrics => catalogue::metrics(),
            What::Papers => catalogue::papers(),
            What::Runs => runs::rows(store)?,
        })
    }
}

/// Prints the requested list as a table or as JSON.
///
/// # Errors
/// A pattern that no item contains, or standard output that cannot be written.
pub fn list(arguments: &ListArguments) -> Result<Finished, String> {
    let what = arguments.what;
    let mut rows = what.rows(&arguments.store)?;
    if let Some(pattern) = &arguments.pattern {
        rows = matching(what, rows, pattern)?;
    }
    let text = if arguments.json {
        format!("{}\n", serde_json::to_string_pretty(&rows).expect("strings serialise"))
    } else {
        table(what, &rows, table::width())
    };
    print(&text)?;
    Ok(Finished::Well)
}

/// The items with the pattern in any field, whatever the capitals.
fn matching(what: What, rows: Vec<Value>, pattern: &str) -> Result<Vec<Value>, String> {
    let wanted = pattern.to_lowercase();
    let has = |row: &Value| {
        let fields = what.columns().iter().chain(&["description"]).map(|key| cell(&row[*key]));
        fields.into_iter().any(|field| field.to_lowercase().contains(&wanted))
    };
    let (found, others): (Vec<Value>, Vec<Value>) = rows.into_iter().partition(has);
    if found.is_empty() {
        let alike = did_you_mean(pattern, others.iter().filter_map(|row| row["name"].as_str()));
        return Err(format!("no {} contains `{pattern}`{alike}", what.name()));
    }
    Ok(found)
}

/// The items as a table. Where the sizes of workloads do not fit, their instructions alone are shown.
fn table(what: What, rows: &[Value], width: usize) -> String {
    let cells = |rows: &[Value], columns: &[&str]| -> Vec<Cells> {
        rows.iter().map(|row| columns.iter().map(|key| cell(&row[*key])).collect()).collect()
    };
    let columns = what.columns();
    if !matches!(what, What::Workloads) {
        return table::text(&table::titles(columns), &cells(rows, columns), width);
    }
    let found: Vec<&Workload> =
        rows.iter().filter_map(|row| strata_workloads::find(row["name"].as_str()?)).collect();
    let (but_kernels, _) = columns.split_at(columns.len() - 1);
    let whole: Vec<Value> = found.iter().map(|workload| whole_row(workload)).collect();
    for columns in [columns, but_kernels] {
        let cells = cells(&whole, columns);
        if table::fits(&table::titles(columns), &cells, width) {
            return table::text(&table::titles(columns), &cells, width);
        }
    }
    let rows: Vec<Value> = found.iter().map(|workload| short_row(workload)).collect();
    table::text(&table::titles(but_kernels), &cells(&rows, but_kernels), width)
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().or(item["name"].as_str()).unwrap_or_default())
            .collect::<Vec<_>>()
            .join(" "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// One table row: for each size, the footprint and the thread-instructions.
fn whole_row(workload: &Workload) -> Value {
    row(workload, |Measured { footprint_bytes, thread_instructions, .. }| {
        format!("{}, {}", scaled(*footprint_bytes, "B"), scaled(*thread_instructions, "").trim_end())
    })
}

/// One table row: for each size, the thread-instructions.
fn short_row(workload: &Workload) -> Value {
    row(workload, |measured| scaled(measured.thread_instructions, "").trim_end().to_owned())
}

fn row(workload: &Workload, of: impl Fn(&Measured) -> String) -> Value {
    let mut row = json!({
        "name": workload.name,
        "suite": workload.suite,
        "kernels": workload.kernels.iter().map(|kernel| kernel.entry).collect::<Vec<_>>(),
    });
    for size in Size::ALL {
        row[size.name()] = json!(match (workload.input(size), workload.measured(size)) {
            (None, _) => String::new(),
            (Some(_), None) => "not measured".into(),
            (Some(_), Some(measured)) => of(&measured),
        });
    }
    row
}

/// A number with three significant digits and a decimal prefix.
fn scaled(count: u64, unit: &str) -> String {
    let (mut value, mut prefix) = (count as f64, "");
    for next in ["k", "M", "G"] {
        if value < 999.5 {
            break;
        }
        (value, prefix) = (value / 1000.0, next);
    }
    let digits = if prefix.is_empty() || value >= 99.95 { 0 } else { 1 };
    format!("{value:.digits$} {prefix}{unit}")
}
