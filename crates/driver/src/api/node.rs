//! Nodes of graphs: what each does, and how that is changed.

use strata_abi::driver::{AllocationNode, Cuboid, FillNode, KernelNode};
use strata_workloads::Shape;

use crate::api::configuration::set_attribute;
use crate::api::graph::dependencies;
use crate::api::handles::check_event;
use crate::api::launch::Arguments;
use crate::api::{api, function};
use crate::client::{Bytes, HostFunction, In, Out};
use crate::current;
use crate::graph::parts::{EdgeData, Executable, Fill, Graph, Launch, Node, Shown, Work};
use crate::graph::user::Gone;
use crate::log;
use crate::objects::{Attributes, Context, Event};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work::{copy, fill};

/// Layout of `CUgraphNodeParams`: a type, and a union behind three reserved words.
mod parameters {
    pub const UNION: u64 = 16;
    pub const BYTES: usize = 256;
    /// Where the copy stands in `CUDA_MEMCPY_NODE_PARAMS`, behind flags and context.
    pub const COPY: u64 = 16;
}

/// Names of nodes that are not supported, by type.
const REFUSED: [(u32, &str); 4] =
    [(8, "external semaphore"), (9, "external semaphore"), (12, "memory operation"), (13, "conditional")];

/// Bytes of `CUDA_KERNEL_NODE_PARAMS`, the first version of the structure.
const OLD_KERNEL_BYTES: usize = 56;

/// The operation of a kernel's node. The first version of the structure names no kernel beside the function.
fn kernel(state: &mut State, from: Bytes, is_old: bool) -> Answer<Work> {
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
fn copies(state: &State, what: Cuboid) -> Answer<Work> {
    copy::check(state, &what)?;
    Ok(Work::Copy(what))
}

/// The operation of a fill's node.
fn fills(given: FillNode) -> Answer<Work> {
    let FillNode { address, pitch, value, element, width, height: rows } = given;
    let fill = Fill { address, pitch, value, element, width, rows };
    fill::check(&fill)?;
    Ok(Work::Fill(fill))
}

/// The operation of a host function's node: a function and its data.
fn calls(given: In<u64>) -> Answer<Work> {
    let function = HostFunction::at(given.at(0)?);
    if function.is_null() { Err(Status::InvalidValue) } else { Ok(Work::Host(function, given.at(1)?)) }
}

/// The operation of a node that holds a graph: a copy, which belongs to the node.
fn holds(state: &mut State, of: Handle<Graph>) -> Answer<Work> {
    state.graph(of)?;
    if state.has_memory(of)? {
        return Err(Status::NotSupported);
    }
    Ok(Work::Graph(state.copy_graph(of, false, &mut std::collections::BTreeMap::new())?))
}

/// The operation of a node that allocates memory, and the address, which does not change between launches.
fn allocates(state: &mut State, given: &mut AllocationNode) -> Answer<Work> {
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
fn frees(state: &State, address: u64) -> Answer<Work> {
    if state.lent.contains_key(&address) { Ok(Work::Free(address)) } else { Err(Status::InvalidValue) }
}

/// The operation that a `CUgraphNodeParams` describes.
fn described(state: &mut State, from: Bytes) -> Answer<Work> {
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

/// Adds a node that does what `make` returns.
fn add(
    to: Out<Handle<Node>>,
    graph: Handle<Graph>,
    before: Answer<Vec<(Handle<Node>, EdgeData)>>,
    make: impl FnOnce(&mut State) -> Answer<Work>,
) -> Answer {
    let failed = state::with_current(|state, _| {
        let place = to.place()?;
        state.graph(graph)?;
        let before = before?;
        if before.iter().any(|(node, _)| state.nodes.get(*node).is_ok_and(|node| node.graph != graph)) {
            return Err(Status::InvalidValue);
        }
        let work = make(state)?;
        match state.add_node(graph, &before, work.clone()) {
            Ok(node) => {
                place.put(node);
                Ok(None)
            }
            // What was made for the node goes with it.
            Err(status) => Ok(Some((status, state.discard(work)?))),
        }
    })?;
    match failed {
        None => Ok(()),
        Some((status, gone)) => gone.finish().and(Err(status)),
    }
}

/// Without data of edges.
fn plain(nodes: In<Handle<Node>>, count: usize) -> Answer<Vec<(Handle<Node>, EdgeData)>> {
    dependencies(nodes, Bytes::at(0).values(), count)
}

/// Replaces a node's operation by one of the same type. What was the node's own before is gone.
fn replace(node: Handle<Node>, make: impl FnOnce(&mut State) -> Answer<Work>) -> Answer {
    let gone = state::with_current(|state, _| {
        state.graph(state.nodes.get(node)?.graph)?;
        let work = make(state)?;
        put(state, node, work)
    })?;
    gone.finish()
}

/// Replaces the operation of an executable graph's node by one of the same type.
fn replace_in(
    executable: Handle<Executable>,
    node: Handle<Node>,
    make: impl FnOnce(&mut State) -> Answer<Work>,
) -> Answer {
    let gone = state::with_current(|state, _| {
        let copy = state.copy_of(executable, node)?;
        let work = make(state)?;
        put(state, copy, work)
    })?;
    gone.finish()
}

/// Replaces a node's operation. Attributes of a launch stay; graphs and memory cannot be replaced.
fn put(state: &mut State, node: Handle<Node>, mut work: Work) -> Answer<Gone> {
    let old = &state.nodes.get(node)?.work;
    let is_fixed = matches!(work, Work::Graph(_) | Work::Allocate { .. } | Work::Free(_));
    if old.kind() != work.kind() || is_fixed {
        let _ = old;
        let gone = state.discard(work)?;
        return gone.finish().and(Err(Status::InvalidValue));
    }
    if let (Work::Kernel(old), Work::Kernel(new)) = (old, &mut work) {
        new.attributes.clone_from(&old.attributes);
    }
    let held = state.nodes.get_mut(node)?;
    (held.work, held.shown) = (work, Shown::default());
    Ok(Gone::default())
}

impl State {
    /// Frees what was made for an operation that no node has.
    fn discard(&mut self, work: Work) -> Answer<Gone> {
        match work {
            Work::Graph(graph) => self.destroy_graph(graph),
            Work::Allocate { address, .. } => self.disown(address).map(|()| Default::default()),
            _ => Ok(Default::default()),
        }
    }

    /// The parameters of a kernel's node, with arguments at an address that stays until the node changes.
    fn show(&mut self, node: Handle<Node>) -> Answer<KernelNode> {
        let Work::Kernel(launch) = &self.nodes.get(node)?.work else { return Err(Status::InvalidValue) };
        let launch = launch.clone();
        let params = &self.functions.get(launch.function)?.entry.kernel.params;
        let block = launch.block.into_boxed_slice();
        let start = Bytes::of(&block).address();
        let each: Box<[u64]> = params.iter().map(|param| start + u64::from(param.offset)).collect();
        let given = KernelNode {
            function: launch.function.bits(),
            grid: launch.shape.grid,
            block: launch.shape.block,
            shared: launch.shape.dynamic_shared,
            each: each.as_ptr().expose_provenance() as u64,
            ..KernelNode::default()
        };
        self.nodes.get_mut(node)?.shown = (block, each);
        Ok(given)
    }

    /// The attributes of a kernel's node.
    fn attributes(&mut self, node: Handle<Node>) -> Answer<&mut Attributes> {
        self.graph(self.nodes.get(node)?.graph)?;
        match &mut self.nodes.get_mut(node)?.work {
            Work::Kernel(launch) => Ok(&mut launch.attributes),
            _ => Err(Status::InvalidValue),
        }
    }
}

/// A fill as clients describe it.
fn fill_node(Fill { address, pitch, value, element, width, rows: height }: Fill) -> FillNode {
    FillNode { address, pitch, value, element, width, height }
}

/// An allocation as clients describe it: device memory.
fn allocation_node(address: u64, bytes: u64) -> AllocationNode {
    AllocationNode { kind: 1, place: 1, bytes, address, ..AllocationNode::default() }
}

/// Reads a node's operation.
fn read<R>(node: Handle<Node>, read: impl FnOnce(&mut State, &Work) -> Answer<R>) -> Answer<R> {
    state::with(|state| {
        let held = state.nodes.get(node)?;
        state.graph(held.graph)?;
        let work = held.work.clone();
        read(state, &work)
    })
}

fn event_of(
    node: Handle<Node>,
    of: impl FnOnce(&Work) -> Option<Handle<Event>>,
    to: Out<Handle<Event>>,
) -> Answer {
    read(node, |_, work| to.put(of(work).ok_or(Status::InvalidValue)?))
}

/// The event that a node records.
fn recorded(work: &Work) -> Option<Handle<Event>> {
    if let Work::Record(event) = work { Some(*event) } else { None }
}

/// The event that a node waits for.
fn awaited(work: &Work) -> Option<Handle<Event>> {
    if let Work::Wait(event) = work { Some(*event) } else { None }
}

/// The operation on an event that exists.
fn with_event(
    event: Handle<Event>,
    work: fn(Handle<Event>) -> Work,
) -> impl FnOnce(&mut State) -> Answer<Work> {
    move |state| {
        check_event(state, event)?;
        Ok(work(event))
    }
}

api! {
    /// Adds a node of any type.
    cuGraphAddNode = "cuGraphAddNode" 12020 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, parameters: Bytes,
    ) {
        add(node, graph, plain(before, count), |state| described(state, parameters))
    }

    /// Adds a node of any type behind edges with data.
    cuGraphAddNode_v2 / cuGraphAddNode_v3 13040 = "cuGraphAddNode" 12030 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, edges: In<EdgeData>, count: usize,
        parameters: Bytes,
    ) {
        add(node, graph, dependencies(before, edges, count), |state| described(state, parameters))
    }

    /// Replaces what a node does.
    cuGraphNodeSetParams / cuGraphNodeSetParams_v2 13040 = "cuGraphNodeSetParams" 12020 (
        node: Handle<Node>, parameters: Bytes,
    ) {
        replace(node, |state| described(state, parameters))
    }

    /// Writes what a node does. What is pointed to stays until the node changes.
    cuGraphNodeGetParams = "cuGraphNodeGetParams" 13020 (node: Handle<Node>, parameters: Bytes) {
        read(node, |state, work| {
            let rest = Bytes::at(parameters.address() + parameters::UNION);
            parameters.write(parameters::BYTES)?.fill(0);
            parameters.out().put(work.kind())?;
            match *work {
                Work::Kernel(_) => rest.out().put(state.show(node)?),
                Work::Copy(what) => Bytes::at(rest.address() + parameters::COPY).out().put(what),
                Work::Fill(fill) => rest.out().put(fill_node(fill)),
                Work::Host(function, data) => rest.out().put([function.address(), data]),
                Work::Graph(graph) => rest.out().put(graph),
                Work::Wait(event) | Work::Record(event) => rest.out().put(event),
                Work::Allocate { address, bytes } => rest.out().put(allocation_node(address, bytes)),
                Work::Free(address) => rest.out().put(address),
                Work::Empty => Ok(()),
            }
        })
    }

    /// Replaces what a node of an executable graph does.
    cuGraphExecNodeSetParams = "cuGraphExecNodeSetParams" 12020 (
        executable: Handle<Executable>, node: Handle<Node>, parameters: Bytes,
    ) {
        replace_in(executable, node, |state| described(state, parameters))
    }

    /// Adds a launch.
    cuGraphAddKernelNode = "cuGraphAddKernelNode" 10000 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, launch: Bytes,
    ) {
        add(node, graph, plain(before, count), |state| kernel(state, launch, true))
    }

    /// Adds a launch.
    cuGraphAddKernelNode_v2 = "cuGraphAddKernelNode" 12000 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, launch: Bytes,
    ) {
        add(node, graph, plain(before, count), |state| kernel(state, launch, false))
    }

    /// Writes a launch; its arguments stay where they are until the node changes.
    cuGraphKernelNodeGetParams = "cuGraphKernelNodeGetParams" 10000 (node: Handle<Node>, launch: Bytes) {
        read(node, |state, _| {
            let found = state.show(node)?;
            let words = [[found.function, 0], [found.each, found.extra]].map(|pair| pair.map(u64::to_le_bytes).concat());
            let numbers = [found.grid[0], found.grid[1], found.grid[2], found.block[0], found.block[1], found.block[2]];
            let to = launch.write(OLD_KERNEL_BYTES)?;
            to[..8].copy_from_slice(&words[0][..8]);
            to[8..32].copy_from_slice(&numbers.map(u32::to_le_bytes).concat());
            to[32..36].copy_from_slice(&found.shared.to_le_bytes());
            to[40..].copy_from_slice(&words[1]);
            Ok(())
        })
    }

    /// Writes a launch; its arguments stay where they are until the node changes.
    cuGraphKernelNodeGetParams_v2 = "cuGraphKernelNodeGetParams" 12000 (
        node: Handle<Node>, launch: Out<KernelNode>,
    ) {
        read(node, |state, _| launch.put(state.show(node)?))
    }

    /// Replaces a launch.
    cuGraphKernelNodeSetParams = "cuGraphKernelNodeSetParams" 10000 (node: Handle<Node>, launch: Bytes) {
        replace(node, |state| kernel(state, launch, true))
    }

    /// Replaces a launch.
    cuGraphKernelNodeSetParams_v2 = "cuGraphKernelNodeSetParams" 12000 (node: Handle<Node>, launch: Bytes) {
        replace(node, |state| kernel(state, launch, false))
    }

    /// Replaces a launch of an executable graph.
    cuGraphExecKernelNodeSetParams = "cuGraphExecKernelNodeSetParams" 10010 (
        executable: Handle<Executable>, node: Handle<Node>, launch: Bytes,
    ) {
        replace_in(executable, node, |state| kernel(state, launch, true))
    }

    /// Replaces a launch of an executable graph.
    cuGraphExecKernelNodeSetParams_v2 = "cuGraphExecKernelNodeSetParams" 12000 (
        executable: Handle<Executable>, node: Handle<Node>, launch: Bytes,
    ) {
        replace_in(executable, node, |state| kernel(state, launch, false))
    }

    /// Writes an attribute of a launch: as it was set, or zero.
    cuGraphKernelNodeGetAttribute = "cuGraphKernelNodeGetAttribute" 11000 (
        node: Handle<Node>, number: u32, value: Out<[u8; 64]>,
    ) {
        state::with(|state| {
            let place = value.place()?;
            let found = state.attributes(node)?.get(&number).copied();
            place.put(found.unwrap_or([0; 64]));
            Ok(())
        })
    }

    /// Sets an attribute of a launch.
    cuGraphKernelNodeSetAttribute = "cuGraphKernelNodeSetAttribute" 11000 (
        node: Handle<Node>, number: u32, value: In<[u8; 64]>,
    ) {
        state::with(|state| set_attribute(state.attributes(node)?, number, value.get()?))
    }

    /// Copies the attributes of a launch to another.
    cuGraphKernelNodeCopyAttributes = "cuGraphKernelNodeCopyAttributes" 11000 (
        to: Handle<Node>, from: Handle<Node>,
    ) {
        state::with(|state| {
            let attributes = state.attributes(from)?.clone();
            *state.attributes(to)? = attributes;
            Ok(())
        })
    }

    /// Adds a copy.
    cuGraphAddMemcpyNode = "cuGraphAddMemcpyNode" 10000 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, what: In<Cuboid>,
        context: Handle<Context>,
    ) {
        add(node, graph, plain(before, count), |state| {
            state.contexts.get(context)?;
            copies(state, what.get()?)
        })
    }

    /// Writes a copy.
    cuGraphMemcpyNodeGetParams = "cuGraphMemcpyNodeGetParams" 10000 (node: Handle<Node>, what: Out<Cuboid>) {
        read(node, |_, work| if let Work::Copy(copy) = work { what.put(*copy) } else { Err(Status::InvalidValue) })
    }

    /// Replaces a copy.
    cuGraphMemcpyNodeSetParams = "cuGraphMemcpyNodeSetParams" 10000 (node: Handle<Node>, what: In<Cuboid>) {
        replace(node, |state| copies(state, what.get()?))
    }

    /// Replaces a copy of an executable graph.
    cuGraphExecMemcpyNodeSetParams = "cuGraphExecMemcpyNodeSetParams" 10020 (
        executable: Handle<Executable>, node: Handle<Node>, what: In<Cuboid>, context: Handle<Context>,
    ) {
        replace_in(executable, node, |state| {
            state.contexts.get(context)?;
            copies(state, what.get()?)
        })
    }

    /// Adds a fill.
    cuGraphAddMemsetNode = "cuGraphAddMemsetNode" 10000 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, what: In<FillNode>,
        context: Handle<Context>,
    ) {
        add(node, graph, plain(before, count), |state| {
            state.contexts.get(context)?;
            fills(what.get()?)
        })
    }

    /// Writes a fill.
    cuGraphMemsetNodeGetParams = "cuGraphMemsetNodeGetParams" 10000 (node: Handle<Node>, what: Out<FillNode>) {
        read(node, |_, work| {
            let Work::Fill(fill) = *work else { return Err(Status::InvalidValue) };
            what.put(fill_node(fill))
        })
    }

    /// Replaces a fill.
    cuGraphMemsetNodeSetParams = "cuGraphMemsetNodeSetParams" 10000 (node: Handle<Node>, what: In<FillNode>) {
        replace(node, |_| fills(what.get()?))
    }

    /// Replaces a fill of an executable graph.
    cuGraphExecMemsetNodeSetParams = "cuGraphExecMemsetNodeSetParams" 10020 (
        executable: Handle<Executable>, node: Handle<Node>, what: In<FillNode>, context: Handle<Context>,
    ) {
        replace_in(executable, node, |state| {
            state.contexts.get(context)?;
            fills(what.get()?)
        })
    }

    /// Adds a call of the client's function.
    cuGraphAddHostNode = "cuGraphAddHostNode" 10000 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, call: In<u64>,
    ) {
        add(node, graph, plain(before, count), |_| calls(call))
    }

    /// Writes the function and its data.
    cuGraphHostNodeGetParams = "cuGraphHostNodeGetParams" 10000 (node: Handle<Node>, call: Out<[u64; 2]>) {
        read(node, |_, work| match work {
            Work::Host(function, data) => call.put([function.address(), *data]),
            _ => Err(Status::InvalidValue),
        })
    }

    /// Replaces the function and its data.
    cuGraphHostNodeSetParams = "cuGraphHostNodeSetParams" 10000 (node: Handle<Node>, call: In<u64>) {
        replace(node, |_| calls(call))
    }

    /// Replaces the function and its data in an executable graph.
    cuGraphExecHostNodeSetParams = "cuGraphExecHostNodeSetParams" 10020 (
        executable: Handle<Executable>, node: Handle<Node>, call: In<u64>,
    ) {
        replace_in(executable, node, |_| calls(call))
    }

    /// Adds a copy of a graph as a node.
    cuGraphAddChildGraphNode = "cuGraphAddChildGraphNode" 10000 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, child: Handle<Graph>,
    ) {
        add(node, graph, plain(before, count), |state| holds(state, child))
    }

    /// Writes the graph of a node, which belongs to the node.
    cuGraphChildGraphNodeGetGraph = "cuGraphChildGraphNodeGetGraph" 10000 (
        node: Handle<Node>, graph: Out<Handle<Graph>>,
    ) {
        read(node, |_, work| if let Work::Graph(own) = work { graph.put(*own) } else { Err(Status::InvalidValue) })
    }

    /// Replaces the operations of a graph within an executable graph by those of a graph of the same form.
    cuGraphExecChildGraphNodeSetParams = "cuGraphExecChildGraphNodeSetParams" 11010 (
        executable: Handle<Executable>, node: Handle<Node>, child: Handle<Graph>,
    ) {
        state::with(|state| {
            let copy = state.copy_of(executable, node)?;
            state.graph(child)?;
            let Work::Graph(own) = state.nodes.get(copy)?.work else { return Err(Status::InvalidValue) };
            let mut changes = Vec::new();
            state.compare(own, child, &mut changes)?.map_err(|_| Status::GraphExecUpdateFailure)?;
            for (node, _, work) in changes {
                if let Some(work) = work {
                    state.nodes.get_mut(node)?.work = work;
                }
            }
            Ok(())
        })
    }

    /// Adds a node that does nothing.
    cuGraphAddEmptyNode = "cuGraphAddEmptyNode" 10000 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize,
    ) {
        add(node, graph, plain(before, count), |_| Ok(Work::Empty))
    }

    /// Adds a record of an event.
    cuGraphAddEventRecordNode = "cuGraphAddEventRecordNode" 11010 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, event: Handle<Event>,
    ) {
        add(node, graph, plain(before, count), with_event(event, Work::Record))
    }

    /// Writes the event that a node records.
    cuGraphEventRecordNodeGetEvent = "cuGraphEventRecordNodeGetEvent" 11010 (
        node: Handle<Node>, event: Out<Handle<Event>>,
    ) {
        event_of(node, recorded, event)
    }

    /// Replaces the event that a node records.
    cuGraphEventRecordNodeSetEvent = "cuGraphEventRecordNodeSetEvent" 11010 (
        node: Handle<Node>, event: Handle<Event>,
    ) {
        replace(node, with_event(event, Work::Record))
    }

    /// Replaces the event that a node of an executable graph records.
    cuGraphExecEventRecordNodeSetEvent = "cuGraphExecEventRecordNodeSetEvent" 11010 (
        executable: Handle<Executable>, node: Handle<Node>, event: Handle<Event>,
    ) {
        replace_in(executable, node, with_event(event, Work::Record))
    }

    /// Adds a wait for an event.
    cuGraphAddEventWaitNode = "cuGraphAddEventWaitNode" 11010 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, event: Handle<Event>,
    ) {
        add(node, graph, plain(before, count), with_event(event, Work::Wait))
    }

    /// Writes the event that a node waits for.
    cuGraphEventWaitNodeGetEvent = "cuGraphEventWaitNodeGetEvent" 11010 (
        node: Handle<Node>, event: Out<Handle<Event>>,
    ) {
        event_of(node, awaited, event)
    }

    /// Replaces the event that a node waits for.
    cuGraphEventWaitNodeSetEvent = "cuGraphEventWaitNodeSetEvent" 11010 (node: Handle<Node>, event: Handle<Event>) {
        replace(node, with_event(event, Work::Wait))
    }

    /// Replaces the event that a node of an executable graph waits for.
    cuGraphExecEventWaitNodeSetEvent = "cuGraphExecEventWaitNodeSetEvent" 11010 (
        executable: Handle<Executable>, node: Handle<Node>, event: Handle<Event>,
    ) {
        replace_in(executable, node, with_event(event, Work::Wait))
    }

    /// Adds an allocation, and writes its address.
    cuGraphAddMemAllocNode = "cuGraphAddMemAllocNode" 11040 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, what: Bytes,
    ) {
        add(node, graph, plain(before, count), |state| {
            let mut given = what.values::<AllocationNode>().get()?;
            let work = allocates(state, &mut given)?;
            what.out().put(given)?;
            Ok(work)
        })
    }

    /// Writes an allocation.
    cuGraphMemAllocNodeGetParams = "cuGraphMemAllocNodeGetParams" 11040 (
        node: Handle<Node>, what: Out<AllocationNode>,
    ) {
        read(node, |_, work| {
            let Work::Allocate { address, bytes } = *work else { return Err(Status::InvalidValue) };
            what.put(allocation_node(address, bytes))
        })
    }

    /// Adds the end of an allocation.
    cuGraphAddMemFreeNode = "cuGraphAddMemFreeNode" 11040 (
        node: Out<Handle<Node>>, graph: Handle<Graph>, before: In<Handle<Node>>, count: usize, address: u64,
    ) {
        add(node, graph, plain(before, count), |state| frees(state, address))
    }

    /// Writes the address that a node frees.
    cuGraphMemFreeNodeGetParams = "cuGraphMemFreeNodeGetParams" 11040 (node: Handle<Node>, address: Out<u64>) {
        read(node, |_, work| if let Work::Free(at) = work { address.put(*at) } else { Err(Status::InvalidValue) })
    }

    /// Writes the type of a node.
    cuGraphNodeGetType = "cuGraphNodeGetType" 10000 (node: Handle<Node>, kind: Out<u32>) {
        read(node, |_, work| kind.put(work.kind()))
    }

    /// Writes the graph of a node.
    cuGraphNodeGetContainingGraph = "cuGraphNodeGetContainingGraph" 13010 (
        node: Handle<Node>, graph: Out<Handle<Graph>>,
    ) {
        state::with(|state| {
            let found = state.nodes.get(node)?.graph;
            state.graph(found)?;
            graph.put(found)
        })
    }

    /// Writes the number of a node within its graph.
    cuGraphNodeGetLocalId = "cuGraphNodeGetLocalId" 13010 (node: Handle<Node>, number: Out<u32>) {
        read(node, |state, _| number.put(state.nodes.get(node)?.number))
    }

    /// Writes a number that no other node has: that of its graph, then its own.
    cuGraphNodeGetToolsId = "cuGraphNodeGetToolsId" 13010 (node: Handle<Node>, number: Out<u64>) {
        read(node, |state, _| {
            let held = state.nodes.get(node)?;
            number.put(state.graphs.get(held.graph)?.number << 32 | u64::from(held.number))
        })
    }

    /// Removes a node with its edges. One that allocates or frees memory stays.
    cuGraphDestroyNode = "cuGraphDestroyNode" 10000 (node: Handle<Node>) {
        let gone = state::with(|state| {
            let held = state.nodes.get(node)?;
            state.graph(held.graph)?;
            if matches!(held.work, Work::Allocate { .. } | Work::Free(_)) {
                return Err(Status::InvalidValue);
            }
            state.remove_node(node)
        })?;
        gone.finish()
    }
}
