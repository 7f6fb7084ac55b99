//! A PTX text on a device: its variables placed, its kernels compiled when they are first launched.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_ptx::back::{self, Options};
use strata_ptx::front::{self, ast};
use strata_ptx::ir::Variable;
use strata_ptx::program::Kernel;
use strata_workloads::{DeviceError, Module};

use crate::device::Heap;

/// A parsed text. A kernel that is never launched may hold instructions that are not executed.
pub struct Program {
    text: ast::Module,
    options: Options,
    kernels: BTreeMap<String, Arc<Kernel>>,
    variables: Vec<Variable>,
}

impl Program {
    /// Parses and checks a text.
    ///
    /// # Errors
    /// Everything wrong with the text, each with line and column.
    pub fn parse(module: Module<'_>, options: Options) -> Result<Program, String> {
        let text = front::parse_module(module.name, module.text).map_err(|error| error.to_string())?;
        let lowered = front::lower(&text, Some(&[])).map_err(|error| error.to_string())?;
        Ok(Program { text, options, kernels: BTreeMap::new(), variables: lowered.variables })
    }

    /// The kernel of a name, compiled.
    ///
    /// # Errors
    /// When the text lacks it, or it holds what is not executed: named with line and column.
    pub fn kernel(&mut self, name: &str) -> Result<Arc<Kernel>, DeviceError> {
        if let Some(kernel) = self.kernels.get(name) {
            return Ok(kernel.clone());
        }
        let bad = |reason: String| DeviceError::BadLaunch { kernel: name.to_owned(), reason };
        let mut lowered = front::lower(&self.text, Some(&[name])).map_err(|error| bad(error.to_string()))?;
        let Some(function) = lowered.functions.pop() else {
            return Err(DeviceError::UnknownKernel { kernel: name.to_owned() });
        };
        let kernel = back::compile(&function, &self.options).map_err(|error| bad(error.to_string()))?;
        let kernel = Arc::new(kernel);
        self.kernels.insert(name.to_owned(), kernel.clone());
        Ok(kernel)
    }

    /// The number of a variable in the order of placement.
    ///
    /// # Errors
    /// When the text lacks it.
    pub fn variable(&self, name: &str) -> Result<usize, DeviceError> {
        let found = self.variables.iter().position(|variable| variable.name == name);
        found.ok_or_else(|| DeviceError::UnknownVariable { variable: name.to_owned() })
    }

    /// Allocates the module's variables.
    ///
    /// # Errors
    /// When device memory is too small.
    pub fn place_variables(&self, heap: &mut Heap) -> Result<Vec<PlacedVariable>, DeviceError> {
        let addresses: Vec<u64> = self
            .variables
            .iter()
            .map(|variable| heap.alloc(&variable.name, variable.bytes).map(|ptr| ptr.0))
            .collect::<Result<_, _>>()?;
        let placed = self.variables.iter().zip(&addresses).map(|(variable, address)| {
            let mut init = variable.init.clone();
            for relocation in &variable.relocations {
                let target = addresses[relocation.symbol as usize].wrapping_add_signed(relocation.addend);
                init[relocation.at as usize..][..8].copy_from_slice(&target.to_le_bytes());
            }
            PlacedVariable { address: *address, bytes: variable.bytes, init }
        });
        Ok(placed.collect())
    }
}

/// A variable of a module in device memory.
#[derive(Clone, Debug)]
pub struct PlacedVariable {
    /// Its first address.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// What its first bytes hold at first; the others are zero.
    pub init: Vec<u8>,
}
