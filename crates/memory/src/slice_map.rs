//! Maps lines to the slices of the last-level cache that own them.

use crate::address::{LINE_BYTES, LineAddress};
use crate::interleave::{InterleaveHash, SliceHash};
use crate::node::NodeId;
use crate::parameters::ParameterError;
use crate::window;

/// The map from lines to LLC slices, which deals out chunks of `interleave` bytes to the slices in turn, and in the same way the
/// rows of the [window]. A hash may spread the chunks otherwise: a chunk then lies in another slice of its round.
///
/// The slices are consecutive nodes of the network. [`AddressMap`](crate::address_map::AddressMap) knows
/// which of them share a DRAM channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceMap {
    slices: u64,
    /// Mask of slice numbers when their count is a power of two.
    mask: Option<u64>,
    /// Binary logarithm of the lines of a chunk.
    shift: u32,
    first_node: NodeId,
    hash: Option<SliceHash>,
}

impl SliceMap {
    /// Interleaves chunks of `interleave_bytes` over `slices` nodes, of which `first_node` is the first.
    /// Returns `None` if `slices` is zero, or if the chunk size is not a power of two of at least one line.
    pub fn new(slices: u16, interleave_bytes: u32, first_node: NodeId) -> Option<SliceMap> {
        let lines = interleave_bytes / LINE_BYTES as u32;
        let whole = interleave_bytes.is_power_of_two() && lines >= 1;
        (slices >= 1 && whole).then(|| SliceMap {
            slices: u64::from(slices),
            mask: slices.is_power_of_two().then(|| u64::from(slices) - 1),
            shift: lines.trailing_zeros(),
            first_node,
            hash: None,
        })
    }

    /// The map with a hash of the chunks.
    ///
    /// # Errors
    /// Says why there is no such hash for this number of slices.
    pub fn with_hash(self, hash: &InterleaveHash) -> Result<SliceMap, ParameterError> {
        let hash = SliceHash::new(hash, self.slices(), 1 << self.shift)?;
        Ok(SliceMap { hash, ..self })
    }

    /// The slice that owns a line, counted from 0.
    #[inline]
    pub fn slice_of(&self, line: LineAddress) -> u16 {
        let is_row = window::holds(line);
        let chunk = if is_row { window::row_of(line).0 } else { line.0 >> self.shift };
        (match self.mask {
            Some(mask) => match &self.hash {
                Some(hash) if !is_row => (chunk ^ hash.of(chunk / self.slices)) & mask,
                _ => chunk & mask,
            },
            None => {
                let slice = chunk % self.slices;
                match &self.hash {
                    Some(hash) if !is_row => slice ^ hash.of(chunk / self.slices),
                    _ => slice,
                }
            }
        }) as u16
    }

    /// The hash of the chunks.
    #[inline]
    pub(crate) fn hash(&self) -> Option<&SliceHash> {
        self.hash.as_ref()
    }

    /// The network node of the slice that owns a line.
    #[inline]
    pub fn node_of(&self, line: LineAddress) -> NodeId {
        NodeId(self.first_node.0 + self.slice_of(line))
    }

    /// Number of slices in the machine.
    pub fn slices(&self) -> u16 {
        self.slices as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;

    #[test]
    fn chunks_go_round_over_the_slices() {
        for slices in [1, 6, 8, 12] {
            let map = SliceMap::new(slices, 256, NodeId(15)).unwrap();
            for address in (0..64 * 256).step_by(64) {
                let slice = ((address >> 8) % u64::from(slices)) as u16;
                let line = Address(address).line();
                assert_eq!((map.slice_of(line), map.node_of(line)), (slice, NodeId(15 + slice)));
            }
        }
    }

    #[test]
    fn what_cannot_be_interleaved_is_refused() {
        assert_eq!(SliceMap::new(0, 256, NodeId(0)), None);
        assert_eq!(SliceMap::new(4, 64, NodeId(0)), None);
        assert_eq!(SliceMap::new(4, 384, NodeId(0)), None);
    }
}
