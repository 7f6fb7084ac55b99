//! A machine after systems and overrides.

use pyo3::prelude::*;
use serde_json::Value;
use strata_lab::catalogue;

use crate::refused;

/// A machine that programs run on.
#[pyclass(frozen, module = "strata_gpu._native")]
pub struct Machine {
    machine: strata_gpu::machine::Machine,
    sets: Vec<String>,
}

impl Machine {
    /// The machine.
    pub fn get(&self) -> &strata_gpu::machine::Machine {
        &self.machine
    }

    /// The overrides that made it.
    pub fn sets(&self) -> &[String] {
        &self.sets
    }
}

#[pymethods]
impl Machine {
    #[new]
    fn new(name_or_file: &str, systems: Vec<String>, sets: Vec<String>) -> PyResult<Machine> {
        let machine =
            strata_gpu::machine::Machine::load_with(name_or_file, &systems, &sets).map_err(refused)?;
        Ok(Machine { machine, sets })
    }

    /// Name of the machine.
    #[getter]
    fn name(&self) -> &str {
        self.machine.name()
    }

    /// The systems laid over it, `a+b`.
    #[getter]
    fn system(&self) -> Option<String> {
        self.machine.system_name()
    }

    /// Hash of all values.
    #[getter]
    fn hash(&self) -> String {
        self.machine.hash()
    }

    /// All values as a machine file.
    fn toml(&self) -> String {
        toml::to_string(self.machine.table()).expect("a machine is TOML")
    }

    /// Every key with its value, unit, range, meaning and source, as JSON.
    fn keys(&self) -> String {
        let keys = self.machine.keys();
        let rows = keys.iter().map(|key| {
            let mut row = catalogue::key(key);
            row["short"] = key.short_path().into();
            row["range"] = key.facts.range().into();
            row
        });
        Value::Array(rows.collect()).to_string()
    }
}
