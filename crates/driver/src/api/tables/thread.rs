//! What belongs to a thread.

use crate::api::tables::table;
use crate::client::Out;
use crate::current;
use crate::objects::Context;
use crate::state;
use crate::table::Handle;

table! {
    "thread-local storage", 0x42d8_5a81_23f6_cb47_8298_f6e7_8a3a_ecdc_u128.to_be_bytes(), Slot::size(4), 4 slots;

    /// Writes the calling thread's context, or null.
    2 context(to: Out<Handle<Context>>) {
        state::with(|_| to.put(current::context().unwrap_or(Handle::NULL)))
    }

    unsupported 1 3;
}
