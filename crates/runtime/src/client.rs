//! Pointers that clients hand over. All reading and writing of a client's memory is here.
//!
//! These types stand in the signatures of the exported functions, as layouts of one pointer, and can be made by nobody but
//! a client's call. So each rests on what the runtime API asks of its caller: a pointer is null, or valid for what the
//! function is documented to read or write there, as long as the call lasts. Null is checked here; a dangling pointer is a
//! fault of the client, as with any runtime. Fat binaries say themselves how large they are, so those are read only where
//! the process has memory.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::error::{Answer, Error};

/// Marks types whose every bit pattern is a value, so that a client's bytes can be read as one.
///
/// # Safety
/// Every bit pattern is a value of the type.
pub unsafe trait Plain: Copy {}

// SAFETY: integers, and structs of them, take every bit pattern.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: floats take every bit pattern.
unsafe impl Plain for f32 {}
// SAFETY: a transparent pointer, never followed unless checked.
unsafe impl Plain for Bytes {}

/// Declares structures of the runtime API that hold nothing but integers, floats and pointers.
macro_rules! plain_structs {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name { $($(#[$field_doc])* pub $field: $ty,)* }
        // SAFETY: each field takes every bit pattern.
        unsafe impl Plain for $name where $($ty: Plain),* {}
    )*};
}

plain_structs! {
    /// `dim3`.
    Dim3 {
        /// Along x.
        x: u32,
        /// Along y.
        y: u32,
        /// Along z.
        z: u32,
    }
    /// `cudaExtent`: width in elements where an array is, else in bytes.
    Extent {
        /// Of a row.
        width: u64,
        /// Rows of a slice.
        height: u64,
        /// Slices.
        depth: u64,
    }
    /// `cudaPos`.
    Position {
        /// As an extent's width.
        x: u64,
        /// Row.
        y: u64,
        /// Slice.
        z: u64,
    }
    /// `cudaPitchedPtr`.
    Pitched {
        /// Where it begins.
        start: Bytes,
        /// Bytes from row to row.
        pitch: u64,
        /// Width of a row.
        width: u64,
        /// Rows of a slice.
        height: u64,
    }
    /// `cudaMemcpy3DParms`.
    Copy3D {
        /// An array to copy from, or null.
        from_array: u64,
        /// Where to begin.
        from_at: Position,
        /// Memory to copy from, or null.
        from: Pitched,
        /// An array to copy to, or null.
        to_array: u64,
        /// Where to begin.
        to_at: Position,
        /// Memory to copy to, or null.
        to: Pitched,
        /// How much.
        extent: Extent,
        /// Direction.
        kind: u32,
        /// Nothing.
        padding: u32,
    }
    /// `cudaChannelFormatDesc`: bits of each channel, and what they are.
    Channels {
        /// First channel.
        x: u32,
        /// Second.
        y: u32,
        /// Third.
        z: u32,
        /// Fourth.
        w: u32,
        /// Signed, unsigned, float, none.
        kind: u32,
    }
    /// `cudaResourceDesc` as far as all versions have it.
    Resource {
        /// Array, mipmapped array, linear memory, pitched memory.
        kind: u32,
        /// Nothing.
        padding: u32,
        /// Array or address.
        what: u64,
        /// Of memory.
        channels: Channels,
        /// Nothing.
        more_padding: u32,
        /// Bytes of linear memory; elements of a row of pitched memory.
        size: u64,
        /// Rows of pitched memory.
        height: u64,
        /// Bytes from row to row.
        pitch: u64,
    }
    /// `cudaTextureDesc` as far as all versions have it.
    Sampling {
        /// By axis.
        address_x: u32,
        /// By axis.
        address_y: u32,
        /// By axis.
        address_z: u32,
        /// Nearest or linear.
        filter: u32,
        /// Elements, or normalised floats.
        read: u32,
        /// Whether values are sRGB.
        srgb: u32,
        /// Outside.
        border_red: f32,
        /// Outside.
        border_green: f32,
        /// Outside.
        border_blue: f32,
        /// Outside.
        border_alpha: f32,
        /// Whether coordinates go from 0 to 1.
        normalized: u32,
        /// At most.
        anisotropy: u32,
        /// Between levels.
        mipmap_filter: u32,
        /// Between levels.
        mipmap_bias: f32,
        /// Between levels.
        mipmap_least: f32,
        /// Between levels.
        mipmap_most: f32,
        /// Whether linear filtering may be coarser.
        no_trilinear_optimization: u32,
    }
    /// `textureReference`, its settings.
    TextureReference {
        /// Whether coordinates go from 0 to 1.
        normalized: u32,
        /// Nearest or linear.
        filter: u32,
        /// By axis.
        address_x: u32,
        /// By axis.
        address_y: u32,
        /// By axis.
        address_z: u32,
        /// Format.
        channels: Channels,
        /// Whether values are sRGB.
        srgb: u32,
    }
    /// `cudaLaunchConfig_t`.
    LaunchConfig {
        /// CTAs.
        grid: Dim3,
        /// Threads.
        block: Dim3,
        /// Dynamic, bytes.
        shared: u64,
        /// Or null.
        stream: u64,
        /// The driver API's in all but name.
        attributes: u64,
        /// How many.
        count: u32,
        /// Nothing.
        padding: u32,
    }
}

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
        if self.0.is_null() { Err(Error::InvalidValue) } else { Ok(Place(self.0)) }
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
            return Err(Error::InvalidValue);
        }
        // SAFETY: not null, so valid for reads of as many values as the function is documented to read (see the module),
        // and `T` takes every bit pattern.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }
}

/// A NUL-terminated text.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// A text of our own, for the driver.
    pub fn of(text: &CStr) -> Text {
        Text(text.as_ptr())
    }

    /// The text; one that is not UTF-8 is refused.
    pub fn get<'a>(self) -> Answer<&'a str> {
        if self.0.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: not null, so NUL-terminated and valid as long as the call lasts (see the module).
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| Error::InvalidValue)
    }
}

/// Memory of the client without a type; also functions and handles that are only handed on.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(*mut c_void);

impl Bytes {
    /// Nothing.
    pub const NULL: Bytes = Bytes(std::ptr::null_mut());

    /// The memory at an address that a client gave as a number.
    pub fn at(address: u64) -> Bytes {
        Bytes(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// Memory of our own, for the driver to read.
    pub fn of(bytes: &[u8]) -> Bytes {
        Bytes(bytes.as_ptr().cast_mut().cast())
    }

    /// Its address.
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// Whether there is none.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// A place for a value there.
    pub fn out<T: Plain>(self) -> Out<T> {
        Out(self.0.cast())
    }

    /// Values there.
    pub fn values<T: Plain>(self) -> In<T> {
        In(self.0.cast())
    }

    /// Writes bytes; null is refused.
    pub fn put(self, bytes: &[u8]) -> Answer {
        if self.0.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: not null, so valid for writes of what the function is documented to write (see the module). `bytes` are
        // our own, so they do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast(), bytes.len()) };
        Ok(())
    }

    /// Copies bytes from one place of the client to another; they may overlap.
    pub fn copy_from(self, from: Bytes, bytes: u64) -> Answer {
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or(Error::InvalidValue)?;
        if bytes == 0 {
            return Ok(());
        }
        if self.0.is_null() || from.0.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: neither is null, so they are valid for what the client asked to be copied (see the module).
        unsafe { std::ptr::copy(from.0.cast::<u8>(), self.0.cast::<u8>(), bytes) };
        Ok(())
    }

    /// `bytes` bytes that the client keeps as they are until it says otherwise: parts of a fat binary, whose own words say
    /// how long they are. None where the process has no memory for all of them.
    pub fn kept(self, bytes: u64) -> Option<&'static [u8]> {
        /// Pages that are asked for at once.
        const PIECE: usize = 1024;
        // SAFETY: asks for a number of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let start = self.0.addr();
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= isize::MAX as usize)?;
        let end = start.checked_add(bytes)?.checked_next_multiple_of(page)?;
        if self.0.is_null() {
            return None;
        }
        let mut resident = [0_u8; PIECE];
        let mut at = start - start % page;
        while at < end {
            let piece = (end - at).min(PIECE * page);
            let first = std::ptr::with_exposed_provenance_mut(at);
            // SAFETY: asks about any range; writes a byte for each of its pages, at most `PIECE`.
            if unsafe { libc::mincore(first, piece, resident.as_mut_ptr()) } != 0 {
                return None;
            }
            at += piece;
        }
        // SAFETY: the process has memory there, which holds a fat binary that stays as it is until it is unregistered.
        Some(unsafe { std::slice::from_raw_parts(self.0.cast(), bytes) })
    }
}

/// An address of a static text of C, as a result.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct StaticText(*const c_char);

impl StaticText {
    /// The text.
    pub fn of(text: &'static CStr) -> StaticText {
        StaticText(text.as_ptr())
    }
}
