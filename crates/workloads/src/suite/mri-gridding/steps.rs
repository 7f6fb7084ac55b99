//! The host side up to the sorted samples: binning, radix sort, scan, copy.

use super::{CAPACITY, MriGridding, Sample};
use crate::DevicePtr;
use crate::suite::prelude::*;

/// Parboil's block of the kernels with a thread per sample.
const BLOCK: [u32; 3] = [512, 1, 1];
/// Values that a CTA of the scans and the sorts has.
const VALUES: u32 = 1024;
const SCAN_BLOCK: [u32; 3] = [VALUES / 2, 1, 1];
const SORT_BLOCK: [u32; 3] = [VALUES / 4, 1, 1];
const DIGIT_BITS: u32 = 4;
/// Totals that a scan makes at least.
const LEAST_TOTALS: u32 = 128;

/// Buffers of samples in the order of their cells.
#[derive(Debug)]
pub(super) struct Sorted {
    /// The samples' former indices.
    pub(super) order: DevicePtr,
    pub(super) data: DevicePtr,
    pub(super) locations: DevicePtr,
    /// Each cell's first sample.
    pub(super) bin_starts: DevicePtr,
}

impl MriGridding {
    pub(super) fn sort(&self, host: &mut Host<'_>, samples: &[Sample]) -> Result<Sorted, DeviceError> {
        let (n, cells) = (samples.len(), self.grid.cells());
        let as_acquired: Vec<f32> = samples
            .iter()
            .flat_map(|&Sample { real, imaginary, cell, compensation }| {
                let [kx, ky, kz] = cell.map(|k| k as f32);
                [real, imaginary, kx, ky, kz, compensation]
            })
            .collect();
        let d_samples = host.buffer("samples", &as_acquired)?;
        let bin_starts = host.zeros::<u32>("bin_starts", cells + 1)?;
        let padded = n.next_multiple_of(4);
        // What pads the keys is greater than all others.
        let mut keys = host.buffer("keys_0", &vec![u32::MAX; padded])?;
        let mut values = host.zeros::<u32>("values_0", padded)?;
        let mut other_keys = host.zeros::<u32>("keys_1", padded)?;
        let mut other_values = host.zeros::<u32>("values_1", padded)?;
        let totals = host.zeros::<u32>("totals", VALUES as usize)?;

        let grid = [ctas(n, BLOCK[0]), 1, 1];
        let args = args![n as u32, d_samples, keys, values, bin_starts, CAPACITY as u32, cells as u32];
        host.launch("binning", grid, BLOCK, args)?;

        let sort_ctas = ctas(n, VALUES);
        let counts = sort_ctas << DIGIT_BITS;
        let histogram = host.zeros::<u32>("histogram", counts as usize)?;
        // The greatest key is `cells`; Parboil sorts by one value more.
        let bits = usize::BITS - (cells + 1).leading_zeros();
        for shift in (0..bits).step_by(DIGIT_BITS as usize) {
            let args = args![int(n), shift as i32, keys, values, histogram];
            host.launch("split_sort", [sort_ctas, 1, 1], SORT_BLOCK, args)?;
            scan(host, counts, histogram, totals)?;
            let args = args![int(n), shift as i32, keys, other_keys, values, other_values, histogram];
            host.launch("split_rearrange", [sort_ctas, 1, 1], SORT_BLOCK, args)?;
            std::mem::swap(&mut keys, &mut other_keys);
            std::mem::swap(&mut values, &mut other_values);
        }

        let data = host.zeros::<f32>("data", 2 * n)?;
        let locations = host.zeros::<f32>("locations", 4 * n)?;
        host.launch("reorder", grid, BLOCK, args![n as u32, values, d_samples, data, locations])?;
        scan(host, cells as u32 + 1, bin_starts, totals)?;
        Ok(Sorted { order: values, data, locations, bin_starts })
    }
}

/// Replaces `n` values by their exclusive prefix sums.
fn scan(host: &mut Host<'_>, n: u32, values: DevicePtr, totals: DevicePtr) -> Result<(), DeviceError> {
    let blocks = n.div_ceil(VALUES);
    let held = blocks.next_power_of_two().max(LEAST_TOTALS);
    assert!(held <= VALUES, "a scan of {n} values has more than {VALUES} totals");
    host.fill(totals, 0, u64::from(held) * 4)?;
    host.launch("scan_blocks", [blocks, 1, 1], SCAN_BLOCK, args![n, values, totals])?;

    let block = [held / 2, 1, 1];
    host.launch_with_shared("scan_totals_up", [1; 3], block, held * 4, args![totals])?;
    host.fill(totals.offset(u64::from(held - 1) * 4), 0, 4)?;
    host.launch_with_shared("scan_totals_down", [1; 3], block, held * 4, args![totals])?;

    host.launch("add_totals", [blocks, 1, 1], SCAN_BLOCK, args![n, values, totals])
}
