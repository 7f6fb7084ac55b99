//! Buffers of clients: device memory, and host memory that kernels can reach.

use crate::client::Pages;
use crate::objects::Context;
use crate::table::Handle;

/// The kind of memory of a buffer.
#[derive(Debug)]
pub enum Kind {
    /// Memory of the device.
    Device,
    /// Host memory with a copy on the device; see [`Mirror`].
    Mirrored(Mirror),
}

/// Host memory that kernels can reach. It is copied to the device before every launch and back after it.
/// Between launches the host's bytes are authoritative, even for copies by device address.
#[derive(Debug)]
pub struct Mirror {
    /// Address of the first byte in the client's process.
    pub host: u64,
    /// Size that the client asked for, in bytes; pages are whole.
    pub bytes: u64,
    /// The pages, if the driver allocated them.
    pub pages: Option<Pages>,
    /// Whether `cuMemAllocManaged` allocated it.
    pub managed: bool,
    /// Flags that the client passed.
    pub flags: u32,
}

/// A buffer that a client allocated or registered.
#[derive(Debug)]
pub struct Allocation {
    /// The context that owns the buffer.
    pub context: Handle<Context>,
    /// Unique number of the buffer, never reused.
    pub number: u64,
    /// Size that the client asked for, in bytes.
    pub bytes: u64,
    /// The kind of memory.
    pub kind: Kind,
}
