//! Modules: PTX texts loaded into a context.

use std::collections::BTreeMap;

use strata_gpu::program::KernelError;
use strata_ptx::program::DEFAULT_STACK_BYTES;

use crate::api::api;
use crate::client::{Bytes, In, Out, Text};
use crate::image::{self, Image};
use crate::jit::Jit;
use crate::log::{self, Level};
use crate::objects::{Context, Function, Library, Module, Next};
use crate::settings::Capability;
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Loads an image into a context.
pub fn load(
    state: &mut State,
    context: Handle<Context>,
    owner: Option<Handle<Library>>,
    image: &Image,
    jit: &Jit,
) -> Answer<Handle<Module>> {
    let options = state.settings.machine.compile_options();
    let capability = state.settings.capability;
    let heap_bytes = state.heap_bytes(context)?;
    let id = image.load(state.card()?, options, heap_bytes, capability, jit)?;
    let (functions, managed) = (BTreeMap::new(), BTreeMap::new());
    let names = image.managed();
    Ok(state.modules.insert(Module {
        context,
        id,
        owner,
        functions,
        heap_used: false,
        managed,
        managed_names: names,
    }))
}

/// Loads a PTX text or a fat binary from the client's memory into the current context.
pub fn load_data(module: Out<Handle<Module>>, image: Bytes, jit: &Jit) -> Answer {
    state::with_current(|state, context| {
        let place = module.place()?;
        let image = Image::read(image, state.settings.capability, jit)?;
        place.put(load(state, context, None, &image, jit)?);
        Ok(())
    })
}

/// The handle of a module's function; the same handle every time.
pub fn function(state: &mut State, module: Handle<Module>, name: &str) -> Answer<Handle<Function>> {
    let known = state.modules.get(module)?;
    if let Some(function) = known.functions.get(name) {
        return Ok(*function);
    }
    let id = known.id;
    let entry = state.card()?.kernel(id, name).map_err(|error| match error {
        KernelError::Unknown(_) => Status::NotFound,
        KernelError::Text(diagnostics) => {
            log::say(Level::Once, || diagnostics.to_string());
            image::status(&diagnostics)
        }
        KernelError::Machine(error) => {
            log::say(Level::Once, || error.to_string());
            Status::LaunchOutOfResources
        }
    })?;
    let program = state.card()?.program(id);
    let warnings = program.map(|program| program.warnings(&entry.kernel)).unwrap_or_default();
    warnings.into_iter().for_each(|warning| log::once(format!("warning: {warning}")));
    let attributes = BTreeMap::new();
    let stack_limit = DEFAULT_STACK_BYTES;
    let function = Function { module, entry, attributes, stacked: None, stack_limit, next: Next::default() };
    let function = state.functions.insert(function);
    state.modules.get_mut(module)?.functions.insert(name.to_owned(), function);
    Ok(function)
}

/// Address and size of a module's variable.
pub fn global(
    state: &mut State,
    module: Handle<Module>,
    (address, bytes): (Out<u64>, Out<usize>),
    name: &str,
) -> Answer {
    let id = state.modules.get(module)?.id;
    let (ptr, size) = state.card()?.variable(id, name).map_err(|_| Status::NotFound)?;
    address.put_if_wanted(ptr.0);
    bytes.put_if_wanted(size as usize);
    Ok(())
}

/// Reads an image from a file.
pub fn file(name: &str, capability: Capability, jit: &Jit) -> Answer<Image> {
    let bytes = std::fs::read(name).map_err(|_| Status::FileNotFound)?;
    Image::of_bytes(name, &bytes, capability, jit).map_err(|status| match status {
        // The code that the API documents for files.
        Status::InvalidImage if !strata_fatbin::is_file(&bytes) => Status::NoBinaryForGpu,
        other => other,
    })
}

/// Names of a module's kernels.
fn kernels(state: &mut State, module: Handle<Module>) -> Answer<Vec<String>> {
    let id = state.modules.get(module)?.id;
    let program = state.card()?.program(id).ok_or(Status::InvalidHandle)?;
    Ok(program.kernel_names().map(str::to_owned).collect())
}

api! {
    /// Loads a module from a file of PTX or a fat binary.
    cuModuleLoad = "cuModuleLoad" 2000 (module: Out<Handle<Module>>, name: Text) {
        state::with_current(|state, context| {
            let place = module.place()?;
            let image = file(name.get()?, state.settings.capability, &Jit::default())?;
            place.put(load(state, context, None, &image, &Jit::default())?);
            Ok(())
        })
    }

    /// Loads a module from PTX or a fat binary in memory.
    cuModuleLoadData = "cuModuleLoadData" 2000 (module: Out<Handle<Module>>, image: Bytes) {
        load_data(module, image, &Jit::default())
    }

    /// Loads a module from PTX or a fat binary in memory, with logs.
    cuModuleLoadDataEx = "cuModuleLoadDataEx" 2010 (
        module: Out<Handle<Module>>, image: Bytes, count: u32, options: In<u32>, values: Bytes,
    ) {
        load_data(module, image, &Jit::read(count, options, values)?)
    }

    /// Loads a module from the PTX of a fat binary in memory.
    cuModuleLoadFatBinary = "cuModuleLoadFatBinary" 2000 (module: Out<Handle<Module>>, image: Bytes) {
        load_data(module, image, &Jit::default())
    }

    /// Unloads a module with everything in it.
    cuModuleUnload = "cuModuleUnload" 2000 (module: Handle<Module>) {
        state::with_current(|state, _| {
            if state.modules.get(module)?.owner.is_some() {
                return Err(Status::NotPermitted);
            }
            state.unload(module)
        })
    }

    /// Writes the loading mode: lazy. A library is loaded into a context when something in it is first used there.
    cuModuleGetLoadingMode = "cuModuleGetLoadingMode" 11070 (mode: Out<u32>) {
        state::with(|_| mode.put(2))
    }

    /// Writes a kernel's function.
    cuModuleGetFunction = "cuModuleGetFunction" 2000 (
        to: Out<Handle<Function>>, module: Handle<Module>, name: Text,
    ) {
        state::with_current(|state, _| {
            let place = to.place()?;
            place.put(function(state, module, name.get()?)?);
            Ok(())
        })
    }

    /// Writes the number of kernels in a module.
    cuModuleGetFunctionCount = "cuModuleGetFunctionCount" 12040 (count: Out<u32>, module: Handle<Module>) {
        state::with_current(|state, _| count.put(kernels(state, module)?.len() as u32))
    }

    /// Writes the first `room` functions of a module.
    cuModuleEnumerateFunctions = "cuModuleEnumerateFunctions" 12040 (
        to: Out<Handle<Function>>, room: u32, module: Handle<Module>,
    ) {
        state::with_current(|state, _| {
            let names = kernels(state, module)?;
            let functions: Vec<_> = names
                .iter()
                .take(room as usize)
                .map(|name| function(state, module, name))
                .collect::<Answer<_>>()?;
            to.put_all(functions)
        })
    }

    /// Writes the address and size of a variable; of a managed one, the address that the host can use.
    cuModuleGetGlobal_v2 = "cuModuleGetGlobal" 3020 (
        address: Out<u64>, bytes: Out<usize>, module: Handle<Module>, name: Text,
    ) {
        state::with_current(|state, _| {
            let name = name.get()?;
            if state.is_managed(module, name)? {
                let found = state.managed(module, name)?;
                address.put_if_wanted(found.buffer);
                bytes.put_if_wanted(found.bytes as usize);
                return Ok(());
            }
            global(state, module, (address, bytes), name)
        })
    }
}
