//! Checks handles that calls receive.

use crate::current::{self, Default};
use crate::objects::{Event, Stream};
use crate::state::State;
use crate::status::Answer;
use crate::table::Handle;

/// The default stream that all threads share.
pub const LEGACY: Handle<Stream> = Handle::from_bits(1);
/// The default stream of the calling thread.
pub const PER_THREAD: Handle<Stream> = Handle::from_bits(2);
/// The names of the default streams, which always exist.
const DEFAULT: std::ops::RangeInclusive<u64> = 0..=2;

/// The stream that a handle names; null is the call's default stream.
pub fn named(stream: Handle<Stream>) -> Handle<Stream> {
    match (stream.is_null(), current::default()) {
        (false, _) => stream,
        (true, Default::Legacy) => LEGACY,
        (true, Default::PerThread) => PER_THREAD,
    }
}

/// Whether a handle names a default stream.
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
