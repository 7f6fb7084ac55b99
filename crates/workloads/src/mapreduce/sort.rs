//! The bitonic sort of a directory.

use super::{MapReduce, Pairs, launch};
use crate::host::{Host, args};
use crate::{DeviceError, DevicePtr};

/// The kernels' SORT_THREADS.
const UNIT: usize = 256;

impl MapReduce<'_> {
    /// Gives a sorted copy of the directory. Its keys and values stay in place.
    pub(super) fn sort(&self, host: &mut Host<'_>, pairs: Pairs) -> Result<DevicePtr, DeviceError> {
        // At least two units, so that a small sort runs every kernel.
        let padded = pairs.count.next_power_of_two().max(2 * UNIT);
        let entries = host.zeros::<i32>(&self.name("sorted_directory"), 4 * padded)?;
        let block = UNIT as u32;
        let load = args![pairs.count as i32, padded as i32, pairs.directory, entries];
        launch(host, "sort_load", padded, block, load)?;

        let common = [self.input, args![pairs.keys, entries]].concat();
        launch(host, "sort_units", padded, block, &common)?;
        let mut stage = 2 * UNIT;
        while stage <= padded {
            let mut distance = stage / 2;
            while distance >= UNIT {
                let step = [&common[..], args![stage as i32, distance as i32]].concat();
                launch(host, "sort_step", padded, block, &step)?;
                distance /= 2;
            }
            launch(host, "sort_parts", padded, block, &[&common[..], args![stage as i32]].concat())?;
            stage *= 2;
        }
        // The padding sorts first.
        Ok(entries.offset(16 * (padded - pairs.count) as u64))
    }
}
