//! A client's pointers and functions, and changes to its process. All `unsafe` code of this crate is here.
#![allow(unsafe_code)]

pub use strata_abi::PAGE;
use strata_abi::{Plain, Refusal};

use crate::status::{Answer, Status};
use crate::table::Handle;

impl Refusal for Status {
    const INVALID_VALUE: Status = Status::InvalidValue;
}

/// Untyped memory of the client.
pub type Bytes = strata_abi::Bytes<Status>;
/// A pointer to which a result is written.
pub type Out<T> = strata_abi::Out<T, Status>;
/// A pointer to one or more consecutive values.
pub type In<T> = strata_abi::In<T, Status>;
/// A NUL-terminated string.
pub type Text = strata_abi::Text<Status>;

// SAFETY: a transparent integer.
unsafe impl<T> Plain for Handle<T> {}

/// A client's function, called with the client's data.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct HostFunction(Option<unsafe extern "C" fn(Bytes)>);

impl std::fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.address())
    }
}

impl HostFunction {
    /// The function at an address, from a client's structure.
    pub fn at(address: u64) -> HostFunction {
        let pointer = Bytes::at(address).pointer();
        // SAFETY: null or the address of a function, which is what the client's structure holds; both are values of this type.
        HostFunction(unsafe {
            std::mem::transmute::<*mut libc::c_void, Option<unsafe extern "C" fn(Bytes)>>(pointer)
        })
    }

    /// Address of the function; 0 if there is none.
    pub fn address(self) -> u64 {
        self.0.map_or(0, |function| function as *const () as usize as u64)
    }

    /// Whether there is no function.
    pub fn is_null(self) -> bool {
        self.0.is_none()
    }

    /// Calls the function. The caller must not hold a lock of the driver, because the function may call the
    /// driver.
    pub fn call(self, data: Bytes) -> Answer {
        let function = self.0.ok_or(Status::InvalidValue)?;
        // SAFETY: not null, so a function of this type (see `strata_abi`).
        unsafe { function(data) }
        Ok(())
    }
}

/// A stream callback of the client, called with stream, status and the client's data.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct StreamCallback(Option<unsafe extern "C" fn(u64, Status, Bytes)>);

impl StreamCallback {
    /// Calls the callback. The caller must not hold a lock of the driver, because the callback may call the
    /// driver.
    pub fn call(self, stream: u64, status: Status, data: Bytes) -> Answer {
        let function = self.0.ok_or(Status::InvalidValue)?;
        // SAFETY: not null, so a function of this type (see `strata_abi`).
        unsafe { function(stream, status, data) }
        Ok(())
    }
}

/// A client's function that takes leave of a value kept with a context: called with the context's handle, key and value.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Farewell(Option<unsafe extern "C" fn(u64, Bytes, Bytes)>);

impl Farewell {
    /// Calls the function, if there is one. The caller must not hold a lock of the driver, because the function may call
    /// the driver.
    pub fn call(self, context: u64, key: Bytes, value: Bytes) {
        if let Some(function) = self.0 {
            // SAFETY: not null, so a function of this type (see `strata_abi`).
            unsafe { function(context, key, value) };
        }
    }
}

/// A client's function that returns the shared memory of a block, in bytes, given its number of threads.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct BlockToShared(Option<unsafe extern "C" fn(i32) -> usize>);

impl BlockToShared {
    /// The shared memory for a block of `threads` threads; `None` if there is no function.
    pub fn of(self, threads: u32) -> Option<usize> {
        // SAFETY: not null, so a function of this type (see `strata_abi`).
        self.0.map(|function| unsafe { function(threads as i32) })
    }
}

/// Pages of host memory that the driver mapped for a client.
#[derive(Debug)]
pub struct Pages {
    address: u64,
    bytes: usize,
}

impl Pages {
    /// Maps zeroed pages at exactly this address, a multiple of the page size. `None` if the range is not
    /// free.
    pub fn at(address: u64, bytes: usize) -> Option<Pages> {
        let wanted = Bytes::at(address).pointer();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE;
        // SAFETY: MAP_FIXED_NOREPLACE does not touch existing mappings.
        let found = unsafe { libc::mmap(wanted, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return None;
        }
        let pages = Pages { address: found.expose_provenance() as u64, bytes };
        // An old kernel that does not know the flag may have chosen another address.
        (pages.address == address).then_some(pages)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this object owns the mapping; by freeing it, the client declares that it is no longer used.
        unsafe { libc::munmap(Bytes::at(self.address).pointer(), self.bytes) };
    }
}

/// The calling thread as the C library names it, in its lower half.
pub fn thread() -> u32 {
    // SAFETY: it only says which thread calls.
    unsafe { libc::pthread_self() as u32 }
}

/// Registers a function to call when the process exits.
pub fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function lives as long as this library, whose handlers are removed when it is unloaded.
    let _ = unsafe { libc::atexit(function) };
}
