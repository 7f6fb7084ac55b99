//! Streams. They run in order, and every operation is complete when its call returns.

use crate::api::api;
use crate::api::handles::{check_event, check_stream, is_default};
use crate::client::{Bytes, HostFunction, Out, StreamCallback};
use crate::graph::parts::Work;
use crate::objects::{Attributes, Context, Event, Stream};
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work;

/// The highest priority; the lowest is 0. Priorities have no effect.
pub const HIGHEST_PRIORITY: i32 = -5;

fn create(stream: Out<Handle<Stream>>, flags: u32, priority: i32) -> Answer {
    state::with_current(|state, context| {
        let place = stream.place()?;
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        // Clamp to the range of priorities.
        let priority = priority.clamp(HIGHEST_PRIORITY, 0);
        let number = state.number();
        place.put(state.streams.insert(Stream {
            context,
            flags,
            priority,
            number,
            attributes: Attributes::new(),
        }));
        Ok(())
    })
}

/// Succeeds, since all work of a stream is done, or reports any kernel failure.
fn done(stream: Handle<Stream>) -> Answer {
    state::with_current(|state, _| state.must_not_capture(stream))
}

/// The client waits for what is done.
fn wait() -> Answer {
    state::with_current(|state, _| {
        state.synchronize();
        Ok(())
    })
}

/// Calls the client's function in a stream.
fn call(stream: Handle<Stream>, function: HostFunction, data: Bytes) -> Answer {
    work::submit(stream, |_, _| {
        if function.is_null() { Err(Status::InvalidValue) } else { Ok(Work::Host(function, data.address())) }
    })
}

api! {
    /// Creates a stream. Flags have no effect.
    cuStreamCreate = "cuStreamCreate" 2000 (stream: Out<Handle<Stream>>, flags: u32) {
        create(stream, flags, 0)
    }

    /// Creates a stream. Flags and priority have no effect.
    cuStreamCreateWithPriority = "cuStreamCreateWithPriority" 5050 (
        stream: Out<Handle<Stream>>, flags: u32, priority: i32,
    ) {
        create(stream, flags, priority)
    }

    /// Destroys a stream. The default stream cannot be destroyed.
    cuStreamDestroy_v2 / cuStreamDestroy 2000 = "cuStreamDestroy" 4000 (stream: Handle<Stream>) {
        let gone = state::with_current(|state, _| {
            state.streams.get(stream)?;
            let gone = state.forget_captured(stream)?;
            state.streams.remove(stream)?;
            Ok(gone)
        })?;
        gone.finish()
    }

    /// Succeeds: all work is done.
    cuStreamQuery | cuStreamQuery_ptsz = "cuStreamQuery" 2000 (stream: Handle<Stream>) {
        done(stream)
    }

    /// Succeeds: all work is done.
    cuStreamSynchronize | cuStreamSynchronize_ptsz = "cuStreamSynchronize" 2000 (stream: Handle<Stream>) {
        done(stream)?;
        wait()
    }

    /// Succeeds: a recorded event is already complete. In a capture, what follows waits for what the event stands
    /// for. With the flag, the wait is an operation of the stream.
    cuStreamWaitEvent | cuStreamWaitEvent_ptsz = "cuStreamWaitEvent" 3020 (
        stream: Handle<Stream>, event: Handle<Event>, flags: u32,
    ) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            check_event(state, event)?;
            match flags {
                0 => state.capture_wait(stream, event),
                1 => match state.captured(stream)? {
                    Some(capture) => state.capture(capture, stream, Work::Wait(event)).map(|_| ()),
                    None => Ok(()),
                },
                _ => Err(Status::InvalidValue),
            }
        })
    }

    /// Calls the callback immediately. Callbacks cannot be captured.
    cuStreamAddCallback | cuStreamAddCallback_ptsz = "cuStreamAddCallback" 5000 (
        stream: Handle<Stream>, callback: StreamCallback, data: Bytes, flags: u32,
    ) {
        done(stream)?;
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        callback.call(stream.bits(), Status::Success, data)
    }

    /// Calls the function immediately, unless the stream is captured.
    cuLaunchHostFunc | cuLaunchHostFunc_ptsz = "cuLaunchHostFunc" 10000 (stream: Handle<Stream>, function: HostFunction, data: Bytes) {
        call(stream, function, data)
    }

    /// Calls the function immediately, unless the stream is captured. How the host waits for it makes no difference.
    cuLaunchHostFunc_v2 | cuLaunchHostFunc_v2_ptsz = "cuLaunchHostFunc" 13010 (
        stream: Handle<Stream>, function: HostFunction, data: Bytes, mode: u32,
    ) {
        /// The last mode: the host waits actively.
        const SPIN: u32 = 1;
        if mode > SPIN { Err(Status::InvalidValue) } else { call(stream, function, data) }
    }

    /// Writes the priority that was asked for, clamped to the valid range.
    cuStreamGetPriority | cuStreamGetPriority_ptsz = "cuStreamGetPriority" 5050 (stream: Handle<Stream>, priority: Out<i32>) {
        state::with_current(|state, _| {
            let place = priority.place()?;
            place.put(if is_default(stream) { 0 } else { state.streams.get(stream)?.priority });
            Ok(())
        })
    }

    /// Writes the flags that the stream was created with.
    cuStreamGetFlags | cuStreamGetFlags_ptsz = "cuStreamGetFlags" 5050 (stream: Handle<Stream>, flags: Out<u32>) {
        state::with_current(|state, _| {
            let place = flags.place()?;
            place.put(if is_default(stream) { 0 } else { state.streams.get(stream)?.flags });
            Ok(())
        })
    }

    /// Writes the stream's unique number; 0 for the default stream.
    cuStreamGetId | cuStreamGetId_ptsz = "cuStreamGetId" 12000 (stream: Handle<Stream>, number: Out<u64>) {
        state::with_current(|state, _| {
            let place = number.place()?;
            place.put(if is_default(stream) { 0 } else { state.streams.get(stream)?.number });
            Ok(())
        })
    }

    /// Writes the stream's context; for the default stream, the current one.
    cuStreamGetCtx | cuStreamGetCtx_ptsz = "cuStreamGetCtx" 9020 (stream: Handle<Stream>, context: Out<Handle<Context>>) {
        state::with_current(|state, current| {
            let place = context.place()?;
            place.put(if is_default(stream) { current } else { state.streams.get(stream)?.context });
            Ok(())
        })
    }

    /// Writes the stream's context. There are no green contexts.
    cuStreamGetCtx_v2 | cuStreamGetCtx_v2_ptsz = "cuStreamGetCtx" 12050 (
        stream: Handle<Stream>, context: Out<Handle<Context>>, green: Out<u64>,
    ) {
        state::with_current(|state, current| {
            let place = context.place()?;
            place.put(if is_default(stream) { current } else { state.streams.get(stream)?.context });
            green.put_if_wanted(0);
            Ok(())
        })
    }

    /// Writes the ordinal of the one device.
    cuStreamGetDevice | cuStreamGetDevice_ptsz = "cuStreamGetDevice" 12080 (stream: Handle<Stream>, device: Out<i32>) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            device.put(0)
        })
    }

    /// Accepted without effect: every stream may use managed memory.
    cuStreamAttachMemAsync | cuStreamAttachMemAsync_ptsz = "cuStreamAttachMemAsync" 6000 (
        stream: Handle<Stream>, address: u64, _bytes: usize, flags: u32,
    ) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            // To all streams, to the host, or to this stream.
            if !matches!(flags, 1 | 2 | 4) {
                return Err(Status::InvalidValue);
            }
            state.on_device(address, 0).map(|_| ())
        })
    }
}
