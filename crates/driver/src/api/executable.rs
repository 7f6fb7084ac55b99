//! Executable graphs: made from graphs, changed and launched.

use crate::api::api;
use crate::api::handles::check_stream;
use crate::client::{Bytes, In, Out};
use crate::graph::executable::{Refused, flag};
use crate::graph::parts::{Executable, Graph, Node, Work};
use crate::objects::Stream;
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Results of an instantiation: `CUgraphInstantiateResult`.
mod instantiated {
    pub const SUCCESS: u32 = 0;
    pub const ERROR: u32 = 1;
    pub const INVALID_STRUCTURE: u32 = 2;
    pub const NOT_SUPPORTED: u32 = 3;
}

/// Attributes of the memory of graphs: bytes in use and reserved, now and at most.
mod attribute {
    pub const USED: std::ops::RangeInclusive<u32> = 0..=1;
    pub const RESERVED: std::ops::RangeInclusive<u32> = 2..=3;
    /// Attributes that can be set to 0.
    pub const HIGH: [u32; 2] = [1, 3];
}

fn instantiate(to: Out<Handle<Executable>>, graph: Handle<Graph>, flags: u64) -> Answer {
    state::with_current(|state, _| {
        let place = to.place()?;
        place.put(state.instantiate(graph, flags)?);
        Ok(())
    })
}

/// Like [`instantiate`], with an error node and a log, which stay empty.
fn with_log(
    to: Out<Handle<Executable>>,
    graph: Handle<Graph>,
    node: Out<u64>,
    log: Bytes,
    room: usize,
) -> Answer {
    node.put_if_wanted(0);
    if !log.is_null() && room > 0 {
        log.write(1)?[0] = 0;
    }
    instantiate(to, graph, 0)
}

fn launch(executable: Handle<Executable>, stream: Handle<Stream>) -> Answer {
    let plan = state::with_current(|state, _| {
        let Some(capture) = state.captured(stream)? else { return state.plan(executable) };
        // A launch in a captured stream becomes a node that holds a copy of the graph.
        let own = state.executables.get(executable)?.graph;
        if state.has_memory(own)? {
            return Err(Status::NotSupported);
        }
        let copy = state.copy_graph(own, false, &mut Default::default())?;
        state.capture(capture, stream, Work::Graph(copy))?;
        Ok(Vec::new())
    })?;
    // The lock is free between operations, since a client's functions may call the driver.
    plan.iter().try_for_each(|work| state::with_current(|state, _| state.perform(work))?.finish())
}

/// Updates; `to` gets why it was refused, the node of the new graph and that of the executable one.
fn update(
    executable: Handle<Executable>,
    graph: Handle<Graph>,
    to: impl FnOnce(u32, Handle<Node>, Handle<Node>) -> Answer,
) -> Answer {
    match state::with_current(|state, _| state.update(executable, graph))? {
        Ok(()) => to(0, Handle::NULL, Handle::NULL),
        Err(Refused(why, own, new)) => {
            to(why as u32, new, own)?;
            Err(Status::GraphExecUpdateFailure)
        }
    }
}

api! {
    /// Makes a graph executable.
    cuGraphInstantiate = "cuGraphInstantiate" 10000 (
        to: Out<Handle<Executable>>, graph: Handle<Graph>, node: Out<u64>, log: Bytes, room: usize,
    ) {
        with_log(to, graph, node, log, room)
    }

    /// Makes a graph executable.
    cuGraphInstantiate_v2 = "cuGraphInstantiate" 11000 (
        to: Out<Handle<Executable>>, graph: Handle<Graph>, node: Out<u64>, log: Bytes, room: usize,
    ) {
        with_log(to, graph, node, log, room)
    }

    /// Makes a graph executable, with flags.
    cuGraphInstantiateWithFlags = "cuGraphInstantiateWithFlags" 11040 (
        to: Out<Handle<Executable>>, graph: Handle<Graph>, flags: u64,
    ) {
        instantiate(to, graph, flags)
    }

    /// Makes a graph executable, with flags and a stream for the upload, which takes no time.
    cuGraphInstantiateWithParams | cuGraphInstantiateWithParams_ptsz = "cuGraphInstantiateWithParams" 12000 (
        to: Out<Handle<Executable>>, graph: Handle<Graph>, parameters: Bytes,
    ) {
        // Flags and stream; then the error node and the result, which are written.
        let words = parameters.values::<u64>();
        let (flags, stream) = (words.at(0)?, Handle::<Stream>::from_bits(words.at(1)?));
        let made = state::with_current(|state, _| {
            if flags & flag::UPLOAD != 0 {
                check_stream(state, stream)?;
            }
            Ok(())
        })
        .and_then(|()| instantiate(to, graph, flags));
        let result = match made {
            Ok(()) => instantiated::SUCCESS,
            Err(Status::NotSupported) => instantiated::NOT_SUPPORTED,
            Err(Status::InvalidValue) => instantiated::INVALID_STRUCTURE,
            Err(_) => instantiated::ERROR,
        };
        let results = Bytes::at(parameters.address() + 16);
        results.out::<u64>().put(0)?;
        Bytes::at(results.address() + 8).out::<u32>().put(result)?;
        made
    }

    /// Writes the flags of the instantiation; what was uploaded is not part of them.
    cuGraphExecGetFlags = "cuGraphExecGetFlags" 12000 (executable: Handle<Executable>, flags: Out<u64>) {
        state::with(|state| flags.put(state.executables.get(executable)?.flags & !flag::UPLOAD))
    }

    /// Writes an executable graph's unique number.
    cuGraphExecGetId = "cuGraphExecGetId" 13010 (executable: Handle<Executable>, number: Out<u32>) {
        state::with(|state| number.put(state.executables.get(executable)?.number as u32))
    }

    /// Destroys an executable graph.
    cuGraphExecDestroy = "cuGraphExecDestroy" 10000 (executable: Handle<Executable>) {
        let gone = state::with(|state| state.destroy_executable(executable))?;
        gone.finish()
    }

    /// Succeeds: an upload takes no time.
    cuGraphUpload | cuGraphUpload_ptsz = "cuGraphUpload" 11010 (
        executable: Handle<Executable>, stream: Handle<Stream>,
    ) {
        state::with_current(|state, _| {
            state.executables.get(executable)?;
            state.must_not_capture(stream)
        })
    }

    /// Launches a graph. Returns when every node is done.
    cuGraphLaunch | cuGraphLaunch_ptsz = "cuGraphLaunch" 10000 (
        executable: Handle<Executable>, stream: Handle<Stream>,
    ) {
        launch(executable, stream)
    }

    /// Replaces all operations by those of a graph of the same form.
    cuGraphExecUpdate = "cuGraphExecUpdate" 10020 (
        executable: Handle<Executable>, graph: Handle<Graph>, node: Out<Handle<Node>>, result: Out<u32>,
    ) {
        let (node, result) = (node.place()?, result.place()?);
        update(executable, graph, |why, new, _| {
            node.put(new);
            result.put(why);
            Ok(())
        })
    }

    /// Replaces all operations by those of a graph of the same form.
    cuGraphExecUpdate_v2 = "cuGraphExecUpdate" 12000 (
        executable: Handle<Executable>, graph: Handle<Graph>, result: Out<[u64; 3]>,
    ) {
        // The result, and the nodes of the new graph and of the executable one.
        let place = result.place()?;
        update(executable, graph, |why, new, own| {
            place.put([u64::from(why), new.bits(), own.bits()]);
            Ok(())
        })
    }

    /// Enables or disables a launch, a copy or a fill of an executable graph.
    cuGraphNodeSetEnabled = "cuGraphNodeSetEnabled" 11060 (
        executable: Handle<Executable>, node: Handle<Node>, enabled: u32,
    ) {
        state::with(|state| {
            let copy = state.copy_of(executable, node)?;
            if !matches!(state.nodes.get(copy)?.work, Work::Kernel(_) | Work::Copy(_) | Work::Fill(_)) {
                return Err(Status::InvalidValue);
            }
            let disabled = &mut state.executables.get_mut(executable)?.disabled;
            if enabled == 0 { disabled.insert(copy) } else { disabled.remove(&copy) };
            Ok(())
        })
    }

    /// Writes whether a node of an executable graph is enabled.
    cuGraphNodeGetEnabled = "cuGraphNodeGetEnabled" 11060 (
        executable: Handle<Executable>, node: Handle<Node>, enabled: Out<u32>,
    ) {
        state::with(|state| {
            let copy = state.copy_of(executable, node)?;
            enabled.put(u32::from(!state.executables.get(executable)?.disabled.contains(&copy)))
        })
    }

    /// Writes bytes of graphs' memory: in use, or reserved. Nothing notes the highest values.
    cuDeviceGetGraphMemAttribute = "cuDeviceGetGraphMemAttribute" 11040 (device: i32, number: u32, value: Out<u64>) {
        state::with(|state| {
            crate::api::device::check(device)?;
            let is_used = attribute::USED.contains(&number);
            if !is_used && !attribute::RESERVED.contains(&number) {
                return Err(Status::InvalidValue);
            }
            let counted = state.lent.iter().filter(|(_, lent)| lent.live || !is_used);
            let bytes = counted.filter_map(|(address, _)| state.allocations.get(address)).map(|found| found.bytes);
            value.put(bytes.sum())
        })
    }

    /// Accepted for the highest values, which can be set to 0.
    cuDeviceSetGraphMemAttribute = "cuDeviceSetGraphMemAttribute" 11040 (device: i32, number: u32, value: In<u64>) {
        state::with(|_| {
            crate::api::device::check(device)?;
            let is_high = attribute::HIGH.contains(&number);
            if is_high && value.get()? == 0 { Ok(()) } else { Err(Status::InvalidValue) }
        })
    }

    /// Succeeds: only memory of graphs that exist is reserved.
    cuDeviceGraphMemTrim = "cuDeviceGraphMemTrim" 11040 (device: i32) {
        state::with(|_| crate::api::device::check(device))
    }
}
