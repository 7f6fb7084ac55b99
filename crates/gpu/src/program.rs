//! A PTX text on a device: its variables, and its kernels, compiled when they are first asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_ptx::back::{self, BackError, Options};
use strata_ptx::front::ast::DEFAULT_HEAP_BYTES;
use strata_ptx::front::{self, Diagnostics, ast};
use strata_ptx::ir::Variable;
use strata_ptx::program::Kernel;
use strata_workloads::Module;

/// A parsed text. A kernel that is never asked for may hold instructions that are not executed.
pub struct Program {
    text: ast::Module,
    options: Options,
    kernels: BTreeMap<String, Arc<Kernel>>,
    variables: Vec<Variable>,
}

/// Why there is no kernel of a name.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The text has no such entry.
    #[error("the module has no kernel `{0}`")]
    Unknown(String),
    /// It breaks a rule of PTX, or holds what is not executed: each with line and column.
    #[error(transparent)]
    Text(Diagnostics),
    /// It does not fit the machine.
    #[error(transparent)]
    Machine(BackError),
}

impl Program {
    /// Parses and checks a text.
    ///
    /// # Errors
    /// Everything wrong with the text, each with line and column.
    pub fn parse(module: Module<'_>, options: Options) -> Result<Program, Diagnostics> {
        Program::link(&[module], DEFAULT_HEAP_BYTES, options)
    }

    /// Parses and links texts, of which there is at least one; kernels that call `malloc` have `heap_bytes` bytes.
    ///
    /// # Errors
    /// Everything wrong with a text, each with line and column; what does not go together.
    pub fn link(modules: &[Module<'_>], heap_bytes: u64, options: Options) -> Result<Program, Diagnostics> {
        let texts = modules.iter().map(|module| front::parse_module(module.name, module.text));
        let mut text = front::link::link(texts.collect::<Result<_, _>>()?)?;
        text.heap_bytes = heap_bytes;
        let lowered = front::lower(&text, Some(&[]))?;
        Ok(Program { text, options, kernels: BTreeMap::new(), variables: lowered.variables })
    }

    /// The kernel of a name, compiled.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub fn kernel(&mut self, name: &str) -> Result<Arc<Kernel>, KernelError> {
        if let Some(kernel) = self.kernels.get(name) {
            return Ok(kernel.clone());
        }
        let unknown = || KernelError::Unknown(name.to_owned());
        if !self.kernel_names().any(|known| known == name) {
            return Err(unknown());
        }
        let mut lowered = front::lower(&self.text, Some(&[name])).map_err(KernelError::Text)?;
        let function = lowered.functions.pop().ok_or_else(unknown)?;
        let kernel = back::compile(&function, &self.options).map_err(KernelError::Machine)?;
        let kernel = Arc::new(kernel);
        self.kernels.insert(name.to_owned(), kernel.clone());
        Ok(kernel)
    }

    /// Names of the text's kernels, in its order.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.text.items.iter().filter_map(|item| match item {
            ast::Item::Function(function) if function.entry && function.body.is_some() => {
                Some(self.text.names.text(function.name))
            }
            _ => None,
        })
    }

    /// The PTX version and the target that the text names: `8.3`, `sm_80`.
    pub fn version_and_target(&self) -> (&str, &str) {
        (&self.text.version, &self.text.target)
    }

    /// Whether a kernel of it may call `malloc`, so that the device heap is among its variables.
    pub fn has_heap(&self) -> bool {
        self.variables.iter().any(|variable| variable.heap)
    }

    /// Bytes that kernels have which call `malloc`.
    pub fn heap_bytes(&self) -> u64 {
        self.text.heap_bytes
    }

    /// Gives kernels that call `malloc` so many bytes; those that were compiled are forgotten. Variables keep their order.
    ///
    /// # Panics
    /// Never: what linked links with another heap.
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.text.heap_bytes = bytes;
        let lowered = front::lower(&self.text, Some(&[]));
        self.variables = lowered.expect("what linked links with another heap").variables;
        self.kernels.clear();
    }

    /// The text's variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }
}

/// What a variable's first bytes hold at first, the others being zero, when variable n lies at `addresses[n]`.
///
/// # Panics
/// When a variable that an initialiser names has no address.
pub fn initial_bytes(variable: &Variable, addresses: &[u64]) -> Vec<u8> {
    let mut init = variable.init.clone();
    for relocation in &variable.relocations {
        let target = addresses[relocation.symbol as usize].wrapping_add_signed(relocation.addend);
        init[relocation.at as usize..][..8].copy_from_slice(&target.to_le_bytes());
    }
    init
}
