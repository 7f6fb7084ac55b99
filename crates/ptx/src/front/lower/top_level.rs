//! What names at the top level of a module stand for.

use std::collections::HashMap;

use crate::front::ast::{Name, Opaque};

/// The names of the top level.
pub(super) type TopLevel = HashMap<Name, Global>;

/// What a name at the top level stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Global {
    /// A `.global` or `.const` variable: index into `Globals::variables`.
    Variable(u32),
    /// A `.shared` variable: index into `Globals::shared`.
    Shared(usize),
    /// `.extern .shared`: dynamic shared memory.
    DynamicShared,
    /// A function: index into the module's items.
    Function(usize),
    /// A reference to a texture, sampler or surface: index into `Globals::variables`.
    Opaque(u32, Opaque),
    /// A variable that is not modelled: kernels that use it are refused.
    Inert(&'static str),
}
