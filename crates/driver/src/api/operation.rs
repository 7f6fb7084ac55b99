//! What a node of a graph does, as clients describe it.

use strata_abi::driver::{AllocationNode, Cuboid, FillNode, KernelNode};
use strata_workloads::Shape;

use crate::api::function;
use crate::api::handles::check_event;
use crate::api::launch::Arguments;
use crate::client::{Bytes, HostFunction, In};
use crate::current;
use crate::graph::parts::{Fill, Graph, Launch, Work};
use crate::log;
use crate::objects::{Attributes, Event};
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work::{copy, fill};

/// Layout of `CUgraphNodeParams`: a type, and a union behind three reserved words.
pub mod parameters {
    pub const UNION: u64 = 16;
    pub const BYTES: usize = 256;
    /// Where the copy stands in `CUDA_MEMCPY_NODE_PARAMS`, behind flags and context.
    pub const COPY: u64 = 16;
}

/// Names of nodes that are not supported, by type.
const REFUSED: [(u32, &str); 4] =
    [(8, "external semaphore"), (9, "external semaphore"), (12, "memory operation"), (13, "conditional")];

/// Bytes of `CUDA_KERNEL_NODE_PARAMS`, the first version of the structure.
pub const OLD_KERNEL_BYTES: usize = 56;

/// The operation of a kernel's node. The first version of the structure names no kernel beside the function.
pub fn kernel(state: &mut State, from: Bytes, is_old: bool) -> Answer<Work> {
    let mut given = KernelNode::default();
    if is_old {
        from.read(OLD_KERNEL_BYTES)?;
        let (words, numbers) = (from.values::<u64>(), from.values::<u32>());
        given.function = words.at(0)?;
        for axis in 0..3 {
            (given.grid[axis], given.block[axis]) = (numbers.at(2 + axis)?, numbers.at(5 + axis)?);
        }
        (given.shared, given.each, given.extra) = (numbers.at(8)?, words.at(5)?, words.at(6)?);
    } else {
        given = from.values::<KernelNode>().get()?;
    }
    let named = if given.function == 0 { given.kernel } else { given.function };
    let context = match given.context {
        0 => current::context().ok_or(Status::InvalidContext)?,
        bits => Handle::from_bits(bits),
    };
    state.contexts.get(context)?;
    let function = function::resolve(state, context, Handle::from_bits(named))?;
    let entry = state.entry(function)?;
    let arguments =
        Arguments { each: Bytes::at(given.each).values(), extra: Bytes::at(given.extra).values() };
    let shape = Shape::new(given.grid, given.block).with_shared(given.shared);
    let block = arguments.block(&entry)?;
    Ok(Work::Kernel(Launch { function, shape, block, attributes: Attributes::new() }))
}

/// The operation of a copy's node.
pub fn copies(state: &State, what: Cuboid) -> Answer<Work> {
    copy::check(state, &what)?;
    Ok(Work::Copy(what))
}

/// The operation of a fill's node.
pub fn fills(given: FillNode) -> Answer<Work> {
    let FillNode { address, pitch, value, element, width, height: rows } = given;
    let fill = Fill { address, pitch, value, element, width, rows };
    fill::check(&fill)?;
    Ok(Work::Fill(fill))
}

/// The operation of a host function's node: a function and its data.
pub fn calls(given: In<u64>) -> Answer<Work> {
    let function = HostFunction::at(given.at(0)?);
    if function.is_null() { Err(Status::InvalidValue) } else { Ok(Work::Host(function, given.at(1)?)) }
}

/// The operation of a node that holds a graph: a copy, which belongs to the node.
pub fn holds(state: &mut State, of: Handle<Graph>) -> Answer<Work> {
    state.graph(of)?;
    if state.has_memory(of)? {
        return Err(Status::NotSupported);
    }
    Ok(Work::Graph(state.copy_graph(of, false, &mut std::collections::BTreeMap::new())?))
}

/// The operation of a node that allocates memory, and the address, which does not change between launches.
pub fn allocates(state: &mut State, given: &mut AllocationNode) -> Answer<Work> {
    let context = current::context().ok_or(Status::InvalidContext)?;
    let is_here = (given.kind, given.place, given.device) == (1, 1, 0);
    if given.bytes == 0 || !is_here || given.access_count > 1 {
        return Err(Status::InvalidValue);
    }
    if given.handles != 0 {
        return Err(Status::NotSupported);
    }
    given.address = state.allocate(context, given.bytes, "a graph")?;
    state.own(given.address);
    Ok(Work::Allocate { address: given.address, bytes: given.bytes })
}

/// The operation that frees memory, which a graph allocates.
pub fn frees(state: &State, address: u64) -> Answer<Work> {
    if state.lent.contains_key(&address) { Ok(Work::Free(address)) } else { Err(Status::InvalidValue) }
}

/// The operation that a `CUgraphNodeParams` describes.
pub fn described(state: &mut State, from: Bytes) -> Answer<Work> {
    from.read(parameters::BYTES)?;
    let kind = from.values::<u32>().get()?;
    let rest = Bytes::at(from.address() + parameters::UNION);
    let word = || rest.values::<u64>().get();
    match kind {
        0 => kernel(state, rest, false),
        1 => copies(state, Bytes::at(rest.address() + parameters::COPY).values().get()?),
        2 => fills(rest.values().get()?),
        3 => calls(rest.values()),
        4 => holds(state, Handle::from_bits(word()?)),
        5 => Ok(Work::Empty),
        6 | 7 => {
            let event = Handle::from_bits(word()?);
            check_event(state, event)?;
            Ok(if kind == 6 { Work::Wait(event) } else { Work::Record(event) })
        }
        10 => {
            let mut given = rest.values::<AllocationNode>().get()?;
            let work = allocates(state, &mut given)?;
            rest.out().put(given)?;
            Ok(work)
        }
        11 => frees(state, word()?),
        other => {
            if let Some((_, name)) = REFUSED.iter().find(|(kind, _)| *kind == other) {
                log::once(format!("a graph's node of type {other} ({name}) is not supported"));
                return Err(Status::NotSupported);
            }
            Err(Status::InvalidValue)
        }
    }
}

/// A fill as clients describe it.
pub fn fill_node(Fill { address, pitch, value, element, width, rows: height }: Fill) -> FillNode {
    FillNode { address, pitch, value, element, width, height }
}

/// An allocation as clients describe it: device memory.
pub fn allocation_node(address: u64, bytes: u64) -> AllocationNode {
    AllocationNode { kind: 1, place: 1, bytes, address, ..AllocationNode::default() }
}

/// The event that a node records.
pub fn recorded(work: &Work) -> Option<Handle<Event>> {
    if let Work::Record(event) = work { Some(*event) } else { None }
}

/// The event that a node waits for.
pub fn awaited(work: &Work) -> Option<Handle<Event>> {
    if let Work::Wait(event) = work { Some(*event) } else { None }
}

/// The operation on an event that exists.
pub fn with_event(
    event: Handle<Event>,
    work: fn(Handle<Event>) -> Work,
) -> impl FnOnce(&mut State) -> Answer<Work> {
    move |state| {
        check_event(state, event)?;
        Ok(work(event))
    }
}
