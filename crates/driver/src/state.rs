//! Everything that the driver knows, behind one lock.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use strata_abi::driver::{Array3dDescriptor, ResourceDescriptor, TextureDescriptor};
use strata_gpu::device::{Card, Entry, ModuleId};
use strata_ptx::texture::{self, Format};
use strata_workloads::{DeviceError, DevicePtr, Failure};

use crate::allocation::Allocation;
use crate::api::Next;
use crate::blocks::Blocks;
use crate::engine::Engine;
use crate::image::Image;
use crate::jit::Jit;
use crate::log::{self, Level};
use crate::results::Results;
use crate::settings::Settings;
use crate::status::{Answer, Status};
use crate::table::{Handle, Object, Table};

/// A context: an owner of memory, modules, streams and events.
#[derive(Debug, Default)]
pub struct Context {
    /// What the client asked for.
    pub flags: u32,
    /// It is the device's primary context.
    pub primary: bool,
    /// How often it was attached.
    pub attached: u32,
    /// Limits that the client set, by number.
    pub limits: BTreeMap<u32, usize>,
    /// Cache and shared memory preferences, which change nothing.
    pub cache: u32,
    /// See `cache`.
    pub shared: u32,
}

/// A loaded module.
#[derive(Debug)]
pub struct Module {
    /// Whose it is.
    pub context: Handle<Context>,
    /// On the card.
    pub id: ModuleId,
    /// The library that it is of, if any: such a module is not unloaded by itself.
    pub owner: Option<Handle<Library>>,
    /// Functions that were asked for.
    pub functions: BTreeMap<String, Handle<Function>>,
    /// It has a device heap, and a kernel of it has run.
    pub heap_used: bool,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct Function {
    /// Its module.
    pub module: Handle<Module>,
    /// On the card.
    pub entry: Entry,
    /// What the client set: most dynamic shared memory, carve-out.
    pub attributes: BTreeMap<u32, i32>,
    /// The same with the stack of the last launch, where that is not the default.
    pub stacked: Option<Entry>,
    /// Bytes of that stack.
    pub stack_limit: u32,
    /// What the client said of its next launch, where it does so beforehand.
    pub next: Next,
}

/// Texts that are loaded into a context when something of them is first used there.
#[derive(Debug)]
pub struct Library {
    /// PTX.
    pub image: Image,
    /// Options that were given when it was loaded; their logs are not the client's any more.
    pub jit: Jit,
    /// Names of its kernels.
    pub names: Vec<String>,
    /// Where it is loaded.
    pub modules: BTreeMap<Handle<Context>, Handle<Module>>,
    /// Kernels that were asked for.
    pub kernels: BTreeMap<String, Handle<Kernel>>,
}

/// A kernel of a library.
#[derive(Debug)]
pub struct Kernel {
    /// Its library.
    pub owner: Handle<Library>,
    /// Its name.
    pub name: String,
}

/// Texts that are being linked.
#[derive(Debug)]
pub struct Link {
    /// What was added.
    pub image: Image,
    /// Options that were given at its creation.
    pub options: Jit,
    /// The result, at a place that does not move.
    pub result: Option<Box<[u8]>>,
}

/// A stream. Its work is done when it is given.
#[derive(Debug)]
pub struct Stream {
    /// Whose it is.
    pub context: Handle<Context>,
    /// What the client asked for.
    pub flags: u32,
    /// See `flags`.
    pub priority: i32,
    /// Its number.
    pub number: u64,
}

/// An event.
#[derive(Debug)]
pub struct Event {
    /// Whose it is.
    pub context: Handle<Context>,
    /// Whether it notes time.
    pub timed: bool,
    /// Core cycles when it was recorded.
    pub recorded: Option<u64>,
}

/// A memory pool: what is allocated from it comes from the one heap.
#[derive(Debug, Default)]
pub struct Pool {
    /// What the client set.
    pub attributes: BTreeMap<u32, u64>,
    /// It is the device's own.
    pub default: bool,
}

/// An array.
#[derive(Debug)]
pub struct Array {
    /// Whose it is.
    pub context: Handle<Context>,
    /// Its texels.
    pub image: texture::Image,
    /// As the client described it.
    pub descriptor: Array3dDescriptor,
}

/// What a texture reference is bound to.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// An array.
    Array(Handle<Array>),
    /// Bytes of linear memory.
    Linear {
        /// Aligned.
        address: u64,
        /// From there on.
        bytes: u64,
    },
    /// Rows of linear memory.
    Pitched {
        /// Of the first row.
        address: u64,
        /// Of a texel.
        format: Format,
        /// Texels of a row, and rows.
        sides: [u32; 2],
        /// Bytes from row to row.
        pitch: u64,
    },
}

/// A texture reference of a module.
#[derive(Debug)]
pub struct TextureReference {
    /// Its module.
    pub module: Handle<Module>,
    /// Its header on the card.
    pub header: u64,
    /// What a texel of linear memory is.
    pub format: Option<Format>,
    /// How texels are read.
    pub description: TextureDescriptor,
    /// What is bound.
    pub target: Option<Target>,
}

/// A surface reference of a module.
#[derive(Debug)]
pub struct SurfaceReference {
    /// Its module.
    pub module: Handle<Module>,
    /// Its header on the card.
    pub header: u64,
    /// What is bound.
    pub array: Option<Handle<Array>>,
}

/// A texture object, by its handle on the card.
#[derive(Debug)]
pub struct TextureObject {
    /// Whose it is.
    pub context: Handle<Context>,
    /// As the client described it.
    pub resource: ResourceDescriptor,
    /// As the client described it.
    pub texture: TextureDescriptor,
}

/// A surface object, by its handle on the card.
#[derive(Debug)]
pub struct SurfaceObject {
    /// Whose it is.
    pub context: Handle<Context>,
    /// As the client described it.
    pub resource: ResourceDescriptor,
}

macro_rules! objects {
    ($($object:ident $kind:literal $missing:ident;)*) => {$(
        impl Object for $object {
            const KIND: u8 = $kind;
            const MISSING: Status = Status::$missing;
        }
    )*};
}
objects! {
    Context 0x11 InvalidContext;
    Module 0x22 InvalidHandle;
    Function 0x33 InvalidHandle;
    Library 0x44 InvalidHandle;
    Kernel 0x55 InvalidHandle;
    Link 0x66 InvalidHandle;
    Stream 0x71 InvalidHandle;
    Event 0x72 InvalidHandle;
    Pool 0x73 InvalidValue;
    Array 0x74 InvalidHandle;
    TextureReference 0x75 InvalidHandle;
    SurfaceReference 0x76 InvalidHandle;
}

/// The primary context.
#[derive(Debug, Default)]
pub struct Primary {
    /// Made when it is first retained.
    pub context: Option<Handle<Context>>,
    /// How often it is retained.
    pub references: u32,
    /// For when it is made.
    pub flags: u32,
}

/// See the module.
pub struct State {
    /// The process that initialised the driver: one that was forked from it has no device.
    process: u32,
    /// What the environment asks for.
    pub settings: Settings,
    card: Option<Card<Engine>>,
    fault: Option<Status>,
    /// Where results go, if anywhere.
    pub results: Option<Results>,
    /// Contexts, among them the primary one.
    pub contexts: Table<Context>,
    /// The device's primary context.
    pub primary: Primary,
    /// Modules.
    pub modules: Table<Module>,
    /// Functions.
    pub functions: Table<Function>,
    /// Libraries.
    pub libraries: Table<Library>,
    /// Kernels.
    pub kernels: Table<Kernel>,
    /// Links.
    pub links: Table<Link>,
    /// Streams.
    pub streams: Table<Stream>,
    /// Events.
    pub events: Table<Event>,
    /// Pools.
    pub pools: Table<Pool>,
    /// Arrays.
    pub arrays: Table<Array>,
    /// Texture references that were asked for.
    pub texture_references: Table<TextureReference>,
    /// Surface references that were asked for.
    pub surface_references: Table<SurfaceReference>,
    /// Texture objects, by the handle that kernels get.
    pub textures: BTreeMap<u64, TextureObject>,
    /// Surface objects, by the handle that kernels get.
    pub surfaces: BTreeMap<u64, SurfaceObject>,
    /// The device's own pool, and the one that is current.
    pub pool: Option<Handle<Pool>>,
    /// Buffers of clients by device address.
    pub allocations: BTreeMap<u64, Allocation>,
    /// Where on the card those of the device lie.
    pub blocks: Blocks,
    /// Numbers handed out so far.
    pub numbers: u64,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    static CURRENT: RefCell<Vec<Handle<Context>>> = const { RefCell::new(Vec::new()) };
}

fn locked() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// `cuInit`: what the environment asks for is read once.
pub fn initialise() -> Answer {
    let mut state = locked();
    if let Some(state) = &*state {
        return state.here();
    }
    let made = Settings::from_environment().and_then(|settings| {
        let results = Results::new(&settings)?;
        Ok(State::new(settings, results))
    });
    match made {
        Ok(made) => {
            if made.results.is_some() {
                crate::client::at_exit(finish);
            }
            *state = Some(made);
            Ok(())
        }
        Err(error) => {
            eprintln!("strata: cuInit: {error}");
            Err(Status::InvalidValue)
        }
    }
}

/// Writes what is known of the whole process.
extern "C" fn finish() {
    // A launch in another thread may hold the lock while the process ends.
    if let Ok(mut state) = STATE.try_lock()
        && let Some(state) = state.as_mut()
        && state.here().is_ok()
        && let Some(results) = state.results.take()
    {
        results.finish(state.card.as_mut());
    }
}

/// Runs something on the state.
pub fn with<R>(body: impl FnOnce(&mut State) -> Answer<R>) -> Answer<R> {
    let mut state = locked();
    let state = state.as_mut().ok_or(Status::NotInitialized)?;
    state.here()?;
    body(state)
}

/// Runs something on the state with the thread's current context, which must live.
pub fn with_current<R>(body: impl FnOnce(&mut State, Handle<Context>) -> Answer<R>) -> Answer<R> {
    with(|state| {
        let context = current().ok_or(Status::InvalidContext)?;
        if !state.contexts.has(context) {
            return Err(Status::ContextIsDestroyed);
        }
        state.alive()?;
        body(state, context)
    })
}

/// The thread's current context, dead or alive.
pub fn current() -> Option<Handle<Context>> {
    CURRENT.with_borrow(|stack| stack.last().copied())
}

/// Makes a context current above the others.
pub fn push(context: Handle<Context>) {
    CURRENT.with_borrow_mut(|stack| stack.push(context));
}

/// Takes the current context off.
pub fn pop() -> Option<Handle<Context>> {
    CURRENT.with_borrow_mut(Vec::pop)
}

impl State {
    fn new(settings: Settings, results: Option<Results>) -> State {
        State {
            process: std::process::id(),
            settings,
            card: None,
            fault: None,
            results,
            contexts: Table::default(),
            primary: Primary::default(),
            modules: Table::default(),
            functions: Table::default(),
            libraries: Table::default(),
            kernels: Table::default(),
            links: Table::default(),
            streams: Table::default(),
            events: Table::default(),
            pools: Table::default(),
            arrays: Table::default(),
            texture_references: Table::default(),
            surface_references: Table::default(),
            textures: BTreeMap::new(),
            surfaces: BTreeMap::new(),
            pool: None,
            allocations: BTreeMap::new(),
            blocks: Blocks::default(),
            numbers: 0,
        }
    }

    /// Fails in a process that was forked from the one that initialised the driver.
    fn here(&self) -> Answer {
        if self.process == std::process::id() { Ok(()) } else { Err(Status::NotInitialized) }
    }

    /// A number that was never handed out before.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Fails for good once a kernel has failed, until every context is gone.
    pub fn alive(&self) -> Answer {
        self.fault.map_or(Ok(()), Err)
    }

    /// The card, built when it is first needed.
    pub fn card(&mut self) -> Answer<&mut Card<Engine>> {
        if self.card.is_none() {
            let engine = Engine::new(&self.settings).map_err(|error| {
                log::say(Level::Quiet, || error);
                Status::InvalidValue
            })?;
            self.card = Some(Card::without_gaps(engine));
        }
        self.card.as_mut().ok_or(Status::Unknown)
    }

    /// The card, and where buffers lie on it.
    pub fn memory(&mut self) -> Answer<(&mut Card<Engine>, &mut Blocks)> {
        self.card()?;
        let card = self.card.as_mut().ok_or(Status::Unknown)?;
        Ok((card, &mut self.blocks))
    }

    /// A new context; the card is there from now on.
    pub fn create_context(&mut self, flags: u32, primary: bool) -> Answer<Handle<Context>> {
        self.alive()?;
        self.card()?;
        Ok(self.contexts.insert(Context { flags, primary, ..Context::default() }))
    }

    /// Takes a context away with everything in it. After the last one, a device that failed is as new.
    pub fn destroy_context(&mut self, context: Handle<Context>) -> Answer {
        self.contexts.remove(context)?;
        self.streams.remove_all(|stream| stream.context == context);
        self.events.remove_all(|event| event.context == context);
        let gone: Vec<Handle<Module>> = self
            .modules
            .iter()
            .filter(|(_, module)| module.context == context)
            .map(|(handle, _)| handle)
            .collect();
        for module in gone {
            self.unload(module)?;
        }
        let buffers: Vec<u64> = self
            .allocations
            .iter()
            .filter(|(_, allocation)| allocation.context == context)
            .map(|(start, _)| *start)
            .collect();
        for start in buffers {
            self.free(start)?;
        }
        self.destroy_texels(context)?;
        if self.fault.is_some() && self.contexts.iter().next().is_none() {
            self.fault = None;
            if let Some(results) = &mut self.results {
                results.keep(self.card.as_mut());
            }
            self.card = None;
            self.blocks = Blocks::default();
        }
        Ok(())
    }

    /// Unloads a module and forgets its functions.
    pub fn unload(&mut self, module: Handle<Module>) -> Answer {
        let gone = self.modules.remove(module)?;
        self.functions.remove_all(|function| function.module == module);
        self.texture_references.remove_all(|reference| reference.module == module);
        self.surface_references.remove_all(|reference| reference.module == module);
        if let Some(library) = gone.owner
            && let Ok(library) = self.libraries.get_mut(library)
        {
            library.modules.remove(&gone.context);
        }
        self.card()?.unload(gone.id);
        Ok(())
    }

    /// Takes an array away. What is made on it stands for freed memory.
    pub fn destroy_array(&mut self, array: Handle<Array>) -> Answer {
        let gone = self.arrays.remove(array)?;
        self.card()?.free(DevicePtr(gone.image.base)).map_err(|_| Status::Unknown)
    }

    /// Takes textures, surfaces and arrays of a context away.
    fn destroy_texels(&mut self, context: Handle<Context>) -> Answer {
        let textures = self.textures.iter().filter(|(_, texture)| texture.context == context);
        let surfaces = self.surfaces.iter().filter(|(_, surface)| surface.context == context);
        let objects: Vec<u64> =
            textures.map(|(handle, _)| *handle).chain(surfaces.map(|(handle, _)| *handle)).collect();
        for handle in objects {
            self.textures.remove(&handle);
            self.surfaces.remove(&handle);
            self.card()?.destroy_header(handle);
        }
        let arrays = self.arrays.iter().filter(|(_, array)| array.context == context);
        let arrays: Vec<Handle<Array>> = arrays.map(|(handle, _)| handle).collect();
        arrays.into_iter().try_for_each(|array| self.destroy_array(array))
    }

    /// Notes what a launch that failed came to; faults last.
    pub fn failed(&mut self, error: &DeviceError) -> Status {
        log::say(Level::Once, || error.to_string());
        let DeviceError::Failed { failure, .. } = error else {
            return match error {
                DeviceError::OutOfMemory { .. } => Status::OutOfMemory,
                _ => Status::InvalidValue,
            };
        };
        let status = match failure {
            Failure::NoRoom => return Status::LaunchOutOfResources,
            Failure::Address => Status::IllegalAddress,
            Failure::Misaligned => Status::MisalignedAddress,
            Failure::Trap => Status::IllegalInstruction,
            Failure::Assertion => Status::Assert,
            Failure::Unfinished => Status::LaunchTimeout,
            Failure::Other => Status::LaunchFailed,
        };
        self.fault = Some(status);
        status
    }
}
