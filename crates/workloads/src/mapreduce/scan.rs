//! Exclusive prefix sums: pieces first, their totals in the same way, then both together.

use super::{MapReduce, launch};
use crate::host::{Host, args};
use crate::{DeviceError, DevicePtr};

/// The kernels' SCAN_THREADS, each of which takes two elements.
const BLOCK: u32 = 128;
const PIECE: usize = 2 * BLOCK as usize;

impl MapReduce<'_> {
    /// `sums` becomes the exclusive prefix sums of `n` integers.
    pub(super) fn scan(
        &self,
        host: &mut Host<'_>,
        n: usize,
        values: DevicePtr,
        sums: DevicePtr,
    ) -> Result<(), DeviceError> {
        scan(host, self.label, n, values, sums)
    }
}

/// `sums` becomes the exclusive prefix sums of `n` integers; `label` begins the names of the buffers it needs.
pub(crate) fn scan(
    host: &mut Host<'_>,
    label: &str,
    n: usize,
    values: DevicePtr,
    sums: DevicePtr,
) -> Result<(), DeviceError> {
    let pieces = n.div_ceil(PIECE);
    let totals = host.zeros::<i32>(&format!("{label}_totals"), pieces)?;
    let trees = host.temporaries::<i32>(&format!("{label}_trees"), pieces * (PIECE + PIECE / 32))?;
    let args = [&args![n as i32, values, sums, totals][..], &trees].concat();
    launch(host, "scan_pieces", n.div_ceil(2), BLOCK, &args)?;
    let starts = host.zeros::<i32>(&format!("{label}_piece_starts"), pieces)?;
    if pieces > 1 {
        scan(host, label, pieces, totals, starts)?;
    }
    launch(host, "scan_add", n.div_ceil(2), BLOCK, args![n as i32, starts, sums])
}
