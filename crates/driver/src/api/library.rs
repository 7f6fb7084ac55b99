//! Libraries: PTX texts that are loaded into a context when something in them is first used there.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char};

use strata_ptx::front::ast::DEFAULT_HEAP_BYTES;

use crate::api::{api, module, primary};
use crate::client::{Bytes, In, Out, Text};
use crate::current;
use crate::image::Image;
use crate::jit::Jit;
use crate::objects::{Context, Function, Kernel, Library, Module};
use crate::settings::Capability;
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

fn load(library: Out<Handle<Library>>, image: impl FnOnce(Capability) -> Answer<Image>, jit: &Jit) -> Answer {
    state::with(|state| {
        let place = library.place()?;
        let image = image(state.settings.capability)?;
        let options = state.settings.machine.compile_options();
        let program = image.program(options, DEFAULT_HEAP_BYTES, state.settings.capability, jit)?;
        let names = program.kernel_names().map(str::to_owned).collect();
        jit.done()?;
        let (modules, kernels) = (BTreeMap::new(), BTreeMap::new());
        place.put(state.libraries.insert(Library { image, jit: jit.silent(), names, modules, kernels }));
        Ok(())
    })
}

/// The module of a library in a context, loaded on first use.
fn loaded(state: &mut State, library: Handle<Library>, context: Handle<Context>) -> Answer<Handle<Module>> {
    let known = state.libraries.get(library)?;
    if let Some(module) = known.modules.get(&context) {
        return Ok(*module);
    }
    let (image, jit) = (known.image.clone(), known.jit);
    let module = module::load(state, context, Some(library), &image, &jit)?;
    state.libraries.get_mut(library)?.modules.insert(context, module);
    Ok(module)
}

/// The function of a library's kernel in a context.
pub fn function(
    state: &mut State,
    kernel: Handle<Kernel>,
    context: Handle<Context>,
) -> Answer<Handle<Function>> {
    let Kernel { owner: library, name } = state.kernels.get(kernel)?;
    let (library, name) = (*library, name.clone());
    let module = loaded(state, library, context)?;
    module::function(state, module, &name)
}

fn names(state: &State, library: Handle<Library>) -> Answer<Vec<String>> {
    Ok(state.libraries.get(library)?.names.clone())
}

fn kernel(state: &mut State, library: Handle<Library>, name: &str) -> Answer<Handle<Kernel>> {
    if let Some(kernel) = state.libraries.get(library)?.kernels.get(name) {
        return Ok(*kernel);
    }
    if !state.libraries.get(library)?.names.iter().any(|known| known == name) {
        return Err(Status::NotFound);
    }
    let kernel = state.kernels.insert(Kernel { owner: library, name: name.to_owned() });
    state.libraries.get_mut(library)?.kernels.insert(name.to_owned(), kernel);
    Ok(kernel)
}

/// A name that clients may keep: its address is fixed for each name and valid until the process ends.
pub fn kept_name(name: &str) -> Answer<*const c_char> {
    use std::sync::Mutex;
    static NAMES: Mutex<BTreeMap<String, CString>> = Mutex::new(BTreeMap::new());
    let mut names = NAMES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !names.contains_key(name) {
        names.insert(name.to_owned(), CString::new(name).map_err(|_| Status::Unknown)?);
    }
    names.get(name).map(|name| name.as_ptr()).ok_or(Status::Unknown)
}

api! {
    /// Loads a library from PTX or a fat binary in memory, with logs.
    cuLibraryLoadData = "cuLibraryLoadData" 12000 (
        library: Out<Handle<Library>>, image: Bytes, options: In<u32>, values: Bytes, count: u32,
        _library_options: Bytes, _library_values: Bytes, _library_count: u32,
    ) {
        let jit = Jit::read(count, options, values)?;
        load(library, |capability| Image::read(image, capability, &jit), &jit)
    }

    /// Loads a library from a file of PTX or a fat binary, with logs.
    cuLibraryLoadFromFile = "cuLibraryLoadFromFile" 12000 (
        library: Out<Handle<Library>>, name: Text, options: In<u32>, values: Bytes, count: u32,
        _library_options: Bytes, _library_values: Bytes, _library_count: u32,
    ) {
        let (name, jit) = (name.get()?, Jit::read(count, options, values)?);
        load(library, |capability| module::file(name, capability, &jit), &jit)
    }

    /// Unloads a library from every context.
    cuLibraryUnload = "cuLibraryUnload" 12000 (library: Handle<Library>) {
        state::with(|state| {
            let gone = state.libraries.remove(library)?;
            for module in gone.modules.into_values() {
                state.unload(module)?;
            }
            state.kernels.remove_all(|kernel| kernel.owner == library);
            Ok(())
        })
    }

    /// Writes a handle of a kernel that is valid in every context.
    cuLibraryGetKernel = "cuLibraryGetKernel" 12000 (
        to: Out<Handle<Kernel>>, library: Handle<Library>, name: Text,
    ) {
        state::with(|state| {
            let place = to.place()?;
            place.put(kernel(state, library, name.get()?)?);
            Ok(())
        })
    }

    /// Writes the number of kernels in a library.
    cuLibraryGetKernelCount = "cuLibraryGetKernelCount" 12040 (count: Out<u32>, library: Handle<Library>) {
        state::with(|state| count.put(names(state, library)?.len() as u32))
    }

    /// Writes the first `room` kernels of a library.
    cuLibraryEnumerateKernels = "cuLibraryEnumerateKernels" 12040 (
        to: Out<Handle<Kernel>>, room: u32, library: Handle<Library>,
    ) {
        state::with(|state| {
            let names = names(state, library)?;
            let kernels: Vec<_> = names
                .iter()
                .take(room as usize)
                .map(|name| kernel(state, library, name))
                .collect::<Answer<_>>()?;
            to.put_all(kernels)
        })
    }

    /// Writes the library's module in the current context.
    cuLibraryGetModule = "cuLibraryGetModule" 12000 (to: Out<Handle<Module>>, library: Handle<Library>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            place.put(loaded(state, library, context)?);
            Ok(())
        })
    }

    /// Writes the address and size of a variable in the current context.
    cuLibraryGetGlobal = "cuLibraryGetGlobal" 12000 (
        address: Out<u64>, bytes: Out<usize>, library: Handle<Library>, name: Text,
    ) {
        state::with_current(|state, context| {
            let module = loaded(state, library, context)?;
            module::global(state, module, (address, bytes), name.get()?)
        })
    }

    /// Writes the address and size of a managed variable, which host and device can use. Without a current context, it is
    /// the primary one's.
    cuLibraryGetManaged = "cuLibraryGetManaged" 12000 (
        address: Out<u64>, bytes: Out<usize>, library: Handle<Library>, name: Text,
    ) {
        state::with(|state| {
            let name = name.get()?;
            if !state.libraries.get(library)?.image.managed().contains(name) {
                return Err(Status::NotFound);
            }
            let context = match current::context().filter(|context| state.active(*context)) {
                Some(context) => context,
                None => primary::context(state, 0)?,
            };
            let module = loaded(state, library, context)?;
            let found = state.managed(module, name)?;
            address.put_if_wanted(found.buffer);
            bytes.put_if_wanted(found.bytes as usize);
            Ok(())
        })
    }

    /// Writes the kernel's function in the current context.
    cuKernelGetFunction = "cuKernelGetFunction" 12000 (to: Out<Handle<Function>>, kernel: Handle<Kernel>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            place.put(function(state, kernel, context)?);
            Ok(())
        })
    }

    /// Writes the kernel's library.
    cuKernelGetLibrary = "cuKernelGetLibrary" 12050 (to: Out<Handle<Library>>, kernel: Handle<Kernel>) {
        state::with(|state| to.put(state.kernels.get(kernel)?.owner))
    }

    /// Writes the kernel's name.
    cuKernelGetName = "cuKernelGetName" 12030 (to: Out<*const c_char>, kernel: Handle<Kernel>) {
        state::with(|state| to.put(kept_name(&state.kernels.get(kernel)?.name)?))
    }
}
