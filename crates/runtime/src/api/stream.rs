//! Streams. Flags, priorities and callbacks are the driver API's.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver::{Event, Stream};

api! {
    /// Creates a stream without flags.
    cudaStreamCreate(stream: Out<Stream>) {
        context::ready()?.cuStreamCreateWithPriority(stream, 0, 0)
    }

    /// Creates a stream. `flags` have no effect.
    cudaStreamCreateWithFlags(stream: Out<Stream>, flags: u32) {
        context::ready()?.cuStreamCreateWithPriority(stream, flags, 0)
    }

    /// Creates a stream. `flags` and priority have no effect.
    cudaStreamCreateWithPriority(stream: Out<Stream>, flags: u32, priority: i32) {
        context::ready()?.cuStreamCreateWithPriority(stream, flags, priority)
    }

    /// Destroys a stream. The default stream cannot be destroyed.
    cudaStreamDestroy(stream: Stream) {
        context::ready()?.cuStreamDestroy_v2(stream)
    }

    /// Succeeds if all work of the stream is done.
    cudaStreamQuery | cudaStreamQuery_ptsz (stream: Stream) {
        context::ready()?.cuStreamQuery(stream)
    }

    /// Waits until all work of the stream is done.
    cudaStreamSynchronize | cudaStreamSynchronize_ptsz (stream: Stream) {
        context::ready()?.cuStreamSynchronize(stream)
    }

    /// Makes later work of the stream wait for an event.
    cudaStreamWaitEvent | cudaStreamWaitEvent_ptsz (stream: Stream, event: Event, flags: u32) {
        context::ready()?.cuStreamWaitEvent(stream, event, flags)
    }

    /// Calls a function once the stream's earlier work is done.
    cudaStreamAddCallback | cudaStreamAddCallback_ptsz (stream: Stream, callback: Bytes, data: Bytes, flags: u32) {
        context::ready()?.cuStreamAddCallback(stream, callback, data, flags)
    }

    /// Calls a function once the stream's earlier work is done.
    cudaLaunchHostFunc | cudaLaunchHostFunc_ptsz (stream: Stream, function: Bytes, data: Bytes) {
        context::ready()?.cuLaunchHostFunc(stream, function, data)
    }

    /// Calls a host function in a stream; the mode says how the host waits for it, which makes no difference.
    cudaLaunchHostFunc_v2 | cudaLaunchHostFunc_v2_ptsz (stream: Stream, function: Bytes, data: Bytes, mode: u32) {
        context::ready()?.cuLaunchHostFunc_v2(stream, function, data, mode)
    }

    /// Writes the priority that was asked for, clamped to the valid range.
    cudaStreamGetPriority | cudaStreamGetPriority_ptsz (stream: Stream, priority: Out<i32>) {
        context::ready()?.cuStreamGetPriority(stream, priority)
    }

    /// Writes the flags that the stream was created with.
    cudaStreamGetFlags | cudaStreamGetFlags_ptsz (stream: Stream, flags: Out<u32>) {
        context::ready()?.cuStreamGetFlags(stream, flags)
    }

    /// Writes the stream's unique number.
    cudaStreamGetId | cudaStreamGetId_ptsz (stream: Stream, number: Out<u64>) {
        context::ready()?.cuStreamGetId(stream, number)
    }

    /// Writes the ordinal of the one device.
    cudaStreamGetDevice | cudaStreamGetDevice_ptsz (stream: Stream, device: Out<i32>) {
        context::ready()?.cuStreamGetFlags(stream, Bytes::to(&mut 0_u32).out())?;
        device.put(context::DEVICE)
    }

    /// Writes the lowest and highest stream priority.
    cudaDeviceGetStreamPriorityRange(least: Out<i32>, most: Out<i32>) {
        context::ready()?.cuCtxGetStreamPriorityRange(least, most)
    }

}
