//! What the Python package `strata_gpu` needs of Strata, in the interpreter's process.
//!
//! Python's side (`python/strata_gpu`) gives it Python's ways: keyword arguments, arrays, exceptions. Here is what it calls. Long
//! work runs on threads of its own without the interpreter's lock (`running.rs`).
//!
//! | file | subject |
//! |---|---|
//! | `machine.rs` | a machine after systems and overrides |
//! | `program.rs` | what runs: a workload, a launch file, or one made in memory |
//! | `run.rs` | one run, and what it measured |
//! | `region.rs` | the part of a run that is measured; checkpoints |
//! | `sweep.rs` | many points, through a result store |
//! | `store.rs` | a result store as tables |
//! | `figure.rs` | a paper's figures |
//! | `table.rs` | columns that other libraries read where they lie |
//! | `catalogue.rs` | what there is to choose from |
//! | `running.rs` | long work beside the interpreter |
//! | `flag.rs` | flags that stop runs |

mod catalogue;
mod figure;
mod flag;
mod machine;
mod program;
mod region;
mod run;
mod running;
mod store;
mod sweep;
mod table;
mod trace;

use pyo3::prelude::*;

pyo3::create_exception!(
    strata_gpu,
    StrataError,
    pyo3::exceptions::PyException,
    "What was asked for is refused or failed; the message says what was found and what was expected."
);

/// A refusal as an exception.
fn refused(reason: impl ToString) -> PyErr {
    StrataError::new_err(reason.to_string())
}

/// The module `strata_gpu._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("StrataError", module.py().get_type::<StrataError>())?;
    module.add("SIMULATOR", strata_lab::SIMULATOR)?;
    module.add_class::<machine::Machine>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<store::Store>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(figure::figure, module)?)?;
    module.add_function(wrap_pyfunction!(program::kernels, module)?)?;
    module.add_function(wrap_pyfunction!(region::checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    #[cfg(debug_assertions)]
    module.add_function(wrap_pyfunction!(running::panic, module)?)?;
    Ok(())
}
