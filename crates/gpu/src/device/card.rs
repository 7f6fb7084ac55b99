//! A GPU as a driver sees it: memory, modules that come and go, and launches by raw parameter block.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_ptx::ir::{Opaque, Variable};
use strata_ptx::program::Kernel;
use strata_ptx::texture::Headers;
use strata_workloads::{DeviceError, DevicePtr, Shape};

use super::arguments::check_shape;
use super::heap::{ALIGN, Buffer, GAP, Heap};
use crate::program::{KernelError, Program, initial_bytes};
use crate::progress::Progress;

/// What holds a card's bytes and runs its kernels: the modelled GPU or the reference executor.
pub trait Backend {
    /// What is known of a launch that ended well.
    type Done;

    /// Bytes of memory.
    fn capacity_bytes(&self) -> u64;

    /// First address that buffers must not reach.
    fn floor(&self) -> u64 {
        u64::MAX
    }

    /// A buffer begins to be. Its bytes are zero where `fresh`: no buffer has been there before.
    fn open(&mut self, buffer: &Buffer, fresh: bool);

    /// A buffer is no more.
    fn close(&mut self, buffer: &Buffer);

    /// Writes a part of a buffer.
    fn write(&mut self, at: u64, data: &[u8]);

    /// Reads a part of a buffer.
    fn read(&mut self, at: u64, data: &mut [u8]);

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::Failed`].
    fn run(
        &mut self,
        call: &Call<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Self::Done, DeviceError>;

    /// A module is unloaded: nothing of it is launched again.
    fn forget(&mut self, module: ModuleId) {
        let _ = module;
    }
}

/// A launch that was checked.
pub struct Call<'a> {
    /// The kernel.
    pub kernel: &'a Arc<Kernel>,
    /// Its module.
    pub module: ModuleId,
    /// Threads and shared memory.
    pub shape: Shape,
    /// The parameter block.
    pub params: &'a [u8],
    /// Addresses of the module's variables.
    pub variables: &'a [u64],
    /// All buffers.
    pub heap: &'a Heap,
    /// What the handles of textures and surfaces stand for.
    pub headers: &'a Arc<Headers>,
}

/// A module of a card. Numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(u64);

/// A kernel of a card: its attributes, and what [`Card::launch`] launches.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The module that it is of.
    pub module: ModuleId,
    /// Registers, shared and local memory, parameters and launch bounds among other things.
    pub kernel: Arc<Kernel>,
}

/// What a host program is told that wanted to launch a kernel.
pub fn not_launched(kernel: &str, error: KernelError) -> DeviceError {
    let kernel = kernel.to_owned();
    match error {
        KernelError::Unknown(_) => DeviceError::UnknownKernel { kernel },
        KernelError::Text(_) | KernelError::Machine(_) => {
            DeviceError::BadLaunch { kernel, reason: error.to_string() }
        }
    }
}

/// A module and where its variables lie.
struct Loaded {
    program: Program,
    variables: Vec<u64>,
}

/// Bytes that are filled or copied at a time.
const PIECE_BYTES: u64 = 1 << 16;

/// Memory, modules and what runs them.
pub struct Card<B> {
    backend: B,
    heap: Heap,
    modules: BTreeMap<ModuleId, Loaded>,
    loads: u64,
    /// Shared with the launch that runs; changed between launches.
    pub(super) headers: Arc<Headers>,
}

impl<B: Backend> Card<B> {
    /// A card with nothing loaded and nothing allocated. Between its buffers are gaps: a kernel that goes beyond one faults.
    pub fn new(backend: B) -> Card<B> {
        Card::with_gap(backend, GAP)
    }

    /// A card whose buffers lie side by side where their alignments let them: a kernel that goes a little beyond one is in
    /// the next.
    pub fn without_gaps(backend: B) -> Card<B> {
        Card::with_gap(backend, 0)
    }

    fn with_gap(backend: B, gap: u64) -> Card<B> {
        let heap = Heap::new(backend.capacity_bytes(), gap);
        Card { backend, heap, modules: BTreeMap::new(), loads: 0, headers: Arc::default() }
    }

    /// Where its buffers lie.
    pub(super) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// What runs its kernels.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// What runs its kernels, to be asked or told something.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// A new buffer of zeros.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.alloc_aligned(name, bytes, ALIGN)
    }

    /// A new buffer of zeros at a multiple of `align`, which is a power of two.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
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

    /// Frees the buffer that begins at `ptr`.
    ///
    /// # Errors
    /// [`DeviceError::NoBuffer`].
    pub fn free(&mut self, ptr: DevicePtr) -> Result<(), DeviceError> {
        let buffer = self.heap.free(ptr)?;
        self.backend.close(&buffer);
        Ok(())
    }

    /// The buffer that holds an address, or ends there when it is empty.
    pub fn buffer_of(&self, ptr: DevicePtr) -> Option<&Buffer> {
        let (index, offset) = self.heap.find(ptr, 0).ok()?;
        let buffer = &self.heap.buffers()[index];
        (offset < buffer.bytes.max(1)).then_some(buffer)
    }

    /// All buffers and variables, by address.
    pub fn buffers(&self) -> &[Buffer] {
        self.heap.buffers()
    }

    /// Bytes that can still be allocated, were there no gaps between buffers.
    pub fn free_bytes(&self) -> u64 {
        self.heap.free_bytes(self.backend.floor())
    }

    /// Writes bytes of a buffer.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`].
    pub fn write(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        self.heap.find(to, data.len() as u64)?;
        self.backend.write(to.0, data);
        Ok(())
    }

    /// Reads bytes of a buffer.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`].
    pub fn read(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        self.heap.find(from, data.len() as u64)?;
        self.backend.read(from.0, data);
        Ok(())
    }

    /// Sets bytes of a buffer to one value.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`].
    pub fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.heap.find(to, bytes)?;
        let piece = vec![value; bytes.min(PIECE_BYTES) as usize];
        for at in (0..bytes).step_by(PIECE_BYTES as usize) {
            self.backend.write(to.0 + at, &piece[..(bytes - at).min(PIECE_BYTES) as usize]);
        }
        Ok(())
    }

    /// Copies bytes of a buffer to a place in the same or another one; the ranges may overlap.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`].
    pub fn copy(&mut self, to: DevicePtr, from: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        self.heap.find(to, bytes)?;
        self.heap.find(from, bytes)?;
        let mut piece = vec![0; bytes.min(PIECE_BYTES) as usize];
        let pieces = bytes.div_ceil(PIECE_BYTES);
        for n in 0..pieces {
            // Away from what is still to be read.
            let at = if to < from { n } else { pieces - 1 - n } * PIECE_BYTES;
            let piece = &mut piece[..(bytes - at).min(PIECE_BYTES) as usize];
            self.backend.read(from.0 + at, piece);
            self.backend.write(to.0 + at, piece);
        }
        Ok(())
    }

    /// Loads a module, its variables initialised.
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

    /// Where a module's variables lie that are the device heap's own: which thread got which block shows there.
    pub fn heap_variables(&self, module: ModuleId) -> Vec<DevicePtr> {
        let Some(loaded) = self.modules.get(&module) else { return Vec::new() };
        let all = loaded.program.variables().iter().zip(&loaded.variables);
        all.filter(|(variable, _)| variable.heap).map(|(_, address)| DevicePtr(*address)).collect()
    }

    /// Gives a module whose heap was not used yet another size of it; entries of the module must be asked for anew. A
    /// module without a heap stays as it is.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`]: the heap stays as it is.
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
                    // One variable is the heap's memory; no other changes its size.
                    loaded.program.set_heap_bytes(bytes_before);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Unloads a module and frees its variables; false when it is not loaded.
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

    /// The text of a loaded module.
    pub fn program(&self, module: ModuleId) -> Option<&Program> {
        self.modules.get(&module).map(|loaded| &loaded.program)
    }

    /// A kernel of a module.
    ///
    /// # Errors
    /// See [`KernelError`]; a module that is not loaded has no kernel.
    pub fn kernel(&mut self, module: ModuleId, name: &str) -> Result<Entry, KernelError> {
        let unknown = || KernelError::Unknown(name.to_owned());
        let kernel = self.modules.get_mut(&module).ok_or_else(unknown)?.program.kernel(name)?;
        Ok(Entry { module, kernel })
    }

    /// Handle of a module's reference to a texture or surface; none when it has no such reference.
    pub fn reference(&self, module: ModuleId, name: &str, kind: Opaque) -> Option<u64> {
        let loaded = self.modules.get(&module)?;
        let wanted = |variable: &Variable| variable.name == name && variable.opaque == Some(kind);
        let place = loaded.program.variables().iter().position(wanted)?;
        Some(loaded.variables[place])
    }

    /// Address and size of a module's variable.
    ///
    /// # Errors
    /// [`DeviceError::UnknownVariable`].
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

    /// Runs a kernel to its end. `params` is the parameter block, as [`Kernel::params`] lays it out.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`], [`DeviceError::OutOfMemory`], [`DeviceError::Failed`].
    pub fn launch(
        &mut self,
        entry: &Entry,
        shape: Shape,
        params: &[u8],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<B::Done, DeviceError> {
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
        self.backend.run(&call, progress)
    }
}
