//! Buffers of clients: the device's, and host memory that kernels reach.

use crate::client::Pages;
use crate::objects::Context;
use crate::table::Handle;

/// What kind of memory a buffer is.
#[derive(Debug)]
pub enum Kind {
    /// On the device.
    Device,
    /// The client's pages beside the device's: see [`Mirror`].
    Mirrored(Mirror),
}

/// Host memory that kernels reach: copied to the device before every launch and back after it. Between launches the host's
/// bytes are the ones that count, also for copies by device address.
#[derive(Debug)]
pub struct Mirror {
    /// Its first byte in the client's process.
    pub host: u64,
    /// Its size for the client; pages are whole.
    pub bytes: u64,
    /// The pages, where the driver made them.
    pub pages: Option<Pages>,
    /// `cuMemAllocManaged` made it.
    pub managed: bool,
    /// What the client asked for.
    pub flags: u32,
}

/// A buffer of a client.
#[derive(Debug)]
pub struct Allocation {
    /// Whose it is.
    pub context: Handle<Context>,
    /// Its number, never used again.
    pub number: u64,
    /// Its size for the client.
    pub bytes: u64,
    /// What it is.
    pub kind: Kind,
}
