//! One field in 32, updated once.

use super::PICK;
use crate::elements::computed;

/// The field of element `i`, whose first value was `first`: group g of 32 elements has its one at 11 g + PICK.
pub(super) fn field(i: u32, first: u32) -> u32 {
    let is_chosen = i % 32 == (i / 32 * 11 + PICK) % 32;
    if is_chosen { computed(first, 1) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_by_hand() {
        let changed: Vec<u32> = (0..64).filter(|&i| field(i, 1) != 1).collect();
        assert_eq!(changed, [5, 32 + 16]);
    }
}
