//! The parameters of a slice of DeNovo's L2.

use strata_engine::Cited;
use strata_memory::LINE_BYTES;
use strata_memory::replacement;
use strata_memory::tags::SetIndex;

use super::lookup::MOST_PACKETS;
use crate::chassis::llc::{Parameters, llc_config};

llc_config! {
    /// The parameters of one slice, in cycles of its own clock. Lines have 128 bytes, words 4. The slice writes back and fetches whole lines.
    pub struct DenovoL2Config {}
}

impl DenovoL2Config {
    /// A 64 KB slice for tests and examples. Machines take their parameters from machine files instead.
    pub fn example() -> DenovoL2Config {
        fn assumed<T>(value: T) -> Cited<T> {
            Cited::new(value, "ASSUMED: an example")
        }
        DenovoL2Config {
            sets: assumed(64),
            ways: assumed(8),
            set_index: assumed(SetIndex::Bits),
            replacement: assumed(replacement::lru()),
            request_queue: assumed(8),
            rop_latency_cycles: assumed(4),
            hit_latency_cycles: assumed(10),
            reply_queue: assumed(8),
            mshr_entries: assumed(32),
            mshr_merges: assumed(8),
            dram_queue: assumed(16),
            write_buffer: assumed(32),
            atomic_cycles: assumed(1),
        }
    }

    pub(super) fn parameters(&self) -> Parameters {
        self.slice_parameters(LINE_BYTES, MOST_PACKETS)
    }
}
