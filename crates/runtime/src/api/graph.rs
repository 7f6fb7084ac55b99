//! Graphs, captures and clients' objects, which are the driver's. Structures that name kernels, arrays or a copy's direction
//! are translated.

use strata_abi::driver::{Corner, Cuboid, memory};

use crate::api::api;
use crate::api::copy::{self, kind};
use crate::api::symbol;
use crate::client::{Bytes, Copy3D, Extent, In, Out, Pitched, Position, Text};
use crate::context;
use crate::driver::{Array, Context, Driver, Event, Stream};
use crate::error::{Answer, Error};
use crate::format::element_bytes;
use crate::registry;

/// Exports functions that are the driver's under another name.
macro_rules! passed_on {
    ($($(#[$doc:meta])* $name:ident $(| $other:ident)* => $driver:ident ($($arg:ident: $ty:ty),* $(,)?);)*) => {
        api! {$(
            $(#[$doc])*
            $name $(| $other)* ($($arg: $ty),*) { context::ready()?.$driver($($arg),*) }
        )*}
    };
}

/// `cudaKernelNodeParams`, as words. It is the first version of the driver's structure, but that it names the kernel by its
/// host function.
pub type KernelNode = [u64; 7];

/// `cudaGraphNodeParams`: a type, and a union behind three reserved words.
mod parameters {
    /// Size in words.
    pub const WORDS: usize = 32;
    /// Where the union begins.
    pub const UNION: usize = 2;
    /// Where the copy stands in the union.
    pub const COPY: u64 = 32;
    /// Where the driver writes the address of an allocation.
    pub const ADDRESS: usize = UNION + 14;
    pub const KERNEL: u64 = 0;
    /// What a kernel is named by: its host function, or the driver's handle.
    pub const BY_HOST_FUNCTION: u64 = 1;
    pub const BY_FUNCTION: u64 = 3;
    pub const MEMCPY: u64 = 1;
    pub const ALLOCATION: u64 = 10;
}

/// The context of copies and fills.
fn current(driver: &Driver) -> Answer<Context> {
    let mut context = Context::NULL;
    driver.cuCtxGetCurrent(&mut context).map(|()| context)
}

/// The driver's structure for a kernel's node.
fn kernel(driver: &Driver, from: Bytes) -> Answer<KernelNode> {
    let mut words = from.values::<KernelNode>().get()?;
    words[0] = registry::kernel(driver, Bytes::at(words[0]))?.0;
    Ok(words)
}

/// The driver's structure for a node of any type. One for a kernel may name it by handle.
fn described(driver: &Driver, from: Bytes) -> Answer<[u64; parameters::WORDS]> {
    let mut words = from.values::<[u64; parameters::WORDS]>().get()?;
    match words[0] & u64::from(u32::MAX) {
        parameters::KERNEL => {
            let union = &mut words[parameters::UNION..];
            if let Ok(kernel) = registry::kernel(driver, Bytes::at(union[0])) {
                union[0] = kernel.0;
            }
            // The driver's structure has a second name of the kernel here, and the context.
            (union[7], union[8]) = (0, 0);
        }
        parameters::MEMCPY => {
            let what = Bytes::at(from.address() + parameters::COPY).values::<Copy3D>().get()?;
            let bytes = copy::cuboid_of(driver, what)?;
            copy_words(&mut words[parameters::COPY as usize / 8..], &bytes);
        }
        _ => {}
    }
    Ok(words)
}

/// Writes the driver's structure for a node of any type as the client's.
fn put(driver: &Driver, to: Bytes, mut words: [u64; parameters::WORDS]) -> Answer {
    let kind = words[0] & u64::from(u32::MAX);
    let union = &mut words[parameters::UNION..];
    if kind == parameters::KERNEL {
        let handle = union[0];
        union[0] = registry::host_function(driver, handle)?;
        // The client's structure has the context here, and then what it names the kernel by.
        let names = if union[0] == handle { parameters::BY_FUNCTION } else { parameters::BY_HOST_FUNCTION };
        (union[7], union[8]) = (0, names);
    }
    if kind == parameters::MEMCPY {
        let copy = parameters::COPY as usize / 8;
        let found = Bytes::at(Bytes::to(&mut words).address() + parameters::COPY).values::<Cuboid>().get()?;
        let what = shown(driver, &found)?;
        words[copy..].fill(0);
        to.out().put(words)?;
        return Bytes::at(to.address() + parameters::COPY).out().put(what);
    }
    to.out().put(words)
}

/// Writes a copy as words.
fn copy_words(to: &mut [u64], what: &Cuboid) {
    let corner = |side: &Corner| {
        [
            side.x_bytes,
            side.y,
            side.z,
            side.level,
            u64::from(side.kind),
            side.host,
            side.device,
            side.array,
            side.reserved,
            side.pitch,
            side.height,
        ]
    };
    let sizes = [what.width_bytes, what.height, what.depth];
    let words = corner(&what.from).into_iter().chain(corner(&what.to)).chain(sizes);
    to.iter_mut().zip(words).for_each(|(to, word)| *to = word);
}

/// Gives the client the address of an allocation that the driver has made.
fn give_address(to: Bytes, words: &[u64; parameters::WORDS]) -> Answer {
    if words[0] & u64::from(u32::MAX) == parameters::ALLOCATION {
        let at = parameters::ADDRESS;
        Bytes::at(to.address() + 8 * at as u64).out::<u64>().put(words[at])?;
    }
    Ok(())
}

/// A copy of consecutive bytes.
fn line(to: u64, from: u64, bytes: u64, direction: u32) -> Answer<Cuboid> {
    let (from_kind, to_kind) = copy::memories(direction)?;
    let side = |kind, address| Corner { kind, host: address, device: address, ..Corner::default() };
    Ok(Cuboid { from: side(from_kind, from), to: side(to_kind, to), width_bytes: bytes, height: 1, depth: 1 })
}

/// A copy to a variable.
fn to_symbol(
    driver: &Driver,
    symbol: Bytes,
    from: Bytes,
    bytes: u64,
    offset: u64,
    direction: u32,
) -> Answer<Cuboid> {
    if !matches!(direction, kind::HOST_TO_DEVICE | kind::DEVICE_TO_DEVICE | kind::DEFAULT) {
        return Err(Error::InvalidMemcpyDirection);
    }
    line(symbol::range(driver, symbol, offset, bytes)?, from.address(), bytes, direction)
}

/// A copy from a variable.
fn from_symbol(
    driver: &Driver,
    to: Bytes,
    symbol: Bytes,
    bytes: u64,
    offset: u64,
    direction: u32,
) -> Answer<Cuboid> {
    if !matches!(direction, kind::DEVICE_TO_HOST | kind::DEVICE_TO_DEVICE | kind::DEFAULT) {
        return Err(Error::InvalidMemcpyDirection);
    }
    line(to.address(), symbol::range(driver, symbol, offset, bytes)?, bytes, direction)
}

/// A copy as the client describes it.
fn described_copy(driver: &Driver, what: In<Copy3D>) -> Answer<Cuboid> {
    copy::cuboid_of(driver, what.get()?)
}

/// Adds a copy.
fn add(
    to: Bytes,
    graph: u64,
    (before, count): (Bytes, u64),
    what: impl FnOnce(&Driver) -> Answer<Cuboid>,
) -> Answer {
    let driver = context::ready()?;
    driver.cuGraphAddMemcpyNode(to, graph, before, count, &what(driver)?, current(driver)?)
}

/// Replaces a copy.
fn set(node: u64, what: impl FnOnce(&Driver) -> Answer<Cuboid>) -> Answer {
    let driver = context::ready()?;
    driver.cuGraphMemcpyNodeSetParams(node, &what(driver)?)
}

/// Replaces a copy of an executable graph.
fn set_in(executable: u64, node: u64, what: impl FnOnce(&Driver) -> Answer<Cuboid>) -> Answer {
    let driver = context::ready()?;
    driver.cuGraphExecMemcpyNodeSetParams(executable, node, &what(driver)?, current(driver)?)
}

/// A copy as the runtime API describes it: extents in elements where an array takes part.
fn shown(driver: &Driver, what: &Cuboid) -> Answer<Copy3D> {
    let element = |side: &Corner| match side.kind {
        memory::ARRAY => {
            copy::describe(driver, Array(side.array)).map(|descriptor| element_bytes(&descriptor))
        }
        _ => Ok(1),
    };
    let (from_element, to_element) = (element(&what.from)?, element(&what.to)?);
    let width = what.width_bytes / from_element.max(to_element).max(1);
    let place =
        |side: &Corner, element: u64| Position { x: side.x_bytes / element.max(1), y: side.y, z: side.z };
    let rows = |side: &Corner| match side.kind {
        memory::ARRAY => Pitched::default(),
        memory::HOST => {
            Pitched { start: Bytes::at(side.host), pitch: side.pitch, width, height: side.height }
        }
        _ => Pitched { start: Bytes::at(side.device), pitch: side.pitch, width, height: side.height },
    };
    let direction = match (what.from.kind, what.to.kind) {
        (memory::UNIFIED, _) | (_, memory::UNIFIED) => kind::DEFAULT,
        (memory::HOST, memory::HOST) => kind::HOST_TO_HOST,
        (memory::HOST, _) => kind::HOST_TO_DEVICE,
        (_, memory::HOST) => kind::DEVICE_TO_HOST,
        _ => kind::DEVICE_TO_DEVICE,
    };
    Ok(Copy3D {
        from_array: what.from.array,
        from_at: place(&what.from, from_element),
        from: rows(&what.from),
        to_array: what.to.array,
        to_at: place(&what.to, to_element),
        to: rows(&what.to),
        extent: Extent { width, height: what.height, depth: what.depth },
        kind: direction,
        padding: 0,
    })
}

/// Adds a node of any type.
pub fn add_node(to: Bytes, graph: u64, before: Bytes, data: Bytes, count: u64, parameters: Bytes) -> Answer {
    let driver = context::ready()?;
    let mut words = described(driver, parameters)?;
    driver.cuGraphAddNode_v2(to, graph, before, data, count, &mut words)?;
    give_address(parameters, &words)
}

passed_on! {
    /// Makes an empty graph.
    cudaGraphCreate => cuGraphCreate(graph: Bytes, flags: u32);
    /// Destroys a graph.
    cudaGraphDestroy => cuGraphDestroy(graph: u64);
    /// Copies a graph.
    cudaGraphClone => cuGraphClone(copy: Bytes, graph: u64);
    /// Finds the copy of a node.
    cudaGraphNodeFindInClone => cuGraphNodeFindInClone(found: Bytes, original: u64, copy: u64);
    /// Writes a graph's unique number.
    cudaGraphGetId => cuGraphGetId(graph: u64, number: Out<u32>);
    /// Writes the nodes of a graph, or how many there are.
    cudaGraphGetNodes => cuGraphGetNodes(graph: u64, nodes: Bytes, count: Bytes);
    /// Writes the nodes that wait for no other, or how many there are.
    cudaGraphGetRootNodes => cuGraphGetRootNodes(graph: u64, nodes: Bytes, count: Bytes);
    /// Writes the edges of a graph with their data, or how many there are.
    cudaGraphGetEdges_v2 => cuGraphGetEdges_v2(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: Bytes);
    /// Writes the nodes that a node waits for, or how many there are.
    cudaGraphNodeGetDependencies_v2 => cuGraphNodeGetDependencies_v2(
        node: u64, nodes: Bytes, data: Bytes, count: Bytes,
    );
    /// Writes the nodes that wait for a node, or how many there are.
    cudaGraphNodeGetDependentNodes_v2 => cuGraphNodeGetDependentNodes_v2(
        node: u64, nodes: Bytes, data: Bytes, count: Bytes,
    );
    /// Adds edges.
    cudaGraphAddDependencies_v2 => cuGraphAddDependencies_v2(
        graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64,
    );
    /// Removes edges.
    cudaGraphRemoveDependencies_v2 => cuGraphRemoveDependencies_v2(
        graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64,
    );
    /// Draws a graph to a file, in DOT.
    cudaGraphDebugDotPrint => cuGraphDebugDotPrint(graph: u64, path: Text, flags: u32);
    /// Writes the type of a node.
    cudaGraphNodeGetType => cuGraphNodeGetType(node: u64, kind: Out<u32>);
    /// Writes the graph of a node.
    cudaGraphNodeGetContainingGraph => cuGraphNodeGetContainingGraph(node: u64, graph: Bytes);
    /// Writes the number of a node within its graph.
    cudaGraphNodeGetLocalId => cuGraphNodeGetLocalId(node: u64, number: Out<u32>);
    /// Writes a number that no other node has.
    cudaGraphNodeGetToolsId => cuGraphNodeGetToolsId(node: u64, number: Out<u64>);
    /// Removes a node.
    cudaGraphDestroyNode => cuGraphDestroyNode(node: u64);
    /// Adds a call of the client's function.
    cudaGraphAddHostNode => cuGraphAddHostNode(node: Bytes, graph: u64, before: Bytes, count: u64, call: Bytes);
    /// Writes the function and its data.
    cudaGraphHostNodeGetParams => cuGraphHostNodeGetParams(node: u64, call: Bytes);
    /// Replaces the function and its data.
    cudaGraphHostNodeSetParams => cuGraphHostNodeSetParams(node: u64, call: Bytes);
    /// Replaces the function and its data in an executable graph.
    cudaGraphExecHostNodeSetParams => cuGraphExecHostNodeSetParams(executable: u64, node: u64, call: Bytes);
    /// Adds a copy of a graph as a node.
    cudaGraphAddChildGraphNode => cuGraphAddChildGraphNode(
        node: Bytes, graph: u64, before: Bytes, count: u64, child: u64,
    );
    /// Writes the graph of a node.
    cudaGraphChildGraphNodeGetGraph => cuGraphChildGraphNodeGetGraph(node: u64, graph: Bytes);
    /// Replaces the operations of a graph within an executable graph.
    cudaGraphExecChildGraphNodeSetParams => cuGraphExecChildGraphNodeSetParams(executable: u64, node: u64, child: u64);
    /// Adds a node that does nothing.
    cudaGraphAddEmptyNode => cuGraphAddEmptyNode(node: Bytes, graph: u64, before: Bytes, count: u64);
    /// Adds a record of an event.
    cudaGraphAddEventRecordNode => cuGraphAddEventRecordNode(
        node: Bytes, graph: u64, before: Bytes, count: u64, event: Event,
    );
    /// Writes the event that a node records.
    cudaGraphEventRecordNodeGetEvent => cuGraphEventRecordNodeGetEvent(node: u64, event: Bytes);
    /// Replaces the event that a node records.
    cudaGraphEventRecordNodeSetEvent => cuGraphEventRecordNodeSetEvent(node: u64, event: Event);
    /// Replaces the event that a node of an executable graph records.
    cudaGraphExecEventRecordNodeSetEvent => cuGraphExecEventRecordNodeSetEvent(
        executable: u64, node: u64, event: Event,
    );
    /// Adds a wait for an event.
    cudaGraphAddEventWaitNode => cuGraphAddEventWaitNode(
        node: Bytes, graph: u64, before: Bytes, count: u64, event: Event,
    );
    /// Writes the event that a node waits for.
    cudaGraphEventWaitNodeGetEvent => cuGraphEventWaitNodeGetEvent(node: u64, event: Bytes);
    /// Replaces the event that a node waits for.
    cudaGraphEventWaitNodeSetEvent => cuGraphEventWaitNodeSetEvent(node: u64, event: Event);
    /// Replaces the event that a node of an executable graph waits for.
    cudaGraphExecEventWaitNodeSetEvent => cuGraphExecEventWaitNodeSetEvent(executable: u64, node: u64, event: Event);
    /// Adds an allocation, and writes its address.
    cudaGraphAddMemAllocNode => cuGraphAddMemAllocNode(
        node: Bytes, graph: u64, before: Bytes, count: u64, what: Bytes,
    );
    /// Writes an allocation.
    cudaGraphMemAllocNodeGetParams => cuGraphMemAllocNodeGetParams(node: u64, what: Bytes);
    /// Adds the end of an allocation.
    cudaGraphAddMemFreeNode => cuGraphAddMemFreeNode(node: Bytes, graph: u64, before: Bytes, count: u64, address: u64);
    /// Writes the address that a node frees.
    cudaGraphMemFreeNodeGetParams => cuGraphMemFreeNodeGetParams(node: u64, address: Bytes);
    /// Writes an attribute of a launch.
    cudaGraphKernelNodeGetAttribute => cuGraphKernelNodeGetAttribute(node: u64, number: u32, value: Bytes);
    /// Sets an attribute of a launch.
    cudaGraphKernelNodeSetAttribute => cuGraphKernelNodeSetAttribute(node: u64, number: u32, value: Bytes);

    /// Makes a graph executable, with flags.
    cudaGraphInstantiateWithFlags => cuGraphInstantiateWithFlags(executable: Bytes, graph: u64, flags: u64);
    /// Makes a graph executable, with flags and a stream for the upload.
    cudaGraphInstantiateWithParams | cudaGraphInstantiateWithParams_ptsz => cuGraphInstantiateWithParams(
        executable: Bytes, graph: u64, parameters: Bytes,
    );
    /// Writes the flags of the instantiation.
    cudaGraphExecGetFlags => cuGraphExecGetFlags(executable: u64, flags: Out<u64>);
    /// Writes an executable graph's unique number.
    cudaGraphExecGetId => cuGraphExecGetId(executable: u64, number: Out<u32>);
    /// Destroys an executable graph.
    cudaGraphExecDestroy => cuGraphExecDestroy(executable: u64);
    /// Succeeds: an upload takes no time.
    cudaGraphUpload | cudaGraphUpload_ptsz => cuGraphUpload(executable: u64, stream: Stream);
    /// Enables or disables a node of an executable graph.
    cudaGraphNodeSetEnabled => cuGraphNodeSetEnabled(executable: u64, node: u64, enabled: u32);
    /// Writes whether a node of an executable graph is enabled.
    cudaGraphNodeGetEnabled => cuGraphNodeGetEnabled(executable: u64, node: u64, enabled: Out<u32>);
    /// Writes bytes of graphs' memory.
    cudaDeviceGetGraphMemAttribute => cuDeviceGetGraphMemAttribute(device: i32, number: u32, value: Bytes);
    /// Accepted for the highest values, which can be set to 0.
    cudaDeviceSetGraphMemAttribute => cuDeviceSetGraphMemAttribute(device: i32, number: u32, value: Bytes);
    /// Succeeds: only memory of graphs that exist is reserved.
    cudaDeviceGraphMemTrim => cuDeviceGraphMemTrim(device: i32);

    /// Makes an object with a destructor.
    cudaUserObjectCreate => cuUserObjectCreate(
        object: Bytes, data: Bytes, destroy: Bytes, references: u32, flags: u32,
    );
    /// Adds references.
    cudaUserObjectRetain => cuUserObjectRetain(object: u64, count: u32);
    /// Removes references.
    cudaUserObjectRelease => cuUserObjectRelease(object: u64, count: u32);
    /// Adds references of a graph.
    cudaGraphRetainUserObject => cuGraphRetainUserObject(graph: u64, object: u64, count: u32, flags: u32);
    /// Removes references of a graph.
    cudaGraphReleaseUserObject => cuGraphReleaseUserObject(graph: u64, object: u64, count: u32);

    /// Begins a capture.
    cudaStreamBeginCapture | cudaStreamBeginCapture_ptsz => cuStreamBeginCapture_v2(stream: Stream, mode: u32);
    /// Begins a capture into a graph, behind some of its nodes.
    cudaStreamBeginCaptureToGraph | cudaStreamBeginCaptureToGraph_ptsz => cuStreamBeginCaptureToGraph(
        stream: Stream, graph: u64, before: Bytes, data: Bytes, count: u64, mode: u32,
    );
    /// Ends a capture and writes its graph.
    cudaStreamEndCapture | cudaStreamEndCapture_ptsz => cuStreamEndCapture(stream: Stream, graph: Bytes);
    /// Writes whether a stream is captured.
    cudaStreamIsCapturing | cudaStreamIsCapturing_ptsz => cuStreamIsCapturing(stream: Stream, status: Bytes);
    /// Writes whether a stream is captured, the graph, and what the next operation waits for.
    cudaStreamGetCaptureInfo_v2 | cudaStreamGetCaptureInfo_v2_ptsz => cuStreamGetCaptureInfo_v2(
        stream: Stream, status: Bytes, number: Bytes, graph: Bytes, nodes: Bytes, count: Bytes,
    );
    /// The same, with the data of edges.
    cudaStreamGetCaptureInfo_v3 | cudaStreamGetCaptureInfo_v3_ptsz => cuStreamGetCaptureInfo_v3(
        stream: Stream, status: Bytes, number: Bytes, graph: Bytes, nodes: Bytes, data: Bytes, count: Bytes,
    );
    /// Changes what a captured stream's next operation waits for.
    cudaStreamUpdateCaptureDependencies_v2 | cudaStreamUpdateCaptureDependencies_v2_ptsz =>
        cuStreamUpdateCaptureDependencies_v2(stream: Stream, nodes: Bytes, data: Bytes, count: u64, flags: u32);
    /// Sets which captures forbid this thread's unsafe calls, and writes what was set before.
    cudaThreadExchangeStreamCaptureMode => cuThreadExchangeStreamCaptureMode(mode: Bytes);

    /// Writes an attribute of a stream.
    cudaStreamGetAttribute | cudaStreamGetAttribute_ptsz => cuStreamGetAttribute(
        stream: Stream, number: u32, value: Bytes,
    );
    /// Sets an attribute of a stream.
    cudaStreamSetAttribute | cudaStreamSetAttribute_ptsz => cuStreamSetAttribute(
        stream: Stream, number: u32, value: Bytes,
    );
    /// Copies the attributes of a stream to another.
    cudaStreamCopyAttributes | cudaStreamCopyAttributes_ptsz => cuStreamCopyAttributes(to: Stream, from: Stream);
}

api! {
    /// Launches a graph. Returns when every node is done.
    cudaGraphLaunch | cudaGraphLaunch_ptsz (executable: u64, stream: Stream) {
        let driver = context::ready()?;
        registry::around_launch(driver, stream, || driver.cuGraphLaunch(executable, stream))
    }

    /// Adds a node of any type behind edges with data.
    cudaGraphAddNode_v2(to: Bytes, graph: u64, before: Bytes, data: Bytes, count: u64, parameters: Bytes) {
        add_node(to, graph, before, data, count, parameters)
    }

    /// Writes what a node does. What is pointed to stays until the node changes.
    cudaGraphNodeGetParams(node: u64, parameters: Bytes) {
        let driver = context::ready()?;
        let mut words = [0; parameters::WORDS];
        driver.cuGraphNodeGetParams(node, &mut words)?;
        put(driver, parameters, words)
    }

    /// Replaces what a node does.
    cudaGraphNodeSetParams(node: u64, parameters: Bytes) {
        let driver = context::ready()?;
        driver.cuGraphNodeSetParams(node, &mut described(driver, parameters)?)
    }

    /// Replaces what a node of an executable graph does.
    cudaGraphExecNodeSetParams(executable: u64, node: u64, parameters: Bytes) {
        let driver = context::ready()?;
        driver.cuGraphExecNodeSetParams(executable, node, &mut described(driver, parameters)?)
    }

    /// Adds a launch.
    cudaGraphAddKernelNode(to: Bytes, graph: u64, before: Bytes, count: u64, launch: Bytes) {
        let driver = context::ready()?;
        driver.cuGraphAddKernelNode(to, graph, before, count, &mut kernel(driver, launch)?)
    }

    /// Writes a launch.
    cudaGraphKernelNodeGetParams(node: u64, launch: Bytes) {
        let driver = context::ready()?;
        let mut words = KernelNode::default();
        driver.cuGraphKernelNodeGetParams(node, &mut words)?;
        words[0] = registry::host_function(driver, words[0])?;
        launch.out().put(words)
    }

    /// Replaces a launch.
    cudaGraphKernelNodeSetParams(node: u64, launch: Bytes) {
        let driver = context::ready()?;
        driver.cuGraphKernelNodeSetParams(node, &mut kernel(driver, launch)?)
    }

    /// Replaces a launch of an executable graph.
    cudaGraphExecKernelNodeSetParams(executable: u64, node: u64, launch: Bytes) {
        let driver = context::ready()?;
        driver.cuGraphExecKernelNodeSetParams(executable, node, &mut kernel(driver, launch)?)
    }

    /// Adds a fill.
    cudaGraphAddMemsetNode(to: Bytes, graph: u64, before: Bytes, count: u64, what: Bytes) {
        let driver = context::ready()?;
        driver.cuGraphAddMemsetNode(to, graph, before, count, what, current(driver)?)
    }

    /// Writes a fill.
    cudaGraphMemsetNodeGetParams(node: u64, what: Bytes) {
        context::ready()?.cuGraphMemsetNodeGetParams(node, what)
    }

    /// Replaces a fill.
    cudaGraphMemsetNodeSetParams(node: u64, what: Bytes) {
        context::ready()?.cuGraphMemsetNodeSetParams(node, what)
    }

    /// Replaces a fill of an executable graph.
    cudaGraphExecMemsetNodeSetParams(executable: u64, node: u64, what: Bytes) {
        let driver = context::ready()?;
        driver.cuGraphExecMemsetNodeSetParams(executable, node, what, current(driver)?)
    }

    /// Adds a copy.
    cudaGraphAddMemcpyNode(to: Bytes, graph: u64, before: Bytes, count: u64, what: In<Copy3D>) {
        add(to, graph, (before, count), |driver| described_copy(driver, what))
    }

    /// Writes a copy.
    cudaGraphMemcpyNodeGetParams(node: u64, what: Out<Copy3D>) {
        let driver = context::ready()?;
        let mut found = Cuboid::default();
        driver.cuGraphMemcpyNodeGetParams(node, &mut found)?;
        what.put(shown(driver, &found)?)
    }

    /// Replaces a copy.
    cudaGraphMemcpyNodeSetParams(node: u64, what: In<Copy3D>) {
        set(node, |driver| described_copy(driver, what))
    }

    /// Replaces a copy of an executable graph.
    cudaGraphExecMemcpyNodeSetParams(executable: u64, node: u64, what: In<Copy3D>) {
        set_in(executable, node, |driver| described_copy(driver, what))
    }

    /// Adds a copy of consecutive bytes.
    cudaGraphAddMemcpyNode1D(
        node: Bytes, graph: u64, before: Bytes, count: u64, to: u64, from: u64, bytes: u64, kind: u32,
    ) {
        add(node, graph, (before, count), |_| line(to, from, bytes, kind))
    }

    /// Replaces a copy by one of consecutive bytes.
    cudaGraphMemcpyNodeSetParams1D(node: u64, to: u64, from: u64, bytes: u64, kind: u32) {
        set(node, |_| line(to, from, bytes, kind))
    }

    /// Replaces a copy of an executable graph by one of consecutive bytes.
    cudaGraphExecMemcpyNodeSetParams1D(executable: u64, node: u64, to: u64, from: u64, bytes: u64, kind: u32) {
        set_in(executable, node, |_| line(to, from, bytes, kind))
    }

    /// Adds a copy to a variable.
    cudaGraphAddMemcpyNodeToSymbol(
        node: Bytes, graph: u64, before: Bytes, count: u64, symbol: Bytes, from: Bytes, bytes: u64, offset: u64,
        kind: u32,
    ) {
        add(node, graph, (before, count), |driver| to_symbol(driver, symbol, from, bytes, offset, kind))
    }

    /// Replaces a copy by one to a variable.
    cudaGraphMemcpyNodeSetParamsToSymbol(
        node: u64, symbol: Bytes, from: Bytes, bytes: u64, offset: u64, kind: u32,
    ) {
        set(node, |driver| to_symbol(driver, symbol, from, bytes, offset, kind))
    }

    /// Replaces a copy of an executable graph by one to a variable.
    cudaGraphExecMemcpyNodeSetParamsToSymbol(
        executable: u64, node: u64, symbol: Bytes, from: Bytes, bytes: u64, offset: u64, kind: u32,
    ) {
        set_in(executable, node, |driver| to_symbol(driver, symbol, from, bytes, offset, kind))
    }

    /// Adds a copy from a variable.
    cudaGraphAddMemcpyNodeFromSymbol(
        node: Bytes, graph: u64, before: Bytes, count: u64, to: Bytes, symbol: Bytes, bytes: u64, offset: u64,
        kind: u32,
    ) {
        add(node, graph, (before, count), |driver| from_symbol(driver, to, symbol, bytes, offset, kind))
    }

    /// Replaces a copy by one from a variable.
    cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: u64, to: Bytes, symbol: Bytes, bytes: u64, offset: u64, kind: u32,
    ) {
        set(node, |driver| from_symbol(driver, to, symbol, bytes, offset, kind))
    }

    /// Replaces a copy of an executable graph by one from a variable.
    cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        executable: u64, node: u64, to: Bytes, symbol: Bytes, bytes: u64, offset: u64, kind: u32,
    ) {
        set_in(executable, node, |driver| from_symbol(driver, to, symbol, bytes, offset, kind))
    }
}
