//! What executables register before `main`: fat binaries, and the host addresses that stand for their
//! kernels, variables, textures and surfaces. A fat binary is read and loaded when something in it is first
//! used.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard};

use crate::client::{Bytes, Text};
use crate::driver::{Driver, Kernel, Library, Module, Stream, SurfRef, TexRef};
use crate::error::{Answer, Error};
use crate::log;
use crate::names;

/// A registered fat binary. `__cudaRegisterFatBinary` returns it in the form of a pointer. Never null, never
/// reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BinaryId(pub u64);

struct Binary {
    /// Address of the binary.
    image: u64,
    /// The library or the error of loading it; `None` until it is first needed.
    loaded: Option<Answer<Library>>,
}

/// A named object in a fat binary.
struct Symbol {
    binary: BinaryId,
    name: CString,
}

/// A kernel of a fat binary.
struct Function {
    symbol: Symbol,
    kernel: Option<Kernel>,
}

/// A variable of a fat binary.
struct Variable {
    symbol: Symbol,
    bytes: u64,
}

/// A managed variable of a fat binary.
struct Managed {
    symbol: Symbol,
    bytes: u64,
    /// Host memory that holds its value, from the first use on.
    memory: Option<u64>,
}

/// A texture of a fat binary.
struct Texture {
    symbol: Symbol,
    /// Whether values read as normalised floats, whatever the element type.
    normalized_values: bool,
    /// What the client must add to its coordinates, while the texture is bound.
    offset: Option<u64>,
}

#[derive(Default)]
struct Registry {
    binaries: BTreeMap<BinaryId, Binary>,
    count: u64,
    functions: BTreeMap<u64, Function>,
    variables: BTreeMap<u64, Variable>,
    /// Keyed by the pointers through which the host reaches them.
    managed: BTreeMap<u64, Managed>,
    textures: BTreeMap<u64, Texture>,
    surfaces: BTreeMap<u64, Symbol>,
    /// Kernels whose handles a client holds.
    kernels: BTreeSet<Kernel>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn locked() -> MutexGuard<'static, Option<Registry>> {
    REGISTRY.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn with<R>(body: impl FnOnce(&mut Registry) -> R) -> R {
    body(locked().get_or_insert_default())
}

fn name(text: Text) -> Answer<CString> {
    CString::new(text.get()?).map_err(|_| Error::InvalidValue)
}

/// Registers a fat binary, which must stay in place.
pub fn register(image: Bytes) -> BinaryId {
    with(|registry| {
        registry.count += 1;
        let id = BinaryId(registry.count);
        registry.binaries.insert(id, Binary { image: image.address(), loaded: None });
        id
    })
}

/// Removes a fat binary and everything registered from it.
pub fn unregister(id: BinaryId) {
    let binary = with(|registry| {
        registry.functions.retain(|_, function| function.symbol.binary != id);
        registry.variables.retain(|_, variable| variable.symbol.binary != id);
        registry.managed.retain(|_, managed| managed.symbol.binary != id);
        registry.textures.retain(|_, texture| texture.symbol.binary != id);
        registry.surfaces.retain(|_, surface| surface.binary != id);
        registry.binaries.remove(&id)
    });
    if let Some(Binary { loaded: Some(Ok(library)), .. }) = binary
        && let Ok(driver) = crate::driver::get()
    {
        // If the driver is already gone, there is nothing to unload.
        let _ = driver.cuLibraryUnload(library);
    }
}

/// Registers a kernel under the address of its host function.
pub fn register_function(binary: BinaryId, function: Bytes, text: Text) -> Answer {
    let symbol = Symbol { binary, name: name(text)? };
    with(|registry| registry.functions.insert(function.address(), Function { symbol, kernel: None }));
    Ok(())
}

/// Registers a variable under the address of its host variable.
pub fn register_variable(binary: BinaryId, variable: Bytes, text: Text, bytes: u64) -> Answer {
    let symbol = Symbol { binary, name: name(text)? };
    with(|registry| registry.variables.insert(variable.address(), Variable { symbol, bytes }));
    Ok(())
}

/// Registers a managed variable under the pointer through which the host reaches it.
pub fn register_managed(binary: BinaryId, pointer: Bytes, text: Text, bytes: u64) -> Answer {
    let symbol = Symbol { binary, name: name(text)? };
    with(|registry| registry.managed.insert(pointer.address(), Managed { symbol, bytes, memory: None }));
    Ok(())
}

/// Registers a texture under the address of its reference.
pub fn register_texture(binary: BinaryId, reference: Bytes, text: Text, normalized_values: bool) -> Answer {
    let symbol = Symbol { binary, name: names::in_ptx(&name(text)?) };
    with(|registry| {
        registry.textures.insert(reference.address(), Texture { symbol, normalized_values, offset: None })
    });
    Ok(())
}

/// Registers a surface under the address of its reference.
pub fn register_surface(binary: BinaryId, reference: Bytes, text: Text) -> Answer {
    let symbol = Symbol { binary, name: names::in_ptx(&name(text)?) };
    with(|registry| registry.surfaces.insert(reference.address(), symbol));
    Ok(())
}

impl Registry {
    /// The library of a fat binary, loaded on first use.
    fn loaded(&mut self, driver: &Driver, id: BinaryId) -> Answer<Library> {
        let binary = self.binaries.get_mut(&id).ok_or(Error::InvalidKernelImage)?;
        *binary.loaded.get_or_insert_with(|| load(driver, Bytes::at(binary.image)))
    }

    fn module(&mut self, driver: &Driver, id: BinaryId) -> Answer<Module> {
        let mut module = Module::NULL;
        driver.cuLibraryGetModule(&mut module, self.loaded(driver, id)?)?;
        Ok(module)
    }
}

impl Registry {
    /// Device address of a variable.
    fn global(&mut self, driver: &Driver, binary: BinaryId, name: &CString) -> Answer<u64> {
        let library = self.loaded(driver, binary)?;
        let mut address = 0;
        driver
            .cuLibraryGetGlobal(&mut address, &mut 0, library, Text::of(name))
            .map_err(|error| if error == Error::SymbolNotFound { Error::InvalidSymbol } else { error })?;
        Ok(address)
    }

    /// Managed variables that the host uses: device address, host memory and size in bytes.
    fn managed(&mut self, driver: &Driver) -> Answer<Vec<(u64, Bytes, u64)>> {
        let used: Vec<_> = self
            .managed
            .values()
            .filter_map(|managed| {
                let Symbol { binary, name } = &managed.symbol;
                Some((*binary, name.clone(), Bytes::at(managed.memory?), managed.bytes))
            })
            .collect();
        let place = |(binary, name, memory, bytes)| Ok((self.global(driver, binary, &name)?, memory, bytes));
        used.into_iter().map(place).collect()
    }
}

/// Gives the host access to a fat binary's managed variables: copies each value to host memory and points the
/// host's pointer there. [`around_launch`] keeps both copies equal around every launch.
pub fn initialise(driver: &Driver, id: BinaryId) -> Answer {
    with(|registry| {
        registry.loaded(driver, id)?;
        let unused = |managed: &Managed| managed.symbol.binary == id && managed.memory.is_none();
        let pointers: Vec<_> = registry.managed.iter().filter(|(_, managed)| unused(managed)).collect();
        let pointers: Vec<_> = pointers
            .into_iter()
            .map(|(pointer, managed)| (*pointer, managed.symbol.name.clone(), managed.bytes))
            .collect();
        for (pointer, name, bytes) in pointers {
            let from = registry.global(driver, id, &name)?;
            let pointer = Bytes::at(pointer);
            /// Every stream may use the memory: `cudaMemAttachGlobal`.
            const EVERYWHERE: u32 = 1;
            driver.cuMemAllocManaged(pointer.out(), bytes, EVERYWHERE)?;
            let memory = pointer.values::<u64>().get()?;
            driver.cuMemcpyDtoHAsync_v2(Bytes::at(memory), from, bytes, Stream::NULL)?;
            if let Some(managed) = registry.managed.get_mut(&pointer.address()) {
                managed.memory = Some(memory);
            }
        }
        Ok(())
    })
}

/// Runs a launch in a stream, copying managed variables to the device before it and back to the host after it. A captured
/// launch runs with its graph.
pub fn around_launch(driver: &Driver, stream: Stream, launch: impl FnOnce() -> Answer) -> Answer {
    let managed = with(|registry| registry.managed(driver))?;
    if managed.is_empty() {
        return launch();
    }
    let mut status = 0_u32;
    driver.cuStreamIsCapturing(stream, Bytes::to(&mut status))?;
    if status != 0 {
        return launch();
    }
    for (device, host, bytes) in &managed {
        driver.cuMemcpyHtoDAsync_v2(*device, *host, *bytes, Stream::NULL)?;
    }
    launch()?;
    for (device, host, bytes) in managed {
        driver.cuMemcpyDtoHAsync_v2(host, device, bytes, Stream::NULL)?;
    }
    Ok(())
}

/// Drops the host memory of managed variables after their context is gone.
pub fn forget_managed() {
    with(|registry| registry.managed.values_mut().for_each(|managed| managed.memory = None));
}

/// Loads a fat binary or any other image that the driver accepts.
pub fn load(driver: &Driver, image: Bytes) -> Answer<Library> {
    let (mut library, none) = (Library::NULL, Bytes::NULL);
    driver.cuLibraryLoadData(&mut library, image, none, none, 0, none, none, 0)?;
    Ok(library)
}

/// The kernel for an address, which is a host function that stands for the kernel, or the kernel's handle.
pub fn kernel(driver: &Driver, function: Bytes) -> Answer<Kernel> {
    let address = function.address();
    with(|registry| {
        let handle = Kernel(address);
        if registry.kernels.contains(&handle) {
            return Ok(handle);
        }
        let found = registry.functions.get(&address).ok_or(Error::InvalidDeviceFunction)?;
        if let Some(kernel) = found.kernel {
            return Ok(kernel);
        }
        let (binary, name) = (found.symbol.binary, found.symbol.name.clone());
        let library = registry.loaded(driver, binary)?;
        let mut kernel = Kernel::NULL;
        driver.cuLibraryGetKernel(&mut kernel, library, Text::of(&name)).map_err(|error| {
            log::once(&format!("the PTX of a fat binary has no kernel {}", name.to_string_lossy()));
            if error == Error::SymbolNotFound { Error::InvalidDeviceFunction } else { error }
        })?;
        if let Some(found) = registry.functions.get_mut(&address) {
            found.kernel = Some(kernel);
        }
        registry.kernels.insert(kernel);
        Ok(kernel)
    })
}

/// The host function of a kernel, given by the driver's handle of either kind; that handle if there is none.
pub fn host_function(driver: &Driver, handle: u64) -> Answer<u64> {
    with(|registry| {
        let known = registry.functions.iter().filter_map(|(host, function)| Some((*host, function.kernel?)));
        for (host, kernel) in known {
            let mut function = 0;
            driver.cuKernelGetFunction(Bytes::to(&mut function).out(), kernel)?;
            if kernel.0 == handle || function == handle {
                return Ok(host);
            }
        }
        Ok(handle)
    })
}

/// Records that a client holds a kernel's handle.
pub fn note_kernel(kernel: Kernel) {
    with(|registry| registry.kernels.insert(kernel));
}

/// Device address and size of the variable that a host address stands for.
pub fn variable(driver: &Driver, symbol: Bytes) -> Answer<(u64, u64)> {
    with(|registry| {
        let found = registry.variables.get(&symbol.address()).ok_or(Error::InvalidSymbol)?;
        let (binary, name, bytes) = (found.symbol.binary, found.symbol.name.clone(), found.bytes);
        Ok((registry.global(driver, binary, &name)?, bytes))
    })
}

/// The driver's texture reference for a client's, and whether its values are normalised floats.
pub fn texture(driver: &Driver, reference: Bytes) -> Answer<(TexRef, bool)> {
    with(|registry| {
        let found = registry.textures.get(&reference.address()).ok_or(Error::InvalidTexture)?;
        let (binary, name) = (found.symbol.binary, found.symbol.name.clone());
        let normalized = found.normalized_values;
        let module = registry.module(driver, binary)?;
        let mut texture = TexRef::NULL;
        driver.cuModuleGetTexRef(&mut texture, module, Text::of(&name))?;
        Ok((texture, normalized))
    })
}

/// Records that a texture reference is bound, with an offset.
pub fn bind(reference: Bytes, offset: u64) {
    put_offset(reference, Some(offset));
}

/// Records that a texture reference is bound to nothing.
pub fn unbind(reference: Bytes) {
    put_offset(reference, None);
}

fn put_offset(reference: Bytes, offset: Option<u64>) {
    with(|registry| {
        if let Some(texture) = registry.textures.get_mut(&reference.address()) {
            texture.offset = offset;
        }
    });
}

/// The offset that a texture reference is bound with.
pub fn offset(reference: Bytes) -> Answer<u64> {
    with(|registry| {
        let texture = registry.textures.get(&reference.address()).ok_or(Error::InvalidTexture)?;
        texture.offset.ok_or(Error::InvalidTextureBinding)
    })
}

/// The driver's surface reference for a client's.
pub fn surface(driver: &Driver, reference: Bytes) -> Answer<SurfRef> {
    with(|registry| {
        let found = registry.surfaces.get(&reference.address()).ok_or(Error::InvalidSurface)?;
        let (binary, name) = (found.binary, found.name.clone());
        let module = registry.module(driver, binary)?;
        let mut surface = SurfRef::NULL;
        driver.cuModuleGetSurfRef(&mut surface, module, Text::of(&name))?;
        Ok(surface)
    })
}
