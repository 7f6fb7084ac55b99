//! Handles that calls are given: whether they stand for what they should.

use crate::objects::{Event, Stream};
use crate::state::State;
use crate::status::Answer;
use crate::table::Handle;

/// Streams that are always there: the default one by its three names.
const DEFAULT: std::ops::RangeInclusive<u64> = 0..=2;

/// Whether a handle is a name of the default stream.
pub fn is_default(stream: Handle<Stream>) -> bool {
    DEFAULT.contains(&stream.bits())
}

/// Refuses what is no stream.
pub fn check_stream(state: &State, stream: Handle<Stream>) -> Answer {
    if is_default(stream) { Ok(()) } else { state.streams.get(stream).map(|_| ()) }
}

/// Refuses what is no event.
pub fn check_event(state: &State, event: Handle<Event>) -> Answer {
    state.events.get(event).map(|_| ())
}
