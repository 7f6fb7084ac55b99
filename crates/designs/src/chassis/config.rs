//! What every L1D on a chassis has in its section of a machine file.

/// Defines the configuration of an L1D on a [`Chassis`](super::Chassis): its own keys, and those of the chassis. For the
/// latter it gives `chassis_parameters` and `chassis_rooms`, to be completed by what the design decides itself, and the
/// host's memory for them.
///
/// A macro, because serde can refuse unknown keys or flatten one struct into another, but not both. A crate of your own that
/// uses it depends on `schemars`, `serde`, `strata-engine` and `strata-memory`.
#[macro_export]
macro_rules! l1d_config {
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
            $($(#[$own_attribute])* pub $own: $ty,)*
            /// Unit of a fetch in bytes; 128 makes a cache without sectors.
            #[schemars(range(min = 4, max = strata_memory::LINE_BYTES), extend("unit" = "B"))]
            pub sector_bytes: strata_engine::Cited<usize>,
            /// Cycles from the start of an access that hits, where banks are many from its bank's read, to its completion.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
            pub hit_latency_cycles: strata_engine::Cited<u64>,
            /// Cycles from the start of an access until its miss can leave for the network.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
            pub tag_latency_cycles: strata_engine::Cited<u64>,
            /// Cycles from a fill, or from the reply to a bypassing access, to the completion of an access that it serves.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
            pub fill_latency_cycles: strata_engine::Cited<u64>,
            /// Number of lines that can be fetched at a time (MSHRs).
            #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
            pub mshr_entries: strata_engine::Cited<usize>,
            /// Number of accesses that one MSHR can hold, the first included.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "accesses"))]
            pub mshr_merges: strata_engine::Cited<u16>,
            /// Capacity of the queue to the network, in packets.
            #[schemars(range(min = 2, max = 4096), extend("unit" = "packets"))]
            pub miss_queue: strata_engine::Cited<usize>,
            /// Number of writes that can be unacknowledged at a time.
            #[schemars(range(min = 2, max = 4096), extend("unit" = "writes"))]
            pub write_buffer: strata_engine::Cited<usize>,
            /// Number of atomics and bypassing loads that can be in flight at a time.
            #[schemars(range(min = 1, max = 4096), extend("unit" = "accesses"))]
            pub bypass_entries: strata_engine::Cited<usize>,
            /// What a store does if its line is not in the cache.
            pub write_miss_policy: strata_engine::Cited<$crate::chassis::WriteMissPolicy>,
            /// Whether accesses that ask to bypass the cache do so. Atomics always do.
            pub honours_bypass: strata_engine::Cited<bool>,
        }

        impl $name {
            /// A chassis of one bank that takes an access a cycle and keeps what is written.
            pub fn chassis_parameters(&self) -> $crate::chassis::Parameters {
                $crate::chassis::Parameters {
                    sector_bytes: *self.sector_bytes,
                    accesses_per_cycle: 1,
                    banks: 1,
                    hit_latency: *self.hit_latency_cycles,
                    tag_latency: *self.tag_latency_cycles,
                    fill_latency: *self.fill_latency_cycles,
                    miss_queue: *self.miss_queue,
                    write_back: true,
                    miss_policy: *self.write_miss_policy,
                    honours_bypass: *self.honours_bypass,
                    bypass_sector_bytes: 1,
                }
            }

            /// Its capacities, if `width` hits can complete in a cycle: two cycles more than the latency, for a reader that is
            /// late once.
            pub fn chassis_rooms(&self, width: usize) -> $crate::chassis::Rooms {
                $crate::chassis::Rooms {
                    mshr_entries: *self.mshr_entries,
                    mshr_merges: *self.mshr_merges,
                    write_buffer: *self.write_buffer,
                    bypass_entries: *self.bypass_entries,
                    hits: (*self.hit_latency_cycles as usize).saturating_add(2).saturating_mul(width),
                }
            }

            /// How many lines' worth of host memory a chassis takes, beside its store.
            pub fn chassis_items(&self, width: usize) -> u64 {
                let fetched = strata_memory::LINE_BYTES / *self.sector_bytes;
                let mshrs = *self.mshr_entries * (usize::from(*self.mshr_merges) + fetched);
                let queues = *self.bypass_entries + *self.miss_queue + *self.write_buffer;
                let hits = (*self.hit_latency_cycles as usize + 2) * width;
                (mshrs + queues + hits) as u64 + *self.fill_latency_cycles
            }
        }
    };
}

pub use l1d_config;
