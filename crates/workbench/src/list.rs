//! `list`: the built-in workloads, machines, systems, doors, policies and metrics.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use strata_engine::config::did_you_mean;
use strata_measure::catalogue;
use strata_workloads::{Measured, Size, Workload};

use crate::print;
use crate::table::{self, Cells};

/// Arguments of `list`.
#[derive(Args)]
pub struct ListArguments {
    /// Kind of items to list.
    #[arg(value_enum, default_value_t = What::Workloads)]
    what: What,
    #[command(flatten)]
    how: How,
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
    /// Built-in metrics: expressions over counters, for `compare --metric`.
    Metrics,
}

/// Prints the requested list as a table or as JSON.
///
/// # Errors
/// A pattern that no item contains, or standard output that cannot be written.
pub fn list(arguments: &ListArguments) -> Result<(), String> {
    let items = match arguments.what {
        What::Workloads => workloads(),
        What::Machines => machines(),
        What::Systems => systems(),
        What::Doors => doors(),
        What::Policies => policies(),
        What::Metrics => metrics(),
    };
    items.show(&arguments.how)
}

/// Which items of a list are shown, and how.
#[derive(Args)]
pub struct How {
    /// List only items that contain this text in any of their fields.
    pattern: Option<String>,
    /// Write a JSON array of objects.
    #[arg(long)]
    json: bool,
}

/// Items of one kind.
pub struct Items {
    /// What one of them is.
    pub name: &'static str,
    /// The table's columns, which are keys of the rows.
    pub columns: &'static [&'static str],
    /// The items, as objects.
    pub rows: Vec<Value>,
}

/// The name of workloads, whose table has columns of its own.
const WORKLOAD: &str = "workload";

/// The built-in workloads.
#[must_use]
pub fn workloads() -> Items {
    let columns = &["name", "suite", "test", "small", "paper", "suite's own", "stash", "morpheus", "kernels"];
    Items { name: WORKLOAD, columns, rows: catalogue::workloads() }
}

/// The built-in machines.
#[must_use]
pub fn machines() -> Items {
    Items { name: "machine", columns: &["name", "description"], rows: catalogue::machines() }
}

/// The built-in systems.
#[must_use]
pub fn systems() -> Items {
    Items { name: "system", columns: &["name", "paper", "description"], rows: catalogue::systems() }
}

/// The doors, with the designs behind each.
#[must_use]
pub fn doors() -> Items {
    Items { name: "door", columns: &["name", "between", "choices"], rows: catalogue::doors() }
}

/// The policies, with the keys that choose them.
#[must_use]
pub fn policies() -> Items {
    Items { name: "policy", columns: &["key", "name", "description"], rows: catalogue::policies() }
}

/// The built-in metrics.
#[must_use]
pub fn metrics() -> Items {
    Items { name: "metric", columns: &["name", "title", "unit"], rows: catalogue::metrics() }
}

impl Items {
    /// Prints the items as a table or as JSON.
    ///
    /// # Errors
    /// A pattern that no item contains, or standard output that cannot be written.
    pub fn show(mut self, how: &How) -> Result<(), String> {
        if let Some(pattern) = &how.pattern {
            self.rows = self.matching(pattern)?;
        }
        print(&match how.json {
            true => format!("{}\n", serde_json::to_string_pretty(&self.rows).expect("strings serialise")),
            false => self.table(table::width()),
        })
    }

    /// The items with the pattern in any field, whatever the capitals.
    fn matching(&self, pattern: &str) -> Result<Vec<Value>, String> {
        let wanted = pattern.to_lowercase();
        let has = |row: &Value| {
            let fields = self.columns.iter().chain(&["description"]).map(|key| cell(&row[*key]));
            fields.into_iter().any(|field| field.to_lowercase().contains(&wanted))
        };
        let (found, others): (Vec<Value>, Vec<Value>) = self.rows.iter().cloned().partition(has);
        if found.is_empty() {
            let alike = did_you_mean(pattern, others.iter().filter_map(|row| row["name"].as_str()));
            return Err(format!("no {} contains `{pattern}`{alike}", self.name));
        }
        Ok(found)
    }

    /// The items as a table. Where the sizes of workloads do not fit, their instructions alone are shown.
    fn table(&self, width: usize) -> String {
        let cells = |rows: &[Value], columns: &[&str]| -> Vec<Cells> {
            rows.iter().map(|row| columns.iter().map(|key| cell(&row[*key])).collect()).collect()
        };
        let Items { name, columns, rows } = self;
        if *name != WORKLOAD {
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
        row[column(size)] = json!(match (workload.input(size), workload.measured(size)) {
            (None, _) => String::new(),
            (Some(_), None) => "not measured".into(),
            (Some(_), Some(measured)) => of(&measured),
        });
    }
    row
}

/// The table's column of a size: one column says which suite a workload is from.
fn column(size: Size) -> &'static str {
    match size {
        Size::Suite => "suite's own",
        _ => size.name(),
    }
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
