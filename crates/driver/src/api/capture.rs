//! Captures of streams.

use crate::api::edges::dependencies;
use crate::api::{api, handles};
use crate::client::{Bytes, In, Out};
use crate::graph::capture::{exchange_mode, name};
use crate::graph::parts::{EdgeData, Graph, Mode, Node};
use crate::objects::Stream;
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// What a stream does in a capture: `CUstreamCaptureStatus`.
mod status {
    pub const NONE: u32 = 0;
    pub const ACTIVE: u32 = 1;
    pub const INVALIDATED: u32 = 2;
}

/// How dependencies are changed: `CUstreamUpdateCaptureDependencies_flags`.
mod change {
    pub const ADD: u32 = 0;
    pub const SET: u32 = 1;
}

/// The capture that a stream is part of and its status. The legacy default stream is part of none, and may not be asked
/// while a capture goes on that it would wait for.
fn capture(state: &mut State, stream: Handle<Stream>) -> Answer<(u32, Option<u64>)> {
    handles::check_stream(state, stream)?;
    if name(stream).is_none() && !state.waited_for().is_empty() {
        // A question does not end the captures.
        return Err(Status::StreamCaptureImplicit);
    }
    match state.captured(stream) {
        Ok(None) => Ok((status::NONE, None)),
        Ok(Some(number)) => Ok((status::ACTIVE, Some(number))),
        Err(Status::StreamCaptureInvalidated) => Ok((status::INVALIDATED, state.capture_of(stream))),
        Err(other) => Err(other),
    }
}

/// Writes what a stream's capture is, and what its next operation waits for.
#[allow(clippy::too_many_arguments, reason = "the driver API's results")]
fn info(
    stream: Handle<Stream>,
    status_to: Out<u32>,
    number_to: Out<u64>,
    graph: Out<Handle<Graph>>,
    nodes: Out<u64>,
    data: Option<Out<u64>>,
    count: Out<usize>,
) -> Answer {
    state::with_current(|state, _| {
        let place = status_to.place()?;
        let (found, number) = capture(state, stream)?;
        place.put(found);
        let (Some(number), status::ACTIVE) = (number, found) else { return Ok(()) };
        number_to.put_if_wanted(number);
        let own = name(stream).ok_or(Status::Unknown)?;
        let capture = state.captures.get_mut(&number).ok_or(Status::Unknown)?;
        graph.put_if_wanted(capture.graph);
        let before = capture.streams.get(&own).cloned().unwrap_or_default();
        let hides = before.iter().any(|(_, data)| *data != EdgeData::default());
        if hides && nodes.place().is_ok() && data.is_none_or(|data| data.place().is_err()) {
            return Err(Status::LossyQuery);
        }
        capture.shown = (
            before.iter().map(|(node, _)| node.bits()).collect(),
            before.iter().map(|(_, data)| *data).collect(),
        );
        nodes.put_if_wanted(capture.shown.0.as_ptr().expose_provenance() as u64);
        if let Some(data) = data {
            data.put_if_wanted(capture.shown.1.as_ptr().expose_provenance() as u64);
        }
        count.put_if_wanted(before.len());
        Ok(())
    })
}

/// No place for a result.
fn nothing<T: strata_abi::Plain>() -> Out<T> {
    Bytes::at(0).out()
}

/// Changes what a captured stream's next operation waits for.
fn change(
    stream: Handle<Stream>,
    nodes: In<Handle<Node>>,
    data: In<EdgeData>,
    count: usize,
    flags: u32,
) -> Answer {
    state::with_current(|state, _| {
        let number = state.captured(stream)?.ok_or(Status::IllegalState)?;
        let own = name(stream).ok_or(Status::Unknown)?;
        let given = dependencies(nodes, data, count)?;
        let graph = state.captures.get(&number).ok_or(Status::Unknown)?.graph;
        for (node, _) in &given {
            if state.nodes.get(*node)?.graph != graph {
                return Err(Status::InvalidValue);
            }
        }
        let before = state.captures.get_mut(&number).ok_or(Status::Unknown)?.streams.entry(own).or_default();
        match flags {
            change::SET => *before = given,
            change::ADD => before.extend(given),
            _ => return Err(Status::InvalidValue),
        }
        Ok(())
    })
}

fn begin(stream: Handle<Stream>, mode: u32) -> Answer {
    state::with_current(|state, _| {
        handles::check_stream(state, stream)?;
        state.begin_capture(stream, Mode::of(mode)?, None)
    })
}

api! {
    /// Begins a capture that forbids unsafe calls of all threads.
    cuStreamBeginCapture | cuStreamBeginCapture_ptsz = "cuStreamBeginCapture" 10000 (stream: Handle<Stream>) {
        begin(stream, Mode::Global as u32)
    }

    /// Begins a capture.
    cuStreamBeginCapture_v2 | cuStreamBeginCapture_v2_ptsz = "cuStreamBeginCapture" 10010 (
        stream: Handle<Stream>, mode: u32,
    ) {
        begin(stream, mode)
    }

    /// Begins a capture into a graph, behind some of its nodes.
    cuStreamBeginCaptureToGraph | cuStreamBeginCaptureToGraph_ptsz = "cuStreamBeginCaptureToGraph" 12030 (
        stream: Handle<Stream>, graph: Handle<Graph>, before: In<Handle<Node>>, edges: In<EdgeData>, count: usize,
        mode: u32,
    ) {
        state::with_current(|state, _| {
            let before = dependencies(before, edges, count)?;
            state.graph(graph)?;
            for (node, _) in &before {
                if state.nodes.get(*node)?.graph != graph {
                    return Err(Status::InvalidValue);
                }
            }
            state.begin_capture(stream, Mode::of(mode)?, Some((graph, before)))
        })
    }

    /// Ends a capture and writes its graph; null if the capture is not valid.
    cuStreamEndCapture | cuStreamEndCapture_ptsz = "cuStreamEndCapture" 10000 (
        stream: Handle<Stream>, graph: Out<Handle<Graph>>,
    ) {
        let place = graph.place()?;
        match state::with_current(|state, _| state.end_capture(stream))? {
            Ok(graph) => {
                place.put(graph);
                Ok(())
            }
            Err((status, gone)) => {
                place.put(Handle::NULL);
                gone.finish().and(Err(status))
            }
        }
    }

    /// Writes whether a stream is captured.
    cuStreamIsCapturing | cuStreamIsCapturing_ptsz = "cuStreamIsCapturing" 10000 (
        stream: Handle<Stream>, status: Out<u32>,
    ) {
        state::with_current(|state, _| {
            let place = status.place()?;
            place.put(capture(state, stream)?.0);
            Ok(())
        })
    }

    /// Writes whether a stream is captured, and the number of the capture.
    cuStreamGetCaptureInfo | cuStreamGetCaptureInfo_ptsz = "cuStreamGetCaptureInfo" 10010 (
        stream: Handle<Stream>, status: Out<u32>, number: Out<u64>,
    ) {
        info(stream, status, number, nothing(), nothing(), None, nothing())
    }

    /// Writes whether a stream is captured, the graph, and what the next operation waits for.
    cuStreamGetCaptureInfo_v2 | cuStreamGetCaptureInfo_v2_ptsz = "cuStreamGetCaptureInfo" 11030 (
        stream: Handle<Stream>, status: Out<u32>, number: Out<u64>, graph: Out<Handle<Graph>>, nodes: Out<u64>,
        count: Out<usize>,
    ) {
        info(stream, status, number, graph, nodes, None, count)
    }

    /// The same, with the data of edges.
    cuStreamGetCaptureInfo_v3 | cuStreamGetCaptureInfo_v3_ptsz = "cuStreamGetCaptureInfo" 12030 (
        stream: Handle<Stream>, status: Out<u32>, number: Out<u64>, graph: Out<Handle<Graph>>, nodes: Out<u64>,
        data: Out<u64>, count: Out<usize>,
    ) {
        info(stream, status, number, graph, nodes, Some(data), count)
    }

    /// Changes what a captured stream's next operation waits for.
    cuStreamUpdateCaptureDependencies | cuStreamUpdateCaptureDependencies_ptsz =
        "cuStreamUpdateCaptureDependencies" 11030 (
        stream: Handle<Stream>, nodes: In<Handle<Node>>, count: usize, flags: u32,
    ) {
        change(stream, nodes, Bytes::at(0).values(), count, flags)
    }

    /// Changes what a captured stream's next operation waits for, with the data of edges.
    cuStreamUpdateCaptureDependencies_v2 | cuStreamUpdateCaptureDependencies_v2_ptsz =
        "cuStreamUpdateCaptureDependencies" 12030 (
        stream: Handle<Stream>, nodes: In<Handle<Node>>, edges: In<EdgeData>, count: usize, flags: u32,
    ) {
        change(stream, nodes, edges, count, flags)
    }

    /// Sets which captures forbid this thread's unsafe calls, and writes what was set before.
    cuThreadExchangeStreamCaptureMode = "cuThreadExchangeStreamCaptureMode" 10010 (mode: Bytes) {
        let new = Mode::of(mode.values::<u32>().get()?)?;
        state::with(|_| mode.out().put(exchange_mode(new) as u32))
    }
}
