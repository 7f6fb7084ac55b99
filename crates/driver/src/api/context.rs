//! Contexts, and each thread's stack of current contexts.

use crate::api::api;
use crate::api::device::check;
use crate::api::primary::check_flags;
use crate::client::{Bytes, Out};
use crate::current;
use crate::objects::Context;
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// The API version that contexts report.
const API_VERSION: u32 = 3020;

fn create(context: Out<Handle<Context>>, flags: u32, device: i32) -> Answer {
    state::with(|state| {
        let place = context.place()?;
        check(device)?;
        check_flags(flags)?;
        let context = state.create_context(flags, false)?;
        current::push(context);
        place.put(context);
        Ok(())
    })
}

/// The context with this handle; for null, the current one.
pub fn named(context: Handle<Context>) -> Answer<Handle<Context>> {
    if context.is_null() { current::context().ok_or(Status::InvalidContext) } else { Ok(context) }
}

fn destroy(context: Handle<Context>) -> Answer {
    state::with(|state| {
        if state.contexts.get(context)?.primary {
            return Err(Status::InvalidContext);
        }
        state.destroy_context(context)?;
        // Pop the context if it is current in this thread. In other threads it stays on the stack as a dead
        // context.
        if current::context() == Some(context) {
            current::pop();
        }
        Ok(())
    })
}

fn synchronise(context: Handle<Context>) -> Answer {
    state::with(|state| {
        state.contexts.get(context)?;
        state.alive()?;
        state.synchronize();
        Ok(())
    })
}

api! {
    /// Creates a context and makes it current.
    cuCtxCreate_v2 / cuCtxCreate 2000 = "cuCtxCreate" 3020 (context: Out<Handle<Context>>, flags: u32, device: i32) {
        create(context, flags, device)
    }

    /// Creates a context. Affinity parameters are refused, because SMs cannot be set aside.
    cuCtxCreate_v3 = "cuCtxCreate" 11040 (
        context: Out<Handle<Context>>, _affinities: Bytes, count: i32, flags: u32, device: i32,
    ) {
        if count != 0 {
            return Err(Status::NotSupported);
        }
        create(context, flags, device)
    }

    /// Like v3, with both kinds of parameters in one structure.
    cuCtxCreate_v4 = "cuCtxCreate" 12050 (
        context: Out<Handle<Context>>, parameters: Bytes, flags: u32, device: i32,
    ) {
        // Pointer to affinities, their count, and pointer to a graphics context.
        if !parameters.is_null() {
            let words = parameters.values::<u64>();
            if words.at(0)? != 0 || words.at(2)? != 0 {
                return Err(Status::NotSupported);
            }
        }
        create(context, flags, device)
    }

    /// Destroys a context with everything in it.
    cuCtxDestroy_v2 / cuCtxDestroy 2000 = "cuCtxDestroy" 4000 (context: Handle<Context>) {
        destroy(context)
    }

    /// Pushes a context onto the thread's stack, which makes it current.
    cuCtxPushCurrent_v2 / cuCtxPushCurrent 2000 = "cuCtxPushCurrent" 4000 (context: Handle<Context>) {
        state::with(|state| {
            state.contexts.get(context)?;
            current::push(context);
            Ok(())
        })
    }

    /// Pops the current context; the one below becomes current.
    cuCtxPopCurrent_v2 / cuCtxPopCurrent 2000 = "cuCtxPopCurrent" 4000 (context: Out<Handle<Context>>) {
        state::with(|_| {
            let popped = current::pop().ok_or(Status::InvalidContext)?;
            context.put_if_wanted(popped);
            Ok(())
        })
    }

    /// Replaces the current context; null pops it.
    cuCtxSetCurrent = "cuCtxSetCurrent" 4000 (context: Handle<Context>) {
        state::with(|state| {
            if !context.is_null() {
                state.contexts.get(context)?;
            }
            current::pop();
            if !context.is_null() {
                current::push(context);
            }
            Ok(())
        })
    }

    /// Writes the current context, or null if there is none.
    cuCtxGetCurrent = "cuCtxGetCurrent" 4000 (context: Out<Handle<Context>>) {
        state::with(|_| context.put(current::context().unwrap_or(Handle::NULL)))
    }

    /// Writes the device of the current context.
    cuCtxGetDevice = "cuCtxGetDevice" 2000 (device: Out<i32>) {
        state::with(|state| {
            let context = current::context().ok_or(Status::InvalidContext)?;
            if !state.active(context) {
                return Err(Status::ContextIsDestroyed);
            }
            device.put(0)
        })
    }

    /// Writes the device of a context.
    cuCtxGetDevice_v2 = "cuCtxGetDevice" 13000 (device: Out<i32>, context: Handle<Context>) {
        state::with(|state| {
            state.contexts.get(named(context)?)?;
            device.put(0)
        })
    }

    /// Writes the flags of the current context.
    cuCtxGetFlags = "cuCtxGetFlags" 7000 (flags: Out<u32>) {
        state::with_current(|state, context| flags.put(state.contexts.get(context)?.flags))
    }

    /// Stores flags, which have no effect.
    cuCtxSetFlags = "cuCtxSetFlags" 12010 (flags: u32) {
        state::with_current(|state, context| {
            check_flags(flags)?;
            state.contexts.get_mut(context)?.flags = flags;
            Ok(())
        })
    }

    /// Writes the context's unique number.
    cuCtxGetId = "cuCtxGetId" 12000 (context: Handle<Context>, number: Out<u64>) {
        state::with(|state| {
            let context = named(context)?;
            state.contexts.get(context)?;
            number.put(context.bits())
        })
    }

    /// Waits for all work, and reports any kernel failure.
    cuCtxSynchronize = "cuCtxSynchronize" 2000 () {
        state::with_current(|state, _| {
            state.must_not_capture_any()?;
            state.synchronize();
            Ok(())
        })
    }

    /// Like `cuCtxSynchronize`, for a given context.
    cuCtxSynchronize_v2 = "cuCtxSynchronize" 13000 (context: Handle<Context>) {
        synchronise(named(context)?)
    }

    /// Writes a limit: as set, or its default.
    cuCtxGetLimit = "cuCtxGetLimit" 3010 (value: Out<usize>, limit: u32) {
        state::with_current(|state, context| {
            let value = value.place()?;
            value.put(state.limit(context, limit)?);
            Ok(())
        })
    }

    /// Sets a limit for later launches.
    cuCtxSetLimit = "cuCtxSetLimit" 3010 (limit: u32, value: usize) {
        state::with_current(|state, context| state.set_limit(context, limit, value))
    }

    /// Accepted without effect: no data is set to persist in L2.
    cuCtxResetPersistingL2Cache = "cuCtxResetPersistingL2Cache" 11000 () {
        state::with_current(|_, _| Ok(()))
    }

    /// Writes the cache preference that was set.
    cuCtxGetCacheConfig = "cuCtxGetCacheConfig" 3020 (value: Out<u32>) {
        state::with_current(|state, context| value.put(state.contexts.get(context)?.cache))
    }

    /// Stores the cache preference, without effect: the machine file fixes the sizes of L1D and shared
    /// memory.
    cuCtxSetCacheConfig = "cuCtxSetCacheConfig" 3020 (value: u32) {
        state::with_current(|state, context| {
            if value > 3 {
                return Err(Status::InvalidValue);
            }
            state.contexts.get_mut(context)?.cache = value;
            Ok(())
        })
    }

    /// Writes the bank width preference that was set.
    cuCtxGetSharedMemConfig = "cuCtxGetSharedMemConfig" 4020 (value: Out<u32>) {
        state::with_current(|state, context| value.put(state.contexts.get(context)?.shared))
    }

    /// Stores the bank width preference, without effect: the machine file fixes the banks.
    cuCtxSetSharedMemConfig = "cuCtxSetSharedMemConfig" 4020 (value: u32) {
        state::with_current(|state, context| {
            if value > 2 {
                return Err(Status::InvalidValue);
            }
            state.contexts.get_mut(context)?.shared = value;
            Ok(())
        })
    }

    /// Writes the API version, the same for every context.
    cuCtxGetApiVersion = "cuCtxGetApiVersion" 3020 (context: Handle<Context>, version: Out<u32>) {
        state::with(|state| {
            let version = version.place()?;
            let context = named(context)?;
            state.contexts.get(context)?;
            if !state.active(context) {
                return Err(Status::ContextIsDestroyed);
            }
            version.put(API_VERSION);
            Ok(())
        })
    }

    /// Writes the range of stream priorities, which have no effect.
    cuCtxGetStreamPriorityRange = "cuCtxGetStreamPriorityRange" 5050 (least: Out<i32>, most: Out<i32>) {
        state::with_current(|_, _| {
            least.put_if_wanted(0);
            most.put_if_wanted(super::stream::HIGHEST_PRIORITY);
            Ok(())
        })
    }

    /// Fails: there is no other device.
    cuCtxEnablePeerAccess = "cuCtxEnablePeerAccess" 4000 (peer: Handle<Context>, flags: u32) {
        state::with_current(|state, _| {
            if flags != 0 {
                return Err(Status::InvalidValue);
            }
            state.contexts.get(peer)?;
            Err(Status::PeerAccessUnsupported)
        })
    }

    /// Fails: there is no other device.
    cuCtxDisablePeerAccess = "cuCtxDisablePeerAccess" 4000 (peer: Handle<Context>) {
        state::with_current(|state, _| {
            state.contexts.get(peer)?;
            Err(Status::PeerAccessNotEnabled)
        })
    }
}
