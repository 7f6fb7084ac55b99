//! Everything that the driver knows, behind one lock.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use strata_gpu::device::Card;
use strata_workloads::{DeviceError, DevicePtr, Failure};

use crate::blocks::Blocks;
use crate::buffer::Allocation;
use crate::current;
use crate::engine::Engine;
use crate::log::{self, Level};
use crate::objects::{
    Array, Context, Event, Function, Kernel, Library, Link, Module, Pool, Primary, Stream, SurfaceObject,
    SurfaceReference, TextureObject, TextureReference,
};
use crate::results::Results;
use crate::settings::Settings;
use crate::status::{Answer, Status};
use crate::table::{Handle, Table};

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
        let context = current::context().ok_or(Status::InvalidContext)?;
        if !state.contexts.has(context) {
            return Err(Status::ContextIsDestroyed);
        }
        state.alive()?;
        body(state, context)
    })
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
