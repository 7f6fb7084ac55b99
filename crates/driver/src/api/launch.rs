//! Kernel launches. A launch is complete when its call returns.

use std::io::Write;

use strata_gpu::device::Entry;
use strata_workloads::Shape;

use crate::api::configuration::{configured, cooperative};
use crate::api::handles::check_stream;
use crate::api::{api, function};
use crate::client::{Bytes, In};
use crate::engine::Launched;
use crate::objects::{Function, Stream};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Keys of the list that passes all arguments in one buffer; the list ends with `END`.
mod extra {
    pub const END: u64 = 0;
    pub const BUFFER: u64 = 1;
    pub const BUFFER_BYTES: u64 = 2;
}

/// Arguments as a client passes them: a pointer to each, or one buffer.
#[derive(Clone, Copy)]
struct Arguments {
    each: In<Bytes>,
    extra: In<u64>,
}

impl Arguments {
    /// Builds a kernel's parameter block.
    fn block(self, entry: &Entry) -> Answer<Vec<u8>> {
        let kernel = &entry.kernel;
        let mut block = vec![0; kernel.param_bytes as usize];
        if kernel.params.is_empty() {
            return Ok(block);
        }
        if !self.each.is_null() {
            if !self.extra.is_null() {
                return Err(Status::InvalidValue);
            }
            for (index, param) in kernel.params.iter().enumerate() {
                let bytes = self.each.at(index)?.read(param.bytes as usize)?;
                block[param.offset as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            return Ok(block);
        }
        let (buffer, bytes) = self.piece()?;
        packed(entry, buffer.read(bytes.min(block.len()))?)
    }

    /// The buffer that holds all arguments, and its size.
    fn piece(self) -> Answer<(Bytes, usize)> {
        let (mut buffer, mut bytes) = (None, None);
        // The two keys may come in either order; a longer list is invalid.
        for pair in 0..3 {
            let value = |extra: In<u64>| extra.at(2 * pair + 1).map(Bytes::at);
            match self.extra.at(2 * pair)? {
                extra::END => break,
                extra::BUFFER => buffer = Some(value(self.extra)?),
                extra::BUFFER_BYTES => bytes = Some(value(self.extra)?.values::<usize>().get()?),
                _ => return Err(Status::InvalidValue),
            }
        }
        buffer.zip(bytes).ok_or(Status::InvalidValue)
    }
}

/// Builds a parameter block from arguments in one buffer, which may omit only padding.
pub fn packed(entry: &Entry, given: &[u8]) -> Answer<Vec<u8>> {
    let kernel = &entry.kernel;
    let mut block = vec![0; kernel.param_bytes as usize];
    let last = kernel.params.iter().map(|param| param.offset + param.bytes).max().unwrap_or(0);
    if given.len() < last as usize {
        return Err(Status::InvalidValue);
    }
    let given = &given[..given.len().min(block.len())];
    block[..given.len()].copy_from_slice(given);
    Ok(block)
}

/// Runs a kernel to completion, with the shape and parameter block that `how` returns.
pub fn launch(
    function: Handle<Function>,
    on: Handle<Stream>,
    how: impl FnOnce(&State, Handle<Function>, &Entry) -> Answer<(Shape, Vec<u8>)>,
) -> Answer {
    let printed = state::with_current(|state, context| {
        check_stream(state, on)?;
        let function = function::resolve(state, context, function)?;
        let entry = state.entry(function)?;
        let (shape, block) = how(state, function, &entry)?;
        state.has_run(&entry, function)?;
        run(state, &entry, shape, &block)
    })?;
    if !printed.is_empty() {
        // Ignore write errors: nobody is listening.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(printed.as_bytes()).and_then(|()| out.flush());
    }
    Ok(())
}

fn run(state: &mut State, entry: &Entry, shape: Shape, block: &[u8]) -> Answer<String> {
    let threads = shape.block.iter().try_fold(1_u32, |all, side| all.checked_mul(*side));
    let shared = entry.kernel.shared_bytes.saturating_add(shape.dynamic_shared);
    let machine = &state.settings.machine;
    let cluster = entry.kernel.launch_bounds.cluster.or(shape.cluster);
    let together = cluster.map_or(1, |cluster| cluster.iter().fold(1_u32, |all, n| all.saturating_mul(*n)));
    if let Some(threads @ 1..=1024) = threads
        && machine.resident_ctas(&entry.kernel, threads, shared) < together
    {
        return Err(Status::LaunchOutOfResources);
    }
    state.mirror_to_device()?;
    let launched = state.execute(entry, shape, block)?;
    state.mirror_to_host()?;
    Ok(match launched {
        Launched::Timed(result) => result.printed.concat(),
        Launched::Functional(summary) => summary.printed,
    })
}

api! {
    /// Launches a kernel. Returns when the launch is complete.
    cuLaunchKernel = "cuLaunchKernel" 4000 (
        function: Handle<Function>, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32,
        block_z: u32, shared: u32, stream: Handle<Stream>, each: In<Bytes>, extra: In<u64>,
    ) {
        let shape = Shape::new([grid_x, grid_y, grid_z], [block_x, block_y, block_z]).with_shared(shared);
        launch(function, stream, |_, _, entry| Ok((shape, Arguments { each, extra }.block(entry)?)))
    }

    /// Launches a kernel with attributes. Grid synchronisation is refused; attributes other than that and clusters have
    /// no modelled effect.
    cuLaunchKernelEx = "cuLaunchKernelEx" 11060 (
        config: Bytes, function: Handle<Function>, each: In<Bytes>, extra: In<u64>,
    ) {
        let (shape, stream) = configured(config)?;
        launch(function, stream, |state, function, entry| {
            let size = shape.cluster.map_or(1, |cluster| cluster.iter().fold(1_u32, |all, n| all.saturating_mul(*n)));
            if size > function::most_of_cluster(state, function)? {
                return Err(Status::InvalidClusterSize);
            }
            Ok((shape, Arguments { each, extra }.block(entry)?))
        })
    }

    /// Fails: grid synchronisation is not supported.
    cuLaunchCooperativeKernel = "cuLaunchCooperativeKernel" 9000 (
        function: Handle<Function>, _grid_x: u32, _grid_y: u32, _grid_z: u32, _block_x: u32, _block_y: u32,
        _block_z: u32, _shared: u32, stream: Handle<Stream>, _each: In<Bytes>,
    ) {
        state::with_current(|state, context| {
            check_stream(state, stream)?;
            function::resolve(state, context, function).map(|_| ())
        })?;
        Err(cooperative())
    }
}
