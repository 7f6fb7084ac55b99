//! The device's primary context.

use crate::api::api;
use crate::api::device::check;
use crate::client::Out;
use crate::objects::Context;
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

fn release(state: &mut State) -> Answer {
    let primary = &mut state.primary;
    primary.references = primary.references.checked_sub(1).ok_or(Status::InvalidContext)?;
    if primary.references == 0 { state.end_primary() } else { Ok(()) }
}

/// The primary context, created if there is none. It is inactive until it is retained.
pub fn context(state: &mut State, device: i32) -> Answer<Handle<Context>> {
    check(device)?;
    let context = match state.primary.context {
        Some(context) => context,
        None => state.create_context(state.primary.flags, true)?,
    };
    state.primary.context = Some(context);
    Ok(context)
}

fn set_flags(flags: u32, device: i32) -> Answer {
    state::with(|state| {
        check(device)?;
        check_flags(flags)?;
        state.primary.flags = flags;
        if let Some(context) = state.primary.context {
            state.contexts.get_mut(context)?.flags = flags;
        }
        Ok(())
    })
}

/// Refuses unknown flags. Known ones: scheduling, host mapping, local memory, core dumps, memory
/// synchronisation.
pub fn check_flags(flags: u32) -> Answer {
    if flags & !0xff == 0 && flags & 0x7 != 0x7 { Ok(()) } else { Err(Status::InvalidValue) }
}

api! {
    /// Increments the primary context's reference count, creating the context if necessary.
    cuDevicePrimaryCtxRetain = "cuDevicePrimaryCtxRetain" 7000 (context: Out<Handle<Context>>, device: i32) {
        state::with(|state| {
            let place = context.place()?;
            let primary = self::context(state, device)?;
            state.alive()?;
            state.primary.references += 1;
            place.put(primary);
            Ok(())
        })
    }

    /// Decrements the primary context's reference count, and destroys the context when it reaches 0.
    cuDevicePrimaryCtxRelease_v2 = "cuDevicePrimaryCtxRelease" 11000 (device: i32) {
        state::with(|state| {
            check(device)?;
            release(state)
        })
    }

    /// The older name of `cuDevicePrimaryCtxRelease_v2`.
    cuDevicePrimaryCtxRelease = "cuDevicePrimaryCtxRelease" 7000 (device: i32) {
        state::with(|state| {
            check(device)?;
            release(state)
        })
    }

    /// Destroys the primary context with everything in it.
    cuDevicePrimaryCtxReset_v2 = "cuDevicePrimaryCtxReset" 11000 (device: i32) {
        state::with(|state| {
            check(device)?;
            state.end_primary()
        })
    }

    /// The older name of `cuDevicePrimaryCtxReset_v2`.
    cuDevicePrimaryCtxReset = "cuDevicePrimaryCtxReset" 7000 (device: i32) {
        state::with(|state| {
            check(device)?;
            state.end_primary()
        })
    }

    /// Writes the primary context's flags, and whether anybody retains it.
    cuDevicePrimaryCtxGetState = "cuDevicePrimaryCtxGetState" 7000 (
        device: i32, flags: Out<u32>, active: Out<i32>,
    ) {
        state::with(|state| {
            check(device)?;
            flags.put(state.primary.flags)?;
            active.put(i32::from(state.primary.references > 0))
        })
    }

    /// Stores flags, which have no effect.
    cuDevicePrimaryCtxSetFlags_v2 = "cuDevicePrimaryCtxSetFlags" 11000 (device: i32, flags: u32) {
        set_flags(flags, device)
    }

    /// The older name of `cuDevicePrimaryCtxSetFlags_v2`.
    cuDevicePrimaryCtxSetFlags = "cuDevicePrimaryCtxSetFlags" 7000 (device: i32, flags: u32) {
        set_flags(flags, device)
    }
}
