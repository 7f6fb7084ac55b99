//! Every field, updated once.

use crate::elements::computed;

/// The field of element `_i`, whose first value was `first`.
pub(super) fn field(_i: u32, first: u32) -> u32 {
    computed(first, 1)
}
