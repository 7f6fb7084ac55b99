//! From PTX text to a module that is ready to launch.

use crate::back::{self, BackError, Options};
use crate::front::{self, Diagnostics};
use crate::program::Module;

/// Why a text could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The text is not PTX, or asks for what is not executed.
    #[error(transparent)]
    Text(#[from] Diagnostics),
    /// A kernel of it does not fit the machine.
    #[error("{name}: {error}")]
    #[allow(missing_docs)]
    Kernel { name: String, error: BackError },
}

/// Parses, checks and compiles the kernels of a text. `name` stands before the places in its errors.
///
/// # Errors
/// Everything found wrong with the text, or the first kernel that cannot be compiled.
pub fn load(name: &str, text: &str, options: &Options) -> Result<Module, LoadError> {
    compile(name, front::lower(&front::parse_module(name, text)?, None)?, options)
}

/// As [`load`], but only for the kernels named; the rest of the text may hold what is not executed.
///
/// # Errors
/// As [`load`], and a kernel that the text lacks.
pub fn load_kernels(
    name: &str,
    text: &str,
    kernels: &[&str],
    options: &Options,
) -> Result<Module, LoadError> {
    compile(name, front::lower(&front::parse_module(name, text)?, Some(kernels))?, options)
}

fn compile(name: &str, module: front::LoweredModule, options: &Options) -> Result<Module, LoadError> {
    let kernels = module.functions.iter().map(|function| back::compile(function, options));
    let kernels: Result<Vec<_>, _> = kernels.collect();
    Ok(Module {
        kernels: kernels.map_err(|error| LoadError::Kernel { name: name.into(), error })?,
        variables: module.variables,
        target: module.target,
    })
}
