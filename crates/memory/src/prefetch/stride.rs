//! The stride of each instruction, by a table of reference predictions.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{PrefetchPolicy, Prefetcher, Wishes};
use crate::address::LineAddress;
use crate::touch::Touch;

/// Fetches the line that is a stride away, once a warp's instruction has moved by the same stride twice (Chen and Baer,
/// IEEE Transactions on Computers 1995; by warp as Lee et al., MICRO 2010. ASSUMED: 256 entries).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stride {}

impl PrefetchPolicy for Stride {
    fn build(&self) -> Option<Box<dyn Prefetcher>> {
        Some(Box::new(Table { entries: vec![Prediction::default(); ENTRIES] }))
    }
}

const ENTRIES: usize = 256;

/// What an instruction of a warp did last.
#[derive(Clone, Copy, Debug, Default)]
struct Prediction {
    /// The instruction and its warp; 0 where no one has been.
    name: u64,
    line: LineAddress,
    stride: i64,
    /// Whether it has moved by this stride twice.
    is_steady: bool,
}

struct Table {
    entries: Vec<Prediction>,
}

impl Prefetcher for Table {
    fn seen(&mut self, touch: &Touch, _: bool, wishes: &mut Wishes) {
        let name = 1 + (u64::from(touch.origin.pc) << 8 | u64::from(touch.origin.warp));
        // Lines of one instruction come together: a multiplication spreads instructions and warps over the table.
        let place = (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        let entry = &mut self.entries[place];
        if entry.name != name {
            *entry = Prediction { name, line: touch.line, ..Prediction::default() };
            return;
        }
        let stride = touch.line.0.wrapping_sub(entry.line.0) as i64;
        if stride == 0 {
            return;
        }
        entry.is_steady = stride == entry.stride;
        (entry.line, entry.stride) = (touch.line, stride);
        if entry.is_steady {
            wishes.add_behind(touch.line, stride);
        }
    }
}
