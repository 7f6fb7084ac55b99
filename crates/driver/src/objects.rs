//! Objects that clients hold by handle: contexts, modules, functions, streams and others.

use std::collections::{BTreeMap, BTreeSet};

use strata_abi::driver::{Array3dDescriptor, ResourceDescriptor, TextureDescriptor};
use strata_gpu::device::{Entry, ModuleId};
use strata_ptx::texture::{self, Format};

use crate::client::Farewell;
use crate::image::Image;
use crate::jit::Jit;
use crate::status::Status;
use crate::table::{Handle, Object};

/// A context, which owns memory, modules, streams and events.
#[derive(Debug, Default)]
pub struct Context {
    /// Flags that the client passed.
    pub flags: u32,
    /// Whether it is the device's primary context.
    pub primary: bool,
    /// Reference count of `cuCtxAttach`.
    pub attached: u32,
    /// Limits that the client set, by number.
    pub limits: BTreeMap<u32, usize>,
    /// Cache preference, which has no effect.
    pub cache: u32,
    /// Shared memory bank preference, which has no effect.
    pub shared: u32,
    /// What clients keep with the context, by key.
    pub kept: BTreeMap<u64, Kept>,
}

/// A value that a client keeps with a context.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The client's value.
    pub value: u64,
    /// Called when the context is destroyed.
    pub farewell: Farewell,
}

/// A managed variable that the host uses: a mirrored buffer of its own and the variable that kernels use are given the
/// same values around every launch.
#[derive(Clone, Copy, Debug)]
pub struct Managed {
    /// The buffer, at the same address on host and device.
    pub buffer: u64,
    /// The variable on the device.
    pub variable: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// A module loaded into a context.
#[derive(Debug)]
pub struct Module {
    /// The context that owns the module.
    pub context: Handle<Context>,
    /// The module on the card.
    pub id: ModuleId,
    /// The library that owns the module, if any; such a module cannot be unloaded on its own.
    pub owner: Option<Handle<Library>>,
    /// Functions looked up so far, by name.
    pub functions: BTreeMap<String, Handle<Function>>,
    /// Whether the module has a device heap and one of its kernels has run.
    pub heap_used: bool,
    /// Names of its managed variables.
    pub managed_names: BTreeSet<String>,
    /// Those that the host uses, by name.
    pub managed: BTreeMap<String, Managed>,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct Function {
    /// The module that contains the kernel.
    pub module: Handle<Module>,
    /// The kernel on the card.
    pub entry: Entry,
    /// Attributes that the client set: maximum dynamic shared memory, carve-out.
    pub attributes: BTreeMap<u32, i32>,
    /// The kernel with the stack size of the last launch, if that is not the default.
    pub stacked: Option<Entry>,
    /// That stack size in bytes.
    pub stack_limit: u32,
    /// Settings of the next launch, for clients that make them in advance.
    pub next: Next,
}

/// Shape and arguments of a function's next launch.
#[derive(Debug)]
pub struct Next {
    /// Size of a CTA in threads, by axis.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Arguments, packed at their offsets.
    pub arguments: Vec<u8>,
}

impl Default for Next {
    fn default() -> Self {
        Next { block: [1; 3], shared: 0, arguments: Vec::new() }
    }
}

/// PTX texts that are loaded into a context when something in them is first used there.
#[derive(Debug)]
pub struct Library {
    /// The library's PTX texts.
    pub image: Image,
    /// Options from loading the library; the log buffers are no longer the client's.
    pub jit: Jit,
    /// Names of the library's kernels.
    pub names: Vec<String>,
    /// The library's module in each context where it is loaded.
    pub modules: BTreeMap<Handle<Context>, Handle<Module>>,
    /// Kernels looked up so far, by name.
    pub kernels: BTreeMap<String, Handle<Kernel>>,
}

/// A kernel of a library.
#[derive(Debug)]
pub struct Kernel {
    /// The library that contains the kernel.
    pub owner: Handle<Library>,
    /// Name of the kernel.
    pub name: String,
}

/// A link in progress.
#[derive(Debug)]
pub struct Link {
    /// The texts added so far.
    pub image: Image,
    /// Options from creating the link.
    pub options: Jit,
    /// The linked image, at a fixed address.
    pub result: Option<Box<[u8]>>,
}

/// Attributes of launches or streams, by number; each value has 64 bytes.
pub type Attributes = BTreeMap<u32, [u8; 64]>;

/// A stream. Its operations complete when they are issued.
#[derive(Debug)]
pub struct Stream {
    /// The context that owns the stream.
    pub context: Handle<Context>,
    /// Flags that the client passed.
    pub flags: u32,
    /// Priority that the client asked for, clamped to the valid range.
    pub priority: i32,
    /// Unique number of the stream.
    pub number: u64,
    /// Attributes that the client set.
    pub attributes: Attributes,
}

/// An event, which records simulated time.
#[derive(Debug)]
pub struct Event {
    /// The context that owns the event.
    pub context: Handle<Context>,
    /// Whether the event records time.
    pub timed: bool,
    /// Core cycle at which it was recorded.
    pub recorded: Option<u64>,
}

/// A memory pool. Its allocations come from the one heap.
#[derive(Debug, Default)]
pub struct Pool {
    /// Attributes that the client set.
    pub attributes: BTreeMap<u32, u64>,
    /// Whether it is the device's default pool.
    pub default: bool,
}

/// An array for textures and surfaces.
#[derive(Debug)]
pub struct Array {
    /// The context that owns the array.
    pub context: Handle<Context>,
    /// Layout and place of its texels.
    pub image: texture::Image,
    /// Descriptor that the client passed.
    pub descriptor: Array3dDescriptor,
    /// Whether it is a level of a mipmapped array, which owns its memory.
    pub is_level: bool,
}

/// An array with levels of detail.
#[derive(Debug)]
pub struct MipmappedArray {
    /// The context that owns the array.
    pub context: Handle<Context>,
    /// Layout and place of the first level's texels.
    pub image: texture::Image,
    /// Each level, as an array.
    pub levels: Vec<Handle<Array>>,
}

/// The memory that a texture reference is bound to.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// An array for textures.
    Array(Handle<Array>),
    /// An array with levels of detail.
    Mipmapped(Handle<MipmappedArray>),
    /// Consecutive texels in linear memory.
    Linear {
        /// Start address, aligned as the device requires.
        address: u64,
        /// Size in bytes from the address on.
        bytes: u64,
    },
    /// Rows of texels in linear memory.
    Pitched {
        /// Address of the first row.
        address: u64,
        /// Format of a texel.
        format: Format,
        /// Texels per row, and number of rows.
        sides: [u32; 2],
        /// Distance between rows in bytes.
        pitch: u64,
    },
}

/// A texture reference of a module.
#[derive(Debug)]
pub struct TextureReference {
    /// The module that declares the reference.
    pub module: Handle<Module>,
    /// Handle of its header on the card.
    pub header: u64,
    /// Texel format of linear memory.
    pub format: Option<Format>,
    /// How texels are sampled.
    pub description: TextureDescriptor,
    /// The bound memory, if any.
    pub target: Option<Target>,
}

/// A surface reference of a module.
#[derive(Debug)]
pub struct SurfaceReference {
    /// The module that declares the reference.
    pub module: Handle<Module>,
    /// Handle of its header on the card.
    pub header: u64,
    /// The bound array, if any.
    pub array: Option<Handle<Array>>,
}

/// A texture object, keyed by its handle on the card.
#[derive(Debug)]
pub struct TextureObject {
    /// The context that owns the object.
    pub context: Handle<Context>,
    /// Resource descriptor that the client passed.
    pub resource: ResourceDescriptor,
    /// Texture descriptor that the client passed.
    pub texture: TextureDescriptor,
}

/// A surface object, keyed by its handle on the card.
#[derive(Debug)]
pub struct SurfaceObject {
    /// The context that owns the object.
    pub context: Handle<Context>,
    /// Resource descriptor that the client passed.
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
    MipmappedArray 0x7c InvalidHandle;
    TextureReference 0x75 InvalidHandle;
    SurfaceReference 0x76 InvalidHandle;
}

/// State of the device's primary context.
#[derive(Debug, Default)]
pub struct Primary {
    /// The context, created when it is first asked for. From then on it has the same handle.
    pub context: Option<Handle<Context>>,
    /// Number of times the context is retained.
    pub references: u32,
    /// Flags for its creation.
    pub flags: u32,
}
