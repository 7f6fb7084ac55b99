//! Events, which record simulated time.

use crate::api::api;
use crate::api::handles::check_event;
use crate::client::Out;
use crate::graph::parts::Work;
use crate::objects::{Event, Stream};
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Event flags: blocking synchronisation, no timing, sharing between processes.
mod flag {
    pub const NO_TIMING: u32 = 2;
    pub const INTERPROCESS: u32 = 4;
    pub const ALL: u32 = 7;
}

/// Flag of a record: it is an operation of the stream's graph, not of the capture.
const EXTERNAL: u32 = 1;

fn record(event: Handle<Event>, on: Handle<Stream>, flags: u32) -> Answer {
    state::with_current(|state, _| {
        let captured = state.captured(on)?;
        check_event(state, event)?;
        match captured {
            _ if flags > EXTERNAL => Err(Status::InvalidValue),
            None => state.record(event),
            Some(capture) if flags == EXTERNAL => state.capture(capture, on, Work::Record(event)).map(|_| ()),
            Some(capture) => state.capture_record(capture, on, event),
        }
    })
}

/// Succeeds: events are always complete, recorded or not. What an event stands for that was recorded in a capture
/// has not been done at all.
fn done(event: Handle<Event>) -> Answer {
    state::with_current(|state, _| {
        check_event(state, event)?;
        if let Some((capture, _)) = state.captured_events.get(&event) {
            state.invalidate(*capture);
            return Err(Status::CapturedEvent);
        }
        state.safe()
    })
}

/// Milliseconds of core clock between two events. Only launches take time: copies take none, and with the
/// reference executor nothing does.
fn elapsed(milliseconds: Out<f32>, start: Handle<Event>, end: Handle<Event>) -> Answer {
    state::with_current(|state, _| {
        let place = milliseconds.place()?;
        let time = |event: Handle<Event>| {
            if state.captured_events.contains_key(&event) {
                return Err(Status::CapturedEvent);
            }
            let event = state.events.get(event)?;
            event.recorded.filter(|_| event.timed).ok_or(Status::InvalidHandle)
        };
        let cycles = time(end)? as f64 - time(start)? as f64;
        let clock = f64::from(*state.settings.machine.file().clocks.core_mhz);
        place.put((cycles / (clock * 1e3)) as f32);
        Ok(())
    })
}

api! {
    /// Creates an event that is not recorded yet.
    cuEventCreate = "cuEventCreate" 2000 (event: Out<Handle<Event>>, flags: u32) {
        state::with_current(|state, context| {
            let place = event.place()?;
            let untimed = flags & flag::NO_TIMING != 0;
            if flags > flag::ALL || flags & flag::INTERPROCESS != 0 && !untimed {
                return Err(Status::InvalidValue);
            }
            place.put(state.events.insert(Event { context, timed: !untimed, recorded: None }));
            Ok(())
        })
    }

    /// Destroys an event, recorded or not.
    cuEventDestroy_v2 / cuEventDestroy 2000 = "cuEventDestroy" 4000 (event: Handle<Event>) {
        state::with_current(|state, _| {
            state.captured_events.remove(&event);
            state.events.remove(event).map(|_| ())
        })
    }

    /// Records an event, which is complete immediately.
    cuEventRecord | cuEventRecord_ptsz = "cuEventRecord" 2000 (event: Handle<Event>, stream: Handle<Stream>) {
        record(event, stream, 0)
    }

    /// Records an event, which is complete immediately.
    cuEventRecordWithFlags | cuEventRecordWithFlags_ptsz = "cuEventRecordWithFlags" 11010 (
        event: Handle<Event>, stream: Handle<Stream>, flags: u32,
    ) {
        record(event, stream, flags)
    }

    /// Succeeds: events are always complete, recorded or not; see `done`.
    cuEventQuery = "cuEventQuery" 2000 (event: Handle<Event>) {
        done(event)
    }

    /// Succeeds: events are always complete, recorded or not; see `done`.
    cuEventSynchronize = "cuEventSynchronize" 2000 (event: Handle<Event>) {
        done(event)?;
        state::with_current(|state, _| {
            state.synchronize();
            Ok(())
        })
    }

    /// Writes the milliseconds between two events; see `elapsed`.
    cuEventElapsedTime = "cuEventElapsedTime" 2000 (
        milliseconds: Out<f32>, start: Handle<Event>, end: Handle<Event>,
    ) {
        elapsed(milliseconds, start, end)
    }

    /// Writes the milliseconds between two events; see `elapsed`.
    cuEventElapsedTime_v2 = "cuEventElapsedTime" 12080 (
        milliseconds: Out<f32>, start: Handle<Event>, end: Handle<Event>,
    ) {
        elapsed(milliseconds, start, end)
    }
}
