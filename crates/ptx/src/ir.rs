//! The middle form: one instruction an entry, virtual registers, labels resolved to instruction indices.
//!
//! The front end lowers checked text to this. Most calls are expanded in place; functions that recurse or are
//! called through their address follow the kernel's code and keep a calling convention (`front/lower/call.rs`). The
//! back end finds control flow, allocates physical registers and decodes to [`crate::isa::Instruction`].

use crate::isa::{Op, Ty};

/// A virtual register of a [`Function`]; its type is `function.registers[n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct VReg(pub u32);

/// A source operand before allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VSrc {
    /// Absent.
    None,
    /// A virtual register; for predicates possibly negated.
    Reg(VReg, bool),
    /// A value known at load time.
    Const(Constant),
    /// A predicate constant.
    PredConst(bool),
}

/// A value that is the same in every lane and fixed when the kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// Bits of an immediate, zero-extended to 64.
    Bits(u64),
    /// Generic (= device) address of a module variable plus an offset.
    Symbol { symbol: u32, addend: i64 },
    /// The kernel parameter bytes at an offset, as wide as the operand.
    Param { offset: u32 },
    /// Offset in local memory at which a thread's stack begins; known when all else has its place.
    StackBase,
}

/// A destination before allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VDst {
    /// Absent, or the bit bucket `_`.
    None,
    /// A virtual register.
    Reg(VReg),
}

/// One instruction before allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct VInst {
    /// What it does.
    pub op: Op,
    /// Predicate and whether it is negated (`@!p`).
    pub guard: Option<(VReg, bool)>,
    /// Destinations in the order of [`Op`].
    pub dst: Vec<VDst>,
    /// Sources in the order of [`Op`].
    pub src: Vec<VSrc>,
    /// Byte offset of a memory operand.
    pub offset: i64,
    /// A floating-point sum or product of which the text names no rounding, so that it may be joined with another
    /// and be rounded once (PTX ISA, "Floating Point Instructions: add").
    pub contracts: bool,
    /// Branch target: index into [`Function::code`]; `code.len()` means the end.
    pub target: u32,
    /// Line in the PTX text, from 1.
    pub line: u32,
}

impl VInst {
    /// Whether what it writes keeps part of what was there: lanes that the guard leaves out, or an array's other registers.
    pub fn merges(&self) -> bool {
        self.guard.is_some() || matches!(self.op, Op::MovToArray { .. })
    }
}

/// One of the texts that a module was linked from: its lines follow those of the texts before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the text.
    pub name: String,
    /// Lines before its first.
    pub before: u32,
}

impl Source {
    /// The text of a line of the module, and its line there; nothing in a module of one text.
    pub fn of_line(sources: &[Source], line: u32) -> Option<(&str, u32)> {
        let source = sources.iter().rev().find(|source| source.before < line).or(sources.first())?;
        Some((&source.name, line - source.before.min(line)))
    }
}

/// A kernel, with the functions behind its code that it calls and does not contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name of the entry.
    pub name: String,
    /// Instructions.
    pub code: Vec<VInst>,
    /// Types of the virtual registers.
    pub registers: Vec<Ty>,
    /// Names of the registers that the text declares, ascending; the others are the front end's own.
    pub names: Vec<(VReg, String)>,
    /// Targets of `brx.idx`, entries of functions and places to return to: lists of instruction indices.
    pub branch_tables: Vec<Vec<u32>>,
    /// For each branch table that a call through an address looks up: the address of each entry, ascending. Empty
    /// for the others; missing at the end.
    pub addresses: Vec<Vec<u64>>,
    /// Its stack, when it calls functions that recurse or allocates at run time.
    pub stack: Option<Stack>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Bytes of statically allocated shared memory; dynamic shared memory begins here, 16-byte aligned.
    pub shared_bytes: u32,
    /// Bytes of local memory a thread that the text declares (spills come on top).
    pub local_bytes: u32,
    /// `.maxntid`, `.reqntid`.
    pub launch_bounds: LaunchBounds,
    /// Formats of its prints.
    pub formats: Vec<PrintFormat>,
    /// What its assertions say.
    pub assertions: Vec<Assertion>,
    /// Lines of `.pragma "nounroll"`: the loops that they stand in keep their form.
    pub rolled: Vec<u32>,
    /// The texts that its lines come from, when there are several.
    pub sources: Vec<Source>,
}

/// The stack of a thread: grows upwards behind all other local memory.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Stack {
    /// Holds the offset of its first free byte in local memory, a multiple of 8.
    pub pointer: VReg,
    /// Registers that carry arguments, results and return sites: no call saves them.
    pub shared: Vec<VReg>,
}

/// What an `__assertfail` says, as far as the text fixes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The condition that did not hold.
    pub message: String,
    /// The source file.
    pub file: String,
    /// The function.
    pub function: String,
}

impl Assertion {
    /// What a fault says of it; `line` is the source line.
    pub fn describe(&self, line: u32) -> String {
        format!("assertion `{}` failed: {}:{line}, in {}", self.message, self.file, self.function)
    }
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in the text.
    pub name: String,
    /// Element type.
    pub ty: Ty,
    /// Offset in the parameter block.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// What the text says about launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LaunchBounds {
    /// `.maxntid` as a product, when given.
    pub max_threads: Option<u32>,
    /// `.reqntid`, when given.
    pub required: Option<[u32; 3]>,
    /// `.minnctapersm`, when given.
    pub min_ctas: Option<u32>,
    /// `.maxnreg`, when given.
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`, when given.
    pub cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`, when given.
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`: the launch must say of which shape clusters are.
    pub explicit_cluster: bool,
}

/// A format of a `vprintf`: the text and, per argument, its type and its bytes in the argument buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintFormat {
    /// The format string.
    pub text: String,
    /// Argument types: b32, b64 or f64, in order; their values follow in the instruction's sources.
    pub arguments: Vec<Ty>,
}

/// What an opaque variable refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// `.texref`: a texture, its sampler included.
    Texture,
    /// `.samplerref`: a sampler of its own.
    Sampler,
    /// `.surfref`: a surface.
    Surface,
}

/// A `.global` or `.const` variable of a module, or a reference to a texture, sampler or surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the text.
    pub name: String,
    /// Whether it is `.const`.
    pub constant: bool,
    /// What it refers to, when it is opaque: it takes no memory, and its address is its handle.
    pub opaque: Option<Opaque>,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// Initial bytes; shorter than `bytes` means zeros follow.
    pub init: Vec<u8>,
    /// Places in `init` (8 bytes each) where the address of a variable plus an addend goes.
    pub relocations: Vec<Relocation>,
    /// Whether it is of the device heap: what it holds follows from the order in which threads called `malloc`.
    pub heap: bool,
}

/// An address inside an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Byte offset in the initialiser.
    pub at: u64,
    /// Index of the variable pointed to.
    pub symbol: u32,
    /// Added to its address.
    pub addend: i64,
}

/// Where generic addresses of the windows begin: shared, local and parameters; and the addresses of functions.
pub mod window {
    /// Generic addresses of a CTA's shared memory.
    pub const SHARED: u64 = 1 << 40;
    /// Generic addresses of a thread's local memory.
    pub const LOCAL: u64 = 2 << 40;
    /// Generic addresses of the kernel's parameters.
    pub const PARAM: u64 = 3 << 40;
    /// Addresses of functions, [`FUNCTION_BYTES`] apart; no memory is there.
    pub const CODE: u64 = 4 << 40;
    /// Distance between the addresses of functions.
    pub const FUNCTION_BYTES: u64 = 16;
    /// Bytes of each window.
    pub const BYTES: u64 = 1 << 32;
}
