//! The interface of the CUDA runtime: modules from fat binaries, and the primary context.

use crate::api::tables::table;
use crate::api::{module, primary};
use crate::client::{Bytes, Out};
use crate::jit::Jit;
use crate::log;
use crate::objects::{Context, Module};
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Loads a module from a fat binary. What the further arguments mean is not known; callers leave them out.
fn load(module: Out<Handle<Module>>, image: Bytes, more: [Bytes; 2], number: u32) -> Answer {
    if more != [Bytes::NULL; 2] || number != 0 {
        log::once("the CUDA runtime's interface: arguments for a fat binary are not supported".into());
        return Err(Status::NotSupported);
    }
    module::load_data(module, image, &Jit::default())
}

table! {
    "CUDA runtime's interface", 0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9_u128.to_be_bytes(), Slot::size(13), 13 slots;

    /// Loads a module from a fat binary.
    1 load_module(module: Out<Handle<Module>>, image: Bytes) {
        load(module, image, [Bytes::NULL; 2], 0)
    }

    /// Writes the primary context, which nobody has retained yet if it is new.
    2 primary_context(context: Out<Handle<Context>>, device: i32) {
        state::with(|state| {
            let place = context.place()?;
            place.put(primary::context(state, device)?);
            Ok(())
        })
    }

    /// Loads a module from a fat binary.
    6 load_module_with(
        module: Out<Handle<Module>>, image: Bytes, first: Bytes, second: Bytes, number: u32,
    ) {
        load(module, image, [first, second], number)
    }

    /// Says that a fat binary goes away. Nothing refers to it: what was loaded from it is a copy.
    7 forget(_image: Bytes) {
        Ok(())
    }

    /// Loads a module from a fat binary without a wrapper.
    8 load_container(
        image: Bytes, module: Out<Handle<Module>>, first: Bytes, second: Bytes, number: u32,
    ) {
        load(module, image, [first, second], number)
    }

    /// Prepares the compiler of PTX, which is a part of this library.
    12 load_compilers() {
        Ok(())
    }

    unsupported 3 4 5 9 10 11;
}
