//! Attributes and parameters of kernels.

use std::ffi::c_char;

use strata_fatbin::Target;

use crate::api::{api, library};
use crate::client::Out;
use crate::objects::{Context, Function, Kernel, Module};
use crate::resident::max_threads;
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::{Handle, Object};
use crate::work::launch::NON_PORTABLE_CLUSTER;

/// Resolves a handle that is a function, or a library's kernel passed as one, to its function in the context.
pub fn resolve(
    state: &mut State,
    context: Handle<Context>,
    function: Handle<Function>,
) -> Answer<Handle<Function>> {
    if state.functions.has(function) {
        return Ok(function);
    }
    let kernel = Handle::<Kernel>::from_bits(function.bits());
    if state.kernels.has(kernel) {
        return library::function(state, kernel, context);
    }
    Err(Function::MISSING)
}

/// Function attributes: values of `CUfunction_attribute`.
mod number {
    pub const MAX_DYNAMIC_SHARED: u32 = 8;
    pub const CARVE_OUT: u32 = 9;
    pub const CLUSTER_MUST_BE_SET: u32 = 10;
    pub const CLUSTER_WIDTH: u32 = 11;
    pub const CLUSTER_DEPTH: u32 = 13;
    pub const CLUSTER_POLICY: u32 = 15;
    pub const LAST: u32 = 17;
}

fn attribute(state: &mut State, function: Handle<Function>, number: u32) -> Answer<i32> {
    let entry = &state.entry(function)?;
    let Function { attributes, .. } = state.functions.get(function)?;
    let kernel = &entry.kernel;
    let shared = *state.settings.machine.file().sm.shared_bytes;
    let set = |default: i32| attributes.get(&number).copied().unwrap_or(default);
    let capability = state.settings.capability.target() as i32;
    Ok(match number {
        0 => max_threads(state, entry) as i32,
        1 => kernel.shared_bytes as i32,
        2 => {
            let (entry, card) = (entry.clone(), state.card()?);
            let program = card.program(entry.module).ok_or(Status::InvalidHandle)?;
            let constants = program.variables().iter().filter(|variable| variable.constant);
            constants.map(|variable| variable.bytes).sum::<u64>() as i32
        }
        3 => kernel.local_bytes as i32,
        4 => kernel.registers as i32,
        // What the text was compiled for, by which a program chooses among versions of its own, and what it is
        // translated for.
        5 => {
            let (entry, card) = (entry.clone(), state.card()?);
            let program = card.program(entry.module).ok_or(Status::InvalidHandle)?;
            Target::parse(program.version_and_target().1).map_or(capability, |target| target.number as i32)
        }
        6 => capability,
        number::MAX_DYNAMIC_SHARED => set(shared.saturating_sub(kernel.shared_bytes) as i32),
        number::CARVE_OUT => set(-1),
        number::CLUSTER_MUST_BE_SET => i32::from(kernel.launch_bounds.explicit_cluster),
        number::CLUSTER_WIDTH..=number::CLUSTER_DEPTH => {
            let axis = (number - number::CLUSTER_WIDTH) as usize;
            kernel.launch_bounds.cluster.map_or(set(0), |cluster| cluster[axis] as i32)
        }
        7 | 10..=number::LAST => set(0),
        _ => return Err(Status::InvalidValue),
    })
}

fn set_attribute(state: &mut State, function: Handle<Function>, number: u32, value: i32) -> Answer {
    let shared = *state.settings.machine.file().sm.shared_bytes as i32;
    let function = state.functions.get_mut(function)?;
    let least = function.entry.kernel.shared_bytes as i32;
    match number {
        number::MAX_DYNAMIC_SHARED if (0..=shared.saturating_sub(least)).contains(&value) => {}
        number::CARVE_OUT if (-1..=100).contains(&value) => {}
        NON_PORTABLE_CLUSTER if (0..=1).contains(&value) => {}
        number::CLUSTER_POLICY if (0..=2).contains(&value) => {}
        _ => return Err(Status::InvalidValue),
    }
    function.attributes.insert(number, value);
    Ok(())
}

api! {
    /// Writes an attribute of a function.
    cuFuncGetAttribute = "cuFuncGetAttribute" 2020 (value: Out<i32>, number: u32, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = value.place()?;
            let function = resolve(state, context, function)?;
            place.put(attribute(state, function, number)?);
            Ok(())
        })
    }

    /// Sets an attribute of a function: the maximum dynamic shared memory or the carve-out.
    cuFuncSetAttribute = "cuFuncSetAttribute" 9000 (function: Handle<Function>, number: u32, value: i32) {
        state::with_current(|state, context| {
            let function = resolve(state, context, function)?;
            set_attribute(state, function, number, value)
        })
    }

    /// Writes an attribute of a library's kernel.
    cuKernelGetAttribute = "cuKernelGetAttribute" 12000 (
        value: Out<i32>, number: u32, kernel: Handle<Kernel>, _device: i32,
    ) {
        state::with_current(|state, context| {
            let place = value.place()?;
            let function = library::function(state, kernel, context)?;
            place.put(attribute(state, function, number)?);
            Ok(())
        })
    }

    /// Sets an attribute of a library's kernel in the current context.
    cuKernelSetAttribute = "cuKernelSetAttribute" 12000 (
        number: u32, value: i32, kernel: Handle<Kernel>, _device: i32,
    ) {
        state::with_current(|state, context| {
            let function = library::function(state, kernel, context)?;
            set_attribute(state, function, number, value)
        })
    }

    /// Accepted without effect: the machine file fixes the sizes of L1D and shared memory.
    cuFuncSetCacheConfig = "cuFuncSetCacheConfig" 3000 (function: Handle<Function>, config: u32) {
        state::with_current(|state, context| {
            resolve(state, context, function)?;
            if config > 3 { Err(Status::InvalidValue) } else { Ok(()) }
        })
    }

    /// Accepted without effect: the machine file fixes the sizes of L1D and shared memory.
    cuKernelSetCacheConfig = "cuKernelSetCacheConfig" 12000 (
        kernel: Handle<Kernel>, config: u32, _device: i32,
    ) {
        state::with(|state| {
            state.kernels.get(kernel)?;
            if config > 3 { Err(Status::InvalidValue) } else { Ok(()) }
        })
    }

    /// Accepted without effect: the machine file fixes the banks.
    cuFuncSetSharedMemConfig = "cuFuncSetSharedMemConfig" 4020 (function: Handle<Function>, config: u32) {
        state::with_current(|state, context| {
            resolve(state, context, function)?;
            if config > 2 { Err(Status::InvalidValue) } else { Ok(()) }
        })
    }

    /// Writes the module of a function.
    cuFuncGetModule = "cuFuncGetModule" 11000 (to: Out<Handle<Module>>, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            let function = resolve(state, context, function)?;
            place.put(state.functions.get(function)?.module);
            Ok(())
        })
    }

    /// Writes the name of a function.
    cuFuncGetName = "cuFuncGetName" 12030 (to: Out<*const c_char>, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            let function = resolve(state, context, function)?;
            place.put(library::kept_name(&state.functions.get(function)?.entry.kernel.name)?);
            Ok(())
        })
    }

    /// Writes a function's number of parameters.
    cuFuncGetParamCount = "cuFuncGetParamCount" 13020 (function: Handle<Function>, count: Out<usize>) {
        state::with_current(|state, context| {
            let place = count.place()?;
            let function = resolve(state, context, function)?;
            place.put(state.functions.get(function)?.entry.kernel.params.len());
            Ok(())
        })
    }

    /// Writes a kernel's number of parameters.
    cuKernelGetParamCount = "cuKernelGetParamCount" 13020 (kernel: Handle<Kernel>, count: Out<usize>) {
        state::with_current(|state, context| {
            let place = count.place()?;
            let function = library::function(state, kernel, context)?;
            place.put(state.functions.get(function)?.entry.kernel.params.len());
            Ok(())
        })
    }

    /// Writes 1: every function is loaded.
    cuFuncIsLoaded = "cuFuncIsLoaded" 12040 (loaded: Out<u32>, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = loaded.place()?;
            resolve(state, context, function)?;
            place.put(1);
            Ok(())
        })
    }

    /// Succeeds: every function is loaded.
    cuFuncLoad = "cuFuncLoad" 12040 (function: Handle<Function>) {
        state::with_current(|state, context| resolve(state, context, function).map(|_| ()))
    }

    /// Writes the offset and size of a function's parameter.
    cuFuncGetParamInfo = "cuFuncGetParamInfo" 12040 (
        function: Handle<Function>, index: usize, offset: Out<usize>, bytes: Out<usize>,
    ) {
        state::with_current(|state, context| {
            let function = resolve(state, context, function)?;
            let entry = &state.functions.get(function)?.entry;
            let param = entry.kernel.params.get(index).ok_or(Status::InvalidValue)?;
            offset.put(param.offset as usize)?;
            bytes.put_if_wanted(param.bytes as usize);
            Ok(())
        })
    }

    /// Writes the offset and size of a kernel's parameter.
    cuKernelGetParamInfo = "cuKernelGetParamInfo" 12040 (
        kernel: Handle<Kernel>, index: usize, offset: Out<usize>, bytes: Out<usize>,
    ) {
        state::with_current(|state, context| {
            let function = library::function(state, kernel, context)?;
            let entry = &state.functions.get(function)?.entry;
            let param = entry.kernel.params.get(index).ok_or(Status::InvalidValue)?;
            offset.put(param.offset as usize)?;
            bytes.put_if_wanted(param.bytes as usize);
            Ok(())
        })
    }
}
