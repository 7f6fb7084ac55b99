//! A PTX text on a device: its variables and its kernels, compiled on first use.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_ptx::back::{self, BackError, Options};
use strata_ptx::front::ast::DEFAULT_HEAP_BYTES;
use strata_ptx::front::{self, Diagnostics, ast};
use strata_ptx::ir::Variable;
use strata_ptx::isa::Pc;
use strata_ptx::program::{Kernel, Undefined};
use strata_workloads::Module;

/// A parsed PTX text. Kernels compile on first use, so an unused kernel may hold unsupported instructions.
pub struct Program {
    text: ast::Module,
    /// Of each text that was linked.
    targets: Vec<String>,
    options: Options,
    kernels: BTreeMap<String, Arc<Kernel>>,
    variables: Vec<Variable>,
}

/// Why a kernel cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The text has no entry of this name.
    #[error("the module has no kernel `{0}`")]
    Unknown(String),
    /// The kernel breaks a rule of PTX or uses an unsupported instruction; each problem has line and column.
    #[error(transparent)]
    Text(Diagnostics),
    /// The kernel does not fit the machine.
    #[error(transparent)]
    Machine(BackError),
}

/// The line of PTX behind an instruction, as results name it: `KERNEL:LINE`, or `KERNEL TEXT:LINE` of what was linked in.
pub fn line_name(kernel: &Kernel, pc: Pc) -> String {
    match kernel.source(kernel.code[pc as usize].line) {
        (Some(text), line) => format!("{} {text}:{line}", kernel.name),
        (None, line) => format!("{}:{line}", kernel.name),
    }
}

impl Program {
    /// Parses and checks a text.
    ///
    /// # Errors
    /// Everything wrong with the text, each problem with line and column.
    pub fn parse(module: Module<'_>, options: Options) -> Result<Program, Diagnostics> {
        Program::link(&[module], DEFAULT_HEAP_BYTES, options)
    }

    /// Parses and links one or more texts. Kernels that call `malloc` get a device heap of `heap_bytes`
    /// bytes.
    ///
    /// # Errors
    /// Everything wrong with a text, each problem with line and column; or texts that cannot be linked.
    pub fn link(modules: &[Module<'_>], heap_bytes: u64, options: Options) -> Result<Program, Diagnostics> {
        let texts = modules.iter().map(|module| front::parse_module(module.name, module.text));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let targets = texts.iter().map(|text| text.target.clone()).collect();
        let mut text = front::link::link(texts)?;
        text.heap_bytes = heap_bytes;
        let lowered = front::lower(&text, Some(&[]))?;
        Ok(Program { text, targets, options, kernels: BTreeMap::new(), variables: lowered.variables })
    }

    /// The compiled kernel of a name.
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

    /// What is dubious about a kernel of the text, a sentence each with its place: registers that it reads and has never
    /// written.
    pub fn warnings(&self, kernel: &Kernel) -> Vec<String> {
        let certain = kernel.undefined.iter().filter(|read| read.always);
        let sentence = |read: &Undefined| {
            let (name, line) = self.text.source(read.line);
            let column = front::place_of_read(&self.text, read.line, &read.register);
            let column = column.map_or(1, |place| place.column);
            format!(
                "{name}:{line}:{column}: kernel `{}` reads `{}` before it is written: its value is undefined",
                kernel.name, read.register
            )
        };
        certain.map(sentence).collect()
    }

    /// Names of the kernels, in the text's order.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.text.items.iter().filter_map(|item| match item {
            ast::Item::Function(function) if function.entry && function.body.is_some() => {
                Some(self.text.names.text(function.name))
            }
            _ => None,
        })
    }

    /// Targets of the linked texts, in their order.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// PTX version and target of the text, as in `8.3` and `sm_80`.
    pub fn version_and_target(&self) -> (&str, &str) {
        (&self.text.version, &self.text.target)
    }

    /// Whether any kernel may call `malloc`; if so, the device heap is among the variables.
    pub fn has_heap(&self) -> bool {
        self.variables.iter().any(|variable| variable.heap)
    }

    /// Size of the device heap in bytes, for kernels that call `malloc`.
    pub fn heap_bytes(&self) -> u64 {
        self.text.heap_bytes
    }

    /// Changes the size of the device heap. Compiled kernels are discarded; variables keep their order.
    ///
    /// # Panics
    /// Never: a text that linked once links with any heap size.
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.text.heap_bytes = bytes;
        let lowered = front::lower(&self.text, Some(&[]));
        self.variables = lowered.expect("what linked links with another heap").variables;
        self.kernels.clear();
    }

    /// The variables of the text.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }
}

/// Leading initial bytes of a variable; the rest are zero. Variable n lies at `addresses[n]`.
///
/// # Panics
/// If an initialiser names a variable without an address.
pub fn initial_bytes(variable: &Variable, addresses: &[u64]) -> Vec<u8> {
    let mut init = variable.init.clone();
    for relocation in &variable.relocations {
        let target = addresses[relocation.symbol as usize].wrapping_add_signed(relocation.addend);
        init[relocation.at as usize..][..8].copy_from_slice(&target.to_le_bytes());
    }
    init
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_workloads::Size;

    #[test]
    fn no_workload_reads_what_it_has_not_written() {
        let mut kernels = 0;
        for workload in strata_workloads::all() {
            let program = workload.program(Size::Test).expect("every workload has it");
            let mut text = Program::parse(program.module(), Options::default()).expect("it is PTX");
            let names: Vec<String> = text.kernel_names().map(str::to_owned).collect();
            for name in names {
                let kernel = text.kernel(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(text.warnings(&kernel), [""; 0]);
                kernels += 1;
            }
        }
        assert!(kernels > 60, "{kernels}");
    }

    #[test]
    fn a_warning_names_text_line_and_column() {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
                    .reg .b64 %a;\n.reg .b32 %r;\nld.param.u64 %a, [out];\n  st.global.u32 [%a], %r;\nret;\n}\n";
        let module = Module { name: "mine.ptx", text };
        let mut program = Program::parse(module, Options::default()).expect("it is PTX");
        let kernel = program.kernel("k").expect("it compiles");
        let warning = "mine.ptx:9:23: kernel `k` reads `%r` before it is written: its value is undefined";
        assert_eq!(program.warnings(&kernel), [warning]);
    }
}
