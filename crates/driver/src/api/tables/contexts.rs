//! Contexts for tools: the runtime of 13 wants the table and calls none of it; libraries ask for a context's number.

use crate::api::context::named;
use crate::api::tables::table;
use crate::client::Out;
use crate::objects::Context;
use crate::state;
use crate::table::Handle;

table! {
    "contexts for tools", 0x2131_8c60_9714_3248_8ca6_41ff_7324_c8f2_u128.to_be_bytes(), Slot::size(95), 95 slots;

    /// Writes the device of a context.
    3 device(context: Handle<Context>, to: Out<i32>) {
        state::with(|state| {
            state.contexts.get(named(context)?)?;
            to.put(0)
        })
    }

    /// Writes the context's unique number, that of `cuCtxGetId`.
    4 number(context: Handle<Context>, to: Out<u64>) {
        state::with(|state| {
            let context = named(context)?;
            state.contexts.get(context)?;
            to.put(context.bits())
        })
    }

    unsupported 1 2 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94;
}
