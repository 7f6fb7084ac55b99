//! Context-local storage: values that a client keeps with a context, by key, until the context is destroyed.

use crate::api::context::named;
use crate::api::tables::table;
use crate::client::{Bytes, Farewell, Out};
use crate::objects::{Context, Kept};
use crate::state;
use crate::status::Status;
use crate::table::Handle;

table! {
    "context-local storage", 0xc693_336e_1121_df11_a8c3_68f3_55d8_9593_u128.to_be_bytes(), Slot::END, 4 slots;

    /// Keeps a value with a context (null: the current one) in place of an earlier one of the key. When the context is
    /// destroyed, the function is called with context, key and value.
    0 put(context: Handle<Context>, key: Bytes, value: Bytes, farewell: Farewell) {
        state::with(|state| {
            let context = state.contexts.get_mut(named(context)?)?;
            context.kept.insert(key.address(), Kept { value: value.address(), farewell });
            Ok(())
        })
    }

    /// Forgets a key. Its function is not called.
    1 delete(context: Handle<Context>, key: Bytes) {
        state::with(|state| {
            let context = state.contexts.get_mut(named(context)?)?;
            context.kept.remove(&key.address()).map(|_| ()).ok_or(Status::InvalidHandle)
        })
    }

    /// Writes the value of a key.
    2 get(to: Out<Bytes>, context: Handle<Context>, key: Bytes) {
        state::with(|state| {
            let place = to.place()?;
            let kept = &state.contexts.get(named(context)?)?.kept;
            place.put(Bytes::at(kept.get(&key.address()).ok_or(Status::InvalidHandle)?.value));
            Ok(())
        })
    }
}
