//! The state of the driver, behind one lock.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use strata_gpu::device::Card;
use strata_ptx::texture::Image;
use strata_workloads::{DeviceError, DevicePtr, Failure};

use crate::blocks::Blocks;
use crate::buffer::Allocation;
use crate::client::Bytes;
use crate::current;
use crate::engine::Engine;
use crate::graph::parts::{Capture, Dependencies, Executable, Graph, Lent, Node, UserObject};
use crate::log::{self, Level};
use crate::objects::{
    Array, Attributes, Context, Event, Function, Kept, Kernel, Library, Link, MipmappedArray, Module, Pool,
    Primary, Stream, SurfaceObject, SurfaceReference, TextureObject, TextureReference,
};
use crate::results::Results;
use crate::settings::Settings;
use crate::status::{Answer, Status};
use crate::stop;
use crate::table::{Handle, Table};
use crate::timeline::Timeline;

/// The state of the driver.
pub struct State {
    /// The process that initialised the driver; a process forked from it has no device.
    process: u32,
    /// Settings from the environment.
    pub settings: Settings,
    card: Option<Card<Engine>>,
    fault: Option<Status>,
    /// The files of results, if any.
    pub results: Option<Results>,
    /// The file of counters over time, if any.
    pub timeline: Option<Timeline>,
    /// Launches so far.
    pub launches: u64,
    /// All contexts, including the primary one.
    pub contexts: Table<Context>,
    /// State of the device's primary context.
    pub primary: Primary,
    /// Modules loaded in any context.
    pub modules: Table<Module>,
    /// Functions looked up so far.
    pub functions: Table<Function>,
    /// Libraries loaded by clients.
    pub libraries: Table<Library>,
    /// Library kernels looked up so far.
    pub kernels: Table<Kernel>,
    /// Links that are not destroyed yet.
    pub links: Table<Link>,
    /// Streams created by clients.
    pub streams: Table<Stream>,
    /// Attributes that clients set for default streams.
    pub default_attributes: BTreeMap<Handle<Stream>, Attributes>,
    /// Events created by clients.
    pub events: Table<Event>,
    /// Graphs, those within nodes and executable graphs included.
    pub graphs: Table<Graph>,
    /// The nodes of all graphs.
    pub nodes: Table<Node>,
    /// Executable graphs.
    pub executables: Table<Executable>,
    /// Clients' objects that graphs refer to.
    pub user_objects: Table<UserObject>,
    /// Memory that nodes allocate, by address.
    pub lent: BTreeMap<u64, Lent>,
    /// Events that were last recorded in a capture: its number, and the nodes that they stand for.
    pub captured_events: BTreeMap<Handle<Event>, (u64, Dependencies)>,
    /// Captures in progress, by number.
    pub captures: BTreeMap<u64, Capture>,
    /// Memory pools, the default one included.
    pub pools: Table<Pool>,
    /// Arrays for textures and surfaces.
    pub arrays: Table<Array>,
    /// Arrays with levels of detail.
    pub mipmapped: Table<MipmappedArray>,
    /// Texture references looked up so far.
    pub texture_references: Table<TextureReference>,
    /// Surface references looked up so far.
    pub surface_references: Table<SurfaceReference>,
    /// Texture objects, by the handle that kernels receive.
    pub textures: BTreeMap<u64, TextureObject>,
    /// Surface objects, by the handle that kernels receive.
    pub surfaces: BTreeMap<u64, SurfaceObject>,
    /// The device's default pool and its current pool.
    pub pool: Option<Handle<Pool>>,
    /// Clients' buffers, by device address.
    pub allocations: BTreeMap<u64, Allocation>,
    /// Where device buffers lie on the card.
    pub blocks: Blocks,
    /// The workspace of grid barriers on the card.
    pub workspace: Option<DevicePtr>,
    /// Number of allocations that clients have made.
    pub allocated: u64,
    /// The last unique number handed out.
    pub numbers: u64,
    /// What was kept with contexts that this call destroys, by context and key; the clients' functions are called when
    /// the lock is free again.
    farewells: Vec<(Handle<Context>, u64, Kept)>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn locked() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Implements `cuInit`: reads the environment once.
pub fn initialise() -> Answer {
    let mut state = locked();
    if let Some(state) = &*state {
        return state.here();
    }
    let made = Settings::from_environment().and_then(|settings| {
        settings.lock.as_deref().map_or(Ok(()), stop::look_at)?;
        if stop::is_requested() {
            return Err("found that programs are to stop (STRATA_LOCK), expected to run one".into());
        }
        let (results, timeline) = (Results::new(&settings)?, Timeline::new(&settings)?);
        Ok(State::new(settings, results, timeline))
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

/// Writes the last line of the results when the process exits.
extern "C" fn finish() {
    // A launch in another thread may still hold the lock.
    if let Ok(mut state) = STATE.try_lock()
        && let Some(state) = state.as_mut()
        && state.here().is_ok()
        && let Some(results) = state.results.take()
    {
        results.finish(state.card.as_mut());
    }
}

/// Runs `body` on the locked state.
pub fn with<R>(body: impl FnOnce(&mut State) -> Answer<R>) -> Answer<R> {
    let mut locked = locked();
    let state = locked.as_mut().ok_or(Status::NotInitialized)?;
    state.here()?;
    let result = body(state);
    let farewells = std::mem::take(&mut state.farewells);
    drop(locked);
    for (context, key, kept) in farewells {
        kept.farewell.call(context.bits(), Bytes::at(key), Bytes::at(kept.value));
    }
    result
}

/// Runs `body` on the locked state with the thread's current context, which must exist.
pub fn with_current<R>(body: impl FnOnce(&mut State, Handle<Context>) -> Answer<R>) -> Answer<R> {
    with(|state| {
        let context = current::context().ok_or(Status::InvalidContext)?;
        if !state.active(context) {
            return Err(Status::ContextIsDestroyed);
        }
        state.alive()?;
        body(state, context)
    })
}

impl State {
    fn new(settings: Settings, results: Option<Results>, timeline: Option<Timeline>) -> State {
        let blocks = Blocks::new(settings.bounds);
        State {
            process: std::process::id(),
            settings,
            card: None,
            fault: None,
            results,
            timeline,
            launches: 0,
            contexts: Table::default(),
            primary: Primary::default(),
            modules: Table::default(),
            functions: Table::default(),
            libraries: Table::default(),
            kernels: Table::default(),
            links: Table::default(),
            streams: Table::default(),
            default_attributes: BTreeMap::new(),
            events: Table::default(),
            graphs: Table::default(),
            nodes: Table::default(),
            executables: Table::default(),
            user_objects: Table::default(),
            lent: BTreeMap::new(),
            captured_events: BTreeMap::new(),
            captures: BTreeMap::new(),
            pools: Table::default(),
            arrays: Table::default(),
            mipmapped: Table::default(),
            texture_references: Table::default(),
            surface_references: Table::default(),
            textures: BTreeMap::new(),
            surfaces: BTreeMap::new(),
            pool: None,
            allocations: BTreeMap::new(),
            blocks,
            workspace: None,
            allocated: 0,
            numbers: 0,
            farewells: Vec::new(),
        }
    }

    /// Fails in a process that was forked from the one that initialised the driver.
    fn here(&self) -> Answer {
        if self.process == std::process::id() { Ok(()) } else { Err(Status::NotInitialized) }
    }

    /// Returns a new unique number.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Fails once a kernel has failed, until every context is destroyed.
    pub fn alive(&self) -> Answer {
        self.fault.map_or(Ok(()), Err)
    }

    /// The card, built on first use.
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

    /// The client waits for all launches: the next one overlaps with none of them.
    pub fn synchronize(&mut self) {
        self.card.iter_mut().for_each(Card::synchronize);
    }

    /// The card, and the blocks that place buffers on it.
    pub fn memory(&mut self) -> Answer<(&mut Card<Engine>, &mut Blocks)> {
        self.card()?;
        let card = self.card.as_mut().ok_or(Status::Unknown)?;
        Ok((card, &mut self.blocks))
    }

    /// The card, and what is written about its launches.
    pub fn written(&mut self) -> Answer<(&mut Card<Engine>, Option<&mut Results>, Option<&mut Timeline>)> {
        self.card()?;
        let card = self.card.as_mut().ok_or(Status::Unknown)?;
        Ok((card, self.results.as_mut(), self.timeline.as_mut()))
    }

    /// Creates a context, and the card if there is none.
    pub fn create_context(&mut self, flags: u32, primary: bool) -> Answer<Handle<Context>> {
        self.alive()?;
        self.card()?;
        Ok(self.contexts.insert(Context { flags, primary, ..Context::default() }))
    }

    /// Whether a context exists and can be used: nobody can use the primary one while nobody retains it.
    pub fn active(&self, context: Handle<Context>) -> bool {
        self.contexts.get(context).is_ok_and(|found| !found.primary || self.primary.references > 0)
    }

    /// Destroys a context with everything in it. Destroying the last one clears a device failure.
    pub fn destroy_context(&mut self, context: Handle<Context>) -> Answer {
        let gone = self.contexts.remove(context)?;
        self.empty_context(context, gone)
    }

    /// Makes the primary context inactive, and destroys everything in it. Its handle stays what it is.
    pub fn end_primary(&mut self) -> Answer {
        self.primary.references = 0;
        let Some(context) = self.primary.context else { return Ok(()) };
        let new = Context { flags: self.primary.flags, primary: true, ..Context::default() };
        let gone = std::mem::replace(self.contexts.get_mut(context)?, new);
        self.empty_context(context, gone)
    }

    /// Destroys everything in a context, which is no longer active.
    fn empty_context(&mut self, context: Handle<Context>, gone: Context) -> Answer {
        self.farewells.extend(gone.kept.into_iter().map(|(key, kept)| (context, key, kept)));
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
        if self.fault.is_some() && !self.contexts.iter().any(|(context, _)| self.active(context)) {
            self.fault = None;
            if let Some(results) = &mut self.results {
                results.keep(self.card.as_mut());
            }
            self.card = None;
            self.workspace = None;
            self.blocks = Blocks::new(self.settings.bounds);
        }
        Ok(())
    }

    /// Unloads a module and removes its functions.
    pub fn unload(&mut self, module: Handle<Module>) -> Answer {
        let gone = self.modules.remove(module)?;
        self.free_managed(&gone)?;
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

    /// Destroys an array. Textures and surfaces on it then refer to freed memory.
    pub fn destroy_array(&mut self, array: Handle<Array>) -> Answer {
        // A level goes with its array.
        if self.arrays.get(array)?.is_level {
            return Err(Status::InvalidValue);
        }
        let gone = self.arrays.remove(array)?;
        self.card()?.free(DevicePtr(gone.image.base)).map_err(|_| Status::Unknown)
    }

    /// The first level of an array with levels of detail, and their number.
    pub fn levels_of(&self, array: Handle<MipmappedArray>) -> Answer<(Image, u32)> {
        let found = self.mipmapped.get(array)?;
        Ok((found.image, found.levels.len() as u32))
    }

    /// Destroys an array with all its levels of detail.
    pub fn destroy_mipmapped(&mut self, array: Handle<MipmappedArray>) -> Answer {
        let gone = self.mipmapped.remove(array)?;
        for level in gone.levels {
            self.arrays.remove(level)?;
        }
        self.card()?.free(DevicePtr(gone.image.base)).map_err(|_| Status::Unknown)
    }

    /// Destroys the textures, surfaces and arrays of a context.
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
        let mipmapped = self.mipmapped.iter().filter(|(_, array)| array.context == context);
        let mipmapped: Vec<Handle<MipmappedArray>> = mipmapped.map(|(handle, _)| handle).collect();
        mipmapped.into_iter().try_for_each(|array| self.destroy_mipmapped(array))?;
        let arrays = self.arrays.iter().filter(|(_, array)| array.context == context);
        let arrays: Vec<Handle<Array>> = arrays.map(|(handle, _)| handle).collect();
        arrays.into_iter().try_for_each(|array| self.destroy_array(array))
    }

    /// Records a failed launch and returns its status. A fault persists.
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
