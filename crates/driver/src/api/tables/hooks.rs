//! Hooks for tools: which of the runtime's calls a profiler wants to hear of. No tool can subscribe, so all are off.

use std::sync::atomic::AtomicU32;

use crate::api::tables::table;
use crate::client::{Bytes, Out};

/// A word for each of the runtime's calls, which is not 0 while a tool has subscribed to it. Atomic, because the runtime
/// gets the address of what is no constant to the compiler.
static CALLS: [AtomicU32; 1024] = [const { AtomicU32::new(0) }; 1024];
/// The same for kinds of events.
static EVENTS: [AtomicU32; 14] = [const { AtomicU32::new(0) }; 14];

/// Writes where flags are and how many.
fn put(flags: &'static [AtomicU32], start: Out<Bytes>, count: Out<usize>) {
    start.put_if_wanted(Bytes::at(flags.as_ptr().expose_provenance() as u64));
    count.put_if_wanted(flags.len());
}

table! {
    "hooks for tools", 0xa094_798c_2e74_2e74_93f2_0800_200c_0a66_u128.to_be_bytes(), Slot::size(7), 7 slots;

    /// Writes where the flags of calls are, and their number.
    2 calls(start: Out<Bytes>, count: Out<usize>) {
        put(&CALLS, start, count);
        Ok(())
    }

    /// Writes where the flags of events are, and their number.
    6 events(start: Out<Bytes>, count: Out<usize>) {
        put(&EVENTS, start, count);
        Ok(())
    }

    unsupported 1 3 4 5;
}
