//! Devices that a host program can run on: the modelled GPU, the reference executor, and both in lockstep.
//!
//! Each is built on a [`Card`], a GPU as a driver sees it: memory, modules, and launches by raw parameter
//! block. A card's [`Backend`] is the modelled GPU or the reference executor.

mod arguments;
mod card;
mod coreless;
mod forward;
mod functional;
mod heap;
mod holes;
mod lockstep;
mod modelled;
mod module;
mod phase;
mod recorder;
mod reference;
pub(crate) mod system;
mod texture;
mod timed;

pub use card::{Backend, Call, Card, Entry, ModuleId, Reserved};
pub(crate) use forward::Forward;
pub use functional::Functional;
pub use heap::{Buffer, Heap};
pub use lockstep::{Lockstep, difference};
pub use modelled::Modelled;
pub use module::{Log, ModuleDevice};
pub(crate) use recorder::RecordingDevice;
pub use reference::{Executed, ReferenceDevice};
pub use texture::{ArrayShape, BadTexture};
pub use timed::{Launches, TimedDevice};
