//! What is true of an operation wherever it is looked at: who carries it out, where control goes after it, whether it
//! may be dropped or moved, and what its operands are. [`Op::traits`] says it of each.
//!
//! [`Op::traits`]: super::Op::traits

use super::class::Class;
use super::memory::MemoryMode;
use super::operands::Widths;
use super::types::{CacheOp, Ordering, Scope, Space, Ty};

/// Who carries an operation out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// An execution unit, from the rows of its operands alone ([`crate::exec::execute`]).
    Lanes,
    /// The load/store unit.
    Memory,
    /// The load/store unit, through the header of a texture or surface.
    Texels,
    /// The SM itself: it decides where lanes go on, and when.
    Control,
}

/// Where control goes after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To the instruction's target.
    Branch,
    /// To an entry of a branch table.
    Indexed {
        /// The table.
        table: u32,
    },
    /// To an entry of a branch table, and from its return to the instruction's target.
    Call {
        /// The table.
        table: u32,
    },
    /// To an entry of a branch table, where the function was called.
    Return {
        /// The table.
        table: u32,
    },
    /// Nowhere: the lanes end.
    End,
}

impl Flow {
    /// Whether the instruction's target means something.
    pub const fn has_target(self) -> bool {
        matches!(self, Flow::Branch | Flow::Call { .. })
    }

    /// The branch table that lanes go by.
    pub const fn table(self) -> Option<u32> {
        match self {
            Flow::Indexed { table } | Flow::Call { table } | Flow::Return { table } => Some(table),
            Flow::Next | Flow::Branch | Flow::End => None,
        }
    }
}

/// What an operation must keep its place among, besides those whose registers it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing.
    Free,
    /// Accesses that may touch the same bytes, when one of them writes.
    Access(Access),
    /// Operations in which lanes wait for each other.
    Collective,
    /// Everything.
    Wall,
}

/// A memory access, as far as its order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What it moves; of texels nothing is known but that they lie in global memory.
    pub mode: MemoryMode,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it reads and writes in one step.
    pub is_atomic: bool,
    /// Whether src0 and the instruction's offset are where each lane's bytes begin.
    pub is_addressed: bool,
}

impl Access {
    /// Whether it is a read of memory that writes can reach, or of what the host laid down: no parameter.
    pub const fn is_load(&self) -> bool {
        !self.writes && !matches!(self.mode.space, Space::Param)
    }

    /// An access by address.
    pub(super) const fn at(mode: MemoryMode) -> Access {
        Access { mode, writes: false, is_atomic: false, is_addressed: true }
    }

    /// An access of texels. What a texture reads nobody may write while the kernel runs (CUDA C++ Programming Guide,
    /// "Read/Write Coherency"): its cache operator is [`CacheOp::NonCoherent`].
    pub(super) const fn of_texels(cache: CacheOp) -> Access {
        let mode = MemoryMode {
            space: Space::Global,
            ty: Ty::U8,
            vector: 1,
            cache,
            ordering: Ordering::Weak,
            scope: Scope::Cta,
        };
        Access { mode, writes: false, is_atomic: false, is_addressed: false }
    }

    pub(super) const fn writing(self) -> Access {
        Access { writes: true, ..self }
    }

    pub(super) const fn atomic(self) -> Access {
        Access { writes: true, is_atomic: true, ..self }
    }
}

/// What is true of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Unit and latency.
    pub class: Class,
    /// Who carries it out.
    pub executor: Executor,
    /// Where control goes after it.
    pub flow: Flow,
    /// Whether it matters when nobody reads its results. Loads do: an access is part of a program's cost.
    pub has_effect: bool,
    /// What it keeps its place among.
    pub order: Order,
    /// The space that src0 and the instruction's offset are an address in.
    pub address: Option<Space>,
    /// Whether it waits until the load/store unit has all that the warp issued before.
    pub follows_memory: bool,
    /// Whether it is an access that later ones must wait for.
    pub fences: bool,
    /// Its destinations.
    pub dst: Widths,
    /// Its sources; a print's are those of its format.
    pub src: Widths,
}

/// How the traits of an operation are written: what it is first, then what sets it apart.
impl Traits {
    /// Computes from its operands and nothing else.
    pub(super) const fn lanes(class: Class) -> Traits {
        Traits {
            class,
            executor: Executor::Lanes,
            flow: Flow::Next,
            has_effect: false,
            order: Order::Free,
            address: None,
            follows_memory: false,
            fences: false,
            dst: Widths::NONE,
            src: Widths::NONE,
        }
    }

    /// Lanes of a member mask wait for each other in it, so it stays even when nobody reads what it gives.
    pub(super) const fn collective() -> Traits {
        Traits::collective_of(Class::Warp)
    }

    /// The same, of a class.
    pub(super) const fn collective_of(class: Class) -> Traits {
        Traits { has_effect: true, order: Order::Collective, ..Traits::lanes(class) }
    }

    /// Goes to the load/store unit.
    pub(super) const fn memory() -> Traits {
        Traits { executor: Executor::Memory, has_effect: true, ..Traits::lanes(Class::Memory) }
    }

    /// Goes to the load/store unit, through a header.
    pub(super) const fn texels() -> Traits {
        Traits { executor: Executor::Texels, ..Traits::memory() }
    }

    /// The SM's own.
    pub(super) const fn control(class: Class) -> Traits {
        Traits { executor: Executor::Control, has_effect: true, order: Order::Wall, ..Traits::lanes(class) }
    }

    /// Accesses memory. A weak access moves among those that it cannot touch; an ordered one stays, unless it is
    /// atomic: those keep their order among all writes as it is.
    pub(super) const fn accesses(self, access: Access) -> Traits {
        let is_weak = matches!(access.mode.ordering, Ordering::Weak) || access.is_atomic;
        Traits {
            order: if is_weak { Order::Access(access) } else { Order::Wall },
            address: if access.is_addressed { Some(access.mode.space) } else { self.address },
            has_effect: access.writes || access.is_load(),
            fences: access.mode.is_fence(),
            ..self
        }
    }

    pub(super) const fn at(self, space: Space) -> Traits {
        Traits { address: Some(space), ..self }
    }

    pub(super) const fn wall(self) -> Traits {
        Traits { order: Order::Wall, ..self }
    }

    pub(super) const fn to(self, dst: Widths) -> Traits {
        Traits { dst, ..self }
    }

    pub(super) const fn from(self, src: Widths) -> Traits {
        Traits { src, ..self }
    }

    pub(super) const fn goes(self, flow: Flow) -> Traits {
        Traits { flow, ..self }
    }

    pub(super) const fn after_memory(self) -> Traits {
        Traits { follows_memory: true, ..self }
    }
}
