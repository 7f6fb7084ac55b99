//! Pointers that clients hand over. All reading and writing of a client's memory is here.
//!
//! These types stand in the signatures of the exported functions, as layouts of one pointer, and can be made by nobody but
//! a client's call. So each rests on what the driver API asks of its caller: a pointer is null, or valid for what the
//! function is documented to read or write there, as long as the call lasts. Null is checked here, and whether the pages of
//! bulk memory are there; a pointer that dangles elsewhere is a fault of the client, as with any driver.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::status::{Answer, Status};

/// Bytes of a page of the host.
pub const PAGE: u64 = 4096;

/// Marks types whose every bit pattern is a value, so that a client's bytes can be read as one.
///
/// # Safety
/// Every bit pattern is a value of the type.
pub unsafe trait Plain: Copy {}

// SAFETY: integers, and arrays and structs of them, take every bit pattern.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for usize {}
// SAFETY: a transparent pointer, never followed unless checked.
unsafe impl Plain for Bytes {}
// SAFETY: a transparent integer.
unsafe impl<T> Plain for crate::table::Handle<T> {}

/// Where a result goes.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// The place, unless null.
    pub fn place(self) -> Answer<Place<T>> {
        if self.0.is_null() { Err(Status::InvalidValue) } else { Ok(Place(self.0)) }
    }

    /// Writes a result; null is refused.
    pub fn put(self, value: T) -> Answer {
        self.place()?.put(value);
        Ok(())
    }

    /// Writes a result that the client need not want.
    pub fn put_if_wanted(self, value: T) {
        if let Ok(place) = self.place() {
            place.put(value);
        }
    }

    /// Writes results one after the other.
    pub fn put_all(self, values: impl IntoIterator<Item = T>) -> Answer {
        let Place(mut at) = self.place()?;
        for value in values {
            // SAFETY: valid for writes of as many values as the client asked for (see the module).
            unsafe {
                at.write_unaligned(value);
                at = at.add(1);
            }
        }
        Ok(())
    }
}

/// A place that is not null.
pub struct Place<T>(*mut T);

impl<T> Place<T> {
    /// Writes the result.
    pub fn put(self, value: T) {
        // SAFETY: not null, so valid for a write (see the module).
        unsafe { self.0.write_unaligned(value) }
    }
}

/// A value, or several in a row.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Plain> In<T> {
    /// The value.
    pub fn get(self) -> Answer<T> {
        self.at(0)
    }

    /// The value at a place in the row.
    pub fn at(self, index: usize) -> Answer<T> {
        if self.0.is_null() {
            return Err(Status::InvalidValue);
        }
        // SAFETY: not null, so valid for reads of as many values as the function is documented to read (see the module),
        // and `T` takes every bit pattern.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// Whether there is none.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// A NUL-terminated text.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// The text; one that is not UTF-8 is refused.
    pub fn get<'a>(self) -> Answer<&'a str> {
        if self.0.is_null() {
            return Err(Status::InvalidValue);
        }
        // SAFETY: not null, so NUL-terminated and valid as long as the call lasts (see the module).
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| Status::InvalidValue)
    }

    /// The text, if there is one.
    pub fn if_given<'a>(self) -> Answer<Option<&'a str>> {
        if self.0.is_null() { Ok(None) } else { self.get().map(Some) }
    }
}

/// Memory of the client without a type.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bytes(*mut c_void);

impl Bytes {
    /// The memory at an address that a client gave as a number.
    pub fn at(address: u64) -> Bytes {
        Bytes(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// Its address.
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// Whether there is none.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Whether the process has pages there, which a client's bulk memory must have: a device address that was freed may
    /// come here as a host's.
    pub fn is_mapped(self, bytes: usize) -> bool {
        /// Pages that are asked for at a time.
        const PAGES: u64 = 1024;
        let start = self.address() / PAGE * PAGE;
        let Some(end) = self.address().checked_add(bytes as u64) else { return false };
        let mut resident = [0_u8; PAGES as usize];
        (start..end).step_by((PAGES * PAGE) as usize).all(|at| {
            let asked = (end - at).min(PAGES * PAGE) as usize;
            // SAFETY: it only says of so many pages whether they are in memory, for which there is room.
            let found = unsafe { libc::mincore(Bytes::at(at).0, asked, resident.as_mut_ptr()) };
            // Whatever else is wrong says nothing about the pages.
            found == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOMEM)
        })
    }

    /// `bytes` bytes to be read while the call lasts; where no memory is, null above all, is refused unless none are asked
    /// for.
    pub fn read<'a>(self, bytes: usize) -> Answer<&'a [u8]> {
        if bytes == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() || bytes > isize::MAX as usize || !self.is_mapped(bytes) {
            return Err(Status::InvalidValue);
        }
        // SAFETY: not null, so valid for reads of what the client asked to be read (see the module).
        Ok(unsafe { std::slice::from_raw_parts(self.0.cast(), bytes) })
    }

    /// `bytes` bytes to be written while the call lasts; refused as in `read`.
    pub fn write<'a>(self, bytes: usize) -> Answer<&'a mut [u8]> {
        if bytes == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() || bytes > isize::MAX as usize || !self.is_mapped(bytes) {
            return Err(Status::InvalidValue);
        }
        // SAFETY: not null, so valid for writes of what the client asked to be written (see the module).
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.cast(), bytes) })
    }

    /// A NUL-terminated text there.
    pub fn text(self) -> Text {
        Text(self.0.cast())
    }

    /// Values there.
    pub fn values<T: Plain>(self) -> In<T> {
        In(self.0.cast())
    }

    /// A place for a value there.
    pub fn out<T: Plain>(self) -> Out<T> {
        Out(self.0.cast())
    }
}

/// A function of the client that is called with what it gave along.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct HostFunction(Option<unsafe extern "C" fn(Bytes)>);

impl HostFunction {
    /// Calls it. No lock of the driver may be held: it may call the driver.
    pub fn call(self, data: Bytes) -> Answer {
        let function = self.0.ok_or(Status::InvalidValue)?;
        // SAFETY: not null, so a function of this type (see the module).
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
        // SAFETY: not null, so a function of this type (see the module).
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
        // SAFETY: not null, so a function of this type (see the module).
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
        let wanted = Bytes::at(address).0;
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
        unsafe { libc::munmap(Bytes::at(self.address).0, self.bytes) };
    }
}

/// Has a function called when the process ends.
pub fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function lives as long as this library, which takes its handlers along when it is unloaded.
    let _ = unsafe { libc::atexit(function) };
}
