//! Untyped memory of the client.

use std::ffi::c_void;
use std::marker::PhantomData;

use crate::{In, Out, Plain, Refusal, Text};

/// Size of a host page in bytes (x86-64).
pub const PAGE: u64 = 4096;

/// Untyped memory; also functions and handles that are only passed on.
#[repr(transparent)]
pub struct Bytes<E>(*mut c_void, PhantomData<E>);

impl<E> Clone for Bytes<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Bytes<E> {}

impl<E> PartialEq for Bytes<E> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<E> Eq for Bytes<E> {}

impl<E> Default for Bytes<E> {
    fn default() -> Self {
        Bytes::NULL
    }
}

impl<E> std::fmt::Debug for Bytes<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<E> Bytes<E> {
    /// The null pointer.
    pub const NULL: Bytes<E> = Bytes(std::ptr::null_mut(), PhantomData);

    /// The memory at an address that a client passed as a number.
    pub fn at(address: u64) -> Self {
        Bytes(std::ptr::with_exposed_provenance_mut(address as usize), PhantomData)
    }

    /// Our own memory, for another library to read.
    pub fn of(bytes: &[u8]) -> Self {
        Bytes(bytes.as_ptr().cast_mut().cast(), PhantomData)
    }

    /// The address as a number.
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// The address as a C pointer.
    pub fn pointer(self) -> *mut c_void {
        self.0
    }

    /// A value of ours, to be written to while it is borrowed.
    pub fn to<T: Plain>(value: &mut T) -> Self {
        Bytes::at(std::ptr::from_mut(value).expose_provenance() as u64)
    }

    /// Whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Whether the process has mapped all pages of the range. Required for a client's bulk memory, because a
    /// freed device address may be passed as a host address.
    pub fn is_mapped(self, bytes: usize) -> bool {
        /// Number of pages checked at a time.
        const PAGES: u64 = 1024;
        let start = self.address() / PAGE * PAGE;
        let Some(end) = self.address().checked_add(bytes as u64) else { return false };
        let mut resident = [0_u8; PAGES as usize];
        (start..end).step_by((PAGES * PAGE) as usize).all(|at| {
            let asked = (end - at).min(PAGES * PAGE) as usize;
            let at = std::ptr::with_exposed_provenance_mut(at as usize);
            // SAFETY: `mincore` only reports which pages are resident, and there is room for its answer.
            let found = unsafe { libc::mincore(at, asked, resident.as_mut_ptr()) };
            // Other errors do not mean that pages are unmapped.
            found == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOMEM)
        })
    }

    /// The start of `bytes` bytes that a slice may span.
    fn there(self, bytes: usize) -> Option<*mut u8> {
        let there = !self.0.is_null() && isize::try_from(bytes).is_ok() && self.is_mapped(bytes);
        there.then_some(self.0.cast())
    }

    /// `bytes` bytes that the client keeps unchanged until it says otherwise: parts of a fat binary, which
    /// state their own length. `None` if the process has not mapped all of them.
    pub fn kept(self, bytes: u64) -> Option<&'static [u8]> {
        let bytes = usize::try_from(bytes).ok()?;
        let start = self.there(bytes)?;
        // SAFETY: the process has memory there, and the client keeps it.
        Some(unsafe { std::slice::from_raw_parts(start, bytes) })
    }
}

impl<E: Refusal> Bytes<E> {
    /// `bytes` bytes to read during the call.
    ///
    /// # Errors
    /// If the memory is null or not mapped, unless `bytes` is 0.
    pub fn read<'a>(self, bytes: usize) -> Result<&'a [u8], E> {
        if bytes == 0 {
            return Ok(&[]);
        }
        let start = self.there(bytes).ok_or(E::INVALID_VALUE)?;
        // SAFETY: not null, so valid for reads of what the client asked to be read (see the crate).
        Ok(unsafe { std::slice::from_raw_parts(start, bytes) })
    }

    /// `bytes` bytes to write during the call.
    ///
    /// # Errors
    /// As for [`Bytes::read`].
    pub fn write<'a>(self, bytes: usize) -> Result<&'a mut [u8], E> {
        if bytes == 0 {
            return Ok(&mut []);
        }
        let start = self.there(bytes).ok_or(E::INVALID_VALUE)?;
        // SAFETY: not null, so valid for writes of what the client asked to be written (see the crate).
        Ok(unsafe { std::slice::from_raw_parts_mut(start, bytes) })
    }

    /// Copies bytes from one place of the client to another; the ranges may overlap.
    ///
    /// # Errors
    /// As for [`Bytes::read`], for either range.
    pub fn copy_from(self, from: Bytes<E>, bytes: u64) -> Result<(), E> {
        if bytes == 0 {
            return Ok(());
        }
        let bytes = usize::try_from(bytes).map_err(|_| E::INVALID_VALUE)?;
        let (to, from) = self.there(bytes).zip(from.there(bytes)).ok_or(E::INVALID_VALUE)?;
        // SAFETY: neither is null, so they are valid for what the client asked to be copied (see the crate).
        unsafe { std::ptr::copy(from, to, bytes) };
        Ok(())
    }

    /// The pointer as a NUL-terminated string.
    pub fn text(self) -> Text<E> {
        Text::new(self.0.cast())
    }

    /// The pointer as one to values.
    pub fn values<T: Plain>(self) -> In<T, E> {
        In::new(self.0.cast())
    }

    /// The pointer as one to a result.
    pub fn out<T: Plain>(self) -> Out<T, E> {
        Out::new(self.0.cast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Invalid;

    impl Refusal for Invalid {
        const INVALID_VALUE: Invalid = Invalid;
    }

    type Memory = Bytes<Invalid>;

    fn memory<T>(values: &mut [T]) -> Memory {
        Memory::at(values.as_mut_ptr().expose_provenance() as u64)
    }

    /// Maps three pages, unmaps the middle one, and returns the address of the first.
    fn with_a_gap() -> u64 {
        let (pages, flags) = (3 * PAGE as usize, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: these pages are new, and nobody uses the middle one when it is unmapped.
        unsafe {
            let start =
                libc::mmap(std::ptr::null_mut(), pages, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            assert_eq!(libc::munmap(start.byte_add(PAGE as usize), PAGE as usize), 0);
            start.expose_provenance() as u64
        }
    }

    #[test]
    fn null_is_refused_unless_nothing_is_asked_for() {
        assert_eq!(Memory::NULL.read(0), Ok(&[][..]));
        assert_eq!(Memory::NULL.copy_from(Memory::NULL, 0), Ok(()));
        assert_eq!(Memory::NULL.read(1), Err(Invalid));
        assert_eq!(Memory::NULL.write(1), Err(Invalid));
        assert_eq!(Memory::NULL.copy_from(memory(&mut [1_u8]), 1), Err(Invalid));
        assert_eq!(Memory::NULL.kept(8), None);
        assert_eq!(Memory::NULL.values::<u32>().get(), Err(Invalid));
        assert_eq!(Memory::NULL.out().put(1_u32), Err(Invalid));
        assert_eq!(Memory::NULL.text().get(), Err(Invalid));
        assert_eq!(Memory::NULL.text().if_given(), Ok(None));
    }

    #[test]
    fn memory_that_is_not_there_is_refused() {
        let start = with_a_gap();
        let last = Memory::at(start + PAGE - 1);
        assert_eq!(last.read(1), Ok(&[0][..]));
        assert_eq!(last.read(2), Err(Invalid));
        assert_eq!(last.write(2), Err(Invalid));
        assert_eq!(last.kept(2), None);
        assert_eq!(last.copy_from(Memory::at(start + 2 * PAGE), 1), Ok(()));
        assert_eq!(last.copy_from(Memory::at(start + 2 * PAGE), 2), Err(Invalid));
        assert_eq!(Memory::at(start).read(3 * PAGE as usize), Err(Invalid));
        assert_eq!(Memory::at(start).read(usize::MAX), Err(Invalid));
        assert_eq!(Memory::at(start).kept(u64::MAX), None);
    }

    #[test]
    fn values_lie_where_the_client_put_them_aligned_or_not() {
        let mut bytes = [0_u8; 13];
        let at = Memory::at(memory(&mut bytes).address() + 1);
        at.out().put_all([0x0102_0304_u32, 5, u32::MAX]).unwrap();
        assert_eq!(bytes, [0, 4, 3, 2, 1, 5, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!((at.values::<u32>().get(), at.values::<i32>().at(2)), (Ok(0x0102_0304), Ok(-1)));
    }

    #[test]
    fn places_that_overlap_are_copied() {
        let mut bytes = [1_u8, 2, 3, 4, 5];
        let from = memory(&mut bytes);
        Memory::at(from.address() + 1).copy_from(from, 4).unwrap();
        assert_eq!(bytes, [1, 1, 2, 3, 4]);
    }
}
