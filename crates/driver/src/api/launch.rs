//! Kernel launches. A launch is complete when its call returns.

use strata_gpu::device::Entry;
use strata_workloads::Shape;

use crate::api::configuration::configured;
use crate::api::{api, function};
use crate::client::{Bytes, In};
use crate::graph::parts::{Launch, Work};
use crate::objects::{Attributes, Function, Stream};
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work;
use crate::work::launch::attribute;

/// Keys of the list that passes all arguments in one buffer; the list ends with `END`.
mod extra {
    pub const END: u64 = 0;
    pub const BUFFER: u64 = 1;
    pub const BUFFER_BYTES: u64 = 2;
}

/// Arguments as a client passes them: a pointer to each, or one buffer.
#[derive(Clone, Copy)]
pub struct Arguments {
    /// A pointer to each argument.
    pub each: In<Bytes>,
    /// The list that names one buffer.
    pub extra: In<u64>,
}

impl Arguments {
    /// Builds a kernel's parameter block.
    pub fn block(self, entry: &Entry) -> Answer<Vec<u8>> {
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

/// Launches a kernel in a stream, with the shape and parameter block that `how` returns.
pub fn launch(
    function: Handle<Function>,
    on: Handle<Stream>,
    attributes: Attributes,
    how: impl FnOnce(&State, Handle<Function>, &Entry) -> Answer<(Shape, Vec<u8>)>,
) -> Answer {
    work::submit(on, |state, context| {
        let function = function::resolve(state, context, function)?;
        let entry = state.entry(function)?;
        let (shape, block) = how(state, function, &entry)?;
        Ok(Work::Kernel(Launch { function, shape, block, attributes }))
    })
}

api! {
    /// Launches a kernel. Returns when the launch is complete.
    cuLaunchKernel | cuLaunchKernel_ptsz = "cuLaunchKernel" 4000 (
        function: Handle<Function>, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32,
        block_z: u32, shared: u32, stream: Handle<Stream>, each: In<Bytes>, extra: In<u64>,
    ) {
        let shape = Shape::new([grid_x, grid_y, grid_z], [block_x, block_y, block_z]).with_shared(shared);
        launch(function, stream, Attributes::new(), |_, _, entry| Ok((shape, Arguments { each, extra }.block(entry)?)))
    }

    /// Launches a kernel with attributes. Those other than of clusters, of cooperative launches and those that name events
    /// have no modelled effect. Programmatic stream serialization would let a launch begin
    /// before the one ahead of it ends; here it never does, which the attribute allows.
    cuLaunchKernelEx | cuLaunchKernelEx_ptsz = "cuLaunchKernelEx" 11060 (
        config: Bytes, function: Handle<Function>, each: In<Bytes>, extra: In<u64>,
    ) {
        let (shape, stream, attributes) = configured(config)?;
        launch(function, stream, attributes, |_, _, entry| Ok((shape, Arguments { each, extra }.block(entry)?)))
    }

    /// Launches a kernel whose CTAs are all resident together, so that the grid can synchronise.
    cuLaunchCooperativeKernel | cuLaunchCooperativeKernel_ptsz = "cuLaunchCooperativeKernel" 9000 (
        function: Handle<Function>, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32,
        block_z: u32, shared: u32, stream: Handle<Stream>, each: In<Bytes>,
    ) {
        let shape = Shape::new([grid_x, grid_y, grid_z], [block_x, block_y, block_z]).with_shared(shared);
        let mut value = [0; 64];
        value[0] = 1;
        let attributes = Attributes::from([(attribute::COOPERATIVE, value)]);
        let extra = Bytes::at(0).values();
        launch(function, stream, attributes, |_, _, entry| Ok((shape, Arguments { each, extra }.block(entry)?)))
    }
}
