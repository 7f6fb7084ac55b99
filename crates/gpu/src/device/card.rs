//! A GPU as a driver sees it: memory, modules that are loaded and unloaded, and launches by raw parameter
//! block.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_ptx::ir::{Opaque, Variable};
use strata_ptx::program::Kernel;
use strata_ptx::texture::Headers;
use strata_workloads::{DeviceError, DevicePtr, Shape};

use super::arguments::check_shape;
use super::heap::{ALIGN, Buffer, GAP, Heap};
use super::phase::check_phase;
use crate::program::{KernelError, Program, initial_bytes};
use crate::progress::Progress;
use crate::results::PhaseResult;

/// What holds a card's memory and runs its kernels: the modelled GPU or the reference executor.
pub trait Backend {
    /// Result of a launch that succeeded.
    type Done;

    /// Bytes of device memory.
    fn capacity_bytes(&self) -> u64;

    /// The address that buffers must stay below.
    fn floor(&self) -> u64 {
        u64::MAX
    }

    /// Called when a buffer is allocated. `fresh` says that no buffer has been there before, so that its bytes are
    /// still zero; after this call the card zeroes any other buffer itself.
    fn open(&mut self, buffer: &Buffer, fresh: bool);

    /// Called when a buffer is freed.
    fn close(&mut self, buffer: &Buffer);

    /// Writes bytes at a device address; they lie within one buffer.
    fn write(&mut self, at: u64, data: &[u8]);

    /// Reads bytes at a device address; they lie within one buffer.
    fn read(&mut self, at: u64, data: &mut [u8]);

    /// Copies bytes from one device address to another; each range lies within one buffer, and they may overlap.
    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        copy_in_pieces(self, to, from, bytes);
    }

    /// Called when the host waits for all launches, without a copy that would show it.
    fn synchronize(&mut self) {}

    /// Runs a kernel to completion.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if the launch needs more system memory than is left;
    /// [`DeviceError::Failed`] if the kernel faults.
    fn run(
        &mut self,
        call: &Call<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Self::Done, DeviceError>;

    /// Runs a host phase to completion: each CTA of the call is a thread of its own on the CPU cores. The default is of a
    /// backend whose clients never ask for one.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn run_on_cpu(
        &mut self,
        call: &Call<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<PhaseResult, DeviceError> {
        let _ = progress;
        let reason = "the device has no host phases".to_owned();
        Err(DeviceError::BadLaunch { kernel: call.kernel.name.clone(), reason })
    }

    /// Called when a module is unloaded; none of its kernels is launched again.
    fn forget(&mut self, module: ModuleId) {
        let _ = module;
    }
}

/// Copies bytes through the host, piece by piece.
pub(super) fn copy_in_pieces<B: Backend + ?Sized>(backend: &mut B, to: u64, from: u64, bytes: u64) {
    let mut piece = vec![0; bytes.min(PIECE_BYTES) as usize];
    let pieces = bytes.div_ceil(PIECE_BYTES);
    for n in 0..pieces {
        // Copy in the direction that reads each chunk before it is overwritten.
        let at = if to < from { n } else { pieces - 1 - n } * PIECE_BYTES;
        let piece = &mut piece[..(bytes - at).min(PIECE_BYTES) as usize];
        backend.read(from + at, piece);
        backend.write(to + at, piece);
    }
}

/// A launch whose arguments have been checked.
pub struct Call<'a> {
    /// The kernel to run.
    pub kernel: &'a Arc<Kernel>,
    /// The module that the kernel belongs to.
    pub module: ModuleId,
    /// Grid, block and dynamic shared memory.
    pub shape: Shape,
    /// The parameter block, laid out as [`Kernel::params`] says.
    pub params: &'a [u8],
    /// Addresses of the module's variables, in the module's order.
    pub variables: &'a [u64],
    /// All buffers of the card.
    pub heap: &'a Heap,
    /// The textures and surfaces that handles refer to.
    pub headers: &'a Arc<Headers>,
}

/// Identifies a module of a card. Identifiers are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(u64);

/// Memory that [`Card::reserve`] took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Its first address.
    pub at: DevicePtr,
    /// Its size in bytes.
    pub bytes: u64,
    /// So many of its first bytes may have been in a buffer before.
    pub used: u64,
}

/// A kernel of a card: what [`Card::launch`] launches.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The module that the kernel belongs to.
    pub module: ModuleId,
    /// The compiled kernel, with its registers, shared and local memory, parameters and launch bounds.
    pub kernel: Arc<Kernel>,
}

/// Turns a kernel lookup failure into the error that a host program gets.
pub fn not_launched(kernel: &str, error: KernelError) -> DeviceError {
    let kernel = kernel.to_owned();
    match error {
        KernelError::Unknown(_) => DeviceError::UnknownKernel { kernel },
        KernelError::Text(_) | KernelError::Machine(_) => {
            DeviceError::BadLaunch { kernel, reason: error.to_string() }
        }
    }
}

/// A module and the addresses of its variables.
struct Loaded {
    program: Program,
    variables: Vec<u64>,
}

/// Chunk size in bytes for fills and copies.
const PIECE_BYTES: u64 = 1 << 16;

/// A GPU as a driver sees it: memory, modules, and the backend that runs kernels.
pub struct Card<B> {
    backend: B,
    heap: Heap,
    modules: BTreeMap<ModuleId, Loaded>,
    loads: u64,
    /// Shared with the running launch; changes only between launches.
    pub(super) headers: Arc<Headers>,
}

impl<B: Backend> Card<B> {
    /// A card with nothing loaded or allocated. Unmapped gaps separate its buffers, so a kernel that runs off
    /// a buffer faults.
    pub fn new(backend: B) -> Card<B> {
        Card::with_gap(backend, GAP)
    }

    /// A card whose buffers are adjacent where alignment permits. A kernel that runs slightly off a buffer
    /// reaches the next one.
    pub fn without_gaps(backend: B) -> Card<B> {
        Card::with_gap(backend, 0)
    }

    fn with_gap(backend: B, gap: u64) -> Card<B> {
        let heap = Heap::new(backend.capacity_bytes(), gap);
        Card { backend, heap, modules: BTreeMap::new(), loads: 0, headers: Arc::default() }
    }

    /// The heap that places buffers.
    pub(super) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The backend that runs kernels.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The backend that runs kernels, mutable.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Allocates a zeroed buffer of `bytes` bytes. `name` appears in reports.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.alloc_aligned(name, bytes, ALIGN)
    }

    /// Allocates a zeroed buffer at a multiple of `align` bytes, a power of two.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn alloc_aligned(&mut self, name: &str, bytes: u64, align: u64) -> Result<DevicePtr, DeviceError> {
        let touched = self.heap.touched();
        let ptr = self.heap.alloc(name, bytes, align.max(ALIGN), self.backend.floor())?;
        let (index, _) = self.heap.find(ptr, bytes)?;
        let fresh = ptr.0 >= touched;
        self.backend.open(&self.heap.buffers()[index], fresh);
        if !fresh {
            self.fill(ptr, 0, bytes)?;
        }
        Ok(ptr)
    }

    /// Frees the buffer that starts at `ptr`.
    ///
    /// # Errors
    /// [`DeviceError::NoBuffer`] if no buffer starts there.
    pub fn free(&mut self, ptr: DevicePtr) -> Result<(), DeviceError> {
        let buffer = self.heap.free(ptr)?;
        self.backend.close(&buffer);
        Ok(())
    }

    /// Takes memory at a multiple of `align` bytes, a power of two, in which [`Card::place`] puts buffers. Kernels cannot
    /// reach the rest of it.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn reserve(&mut self, bytes: u64, align: u64) -> Result<Reserved, DeviceError> {
        let touched = self.heap.touched();
        let at = DevicePtr(self.heap.reserve(bytes, align.max(ALIGN), self.backend.floor())?);
        Ok(Reserved { at, bytes, used: touched.saturating_sub(at.0).min(bytes) })
    }

    /// Puts a zeroed buffer in reserved memory. Of its bytes, the first `used` may have been another buffer's.
    ///
    /// # Panics
    /// If the memory is not reserved.
    pub fn place(&mut self, name: &str, at: DevicePtr, bytes: u64, used: u64) {
        let buffer = self.heap.place(name, at.0, bytes);
        self.backend.open(buffer, used == 0);
        if used > 0 {
            self.fill(at, 0, used.min(bytes)).expect("the buffer is there");
        }
    }

    /// Removes a buffer from reserved memory.
    ///
    /// # Errors
    /// [`DeviceError::NoBuffer`] if no buffer starts there.
    pub fn displace(&mut self, ptr: DevicePtr) -> Result<(), DeviceError> {
        let buffer = self.heap.displace(ptr.0).ok_or(DeviceError::NoBuffer { ptr })?;
        self.backend.close(&buffer);
        Ok(())
    }

    /// Gives reserved memory back, in which no buffer is left.
    ///
    /// # Panics
    /// If no reserved memory starts there.
    pub fn release(&mut self, ptr: DevicePtr) {
        self.heap.release(ptr.0);
    }

    /// Says what faults add about an access to reserved memory outside all buffers.
    pub fn explain_reserved(&mut self, sentence: &'static str) {
        self.heap.explain_reserved(sentence);
    }

    /// The buffer that contains an address; an empty buffer contains its start.
    pub fn buffer_of(&self, ptr: DevicePtr) -> Option<&Buffer> {
        let (index, offset) = self.heap.find(ptr, 0).ok()?;
        let buffer = &self.heap.buffers()[index];
        (offset < buffer.bytes.max(1)).then_some(buffer)
    }

    /// All buffers and variables, sorted by address.
    pub fn buffers(&self) -> &[Buffer] {
        self.heap.buffers()
    }

    /// Bytes that can still be allocated, not counting the gaps that buffers will need.
    pub fn free_bytes(&self) -> u64 {
        self.heap.free_bytes(self.backend.floor())
    }

    /// Writes bytes to a buffer.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not within one buffer.
    pub fn write(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        self.heap.find(to, data.len() as u64)?;
        self.backend.write(to.0, data);
        Ok(())
    }

    /// Reads bytes from a buffer.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not within one buffer.
    pub fn read(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        self.heap.find(from, data.len() as u64)?;
        self.backend.read(from.0, data);
        Ok(())
    }

    /// Sets `bytes` bytes of a buffer to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not within one buffer.
    pub fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.heap.find(to, bytes)?;
        let piece = vec![value; bytes.min(PIECE_BYTES) as usize];
        for at in (0..bytes).step_by(PIECE_BYTES as usize) {
            self.backend.write(to.0 + at, &piece[..(bytes - at).min(PIECE_BYTES) as usize]);
        }
        Ok(())
    }

    /// Copies bytes within a buffer or between buffers; the ranges may overlap.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if either range is not within one buffer.
    pub fn copy(&mut self, to: DevicePtr, from: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        self.heap.find(to, bytes)?;
        self.heap.find(from, bytes)?;
        self.backend.copy(to.0, from.0, bytes);
        Ok(())
    }

    /// The host waits for all launches.
    pub fn synchronize(&mut self) {
        self.backend.synchronize();
    }

    /// Loads a module and initialises its variables.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] when its variables do not fit device memory.
    pub fn load(&mut self, program: Program) -> Result<ModuleId, DeviceError> {
        let mut variables = Vec::new();
        for variable in program.variables() {
            if variable.opaque.is_some() {
                variables.push(Arc::make_mut(&mut self.headers).reserve());
                continue;
            }
            let align = u64::from(variable.align).checked_next_power_of_two().unwrap_or(ALIGN);
            match self.alloc_aligned(&variable.name, variable.bytes, align) {
                Ok(ptr) => variables.push(ptr.0),
                Err(error) => {
                    self.free_all(&program, &variables);
                    return Err(error);
                }
            }
        }
        for (variable, address) in program.variables().iter().zip(&variables) {
            if variable.opaque.is_none() {
                self.backend.write(*address, &initial_bytes(variable, &variables));
            }
        }
        let id = ModuleId(self.loads);
        self.loads += 1;
        self.modules.insert(id, Loaded { program, variables });
        Ok(id)
    }

    /// Addresses of a module's variables that belong to the device heap. Their contents depend on the order
    /// in which threads allocate.
    pub fn heap_variables(&self, module: ModuleId) -> Vec<DevicePtr> {
        let Some(loaded) = self.modules.get(&module) else { return Vec::new() };
        let all = loaded.program.variables().iter().zip(&loaded.variables);
        all.filter(|(variable, _)| variable.heap).map(|(_, address)| DevicePtr(*address)).collect()
    }

    /// Changes the heap size of a module whose heap is still unused. Look its kernels up again afterwards.
    /// Does nothing for a module without a heap.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`]; the heap then keeps its size.
    pub fn resize_heap(&mut self, module: ModuleId, bytes: u64) -> Result<(), DeviceError> {
        let Some(mut loaded) = self.modules.remove(&module) else { return Ok(()) };
        let resized = if loaded.program.has_heap() { self.resize(&mut loaded, bytes) } else { Ok(()) };
        self.modules.insert(module, loaded);
        self.backend.forget(module);
        resized
    }

    fn resize(&mut self, loaded: &mut Loaded, bytes: u64) -> Result<(), DeviceError> {
        let sizes = |program: &Program| -> Vec<u64> {
            program.variables().iter().map(|variable| variable.bytes).collect()
        };
        let (before, bytes_before) = (sizes(&loaded.program), loaded.program.heap_bytes());
        loaded.program.set_heap_bytes(bytes);
        let after = sizes(&loaded.program);
        for n in (0..after.len()).filter(|n| before[*n] != after[*n]) {
            match self.alloc(&loaded.program.variables()[n].name, after[n]) {
                Ok(ptr) => {
                    let old = std::mem::replace(&mut loaded.variables[n], ptr.0);
                    self.free(DevicePtr(old)).expect("a variable stays as long as its module");
                }
                Err(error) => {
                    // Only the heap's own variable changes size.
                    loaded.program.set_heap_bytes(bytes_before);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Unloads a module and frees its variables. Returns false if the module is not loaded.
    pub fn unload(&mut self, module: ModuleId) -> bool {
        let Some(loaded) = self.modules.remove(&module) else { return false };
        self.free_all(&loaded.program, &loaded.variables);
        self.backend.forget(module);
        true
    }

    fn free_all(&mut self, program: &Program, variables: &[u64]) {
        for (variable, address) in program.variables().iter().zip(variables) {
            if variable.opaque.is_some() {
                Arc::make_mut(&mut self.headers).clear(*address);
            } else {
                self.free(DevicePtr(*address)).expect("a variable stays as long as its module");
            }
        }
    }

    /// The program of a loaded module.
    pub fn program(&self, module: ModuleId) -> Option<&Program> {
        self.modules.get(&module).map(|loaded| &loaded.program)
    }

    /// Looks up a kernel of a module, compiling it on first use.
    ///
    /// # Errors
    /// See [`KernelError`]; a module that is not loaded has no kernels.
    pub fn kernel(&mut self, module: ModuleId, name: &str) -> Result<Entry, KernelError> {
        let unknown = || KernelError::Unknown(name.to_owned());
        let kernel = self.modules.get_mut(&module).ok_or_else(unknown)?.program.kernel(name)?;
        Ok(Entry { module, kernel })
    }

    /// The handle of a module's texture or surface reference; `None` if the module has no such reference.
    pub fn reference(&self, module: ModuleId, name: &str, kind: Opaque) -> Option<u64> {
        let loaded = self.modules.get(&module)?;
        let wanted = |variable: &Variable| variable.name == name && variable.opaque == Some(kind);
        let place = loaded.program.variables().iter().position(wanted)?;
        Some(loaded.variables[place])
    }

    /// Address and size in bytes of a module's variable.
    ///
    /// # Errors
    /// [`DeviceError::UnknownVariable`] if the module has no such variable.
    pub fn variable(&self, module: ModuleId, name: &str) -> Result<(DevicePtr, u64), DeviceError> {
        let find = |loaded: &Loaded| {
            let place = loaded
                .program
                .variables()
                .iter()
                .position(|variable| variable.name == name && variable.opaque.is_none())?;
            Some((DevicePtr(loaded.variables[place]), loaded.program.variables()[place].bytes))
        };
        let found = self.modules.get(&module).and_then(find);
        found.ok_or_else(|| DeviceError::UnknownVariable { variable: name.to_owned() })
    }

    /// Runs a kernel to completion. `params` is the parameter block, laid out as [`Kernel::params`] says.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the shape or the parameters do not suit the kernel;
    /// [`DeviceError::OutOfMemory`] if system memory runs out; [`DeviceError::Failed`] if the kernel faults.
    pub fn launch(
        &mut self,
        entry: &Entry,
        shape: Shape,
        params: &[u8],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<B::Done, DeviceError> {
        self.with_call(entry, shape, params, |backend, call| backend.run(call, progress))
    }

    /// Runs `threads` threads of a kernel on the CPU cores, each a CTA of its own, to the end of all of them.
    ///
    /// # Errors
    /// As [`Card::launch`]; [`DeviceError::BadLaunch`] also if the kernel needs what a CPU core does not have.
    pub fn on_cpu(
        &mut self,
        entry: &Entry,
        threads: u32,
        params: &[u8],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<PhaseResult, DeviceError> {
        let kernel = &entry.kernel;
        let bad = |reason| DeviceError::BadLaunch { kernel: kernel.name.clone(), reason };
        check_phase(kernel).map_err(bad)?;
        let shape = Shape::of_phase(threads);
        self.with_call(entry, shape, params, |backend, call| backend.run_on_cpu(call, progress))
    }

    /// Checks a launch or phase and has the backend run it.
    fn with_call<T>(
        &mut self,
        entry: &Entry,
        shape: Shape,
        params: &[u8],
        run: impl FnOnce(&mut B, &Call<'_>) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let kernel = &entry.kernel;
        let bad = |reason| DeviceError::BadLaunch { kernel: kernel.name.clone(), reason };
        check_shape(kernel, shape).map_err(bad)?;
        if params.len() != kernel.param_bytes as usize {
            return Err(bad(format!(
                "a parameter block of {} bytes, the kernel takes {}",
                params.len(),
                kernel.param_bytes
            )));
        }
        let Some(loaded) = self.modules.get(&entry.module) else {
            return Err(bad("its module has been unloaded".into()));
        };
        let call = Call {
            kernel,
            module: entry.module,
            shape,
            params,
            variables: &loaded.variables,
            heap: &self.heap,
            headers: &self.headers,
        };
        run(&mut self.backend, &call)
    }
}
