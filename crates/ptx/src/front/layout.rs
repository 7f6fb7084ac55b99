//! Size and alignment of declared variables.

use super::ast::{DeclSpace, DeclType, Init, Variable};
use super::diagnostic::{Diagnostic, Fail};
use crate::isa::Ty;

/// Most bytes of one variable: more than any GPU has.
const MAX_BYTES: u64 = 1 << 40;

/// Size and alignment of a declaration.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Size; 0 when it is not known.
    pub bytes: u64,
    /// A power of two.
    pub align: u32,
    /// Bytes of one scalar.
    pub scalar: Ty,
}

/// Size and alignment of a declared variable; an empty outermost dimension takes its size from the
/// initialiser.
pub fn layout(variable: &Variable) -> Result<Layout, Fail> {
    let DeclType::Scalar(scalar) = variable.ty else {
        return Err(Diagnostic::unsupported(variable.place, "textures, samplers and surfaces"));
    };
    if scalar == Ty::Pred {
        return Err(Diagnostic::invalid(variable.place, "predicate outside registers").found("`.pred`"));
    }
    let element = scalar.bytes() as u64 * u64::from(variable.vector);
    let mut bytes = element;
    for (n, size) in variable.dims.iter().enumerate() {
        let size = match (size, &variable.init) {
            (Some(size), _) => *size,
            (None, Some(Init::List(elements, _))) if n == 0 => elements.len() as u64,
            (None, _) => 0,
        };
        bytes = bytes.checked_mul(size).filter(|bytes| *bytes <= MAX_BYTES).ok_or_else(|| {
            Diagnostic::invalid(variable.place, "variable too large")
                .expected(format!("at most {MAX_BYTES} bytes"))
        })?;
    }
    Ok(Layout { bytes, align: variable.align.unwrap_or(1).max(element as u32), scalar })
}

/// Whether a formal parameter is a piece of memory: an array, or a vector outside registers.
pub fn in_memory(formal: &Variable) -> bool {
    !formal.dims.is_empty() || formal.vector != 1 && formal.space != DeclSpace::Reg
}
