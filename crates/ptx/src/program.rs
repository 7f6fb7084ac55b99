//! A loaded module: kernels ready to issue, and the variables they share.

use crate::back::Accesses;
use crate::ir::{Assertion, Constant, LaunchBounds, Param, PrintFormat, Source, Variable};
use crate::isa::{Flow, Guard, Instruction, Op, Pc, Space, Special, Src};
use crate::lanes::Row;

/// A kernel, register-allocated and decoded.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Entry name.
    pub name: String,
    /// Instructions; pc 0 is the entry.
    pub code: Vec<Instruction>,
    /// What each constant row holds; [`Kernel::constant_rows`] makes the rows of one launch.
    pub constants: Vec<ConstantRow>,
    /// The registers that each instruction accesses, where the machine has rules of its own for that
    /// ([`AccessRules`](crate::back::AccessRules)); else empty.
    pub accesses: Vec<Accesses>,
    /// Targets of `brx.idx`, entries of functions, places to return to.
    pub branch_tables: Vec<Vec<Pc>>,
    /// For each branch table that a call through an address looks up: the address of each entry, ascending.
    pub addresses: Vec<Vec<u64>>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of the parameter block.
    pub param_bytes: u32,
    /// 32-bit registers a thread for occupancy, those that the assembler reserves included.
    pub registers: u32,
    /// Whether registers of the text that are not live together may share one of these: `false` only if
    /// [`RegisterAllocation::Separate`](crate::back::RegisterAllocation::Separate) is and all fit.
    pub reuses_registers: bool,
    /// Predicate registers a thread.
    pub predicates: u32,
    /// Bytes of static shared memory a CTA.
    pub shared_bytes: u32,
    /// Bytes of local memory a thread, spills included; a multiple of 4.
    pub local_bytes: u32,
    /// Of `local_bytes`, what register spills take.
    pub spill_bytes: u32,
    /// Of `local_bytes`, the stack at their end; 0 when the kernel needs none.
    pub stack_bytes: u32,
    /// Number of named barriers used (highest constant index + 1; 16 when an index is not constant).
    pub barriers: u32,
    /// What the text says about launches.
    pub launch_bounds: LaunchBounds,
    /// Print formats.
    pub formats: Vec<PrintFormat>,
    /// What its assertions say.
    pub assertions: Vec<Assertion>,
    /// The texts that its lines come from, when there are several.
    pub sources: Vec<Source>,
    /// Reads of registers that may have no value.
    pub undefined: Vec<Undefined>,
    /// Whether all CTAs of a launch are to be resident together, as those of a cooperative launch.
    pub cooperative: bool,
}

/// A read of a register that may have no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// The register's name in the text.
    pub register: String,
    /// Line of the read, counted over all texts that the kernel was linked from.
    pub line: u32,
    /// Whether nothing writes the register before a thread comes here for the first time, on whichever path; else that
    /// depends on the path.
    pub always: bool,
}

impl Undefined {
    /// The register and the line of a read that may be why results are wrong, as a sentence.
    pub fn describe(&self, kernel: &Kernel) -> String {
        let Undefined { register, line, always } = self;
        let (text, line) = kernel.source(*line);
        let text = text.map(|text| format!(" of {text}")).unwrap_or_default();
        let (reads, name) = (if *always { "reads" } else { "may read" }, &kernel.name);
        format!(
            "`{name}` {reads} {register} before it is written (line {line}{text}): its value is undefined, which may be why"
        )
    }
}

/// Bytes of stack a thread unless a launch says otherwise: the default of `cudaLimitStackSize` (CUDA Runtime API,
/// "Device Management").
pub const DEFAULT_STACK_BYTES: u32 = 1024;

/// 32 bits of a launch-time constant: the value and which word of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantRow {
    /// The whole value.
    pub value: Constant,
    /// 0: bits 0 to 31, 1: bits 32 to 63.
    pub half: u8,
}

/// A module: every kernel that was asked for, and the variables.
#[derive(Clone, Debug)]
pub struct Module {
    /// Kernels in the order of the text.
    pub kernels: Vec<Kernel>,
    /// `.global` and `.const` variables; [`Constant::Symbol`] indexes them.
    pub variables: Vec<Variable>,
    /// `.target`, for messages.
    pub target: String,
}

impl Kernel {
    /// Whether the instruction is a barrier.
    pub fn is_barrier(&self, pc: Pc) -> bool {
        self.code.get(pc as usize).is_some_and(|instruction| instruction.op.is_barrier())
    }

    /// The kernel with another size of stack (`cudaLimitStackSize`); one without a stack stays as it is.
    #[must_use]
    pub fn with_stack(mut self, bytes: u32) -> Kernel {
        if self.stack_bytes > 0 {
            let bytes = bytes.next_multiple_of(8).max(8);
            self.local_bytes = (self.local_bytes - self.stack_bytes).saturating_add(bytes);
            self.stack_bytes = bytes;
        }
        self
    }

    /// The kernel for a cooperative launch: its CTAs are resident together, and `%envreg1` and `%envreg2` hold the upper and
    /// the lower half of the address of a workspace. There, cooperative groups keep the barrier of the grid, in the second
    /// of its words (`cooperative_groups/details/helpers.h`, `get_grid_workspace`).
    #[must_use]
    pub fn with_grid_workspace(mut self, address: u64) -> Kernel {
        for instruction in &mut self.code {
            match &mut instruction.op {
                Op::ReadSpecial(special @ Special::EnvReg(1)) => {
                    *special = Special::Environment((address >> 32) as u32);
                }
                Op::ReadSpecial(special @ Special::EnvReg(2)) => {
                    *special = Special::Environment(address as u32)
                }
                _ => {}
            }
        }
        self.cooperative = true;
        self
    }

    /// A line as a user knows it: the text, when there are several, and the line there.
    pub fn source(&self, line: u32) -> (Option<String>, u32) {
        match Source::of_line(&self.sources, line) {
            Some((text, line)) => (Some(text.to_string()), line),
            None => (None, line),
        }
    }

    /// Where a lane goes that calls the function at `address` through a table; none when the table lacks it.
    pub fn function_at(&self, table: u32, address: u64) -> Option<Pc> {
        let place = self.addresses.get(table as usize)?.binary_search(&address).ok()?;
        self.branch_tables[table as usize].get(place).copied()
    }

    /// Whether an access of local memory beyond its end is the stack's overflow: the stack is what ends there, and
    /// nothing else reaches it by a register.
    pub fn overflows_stack(&self, instruction: &Instruction) -> bool {
        let local = match instruction.op {
            Op::Load(mode) | Op::Store(mode) => mode.space == Space::Local,
            _ => false,
        };
        self.stack_bytes > 0 && local && matches!(instruction.src[0], Src::Reg(_))
    }

    /// Whether a lane at `from` may come to a barrier. Searches the code: for the rare case that lanes of a
    /// warp are late at one.
    #[cold]
    pub fn reaches_barrier(&self, from: Pc) -> bool {
        let mut seen = vec![false; self.code.len()];
        let mut work = vec![from];
        while let Some(pc) = work.pop() {
            let Some(seen) = seen.get_mut(pc as usize) else { continue };
            if std::mem::replace(seen, true) {
                continue;
            }
            let instruction = &self.code[pc as usize];
            if self.is_barrier(pc) {
                return true;
            }
            let flow = instruction.op.traits().flow;
            if flow.has_target() {
                work.push(instruction.target);
            }
            if let Some(table) = flow.table() {
                work.extend(&self.branch_tables[table as usize]);
            }
            if flow == Flow::Next || instruction.guard != Guard::Always {
                work.push(pc + 1);
            }
        }
        false
    }

    /// The constant rows of a launch: `params` is the parameter block, `addresses[n]` the device address of
    /// variable n.
    ///
    /// # Panics
    /// When `params` is shorter than [`Kernel::param_bytes`] or a variable has no address.
    pub fn constant_rows(&self, params: &[u8], addresses: &[u64]) -> Vec<Row> {
        self.constants
            .iter()
            .map(|row| {
                let shift = 32 * u32::from(row.half);
                Row::splat(match row.value {
                    Constant::Bits(bits) => (bits >> shift) as u32,
                    Constant::Symbol { symbol, addend } => {
                        (addresses[symbol as usize].wrapping_add_signed(addend) >> shift) as u32
                    }
                    Constant::StackBase => (u64::from(self.local_bytes - self.stack_bytes) >> shift) as u32,
                    Constant::Param { offset } => {
                        let at = offset as usize + 4 * row.half as usize;
                        let mut word = [0; 4];
                        let available = params.len().saturating_sub(at).min(4);
                        word[..available].copy_from_slice(&params[at..at + available]);
                        u32::from_le_bytes(word)
                    }
                })
            })
            .collect()
    }
}

impl Module {
    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}
