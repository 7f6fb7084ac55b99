//! `strata list`: the built-in workloads, machines, systems and doors.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use strata_gpu::machine::{self, System, system};
use strata_workloads::{Input, Kernel, Measured, Size, Workload};

use crate::{Finished, print};

/// Arguments of `strata list`.
#[derive(Args)]
pub struct ListArguments {
    /// Kind of items to list.
    #[arg(value_enum, default_value_t = What::Workloads)]
    what: What,
    /// Write a JSON array of objects.
    #[arg(long)]
    json: bool,
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
}

/// Prints the requested list as a table or as JSON.
///
/// # Errors
/// Standard output that cannot be written.
pub fn list(arguments: &ListArguments) -> Result<Finished, String> {
    let rows: Vec<Value> = match arguments.what {
        What::Workloads => {
            let row = if arguments.json { workload } else { workload_row };
            strata_workloads::all().iter().map(row).collect()
        }
        What::Machines => machine::builtin()
            .iter()
            .map(|builtin| json!({ "name": builtin.name, "description": builtin.description() }))
            .collect(),
        What::Systems => system::builtin().iter().map(|builtin| about(builtin.name)).collect(),
        What::Doors => machine::doors()
            .iter()
            .map(|door| json!({ "name": door.name, "between": door.between, "choices": door.choices }))
            .collect(),
    };
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&rows).expect("strings serialise")))?;
    } else {
        let columns: &[&str] = match arguments.what {
            What::Workloads => &["name", "suite", "papers", "test", "small", "paper", "stash", "kernels"],
            What::Machines => &["name", "description"],
            What::Systems => &["name", "paper", "description"],
            What::Doors => &["name", "between", "choices"],
        };
        print(&table(columns, &rows))?;
    }
    Ok(Finished::Well)
}

fn about(name: &str) -> Value {
    let about = System::load(name).expect("a system that comes along can be read").about;
    json!({ "name": about.name, "paper": about.paper.unwrap_or_default(), "description": about.description })
}

/// All that is known of a workload before it runs.
fn workload(workload: &Workload) -> Value {
    let kernel = |kernel: &Kernel| json!({ "name": kernel.entry, "original": kernel.original });
    let input = |input: &Input| {
        let measured = workload.measured(input.size);
        json!({
            "size": input.size.name(),
            "input": input.words,
            "footprint_bytes": measured.as_ref().map(|measured| measured.footprint_bytes),
            "launches": measured.as_ref().map(|measured| measured.launches),
            "warp_instructions": measured.as_ref().map(|measured| measured.warp_instructions),
            "thread_instructions": measured.as_ref().map(|measured| measured.thread_instructions),
        })
    };
    json!({
        "name": workload.name,
        "suite": workload.suite,
        "papers": workload.papers,
        "sizes": workload.inputs.iter().map(|input| input.size.name()).collect::<Vec<_>>(),
        "description": workload.description,
        "kernels": workload.kernels.iter().map(kernel).collect::<Vec<_>>(),
        "differences": workload.differences,
        "inputs": workload.inputs.iter().map(input).collect::<Vec<_>>(),
    })
}

/// One table row: for each size, the footprint and the thread-instructions.
fn workload_row(workload: &Workload) -> Value {
    let mut row = json!({
        "name": workload.name,
        "suite": workload.suite,
        "papers": workload.papers,
        "kernels": workload.kernels.iter().map(|kernel| kernel.entry).collect::<Vec<_>>(),
    });
    for size in Size::ALL {
        row[size.name()] = json!(match (workload.input(size), workload.measured(size)) {
            (None, _) => String::new(),
            (Some(_), None) => "not measured".into(),
            (Some(_), Some(Measured { footprint_bytes, thread_instructions, .. })) => {
                format!("{}, {}", scaled(footprint_bytes, "B"), scaled(thread_instructions, "").trim_end())
            }
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

/// Formats a table whose columns are as wide as their widest entry.
fn table(columns: &[&str], rows: &[Value]) -> String {
    let cell = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    };
    let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|key| key.to_uppercase()).collect()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|key| cell(&row[*key])).collect()));
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
