//! Events: the time between two is the driver's, which is simulated.

use crate::api::api;
use crate::client::Out;
use crate::context;
use crate::driver::{Event, Stream};

api! {
    /// With no flags.
    cudaEventCreate(event: Out<Event>) {
        context::ready()?.cuEventCreate(event, 0)
    }

    /// Flags are the driver API's.
    cudaEventCreateWithFlags(event: Out<Event>, flags: u32) {
        context::ready()?.cuEventCreate(event, flags)
    }

    /// Recorded or not.
    cudaEventDestroy(event: Event) {
        context::ready()?.cuEventDestroy_v2(event)
    }

    /// After what was given before.
    cudaEventRecord | cudaEventRecord_ptsz (event: Event, stream: Stream) {
        context::ready()?.cuEventRecordWithFlags(event, stream, 0)
    }

    /// After what was given before.
    cudaEventRecordWithFlags | cudaEventRecordWithFlags_ptsz (event: Event, stream: Stream, flags: u32) {
        context::ready()?.cuEventRecordWithFlags(event, stream, flags)
    }

    /// Whether it is complete.
    cudaEventQuery(event: Event) {
        context::ready()?.cuEventQuery(event)
    }

    /// Until it is complete.
    cudaEventSynchronize(event: Event) {
        context::ready()?.cuEventSynchronize(event)
    }

    /// Milliseconds.
    cudaEventElapsedTime | cudaEventElapsedTime_v2 (milliseconds: Out<f32>, start: Event, end: Event) {
        context::ready()?.cuEventElapsedTime(milliseconds, start, end)
    }
}
