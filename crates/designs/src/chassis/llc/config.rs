//! What every LLC on a chassis has in its section of a machine file.

/// Defines the configuration of an LLC on a [`Slice`](super::Slice): its own keys, and those of the chassis. For the latter it
/// gives their bounds, the shape of the sets, the parameters and the host's memory.
///
/// A macro, because serde can refuse unknown keys or flatten one struct into another, but not both. A crate of your own that
/// uses it depends on `schemars`, `serde`, `strata-engine` and `strata-memory`.
#[macro_export]
macro_rules! llc_config {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$own_attribute:meta])* pub $own:ident: $ty:ty,)*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        $(#[$attribute])*
        pub struct $name {
            /// Sets of a slice; times `ways`, its lines.
            #[schemars(range(min = 1, max = strata_memory::tags::MAX_FRAMES), extend("unit" = "sets"))]
            pub sets: strata_engine::Cited<usize>,
            /// Ways of each set: lines with the same index that it holds at a time.
            #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
            pub ways: strata_engine::Cited<usize>,
            /// How the set of a line is computed from its number within the slice.
            pub set_index: strata_engine::Cited<strata_memory::tags::SetIndex>,
            /// Which way of a full set is evicted.
            pub replacement: strata_engine::Cited<strata_memory::policy::Chosen<dyn strata_memory::replacement::ReplacementPolicy>>,
            $($(#[$own_attribute])* pub $own: $ty,)*
            /// Number of requests that can wait, beyond those within the ROP latency.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
            pub request_queue: strata_engine::Cited<usize>,
            /// Cycles from the arrival of a request to its look-up.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
            pub rop_latency_cycles: strata_engine::Cited<u64>,
            /// Cycles from a look-up that hits, or from the turn of a request that waited, to the reply.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
            pub hit_latency_cycles: strata_engine::Cited<u64>,
            /// Number of replies that can wait for the network, beyond those within the hit latency and, where a request is answered
            /// by several packets, those of one.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "replies"))]
            pub reply_queue: strata_engine::Cited<usize>,
            /// Number of lines that can be fetched at a time (MSHRs).
            #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
            pub mshr_entries: strata_engine::Cited<usize>,
            /// Number of requests that one MSHR can hold, the first included.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
            pub mshr_merges: strata_engine::Cited<u16>,
            /// Capacity of the queue to the DRAM channel, in requests.
            #[schemars(range(min = 2, max = 4096), extend("unit" = "requests"))]
            pub dram_queue: strata_engine::Cited<usize>,
            /// Number of lines that can be in flight to DRAM.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
            pub write_buffer: strata_engine::Cited<usize>,
            /// Cycles that each operation of an atomic takes on one address; operations on different addresses of a
            /// line proceed in parallel.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
            pub atomic_cycles: strata_engine::Cited<u64>,
        }

        impl $name {
            /// The shape and policies of the sets.
            pub fn geometry(&self) -> strata_memory::tags::Geometry {
                strata_memory::tags::Geometry {
                    sets: *self.sets,
                    ways: *self.ways,
                    index: *self.set_index,
                    replacement: self.replacement.value.clone(),
                }
            }

            /// The parameters of a slice that fetches sectors of `sector_bytes`, with room for `spare_packets` more replies.
            pub fn slice_parameters(&self, sector_bytes: usize, spare_packets: usize) -> $crate::chassis::llc::Parameters {
                $crate::chassis::llc::Parameters {
                    geometry: self.geometry(),
                    insertion: None,
                    sector_bytes,
                    request_queue: *self.request_queue,
                    rop_latency: *self.rop_latency_cycles,
                    hit_latency: *self.hit_latency_cycles,
                    reply_queue: *self.reply_queue,
                    spare_packets,
                    mshr_entries: *self.mshr_entries,
                    mshr_merges: *self.mshr_merges,
                    dram_queue: *self.dram_queue,
                    write_buffer: *self.write_buffer,
                    atomic_cycles: *self.atomic_cycles,
                    data_bytes_per_cycle: None,
                }
            }
        }
    };
}

pub use llc_config;
