//! What clients hold by handle: contexts, modules, functions, streams and the rest.

use std::collections::BTreeMap;

use strata_abi::driver::{Array3dDescriptor, ResourceDescriptor, TextureDescriptor};
use strata_gpu::device::{Entry, ModuleId};
use strata_ptx::texture::{self, Format};

use crate::image::Image;
use crate::jit::Jit;
use crate::status::Status;
use crate::table::{Handle, Object};

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

/// What a function's next launch is given.
#[derive(Debug)]
pub struct Next {
    /// Threads of a CTA, by axis.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub shared: u32,
    /// Packed.
    pub arguments: Vec<u8>,
}

impl Default for Next {
    fn default() -> Self {
        Next { block: [1; 3], shared: 0, arguments: Vec::new() }
    }
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
