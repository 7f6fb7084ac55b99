//! The host side of Mars (He et al., "Mars: a MapReduce framework on graphics processors", PACT 2008): map, sort, group
//! and reduce over key/value pairs in device memory. Its kernels are the headers of `src/cuda`.

mod expected;
mod group;
mod kernels;
pub(crate) mod scan;
mod sort;
pub(crate) mod text;

use crate::host::{Host, args};
use crate::{Arg, DeviceError, DevicePtr};

pub(crate) use expected::{firsts, hash_text};
pub(crate) use kernels::{MAP, MAP_GROUP, MAP_REDUCE, mars_differences};

/// Mars's threads per CTA of map and reduce, unless a program asks for another number.
pub(crate) const BLOCK: u32 = 256;
/// Shared memory of each thread of map and reduce, where pairs are put together: five words, as Mars has it.
const STAGING_BYTES: u32 = 20;

/// Bytes of every key and of every value of an array of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) key_bytes: usize,
    pub(crate) value_bytes: usize,
}

/// Pairs in device memory: keys, values, and a directory of where each begins and how long it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs {
    count: usize,
    shape: Shape,
    keys: DevicePtr,
    values: DevicePtr,
    directory: DevicePtr,
}

/// Sorted pairs and the ranges of equal keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    pub(crate) pairs: Pairs,
    ranges: DevicePtr,
    count: usize,
}

/// One MapReduce. How many pairs and groups come out of each stage is the caller's knowledge: nothing is read back
/// between kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapReduce<'a> {
    /// Begins the names of its buffers.
    pub(crate) label: &'a str,
    /// What its map and compare read beside pairs: the kernels' INPUT_PARAMETERS.
    pub(crate) input: &'a [Arg],
    /// Threads per CTA of map and reduce.
    pub(crate) block: u32,
}

/// The arrays of a two-pass stage: what each task emits, and where.
struct Tasks {
    counts: [DevicePtr; 3],
    starts: [DevicePtr; 3],
    written: DevicePtr,
    emitted: DevicePtr,
}

impl MapReduce<'_> {
    fn name(&self, what: &str) -> String {
        format!("{}_{what}", self.label)
    }

    /// Copies records to the device. All keys have one size, and all values.
    pub(crate) fn records(
        &self,
        host: &mut Host<'_>,
        count: usize,
        keys: &[i32],
        values: &[i32],
    ) -> Result<Pairs, DeviceError> {
        let shape = Shape { key_bytes: 4 * keys.len() / count, value_bytes: 4 * values.len() / count };
        let keys = if keys.is_empty() { &[0] } else { keys };
        Ok(Pairs {
            count,
            shape,
            keys: host.buffer(&self.name("record_keys"), keys)?,
            values: host.buffer(&self.name("record_values"), values)?,
            directory: host.buffer(&self.name("record_directory"), &directory(count, shape))?,
        })
    }

    /// Runs map on every record: `count` pairs come out.
    pub(crate) fn map(
        &self,
        host: &mut Host<'_>,
        records: Pairs,
        count: usize,
        shape: Shape,
    ) -> Result<Pairs, DeviceError> {
        let pairs = self.pairs(host, "mapped", count, shape)?;
        let records_of =
            args![records.count as i32, records.directory, records.keys, records.values].to_vec();
        self.two_passes(host, ["map_counts", "map_records"], self.input, &records_of, records.count, pairs)?;
        Ok(pairs)
    }

    /// Runs reduce on every group: a pair for each comes out.
    pub(crate) fn reduce(
        &self,
        host: &mut Host<'_>,
        groups: Groups,
        shape: Shape,
    ) -> Result<Pairs, DeviceError> {
        let reduced = self.pairs(host, "reduced", groups.count, shape)?;
        let Pairs { keys, values, directory, .. } = groups.pairs;
        let groups_of = args![groups.count as i32, groups.ranges, directory, keys, values].to_vec();
        self.two_passes(host, ["reduce_counts", "reduce_groups"], &[], &groups_of, groups.count, reduced)?;
        Ok(reduced)
    }

    /// A pass that counts what each task emits, prefix sums, and a pass that emits it.
    fn two_passes(
        &self,
        host: &mut Host<'_>,
        [count, emit]: [&str; 2],
        input: &[Arg],
        from: &[Arg],
        tasks: usize,
        to: Pairs,
    ) -> Result<(), DeviceError> {
        let threads = tasks.next_multiple_of(self.block as usize);
        let Tasks { counts, starts, written, emitted } = self.tasks(host, threads)?;
        launch(host, count, tasks, self.block, &[input, from, &counts.map(Arg::Ptr)].concat())?;
        for (count, start) in counts.into_iter().zip(starts) {
            self.scan(host, threads, count, start)?;
        }
        let places = [written, emitted, to.keys, to.values, to.directory].map(Arg::Ptr);
        let args = [input, from, &starts.map(Arg::Ptr), &places].concat();
        let grid = [tasks.div_ceil(self.block as usize) as u32, 1, 1];
        host.launch_with_shared(emit, grid, [self.block, 1, 1], self.block * STAGING_BYTES, &args)
    }

    fn tasks(&self, host: &mut Host<'_>, threads: usize) -> Result<Tasks, DeviceError> {
        let mut zeros = |what: &str, words: usize| host.zeros::<i32>(&self.name(what), words * threads);
        Ok(Tasks {
            counts: [zeros("key_bytes", 1)?, zeros("value_bytes", 1)?, zeros("pair_counts", 1)?],
            starts: [zeros("key_starts", 1)?, zeros("value_starts", 1)?, zeros("pair_starts", 1)?],
            written: zeros("written", 2)?,
            emitted: zeros("emitted", 1)?,
        })
    }

    fn pairs(
        &self,
        host: &mut Host<'_>,
        stage: &str,
        count: usize,
        shape: Shape,
    ) -> Result<Pairs, DeviceError> {
        let pairs = self.keys_and_values(host, stage, count, shape)?;
        let directory = host.zeros::<i32>(&self.name(&format!("{stage}_directory")), 4 * count)?;
        Ok(Pairs { directory, ..pairs })
    }

    /// Pairs whose directory is still to come.
    fn keys_and_values(
        &self,
        host: &mut Host<'_>,
        stage: &str,
        count: usize,
        shape: Shape,
    ) -> Result<Pairs, DeviceError> {
        let keys = host.zeros::<u8>(&self.name(&format!("{stage}_keys")), count * shape.key_bytes)?;
        let values = host.zeros::<u8>(&self.name(&format!("{stage}_values")), count * shape.value_bytes)?;
        Ok(Pairs { count, shape, keys, values, directory: keys })
    }
}

/// The directory of pairs that follow each other without gaps.
fn directory(count: usize, shape: Shape) -> Vec<i32> {
    let Shape { key_bytes, value_bytes } = shape;
    let entry = |at: usize| [at * key_bytes, key_bytes, at * value_bytes, value_bytes];
    (0..count).flat_map(entry).map(|n| i32::try_from(n).expect("offsets fit an int")).collect()
}

/// A thread for each of `n` elements.
fn launch(host: &mut Host<'_>, kernel: &str, n: usize, block: u32, args: &[Arg]) -> Result<(), DeviceError> {
    let ctas = u32::try_from(n.div_ceil(block as usize)).expect("a grid fits its launch");
    host.launch(kernel, [ctas, 1, 1], [block, 1, 1], args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_by_hand() {
        let shape = Shape { key_bytes: 4, value_bytes: 8 };
        assert_eq!(directory(2, shape), [0, 4, 0, 8, 4, 4, 8, 8]);
    }
}
