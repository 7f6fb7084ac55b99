//! The parameters of an L2 slice.

use strata_engine::Cited;
use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::Chosen;
use strata_memory::prefetch::{PrefetchPolicy, Prefetching};
use strata_memory::replacement;
use strata_memory::tags::SetIndex;
use strata_memory::{LINE_BYTES, ParameterError};

use crate::chassis::llc::{Parameters, llc_config};

llc_config! {
    /// The parameters of one L2 slice, in cycles of its own clock. Lines have 128 bytes. The slice writes back, and allocates on writes
    /// without fetching: a mask records which bytes of a line are valid.
    pub struct L2Config {
        /// Which lines that are fetched take a way; without this key, all. A write, which fetches nothing, takes one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub insertion: Option<Cited<Chosen<dyn InsertionPolicy>>>,
        /// What is fetched before it is asked for, lines being numbered as the slice numbers them; without this key, nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prefetch: Option<Cited<Chosen<dyn PrefetchPolicy>>>,
        /// Unit of a fetch from DRAM in bytes.
        #[schemars(range(min = 4, max = LINE_BYTES), extend("unit" = "B"))]
        pub sector_bytes: Cited<usize>,
        /// Bytes of a line that the slice reads or writes in a cycle; without this key, all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = LINE_BYTES), extend("unit" = "B"))]
        pub data_bytes_per_cycle: Option<Cited<u32>>,
        /// Cycles more for what the other half of the GPU is answered, unless it has a copy: SMs and slices with even numbers are in
        /// one half, those with odd numbers in the other. Without this key, the L2 is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
        pub far_latency_cycles: Option<Cited<u64>>,
    }
}

impl L2Config {
    /// A 64 KB slice with the published parameters of other simulators, for tests and examples. Machines take
    /// their parameters from machine files instead.
    pub fn example() -> L2Config {
        fn table<T>(value: T) -> Cited<T> {
            Cited::new(value, "GPGPU-Sim, configs/tested-cfgs/SM2_GTX480")
        }
        fn assumed<T>(value: T, why: &str) -> Cited<T> {
            Cited::new(value, format!("ASSUMED: {why}"))
        }
        L2Config {
            sets: table(64),
            ways: table(8),
            set_index: assumed(SetIndex::Bits, "the plain choice"),
            replacement: table(replacement::lru()),
            insertion: None,
            prefetch: None,
            sector_bytes: assumed(32, "one DRAM atom"),
            data_bytes_per_cycle: None,
            far_latency_cycles: None,
            request_queue: assumed(8, "as deep as a network buffer"),
            rop_latency_cycles: table(120),
            hit_latency_cycles: assumed(10, "SRAM of 64 KB, tags and data one after the other"),
            reply_queue: assumed(8, "as deep as a network buffer"),
            mshr_entries: table(256),
            mshr_merges: table(4),
            dram_queue: assumed(16, "enough to keep the channel's own queue full"),
            write_buffer: assumed(32, "enough for writes that wait in the channel"),
            atomic_cycles: assumed(1, "one operation a cycle on one address"),
        }
    }

    /// What a cache of some frames fetches before it is asked for.
    pub(super) fn prefetching(&self, frames: usize) -> Option<Box<Prefetching>> {
        Prefetching::new(&***self.prefetch.as_ref()?, frames)
    }

    pub(super) fn parameters(&self) -> Parameters {
        let insertion = self.insertion.as_ref().map(|policy| policy.value.clone());
        let data_bytes_per_cycle = self.data_bytes_per_cycle.as_ref().map(|bytes| **bytes);
        Parameters { insertion, data_bytes_per_cycle, ..self.slice_parameters(*self.sector_bytes, 0) }
    }

    /// Checks the latency of the other half.
    pub(super) fn check_far(&self) -> Result<(), ParameterError> {
        match &self.far_latency_cycles {
            Some(cycles) if !(1..=4096).contains(&**cycles) => {
                let message = format!("must be 1 to 4096, found {}", **cycles);
                Err(ParameterError::new("far_latency_cycles", message))
            }
            _ => Ok(()),
        }
    }
}
