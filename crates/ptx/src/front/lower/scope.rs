//! Names and what they stand for inside a kernel.

use std::collections::HashMap;

use crate::front::ast::Name;
use crate::ir::VReg;
use crate::isa::Ty;

/// A label of the kernel under construction: index into its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(pub u32);

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// A register.
    Register(VReg),
    /// `.reg .v4 .f32 v`.
    Vector(Vec<VReg>),
    /// `name<count>`: its members become registers when first named.
    Range { ty: Ty, count: u32 },
    /// A branch target.
    Label(Label),
    /// Bytes in the CTA's shared memory, by window offset.
    Shared { offset: u32 },
    /// Bytes in local memory, by window offset.
    Local { offset: u32, bytes: u64 },
    /// Bytes in local memory, from the address in a register on.
    Frame { base: VReg, offset: u32, bytes: u64 },
    /// Bytes of the kernel's parameters.
    Param { offset: u32, bytes: u32 },
    /// A scalar parameter of an expanded call.
    Argument(VReg),
    /// `.branchtargets`.
    Targets(u32),
    /// `.callprototype`, `.calltargets`: index into the builder's.
    Hint(usize),
    /// Textures: nothing that executes uses them.
    Inert(&'static str),
}

/// The names of one expanded function, innermost scope last.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    stack: Vec<HashMap<Name, Symbol>>,
}

impl Scopes {
    /// Opens a scope.
    pub(super) fn open(&mut self) {
        self.stack.push(HashMap::new());
    }

    /// Closes the innermost scope.
    pub(super) fn close(&mut self) {
        self.stack.pop();
    }

    /// Declares a name in the innermost scope; false when the scope has it already.
    pub(super) fn declare(&mut self, name: Name, symbol: Symbol) -> bool {
        let innermost = self.stack.last_mut().expect("a scope is open while a body is lowered");
        innermost.insert(name, symbol).is_none()
    }

    /// What a name stands for, innermost scope first, and the depth of the scope that knows it.
    pub(super) fn find(&self, name: Name) -> Option<(usize, &Symbol)> {
        self.stack.iter().enumerate().rev().find_map(|(depth, scope)| Some((depth, scope.get(&name)?)))
    }

    /// Declares a name in the scope of a depth.
    pub(super) fn declare_at(&mut self, depth: usize, name: Name, symbol: Symbol) {
        self.stack[depth].insert(name, symbol);
    }
}
