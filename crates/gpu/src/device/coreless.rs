//! Calls that run on the reference executor with the machine's memory: host phases of a machine without CPU cores, and launches
//! before those that are measured.

use strata_ptx::reference::{Executor, GlobalMemory, LaunchConfig, Options, Summary};
use strata_workloads::DeviceError;

use super::card::Call;
use super::functional::failed;
use crate::gpu::Gpu;

/// Bytes of a buffer that are written back when one of them has changed.
const PIECE_BYTES: usize = 4096;

/// Runs a call on the reference executor, with a copy of the machine's memory. What was written before a fault stays.
///
/// # Errors
/// [`DeviceError::Failed`].
pub(super) fn run_functionally(
    call: &Call<'_>,
    options: Options,
    gpu: &mut Gpu,
) -> Result<Summary, DeviceError> {
    let mut memory = GlobalMemory::new();
    for buffer in call.heap.buffers() {
        let mut bytes = vec![0; buffer.bytes as usize];
        gpu.read(buffer.start, &mut bytes);
        assert!(memory.insert(buffer.start, bytes), "the heap hands out disjoint buffers");
    }
    let before = memory.clone();
    let config = LaunchConfig {
        grid: call.shape.grid,
        block: call.shape.block,
        cluster: call.shape.cluster,
        dynamic_shared: call.shape.dynamic_shared,
        params: call.params.to_vec(),
    };
    let done = Executor::new(call.kernel, config, call.variables, &mut memory)
        .with_options(options)
        .with_headers(call.headers)
        .run();
    for (before, after) in before.allocations().iter().zip(memory.allocations()) {
        let pieces = before.bytes.chunks(PIECE_BYTES).zip(after.bytes.chunks(PIECE_BYTES));
        for (index, (_, bytes)) in pieces.enumerate().filter(|(_, (before, after))| before != after) {
            gpu.write(after.base + (index * PIECE_BYTES) as u64, bytes);
        }
    }
    done.map_err(|fault| failed(&fault, call.heap))
}
