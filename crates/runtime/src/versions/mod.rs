//! Differences between versions of the runtime API: structures that grew, and signatures that changed.

pub mod graphs;
pub mod objects;
mod properties;

pub use properties::{Layout, device_properties};

use crate::client::{Bytes, Out, Text};
use crate::context::{self, DEVICE};
use crate::driver::{self, Stream};
use crate::error::{Answer, Error};
use crate::registry;

/// A stream; null is the default stream.
pub type StreamArgument = Stream;

/// Writes the bytes of a structure.
fn fill(to: Bytes, with: &[u8]) -> Answer {
    to.write(with.len())?.copy_from_slice(with);
    Ok(())
}

/// Writes the first `size` bytes of a `cudaFuncAttributes`. Versions differ only in how far the structure
/// extends.
///
/// # Errors
/// If `to` is null, there is no such kernel, or the driver fails.
pub fn function_attributes(to: Bytes, size: usize, function: Bytes) -> Answer {
    /// Shared, constant and local memory: 64-bit fields, listed by the driver API's attribute number.
    const WIDE: [u32; 3] = [1, 2, 3];
    /// 32-bit fields, by attribute number: threads, registers, PTX version, binary version, caching, dynamic
    /// shared memory, carve-out, clusters.
    const NARROW: [u32; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];
    let driver = context::ready()?;
    let kernel = registry::kernel(driver, function)?;
    let attribute = |number| {
        let mut value = 0;
        driver.cuFuncGetAttribute(&mut value, number, kernel).map(|()| value)
    };
    let mut bytes = Vec::with_capacity(size);
    for number in WIDE {
        bytes.extend(i64::from(attribute(number)?).to_le_bytes());
    }
    for number in NARROW {
        if bytes.len() < size {
            bytes.extend(attribute(number)?.to_le_bytes());
        }
    }
    bytes.resize(size, 0);
    fill(to, &bytes)
}

/// Writes the first `size` bytes of a `cudaPointerAttributes`; versions have a common beginning. Memory
/// unknown to the driver is reported as unregistered host memory.
///
/// # Errors
/// If `to` is null, or the driver fails.
pub fn pointer_attributes(to: Bytes, size: usize, address: u64) -> Answer {
    /// Memory types: values of `cudaMemoryType`.
    const UNREGISTERED: u32 = 0;
    const HOST: u32 = 1;
    const DEVICE_MEMORY: u32 = 2;
    const MANAGED: u32 = 3;
    /// Ordinal that means "no device".
    const NOWHERE: i32 = -2;
    /// Numbers of pointer attributes in the driver API.
    mod number {
        pub const MEMORY_TYPE: u32 = 2;
        pub const DEVICE_POINTER: u32 = 3;
        pub const HOST_POINTER: u32 = 4;
        pub const IS_MANAGED: u32 = 8;
    }
    let driver = context::ready()?;
    let attribute = |number| {
        let mut value = 0;
        driver.cuPointerGetAttribute(&mut value, number, address).map(|()| value)
    };
    let (kind, device, on_device, on_host) = match attribute(number::MEMORY_TYPE) {
        Err(Error::InvalidValue) => (UNREGISTERED, NOWHERE, 0, address),
        Err(error) => return Err(error),
        Ok(kind) => {
            let kind = match attribute(number::IS_MANAGED)? {
                0 if kind == u64::from(HOST) => HOST,
                0 => DEVICE_MEMORY,
                _ => MANAGED,
            };
            let on_host = if kind == DEVICE_MEMORY { 0 } else { attribute(number::HOST_POINTER)? };
            (kind, DEVICE, attribute(number::DEVICE_POINTER)?, on_host)
        }
    };
    let mut bytes = Vec::with_capacity(size);
    bytes.extend(kind.to_le_bytes());
    bytes.extend(device.to_le_bytes());
    bytes.extend(on_device.to_le_bytes());
    bytes.extend(on_host.to_le_bytes());
    bytes.resize(size, 0);
    fill(to, &bytes)
}

/// Accepts a prefetch of managed memory to a device. It has no effect: managed memory does not move.
///
/// # Errors
/// If the driver refuses the range.
pub fn prefetch(address: u64, bytes: u64, device: i32, stream: Stream) -> Answer {
    context::ready()?.cuMemPrefetchAsync(address, bytes, device, stream)
}

/// Like [`prefetch`], to a location given as two words in one.
///
/// # Errors
/// If the driver refuses the range.
pub fn prefetch_to(address: u64, bytes: u64, location: u64, flags: u32, stream: Stream) -> Answer {
    context::ready()?.cuMemPrefetchAsync_v2(address, bytes, location, flags, stream)
}

/// Accepts advice on the use of managed memory, given for a device. It has no effect.
///
/// # Errors
/// If the driver refuses the range.
pub fn advise(address: u64, bytes: u64, advice: u32, device: i32) -> Answer {
    context::ready()?.cuMemAdvise(address, bytes, advice, device)
}

/// Like [`advise`], for a location given as two words in one.
///
/// # Errors
/// If the driver refuses the range.
pub fn advise_at(address: u64, bytes: u64, advice: u32, location: u64) -> Answer {
    context::ready()?.cuMemAdvise_v2(address, bytes, advice, location)
}

/// Looks up a driver function as a client of `version` of the API knows it. Writes null, without failing, if
/// there is none; the result of the look-up is a `cudaDriverEntryPointQueryResult`.
///
/// # Errors
/// If a pointer is null, or the driver refuses the look-up.
pub fn driver_entry_point(name: Text, function: Out<u64>, version: i32, flags: u64) -> Answer<u32> {
    let mut found = 0;
    match driver::get()?.cuGetProcAddress_v2(name, function, version, flags, &mut found) {
        Ok(()) | Err(Error::SymbolNotFound) => Ok(found),
        Err(error) => Err(error),
    }
}
