//! Checks of a context.

use crate::api::context::named;
use crate::api::tables::table;
use crate::client::{Bytes, Out};
use crate::objects::Context;
use crate::state;
use crate::table::Handle;

table! {
    "context checks", 0x263e_8860_7cd2_6143_92f6_bbd5_006d_fa7e_u128.to_be_bytes(), Slot::size(4), 4 slots;

    /// Writes 0: the context stands for no other one, so there is nothing to write to the second place.
    2 stands_for(context: Handle<Context>, flag: Out<u32>, _other: Bytes) {
        state::with(|state| {
            state.contexts.get(named(context)?)?;
            flag.put(0)
        })
    }

    /// 0: nothing of the process forbids calls.
    3 forbidden() {
        Ok(())
    }

    unsupported 1;
}
