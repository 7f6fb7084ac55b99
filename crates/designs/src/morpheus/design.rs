//! The slice with a controller as a design that a machine file can select.

use strata_memory::area::Component;
use strata_memory::doors::{Design, Epochs, HOST_ITEM_BYTES, HelperKernel, Llc, LlcDesign, LlcSite};
use strata_memory::window::MOST_COMPRESSED;
use strata_memory::{LINE_BYTES, ParameterError};

use super::config::{Counts, Launches, MOST_EPOCH_CYCLES, MOST_GATHER_CYCLES, MOST_L1_WAYS};
use super::controller::Controller;
use super::{LateMisses, MorpheusConfig, Prediction, Wait};

/// Bits of a row of the warp status table: tag 27, origin 16 (node and its tag), busy 1, operation 3, result 2, pointer to a
/// data buffer 8, with room to a power of two.
const ROW_BITS: u64 = 64;

/// Most blocks of a set whose tags are in registers: the kernel's lanes know eight each.
const MOST_WAYS: u32 = 256;

impl Design for MorpheusConfig {
    fn check(&self) -> Result<(), ParameterError> {
        self.check_ways(if self.compression.is_some() { 32 } else { MOST_WAYS })
    }

    fn outline(&self) -> String {
        format!("{}; a Morpheus controller of {} rows", self.conventional.outline(), *self.rows)
    }

    fn host_bytes(&self) -> u64 {
        let blocks = u64::from(*self.rows) * u64::from(self.most_shadowed().max(self.shared_ways()));
        let filters = 2 * u64::from(*self.rows) * u64::from(*self.filter_bytes);
        let latencies = *self.access_latency_cycles + *self.reply_latency_cycles;
        self.conventional.host_bytes() + filters + (2 * blocks + latencies) * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        let rows = u64::from(*self.rows);
        let line = 8 * LINE_BYTES as u64;
        let buffer = |name, entries: u32| {
            Component::bits(name, u64::from(entries) * line, format!("{entries} lines of 128 bytes"))
        };
        vec![
            Component::bits(
                "Bloom filters",
                2 * rows * u64::from(*self.filter_bytes) * 8,
                format!("4.1.2: two of {} bytes for each of {rows} sets", *self.filter_bytes),
            ),
            Component::bits(
                "warp status table",
                rows * ROW_BITS,
                format!("{rows} rows of {ROW_BITS} bits: tag, origin, busy, operation, result, pointer"),
            ),
            buffer("read data buffer", *self.read_buffers),
            buffer("write data buffer", *self.write_buffers),
        ]
    }
}

impl LlcDesign for MorpheusConfig {
    fn capacity_bytes(&self) -> u64 {
        self.conventional.capacity_bytes()
    }

    fn helper_kernel(&self) -> Option<HelperKernel> {
        Some(HelperKernel {
            warps: *self.warps,
            shared_warps: self.shared_warps(),
            l1_warps: self.l1_warps(),
            ways: *self.ways,
            shared_ways: self.shared_ways(),
            l1_ways: self.l1_ways(),
            rows: *self.rows,
            by_place: self.launches.as_deref() == Some(&Launches::ByPlace),
            compression: self.compression.as_ref().map(|compression| Epochs {
                cycles: *compression.epoch_cycles,
                count_anew: compression.counts.as_deref() == Some(&Counts::Epoch),
            }),
            polls: *self.wait == Wait::Polled,
            fetches: *self.late_misses == LateMisses::Warp,
            runs: true,
        })
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        self.check()?;
        Ok(Box::new(Controller::new(self, site)?))
    }
}

impl MorpheusConfig {
    /// Checks everything, for sets of at most so many blocks.
    pub(super) fn check_ways(&self, most_ways: u32) -> Result<(), ParameterError> {
        let bounds = [
            ("warps", u64::from(*self.warps), 1, 64),
            ("ways", u64::from(*self.ways), 1, u64::from(most_ways)),
            ("rows", u64::from(*self.rows), 1, 4096),
            ("filter_bytes", u64::from(*self.filter_bytes), 1, 4096),
            ("filter_hashes", u64::from(*self.filter_hashes), 1, 16),
            ("read_buffers", u64::from(*self.read_buffers), 1, 4096),
            ("write_buffers", u64::from(*self.write_buffers), 1, 4096),
            ("gather_cycles", *self.gather_cycles, 0, MOST_GATHER_CYCLES),
            ("access_latency_cycles", *self.access_latency_cycles, 1, 4096),
            ("reply_latency_cycles", *self.reply_latency_cycles, 1, 4096),
        ];
        for (field, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to {most}, found {value}")));
            }
        }
        self.check_compression()?;
        self.check_places()?;
        if !self.filter_bytes.is_power_of_two() {
            let message = format!("must be a power of two, found {}", *self.filter_bytes);
            return Err(ParameterError::new("filter_bytes", message));
        }
        if self.conventional.far_latency_cycles.is_some() {
            let message = "far_latency_cycles: found in a slice with a controller, expected none";
            return Err(ParameterError::new("conventional", message));
        }
        self.conventional.check().map_err(|error| {
            ParameterError::new("conventional", format!("{}: {}", error.field, error.message))
        })
    }

    /// Warps of an SM whose sets are in shared memory.
    pub(super) fn shared_warps(&self) -> u32 {
        self.shared.as_ref().map_or(0, |shared| *shared.warps)
    }

    /// Blocks of a set in shared memory.
    pub(super) fn shared_ways(&self) -> u32 {
        self.shared.as_ref().filter(|shared| *shared.warps > 0).map_or(0, |shared| *shared.ways)
    }

    /// Warps of an SM whose sets are in the L1D.
    pub(super) fn l1_warps(&self) -> u32 {
        self.l1.as_ref().map_or(0, |l1| *l1.warps)
    }

    /// Blocks for which a set in the L1D counts.
    pub(super) fn l1_ways(&self) -> u32 {
        self.l1.as_ref().filter(|l1| *l1.warps > 0).map_or(0, |l1| *l1.ways)
    }

    fn check_places(&self) -> Result<(), ParameterError> {
        let shared = self.shared.as_ref().map(|shared| {
            [("shared.warps", *shared.warps, 0, *self.warps), ("shared.ways", *shared.ways, 1, MOST_WAYS)]
        });
        let left = self.warps.saturating_sub(self.shared_warps());
        let l1 = self
            .l1
            .as_ref()
            .map(|l1| [("l1.warps", *l1.warps, 0, left), ("l1.ways", *l1.ways, 1, MOST_L1_WAYS)]);
        for (field, value, least, most) in shared.into_iter().chain(l1).flatten() {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to {most}, found {value}")));
            }
        }
        Ok(())
    }

    /// Most blocks that a set in registers holds.
    pub(super) fn most_blocks(&self) -> u32 {
        if self.compression.is_some() { (4 * *self.ways).min(MOST_COMPRESSED) } else { *self.ways }
    }

    /// Most blocks that a set in registers may hold as far as the controller can know: as deep as a compressed one can be.
    pub(super) fn most_shadowed(&self) -> u32 {
        if self.compression.is_some() { MOST_COMPRESSED } else { *self.ways }
    }

    /// Blocks of a set in registers as the address separator counts them.
    pub(super) fn counted_blocks(&self) -> u32 {
        self.compression.as_ref().map_or(*self.ways, |compression| *compression.blocks)
    }

    fn check_compression(&self) -> Result<(), ParameterError> {
        let Some(compression) = &self.compression else { return Ok(()) };
        let refuse = |field, message: String| Err(ParameterError::new(field, message));
        let epoch = *compression.epoch_cycles;
        if !(1..=MOST_EPOCH_CYCLES).contains(&epoch) {
            let message = format!("must be 1 to {MOST_EPOCH_CYCLES}, found {epoch}");
            return refuse("compression.epoch_cycles", message);
        }
        let (least, most, blocks) = (*self.ways, self.most_blocks(), *compression.blocks);
        if !(least..=most).contains(&blocks) {
            return refuse("compression.blocks", format!("must be {least} to {most}, found {blocks}"));
        }
        if *self.prediction == Prediction::Perfect {
            let message = "found `perfect`, expected `bloom` or `none`: of a compressed set only its warp knows what it holds";
            return refuse("prediction", message.into());
        }
        Ok(())
    }
}
