//! The shape of a PTX text: what stands where, with nothing resolved.

pub use super::diagnostic::Place;
pub use super::names::{Name, Names};
pub use crate::ir::Opaque;
pub use crate::ir::Source;
use crate::isa::Ty;

/// A whole text.
#[derive(Clone, Debug)]
pub struct Module {
    /// Name of the text for messages.
    pub name: String,
    /// Every word of it.
    pub names: Names,
    /// `.version`, as it stands: `8.3`.
    pub version: String,
    /// `.target`, its parts joined by commas: `sm_80`.
    pub target: String,
    /// `.address_size`: 32 or 64.
    pub address_size: u32,
    /// Place of `.address_size`.
    pub address_size_place: Place,
    /// Variables and functions in order.
    pub items: Vec<Item>,
    /// Lines of the text.
    pub lines: u32,
    /// The texts that it was linked from, when there are several.
    pub sources: Vec<Source>,
    /// Bytes from which a kernel's `malloc` serves (`cudaLimitMallocHeapSize`).
    pub heap_bytes: u64,
}

/// Bytes of the heap unless somebody says otherwise: the default of `cudaLimitMallocHeapSize` (CUDA C++ Programming
/// Guide, "Heap Memory Allocation").
pub const DEFAULT_HEAP_BYTES: u64 = 8 << 20;

impl Module {
    /// The text of a line and its line there.
    pub fn source(&self, line: u32) -> (&str, u32) {
        Source::of_line(&self.sources, line).unwrap_or((&self.name, line))
    }

    /// Whether two places are in the same one of its texts.
    pub fn same_text(&self, a: Place, b: Place) -> bool {
        let text = |place: Place| self.sources.partition_point(|source| source.before < place.line);
        text(a) == text(b)
    }
}

/// Something at the top level.
#[derive(Clone, Debug)]
pub enum Item {
    /// A variable.
    Variable(Variable),
    /// An entry or a function.
    Function(Function),
    /// `.alias name, aliasee`.
    Alias {
        /// The new name.
        name: Name,
        /// The function that it stands for.
        aliasee: Name,
        /// Where.
        place: Place,
    },
}

/// Visibility of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Linkage {
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// State space of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DeclSpace {
    Reg,
    Global,
    Shared,
    Local,
    Const,
    Param,
    /// `.tex`, or the types `.texref`, `.samplerref`, `.surfref`.
    Opaque,
}

/// Declared type: a number, or a reference to a texture, sampler or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DeclType {
    Scalar(Ty),
    Opaque(Opaque),
}

/// A declared variable, register or parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Place of the name.
    pub place: Place,
    /// Visibility.
    pub linkage: Linkage,
    /// Where it lives.
    pub space: DeclSpace,
    /// Element type.
    pub ty: DeclType,
    /// Elements of a vector type: 1, 2, 4, 8.
    pub vector: u8,
    /// `.align`, when given.
    pub align: Option<u32>,
    /// Its name.
    pub name: Name,
    /// `name<count>`: registers `name0` to `name(count-1)`.
    pub range: Option<u32>,
    /// Array dimensions from the outermost; `None` where brackets are empty.
    pub dims: Vec<Option<u64>>,
    /// Initialiser.
    pub init: Option<Init>,
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Init {
    /// A number.
    Value(Value, Place),
    /// Address of a symbol plus `addend`; `mask` picks one byte of it.
    Address {
        /// The symbol.
        name: Name,
        /// Where it is named.
        place: Place,
        /// Whether written `generic(symbol)`.
        generic: bool,
        /// Bytes added.
        addend: i64,
        /// `0xff00(symbol)`.
        mask: Option<u64>,
    },
    /// Braces.
    List(Vec<Init>, Place),
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer as 64 bits of two's complement.
    Int(u64),
    /// Bits of an f32 (`0f...`).
    F32(u32),
    /// Bits of an f64 (`0d...` or a decimal).
    F64(u64),
}

/// An entry or function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Place of the name.
    pub place: Place,
    /// Visibility.
    pub linkage: Linkage,
    /// Whether it is a kernel.
    pub entry: bool,
    /// Its name.
    pub name: Name,
    /// Return parameters.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Performance directives.
    pub directives: Vec<Directive>,
    /// Statements, unless only declared.
    pub body: Option<Vec<Statement>>,
}

/// A directive between a function's head and its body.
#[derive(Clone, Debug)]
pub struct Directive {
    /// Its name without the dot.
    pub name: Name,
    /// Where.
    pub place: Place,
    /// Its numbers.
    pub values: Vec<u64>,
}

/// A statement of a body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `name:`
    Label(Name, Place),
    /// A register, variable or parameter.
    Variable(Variable),
    /// An instruction.
    Instruction(Instruction),
    /// Braces.
    Block(Vec<Statement>),
    /// `.pragma "nounroll";` in a loop.
    NoUnroll(Place),
    /// `name: .branchtargets a, b, c;`
    BranchTargets {
        /// The list's name.
        name: Name,
        /// Where.
        place: Place,
        /// The labels.
        labels: Vec<(Name, Place)>,
    },
    /// `name: .calltargets ...;` or `name: .callprototype ...;`: only indirect calls use them.
    CallHint {
        /// The hint's name.
        name: Name,
        /// Where.
        place: Place,
        /// What it says.
        hint: CallHint,
    },
}

/// What an indirect call is told of the functions that it may reach.
#[derive(Clone, Debug)]
pub enum CallHint {
    /// What they take and return.
    Prototype {
        /// Return parameters.
        returns: Vec<Variable>,
        /// Parameters.
        params: Vec<Variable>,
    },
    /// Which they are.
    Targets(Vec<(Name, Place)>),
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// The predicate.
    pub name: Name,
    /// Where.
    pub place: Place,
    /// Whether `!` stands before it.
    pub negated: bool,
}

/// A dotted word after an opcode.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// The word without the dot.
    pub name: Name,
    /// Where.
    pub place: Place,
}

/// An instruction, any opcode.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Place of the opcode.
    pub place: Place,
    /// Condition.
    pub guard: Option<Guard>,
    /// The word before the first dot.
    pub opcode: Name,
    /// The dotted words.
    pub modifiers: Vec<Modifier>,
    /// Operands in order.
    pub operands: Vec<Operand>,
}

/// An operand and its place.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Where.
    pub place: Place,
    /// What.
    pub kind: OperandKind,
}

/// What an operand is made of.
#[derive(Clone, Debug)]
pub enum OperandKind {
    /// Register, variable, label or function.
    Name(Name),
    /// `%tid.x`, `vector.y`.
    Component(Name, Name),
    /// Element of a vector register, by number: what `v` stands for where a vector is wanted.
    Lane(Name, u8),
    /// `array[register]` of an array of registers.
    Element(Name, Name),
    /// `array[n]`: an element's address, or the n-th register of an array of them.
    Indexed {
        /// The array.
        array: Name,
        /// The element.
        index: i64,
        /// Bytes from one element to the next; 1 of registers.
        step: u8,
    },
    /// `!p`
    Not(Name),
    /// `symbol+8`
    Offset(Name, i64),
    /// A constant.
    Value(Value),
    /// `-r` of a register, possibly of a part of it (`vmad`).
    Negated(Box<OperandKind>),
    /// `_`
    Sink,
    /// `p|q`
    Pair(Box<(Operand, Operand)>),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `[base+offset]`
    Memory {
        /// What stands first.
        base: Base,
        /// Bytes added.
        offset: i64,
    },
    /// `[texture, sampler, {x, y}]` and other bracketed lists.
    Bracket(Vec<Operand>),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
}

impl OperandKind {
    /// The name and the byte offset of an address in memory that has a name: of `[name+offset]` and of `name[offset]`.
    pub fn named_address(&self) -> Option<(Name, i64)> {
        match *self {
            OperandKind::Memory { base: Base::Name(name), offset } => Some((name, offset)),
            OperandKind::Indexed { array, index, step } => Some((array, index.wrapping_mul(i64::from(step)))),
            _ => None,
        }
    }
}

/// Base of a memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Register or variable.
    Name(Name),
    /// None: the offset is the address.
    Absolute,
}
