//! Streams: in order, and every operation is complete when its call returns.

use crate::api::api;
use crate::api::handles::{check_event, check_stream, is_default};
use crate::client::{Bytes, HostFunction, Out, StreamCallback};
use crate::objects::{Context, Event, Stream};
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Priorities go from 0 to this; they change nothing.
pub const HIGHEST_PRIORITY: i32 = -5;

fn create(stream: Out<Handle<Stream>>, flags: u32, priority: i32) -> Answer {
    state::with_current(|state, context| {
        let place = stream.place()?;
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        // Beyond the range means its end.
        let priority = priority.clamp(HIGHEST_PRIORITY, 0);
        let number = state.number();
        place.put(state.streams.insert(Stream { context, flags, priority, number }));
        Ok(())
    })
}

/// All that was given is done; what went wrong is told.
fn done(stream: Handle<Stream>) -> Answer {
    state::with_current(|state, _| check_stream(state, stream))
}

api! {
    /// Flags change nothing.
    cuStreamCreate = "cuStreamCreate" 2000 (stream: Out<Handle<Stream>>, flags: u32) {
        create(stream, flags, 0)
    }

    /// Flags and priority change nothing.
    cuStreamCreateWithPriority = "cuStreamCreateWithPriority" 5050 (
        stream: Out<Handle<Stream>>, flags: u32, priority: i32,
    ) {
        create(stream, flags, priority)
    }

    /// The default stream stays.
    cuStreamDestroy_v2 = "cuStreamDestroy" 4000 (stream: Handle<Stream>) {
        state::with_current(|state, _| state.streams.remove(stream).map(|_| ()))
    }

    /// Always done.
    cuStreamQuery = "cuStreamQuery" 2000 (stream: Handle<Stream>) {
        done(stream)
    }

    /// Always done.
    cuStreamSynchronize = "cuStreamSynchronize" 2000 (stream: Handle<Stream>) {
        done(stream)
    }

    /// An event that was recorded is complete.
    cuStreamWaitEvent = "cuStreamWaitEvent" 3020 (stream: Handle<Stream>, event: Handle<Event>, flags: u32) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            check_event(state, event)?;
            if flags > 1 { Err(Status::InvalidValue) } else { Ok(()) }
        })
    }

    /// Called at once.
    cuStreamAddCallback = "cuStreamAddCallback" 5000 (
        stream: Handle<Stream>, callback: StreamCallback, data: Bytes, flags: u32,
    ) {
        done(stream)?;
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        callback.call(stream.bits(), Status::Success, data)
    }

    /// Called at once.
    cuLaunchHostFunc = "cuLaunchHostFunc" 10000 (stream: Handle<Stream>, function: HostFunction, data: Bytes) {
        done(stream)?;
        function.call(data)
    }

    /// As asked for, within the range.
    cuStreamGetPriority = "cuStreamGetPriority" 5050 (stream: Handle<Stream>, priority: Out<i32>) {
        state::with_current(|state, _| {
            let place = priority.place()?;
            place.put(if is_default(stream) { 0 } else { state.streams.get(stream)?.priority });
            Ok(())
        })
    }

    /// As asked for.
    cuStreamGetFlags = "cuStreamGetFlags" 5050 (stream: Handle<Stream>, flags: Out<u32>) {
        state::with_current(|state, _| {
            let place = flags.place()?;
            place.put(if is_default(stream) { 0 } else { state.streams.get(stream)?.flags });
            Ok(())
        })
    }

    /// A number of its own; the default stream's is 0.
    cuStreamGetId = "cuStreamGetId" 12000 (stream: Handle<Stream>, number: Out<u64>) {
        state::with_current(|state, _| {
            let place = number.place()?;
            place.put(if is_default(stream) { 0 } else { state.streams.get(stream)?.number });
            Ok(())
        })
    }

    /// The default stream is the current context's.
    cuStreamGetCtx = "cuStreamGetCtx" 9020 (stream: Handle<Stream>, context: Out<Handle<Context>>) {
        state::with_current(|state, current| {
            let place = context.place()?;
            place.put(if is_default(stream) { current } else { state.streams.get(stream)?.context });
            Ok(())
        })
    }

    /// There are no green contexts.
    cuStreamGetCtx_v2 = "cuStreamGetCtx" 12050 (
        stream: Handle<Stream>, context: Out<Handle<Context>>, green: Out<u64>,
    ) {
        state::with_current(|state, current| {
            let place = context.place()?;
            place.put(if is_default(stream) { current } else { state.streams.get(stream)?.context });
            green.put_if_wanted(0);
            Ok(())
        })
    }

    /// The one device.
    cuStreamGetDevice = "cuStreamGetDevice" 12080 (stream: Handle<Stream>, device: Out<i32>) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            device.put(0)
        })
    }

    /// Managed memory is everybody's.
    cuStreamAttachMemAsync = "cuStreamAttachMemAsync" 6000 (
        stream: Handle<Stream>, address: u64, _bytes: usize, _flags: u32,
    ) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            state.on_device(address, 0).map(|_| ())
        })
    }

    /// No stream is ever captured.
    cuStreamIsCapturing = "cuStreamIsCapturing" 10000 (stream: Handle<Stream>, status: Out<u32>) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            status.put(0)
        })
    }

    /// There are no graphs.
    cuStreamBeginCapture_v2 = "cuStreamBeginCapture" 10010 (stream: Handle<Stream>, _mode: u32) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            Err(Status::StreamCaptureUnsupported)
        })
    }
}
