//! What follows the sort: copies in its order, and groups of equal keys.

use super::{Groups, MapReduce, Pairs, launch};
use crate::DeviceError;
use crate::host::{Host, args};

const COPY_BLOCK: u32 = 128;
const GROUP_BLOCK: u32 = 512;

impl MapReduce<'_> {
    /// Sorts pairs, copies their keys and values into that order, and finds the `count` groups of equal keys.
    pub(crate) fn group(
        &self,
        host: &mut Host<'_>,
        pairs: Pairs,
        count: usize,
    ) -> Result<Groups, DeviceError> {
        let n = pairs.count as i32;
        let directory = self.sort(host, pairs)?;
        let sorted = Pairs { directory, ..self.keys_and_values(host, "sorted", pairs.count, pairs.shape)? };

        let sizes = host.zeros::<i32>(&self.name("sizes"), pairs.count)?;
        let starts = host.zeros::<i32>(&self.name("starts"), pairs.count)?;
        for (of_keys, source, target) in [(0, pairs.values, sorted.values), (1, pairs.keys, sorted.keys)] {
            launch(host, "take_sizes", pairs.count, GROUP_BLOCK, args![n, directory, of_keys, sizes])?;
            self.scan(host, pairs.count, sizes, starts)?;
            let args = args![n, of_keys, source, starts, directory, target];
            launch(host, "copy_chunks", pairs.count, COPY_BLOCK, args)?;
        }

        let marks = host.zeros::<i32>(&self.name("marks"), pairs.count)?;
        let group = host.zeros::<i32>(&self.name("group"), pairs.count)?;
        let firsts = host.zeros::<i32>(&self.name("firsts"), count)?;
        let ranges = host.zeros::<i32>(&self.name("ranges"), 2 * count)?;
        let args = [self.input, args![n, sorted.keys, directory, marks]].concat();
        launch(host, "mark_groups", pairs.count, GROUP_BLOCK, &args)?;
        self.scan(host, pairs.count, marks, group)?;
        launch(host, "write_groups", pairs.count, GROUP_BLOCK, args![n, marks, group, firsts])?;
        launch(host, "close_groups", count, GROUP_BLOCK, args![count as i32, n, firsts, ranges])?;
        Ok(Groups { pairs: sorted, ranges, count })
    }
}
