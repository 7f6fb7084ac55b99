//! Where versions of the runtime API differ: structures that grew, and signatures that changed under one name.

mod properties;

pub use properties::{Layout, device_properties};

use crate::client::{Bytes, Out, Text};
use crate::context::{self, DEVICE};
use crate::driver::{self, Stream};
use crate::error::{Answer, Error};
use crate::registry;

/// A stream, null for the default one.
pub type StreamArgument = Stream;

/// Writes a structure.
fn fill(to: Bytes, with: &[u8]) -> Answer {
    to.write(with.len())?.copy_from_slice(with);
    Ok(())
}

/// Writes a `cudaFuncAttributes` of `size` bytes, those that this version knows; versions have the same beginning.
///
/// # Errors
/// Null, no kernel, or the driver's.
pub fn function_attributes(to: Bytes, size: usize, function: Bytes) -> Answer {
    /// Shared, constant and local memory: words of 64 bits in the structure, numbers of the driver API's attributes.
    const WIDE: [u32; 3] = [1, 2, 3];
    /// Threads, registers, PTX, machine code, caching, dynamic shared memory, carve-out, clusters.
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

/// Writes a `cudaPointerAttributes` of `size` bytes; versions have the same beginning. Memory that the driver does not know
/// is the host's own.
///
/// # Errors
/// Null, or the driver's.
pub fn pointer_attributes(to: Bytes, size: usize, address: u64) -> Answer {
    /// Numbers of `cudaMemoryType`.
    const UNREGISTERED: u32 = 0;
    const HOST: u32 = 1;
    const DEVICE_MEMORY: u32 = 2;
    const MANAGED: u32 = 3;
    /// No device.
    const NOWHERE: i32 = -2;
    /// The driver API's numbers of attributes.
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

/// Where managed memory should be, by device: it is where it is.
///
/// # Errors
/// The driver's.
pub fn prefetch(address: u64, bytes: u64, device: i32, stream: Stream) -> Answer {
    context::ready()?.cuMemPrefetchAsync(address, bytes, device, stream)
}

/// The same by location, two words in one.
///
/// # Errors
/// The driver's.
pub fn prefetch_to(address: u64, bytes: u64, location: u64, flags: u32, stream: Stream) -> Answer {
    context::ready()?.cuMemPrefetchAsync_v2(address, bytes, location, flags, stream)
}

/// How managed memory is used, by device: it makes no difference.
///
/// # Errors
/// The driver's.
pub fn advise(address: u64, bytes: u64, advice: u32, device: i32) -> Answer {
    context::ready()?.cuMemAdvise(address, bytes, advice, device)
}

/// The same by location, two words in one.
///
/// # Errors
/// The driver's.
pub fn advise_at(address: u64, bytes: u64, advice: u32, location: u64) -> Answer {
    context::ready()?.cuMemAdvise_v2(address, bytes, advice, location)
}

/// A function of the driver as a client of `version` of the API knows it: null where there is none, which is no failure.
/// What the look-up came to is a `cudaDriverEntryPointQueryResult`.
///
/// # Errors
/// Null, or a look-up that the driver refuses.
pub fn driver_entry_point(name: Text, function: Out<u64>, version: i32, flags: u64) -> Answer<u32> {
    let mut found = 0;
    match driver::get()?.cuGetProcAddress_v2(name, function, version, flags, &mut found) {
        Ok(()) | Err(Error::SymbolNotFound) => Ok(found),
        Err(error) => Err(error),
    }
}
