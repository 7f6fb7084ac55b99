//! Every field, updated by each launch.

use crate::elements::computed;

/// What a field is after as many launches.
pub(super) fn field(first: u32, launches: usize) -> u32 {
    computed(first, launches)
}
