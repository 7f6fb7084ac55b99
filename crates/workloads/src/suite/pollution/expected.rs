//! Every field of A, updated once, and of B, at every step.

use crate::elements::computed;

/// What a field is after as many steps.
pub(super) fn field(first: u32, steps: usize) -> u32 {
    computed(first, steps)
}
