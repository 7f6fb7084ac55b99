//! `strata list`.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use strata_gpu::{catalogue, machine};
use strata_workloads::Workload;

use crate::{Finished, print};

/// Arguments of `strata list`.
#[derive(Args)]
pub struct ListArguments {
    /// What to list.
    #[arg(value_enum, default_value_t = What::Workloads)]
    what: What,
    /// Write a JSON array of objects.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Workloads,
    Machines,
    Doors,
}

/// Lists.
pub fn list(arguments: &ListArguments) -> Result<Finished, String> {
    let rows = match arguments.what {
        What::Workloads => strata_workloads::all().iter().map(workload).collect::<Vec<_>>(),
        What::Machines => machine::builtin()
            .iter()
            .map(|builtin| json!({ "name": builtin.name, "description": builtin.description() }))
            .collect(),
        What::Doors => catalogue::doors()
            .iter()
            .map(|door| json!({ "name": door.name, "between": door.between, "choices": door.choices }))
            .collect(),
    };
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&rows).expect("strings serialise")))?;
    } else {
        print(&table(&rows))?;
    }
    Ok(Finished::Well)
}

fn workload(workload: &Workload) -> Value {
    json!({
        "name": workload.name,
        "suite": workload.suite,
        "papers": workload.papers,
        "sizes": workload.inputs.iter().map(|input| input.size.name()).collect::<Vec<_>>(),
        "description": workload.description,
    })
}

/// Columns as wide as their widest entry.
fn table(rows: &[Value]) -> String {
    let Some(Value::Object(first)) = rows.first() else { return String::new() };
    let keys: Vec<&String> = first.keys().collect();
    let cell = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    };
    // The description comes last: it is the longest.
    let mut columns: Vec<&String> = keys.iter().copied().filter(|key| key.as_str() == "name").collect();
    columns.extend(keys.iter().filter(|key| !["name", "description"].contains(&key.as_str())));
    columns.extend(keys.iter().filter(|key| key.as_str() == "description"));
    let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|key| key.to_uppercase()).collect()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|key| cell(&row[key.as_str()])).collect()));
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
