//! Where matrices lie that descriptors name.

use super::{Operands, WarpContext};
use crate::isa::{Blocks, DescribedRow, WARPGROUP_WARPS};
use crate::lanes::{LaneMask, Row, WARP_LANES};

/// Bytes of a row of a block.
const ROW_BYTES: u32 = 16;
/// Lines that swizzles tell apart are so far apart.
const LINE_SHIFT: u32 = 7;

/// A descriptor, taken apart; lengths in bytes.
struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    base_offset: u32,
    /// Rows side by side in a line of the pattern: 1 without a swizzle, else 2, 4 or 8.
    units: u32,
}

impl Descriptor {
    fn new(bits: u64) -> Descriptor {
        let length = |from: u32| ((bits >> from) as u32 & 0x3FFF) * ROW_BYTES;
        let units = [1, 8, 4, 2][(bits >> 62) as usize];
        Descriptor {
            start: length(0),
            leading: length(16),
            stride: length(32),
            base_offset: (bits >> 49) as u32 & 7,
            units,
        }
    }

    /// Where row `row` of a block begins: `across` counts blocks of m or n, `half` those of k.
    fn address(&self, k_major: bool, across: u32, half: u32, row: u32) -> u32 {
        let pitch = self.units * ROW_BYTES;
        let is_plain = self.units == 1;
        let place = match (k_major, is_plain) {
            (true, true) => across * self.stride + half * self.leading,
            (true, false) => across * self.stride + half * ROW_BYTES,
            (false, true) => across * self.stride + half * self.leading,
            (false, false) => {
                across % self.units * ROW_BYTES + across / self.units * self.leading + half * self.stride
            }
        };
        let plain = self.start.wrapping_add(place).wrapping_add(row * pitch);
        let line = (plain >> LINE_SHIFT).wrapping_sub(self.base_offset);
        plain ^ ((line & (self.units - 1)) * ROW_BYTES)
    }
}

/// Each lane's row by its own descriptor.
pub(super) fn described_row(
    row: DescribedRow,
    o: &mut impl Operands,
    lanes: LaneMask,
    context: &WarpContext,
) {
    let mut addresses = Row::ZERO;
    for lane in 0..WARP_LANES {
        let bits = u64::from(o.source(0, 1).0[lane]) << 32 | u64::from(o.source(0, 0).0[lane]);
        let (block, line) = (lane as u32 / 8, lane as u32 % 8);
        let (across, half) = match row.blocks {
            Blocks::OfA => (context.warp % WARPGROUP_WARPS * 2 + block % 2, block / 2),
            Blocks::OfB { first } => (u32::from(first) + block / 2, block % 2),
        };
        addresses.0[lane] = Descriptor::new(bits).address(row.k_major, across, half, line);
    }
    o.write(0, 0, lanes, &addresses);
}
