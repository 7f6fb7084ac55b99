//! A client's pointers, its functions, and what is done to its process. Nothing else here is `unsafe`.
#![allow(unsafe_code)]

pub use strata_abi::PAGE;
use strata_abi::{Plain, Refusal};

use crate::status::{Answer, Status};

impl Refusal for Status {
    const INVALID_VALUE: Status = Status::InvalidValue;
}

/// Memory without a type.
pub type Bytes = strata_abi::Bytes<Status>;
/// Where a result goes.
pub type Out<T> = strata_abi::Out<T, Status>;
/// A value, or several in a row.
pub type In<T> = strata_abi::In<T, Status>;
/// A NUL-terminated text.
pub type Text = strata_abi::Text<Status>;

// SAFETY: a transparent integer.
unsafe impl<T> Plain for crate::table::Handle<T> {}

/// A function of the client that is called with what it gave along.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct HostFunction(Option<unsafe extern "C" fn(Bytes)>);

impl HostFunction {
    /// Calls it. No lock of the driver may be held: it may call the driver.
    pub fn call(self, data: Bytes) -> Answer {
        let function = self.0.ok_or(Status::InvalidValue)?;
        // SAFETY: not null, so a function of this type (see `strata_abi`).
        unsafe { function(data) }
        Ok(())
    }
}

/// The same for a stream's callback, which is told stream and status too.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct StreamCallback(Option<unsafe extern "C" fn(u64, Status, Bytes)>);

impl StreamCallback {
    /// Calls it. No lock of the driver may be held: it may call the driver.
    pub fn call(self, stream: u64, status: Status, data: Bytes) -> Answer {
        let function = self.0.ok_or(Status::InvalidValue)?;
        // SAFETY: not null, so a function of this type (see `strata_abi`).
        unsafe { function(stream, status, data) }
        Ok(())
    }
}

/// A function that says how much shared memory a block of so many threads takes.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct BlockToShared(Option<unsafe extern "C" fn(i32) -> usize>);

impl BlockToShared {
    /// What it says; none where there is no function.
    pub fn of(self, threads: u32) -> Option<usize> {
        // SAFETY: not null, so a function of this type (see `strata_abi`).
        self.0.map(|function| unsafe { function(threads as i32) })
    }
}

/// Pages of host memory that the driver made for a client.
#[derive(Debug)]
pub struct Pages {
    address: u64,
    bytes: usize,
}

impl Pages {
    /// Zeroed pages at this very address, which must be a multiple of a page; none when something else is there.
    pub fn at(address: u64, bytes: usize) -> Option<Pages> {
        let wanted = Bytes::at(address).pointer();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE;
        // SAFETY: MAP_FIXED_NOREPLACE never touches a mapping that exists.
        let found = unsafe { libc::mmap(wanted, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return None;
        }
        let pages = Pages { address: found.expose_provenance() as u64, bytes };
        // A kernel that does not know the flag may have put them elsewhere.
        (pages.address == address).then_some(pages)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own; that the client uses it no more is what freeing it says.
        unsafe { libc::munmap(Bytes::at(self.address).pointer(), self.bytes) };
    }
}

/// Has a function called when the process ends.
pub fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function lives as long as this library, which takes its handlers along when it is unloaded.
    let _ = unsafe { libc::atexit(function) };
}
