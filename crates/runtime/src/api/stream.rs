//! Streams. Flags, priorities and callbacks are the driver API's.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver::{Event, Stream};

api! {
    /// With no flags.
    cudaStreamCreate(stream: Out<Stream>) {
        context::ready()?.cuStreamCreateWithPriority(stream, 0, 0)
    }

    /// Flags change nothing.
    cudaStreamCreateWithFlags(stream: Out<Stream>, flags: u32) {
        context::ready()?.cuStreamCreateWithPriority(stream, flags, 0)
    }

    /// Flags and priority change nothing.
    cudaStreamCreateWithPriority(stream: Out<Stream>, flags: u32, priority: i32) {
        context::ready()?.cuStreamCreateWithPriority(stream, flags, priority)
    }

    /// The default stream stays.
    cudaStreamDestroy(stream: Stream) {
        context::ready()?.cuStreamDestroy_v2(stream)
    }

    /// Whether all is done.
    cudaStreamQuery | cudaStreamQuery_ptsz (stream: Stream) {
        context::ready()?.cuStreamQuery(stream)
    }

    /// Until all is done.
    cudaStreamSynchronize | cudaStreamSynchronize_ptsz (stream: Stream) {
        context::ready()?.cuStreamSynchronize(stream)
    }

    /// After an event.
    cudaStreamWaitEvent | cudaStreamWaitEvent_ptsz (stream: Stream, event: Event, flags: u32) {
        context::ready()?.cuStreamWaitEvent(stream, event, flags)
    }

    /// Called when what was given before is done.
    cudaStreamAddCallback | cudaStreamAddCallback_ptsz (stream: Stream, callback: Bytes, data: Bytes, flags: u32) {
        context::ready()?.cuStreamAddCallback(stream, callback, data, flags)
    }

    /// Called when what was given before is done.
    cudaLaunchHostFunc | cudaLaunchHostFunc_ptsz (stream: Stream, function: Bytes, data: Bytes) {
        context::ready()?.cuLaunchHostFunc(stream, function, data)
    }

    /// As asked for, within the range.
    cudaStreamGetPriority | cudaStreamGetPriority_ptsz (stream: Stream, priority: Out<i32>) {
        context::ready()?.cuStreamGetPriority(stream, priority)
    }

    /// As asked for.
    cudaStreamGetFlags | cudaStreamGetFlags_ptsz (stream: Stream, flags: Out<u32>) {
        context::ready()?.cuStreamGetFlags(stream, flags)
    }

    /// A number of its own.
    cudaStreamGetId | cudaStreamGetId_ptsz (stream: Stream, number: Out<u64>) {
        context::ready()?.cuStreamGetId(stream, number)
    }

    /// The one device.
    cudaStreamGetDevice | cudaStreamGetDevice_ptsz (stream: Stream, device: Out<i32>) {
        context::ready()?.cuStreamQuery(stream)?;
        device.put(context::DEVICE)
    }

    /// Whether a graph is being made of it.
    cudaStreamIsCapturing | cudaStreamIsCapturing_ptsz (stream: Stream, status: Out<u32>) {
        context::ready()?.cuStreamIsCapturing(stream, status)
    }

    /// There are no graphs: the driver says so.
    cudaStreamBeginCapture | cudaStreamBeginCapture_ptsz (stream: Stream, mode: u32) {
        context::ready()?.cuStreamBeginCapture_v2(stream, mode)
    }

    /// Greatest and least urgent.
    cudaDeviceGetStreamPriorityRange(least: Out<i32>, most: Out<i32>) {
        context::ready()?.cuCtxGetStreamPriorityRange(least, most)
    }

}
