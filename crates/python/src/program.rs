//! What runs: a workload at a size, a launch file, or a launch file made in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use strata_lab::program::{Identity, Program as Found};
use strata_ptx::front::ast::{DeclType, Function, Item};
use strata_ptx::front::parse_module;
use strata_workloads::launch_file::{self, Package};
use strata_workloads::{HostProgram, Size};

use crate::refused;

/// A program, found again for each run.
#[pyclass(frozen, module = "strata_gpu._native")]
pub struct Program {
    from: From,
    size: Size,
}

enum From {
    /// A workload's name or a launch file's path.
    Name(String),
    /// A launch file with all that it names.
    Memory(Package),
}

impl Program {
    fn find(&self) -> Result<Found, String> {
        match &self.from {
            From::Name(name) => Found::find(name),
            From::Memory(package) => {
                let file = launch_file::read_package(package).map_err(|error| error.to_string())?;
                Ok(Found::LaunchFile(PathBuf::from(&package.path), file))
            }
        }
    }

    /// The program, ready to run, and its hashes.
    ///
    /// # Errors
    /// An unknown workload or size, or what is wrong with the launch file.
    pub fn load(&self) -> Result<Loaded, String> {
        let found = self.find()?;
        let launch_file = found.launch_file().map(Path::to_owned);
        let name = found.name().to_owned();
        // A program that launches nothing has no inputs to hash.
        let identity = found.identity(self.size).unwrap_or_default();
        let size = self.size;
        Ok(Loaded { program: found.at(size)?, name, launch_file, identity, size })
    }
}

/// A program that is ready to run.
pub struct Loaded {
    pub program: Box<dyn HostProgram>,
    pub name: String,
    pub launch_file: Option<PathBuf>,
    pub identity: Identity,
    pub size: Size,
}

#[pymethods]
impl Program {
    /// A workload at a size, or a launch file (`*.toml`).
    #[staticmethod]
    fn named(name: &str, size: &str) -> PyResult<Program> {
        let size = size.parse().map_err(|error| refused(format!("size: {error}")))?;
        let program = Program { from: From::Name(name.to_owned()), size };
        program.find().map_err(refused)?;
        Ok(program)
    }

    /// A launch file's text with the files that it names.
    #[staticmethod]
    fn in_memory(path: String, text: String, files: BTreeMap<String, Vec<u8>>) -> PyResult<Program> {
        let program = Program { from: From::Memory(Package { path, text, files }), size: Size::Test };
        program.find().map_err(refused)?;
        Ok(program)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.find().map_err(refused)?.name().to_owned())
    }

    /// The size of a workload; others have none.
    #[getter]
    fn size(&self) -> PyResult<Option<String>> {
        let found = self.find().map_err(refused)?;
        Ok(found.launch_file().is_none().then(|| self.size.name().to_owned()))
    }

    /// What the lab finds it by; None for one that is only in memory.
    #[getter]
    fn lies_at(&self) -> Option<String> {
        match &self.from {
            From::Name(name) => Some(name.clone()),
            From::Memory(_) => None,
        }
    }
}

/// A kernel's name, its parameters with name and type, and the greatest CTA that it declares.
type Signature = (String, Vec<(String, String)>);

/// The kernels of a PTX text: for each its name, and name and type of its parameters, such as `u64`, or `b8[16]` of an array.
#[pyfunction]
pub fn kernels(name: &str, text: &str) -> PyResult<Vec<Signature>> {
    let module = parse_module(name, text).map_err(refused)?;
    let functions = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.entry && function.body.is_some() => Some(function),
        _ => None,
    });
    let signature = |function: &Function| {
        let parameters = function.params.iter().map(|parameter| {
            let elements: u64 = parameter.dims.iter().map(|length| length.unwrap_or(0)).product();
            let ty = match parameter.ty {
                DeclType::Scalar(ty) if parameter.dims.is_empty() => format!("{ty:?}").to_lowercase(),
                DeclType::Scalar(ty) => format!("{ty:?}[{elements}]").to_lowercase(),
                _ => "reference".to_owned(),
            };
            (module.names.text(parameter.name).to_owned(), ty)
        });
        (module.names.text(function.name).to_owned(), parameters.collect())
    };
    Ok(functions.map(signature).collect())
}
