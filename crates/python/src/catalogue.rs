//! What there is to choose from.

use pyo3::prelude::*;
use serde_json::Value;
use strata_lab::catalogue as lab;

use crate::refused;

/// The items of a kind, as JSON.
#[pyfunction]
pub fn catalogue(kind: &str) -> PyResult<String> {
    let items = match kind {
        "workloads" => lab::workloads(),
        "machines" => lab::machines(),
        "systems" => lab::systems(),
        "doors" => lab::doors(),
        "policies" => lab::policies(),
        "metrics" => lab::metrics(),
        "papers" => lab::papers(),
        _ => {
            return Err(refused(format!(
                "found `{kind}`, expected workloads, machines, systems, doors, policies, metrics or papers"
            )));
        }
    };
    Ok(Value::Array(items).to_string())
}
