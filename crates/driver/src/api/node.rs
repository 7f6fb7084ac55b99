//! Nodes of graphs: what each does, and how that is changed.

use strata_abi::driver::{AllocationNode, Cuboid, FillNode, KernelNode};

use crate::api::api;
use crate::api::configuration::set_attribute;
use crate::api::edges::dependencies;
use crate::api::edit::{add, event_of, plain, read, replace, replace_in};
use crate::api::operation::{
    OLD_KERNEL_BYTES, allocates, allocation_node, awaited, calls, copies, described, fill_node, fills, frees,
    holds, kernel, parameters, recorded, with_event,
};
use crate::client::{Bytes, In, Out};
use crate::graph::parts::{EdgeData, Executable, Graph, Node, Work};
use crate::objects::{Context, Event};
use crate::state;
use crate::status::Status;
use crate::table::Handle;

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
