//! Checks handles that calls receive.

use crate::objects::{Event, Stream};
use crate::state::State;
use crate::status::Answer;
use crate::table::Handle;

/// The three names of the default stream, which always exist.
const DEFAULT: std::ops::RangeInclusive<u64> = 0..=2;

/// Whether a handle names the default stream.
pub fn is_default(stream: Handle<Stream>) -> bool {
    DEFAULT.contains(&stream.bits())
}

/// Refuses a handle that is not a stream.
pub fn check_stream(state: &State, stream: Handle<Stream>) -> Answer {
    if is_default(stream) { Ok(()) } else { state.streams.get(stream).map(|_| ()) }
}

/// Refuses a handle that is not an event.
pub fn check_event(state: &State, event: Handle<Event>) -> Answer {
    state.events.get(event).map(|_| ())
}
