//! Events. Times between events are the driver's, and therefore simulated.

use crate::api::api;
use crate::client::Out;
use crate::context;
use crate::driver::{Event, Stream};

api! {
    /// Creates an event without flags.
    cudaEventCreate(event: Out<Event>) {
        context::ready()?.cuEventCreate(event, 0)
    }

    /// Creates an event. `flags` are the driver API's.
    cudaEventCreateWithFlags(event: Out<Event>, flags: u32) {
        context::ready()?.cuEventCreate(event, flags)
    }

    /// Destroys an event, recorded or not.
    cudaEventDestroy(event: Event) {
        context::ready()?.cuEventDestroy_v2(event)
    }

    /// Records an event after the stream's earlier work.
    cudaEventRecord | cudaEventRecord_ptsz (event: Event, stream: Stream) {
        context::ready()?.cuEventRecordWithFlags(event, stream, 0)
    }

    /// Records an event after the stream's earlier work. `flags` are the driver API's.
    cudaEventRecordWithFlags | cudaEventRecordWithFlags_ptsz (event: Event, stream: Stream, flags: u32) {
        context::ready()?.cuEventRecordWithFlags(event, stream, flags)
    }

    /// Succeeds if the event is complete.
    cudaEventQuery(event: Event) {
        context::ready()?.cuEventQuery(event)
    }

    /// Waits until the event is complete.
    cudaEventSynchronize(event: Event) {
        context::ready()?.cuEventSynchronize(event)
    }

    /// Writes the simulated time between two events in milliseconds.
    cudaEventElapsedTime | cudaEventElapsedTime_v2 (milliseconds: Out<f32>, start: Event, end: Event) {
        context::ready()?.cuEventElapsedTime(milliseconds, start, end)
    }
}
