//! Attributes of the memory at an address.

use crate::api::api;
use crate::buffer::Kind;
use crate::client::{Bytes, In};
use crate::current;
use crate::state::{self, State};
use crate::status::{Answer, Status};

/// Pointer attributes: values of `CUpointer_attribute`.
mod number {
    pub const CONTEXT: u32 = 1;
    pub const MEMORY_TYPE: u32 = 2;
    pub const DEVICE_POINTER: u32 = 3;
    pub const HOST_POINTER: u32 = 4;
    pub const SYNC_MEMOPS: u32 = 6;
    pub const BUFFER_ID: u32 = 7;
    pub const IS_MANAGED: u32 = 8;
    pub const DEVICE_ORDINAL: u32 = 9;
    pub const IPC_CAPABLE: u32 = 10;
    pub const RANGE_START: u32 = 11;
    pub const RANGE_BYTES: u32 = 12;
    pub const MAPPED: u32 = 13;
    pub const HANDLE_TYPES: u32 = 14;
    pub const RDMA_CAPABLE: u32 = 15;
    pub const ACCESS_FLAGS: u32 = 16;
    pub const POOL: u32 = 17;
    pub const MAPPING_BYTES: u32 = 18;
    pub const MAPPING_START: u32 = 19;
    pub const BLOCK_ID: u32 = 20;
    pub const DECOMPRESSION: u32 = 21;
    pub const LOCALITY: u32 = 22;
    pub const LAST: u32 = 22;
}

/// Memory types: values of `CUmemorytype`.
const HOST: u32 = 1;
const DEVICE: u32 = 2;

/// What is known of the memory at an address.
struct Known {
    context: u64,
    number: u64,
    start: u64,
    bytes: u64,
    device: u64,
    host: u64,
    managed: bool,
    kind: u32,
}

fn known(state: &mut State, address: u64) -> Answer<Known> {
    let found = state.allocation(address).map(|(start, allocation)| (start, start, allocation));
    let found = found.or_else(|| {
        // Registered memory, named by its address in the client's process.
        let (start, mirror) = state.mirror_of_host(address)?;
        Some((start, mirror.host, state.allocations.get(&start)?))
    });
    if let Some((start, range, allocation)) = found {
        let offset = address - range;
        let (host, managed, kind) = match &allocation.kind {
            Kind::Device => (0, false, DEVICE),
            Kind::Mirrored(mirror) => {
                (mirror.host + offset, mirror.managed, if mirror.managed { DEVICE } else { HOST })
            }
        };
        return Ok(Known {
            context: allocation.context.bits(),
            number: allocation.number,
            start: range,
            bytes: allocation.bytes,
            device: start + offset,
            host,
            managed,
            kind,
        });
    }
    let (start, bytes) = state.variable(address)?.ok_or(Status::InvalidValue)?;
    let context = current::context().map_or(0, |context| context.bits());
    Ok(Known { context, number: start, start, bytes, device: address, host: 0, managed: false, kind: DEVICE })
}

/// Writes an attribute of an address. For an unknown address, writes null or 0 if `lenient`, and fails
/// otherwise.
fn put(state: &mut State, to: Bytes, number: u32, address: u64, lenient: bool) -> Answer {
    let known = match known(state, address) {
        Ok(known) => Some(known),
        Err(_) if lenient => None,
        Err(status) => return Err(status),
    };
    let word = |of: fn(&Known) -> u64| to.out::<u64>().put(known.as_ref().map_or(0, of));
    let number32 = |of: fn(&Known) -> u32| to.out::<u32>().put(known.as_ref().map_or(0, of));
    // A C `bool`, for which clients reserve one byte.
    let truth = |of: fn(&Known) -> bool| to.out::<u8>().put(known.as_ref().is_some_and(of).into());
    match number {
        number::CONTEXT => word(|known| known.context),
        number::MEMORY_TYPE => number32(|known| known.kind),
        number::DEVICE_POINTER => word(|known| known.device),
        number::HOST_POINTER => match &known {
            Some(known) if known.host == 0 && !lenient => Err(Status::InvalidValue),
            _ => word(|known| known.host),
        },
        number::BUFFER_ID | number::BLOCK_ID => word(|known| known.number),
        number::IS_MANAGED => truth(|known| known.managed),
        number::DEVICE_ORDINAL => to.out::<i32>().put(if known.is_some() { 0 } else { -2 }),
        // Each buffer is mapped alone.
        number::RANGE_START | number::MAPPING_START => word(|known| known.start),
        number::RANGE_BYTES | number::MAPPING_BYTES => word(|known| known.bytes),
        number::MAPPED => truth(|_| true),
        number::SYNC_MEMOPS | number::IPC_CAPABLE | number::RDMA_CAPABLE | number::DECOMPRESSION => {
            truth(|_| false)
        }
        number::HANDLE_TYPES => word(|_| 0),
        // Access is both read and write.
        number::ACCESS_FLAGS => number32(|_| 3),
        number::POOL => word(|_| 0),
        // No memory is nearer to some SMs than to others.
        number::LOCALITY => to.out::<i32>().put(-1),
        number if number <= number::LAST => Err(Status::NotSupported),
        _ => Err(Status::InvalidValue),
    }
}

api! {
    /// Writes one attribute of an address.
    cuPointerGetAttribute = "cuPointerGetAttribute" 4000 (to: Bytes, number: u32, address: u64) {
        state::with_current(|state, _| put(state, to, number, address, false))
    }

    /// Writes several attributes of an address; nulls if the address is unknown.
    cuPointerGetAttributes = "cuPointerGetAttributes" 7000 (
        count: u32, numbers: In<u32>, places: In<Bytes>, address: u64,
    ) {
        state::with_current(|state, _| {
            for index in 0..count as usize {
                put(state, places.at(index)?, numbers.at(index)?, address, true)?;
            }
            Ok(())
        })
    }

    /// Accepted without effect: copies are always synchronous.
    cuPointerSetAttribute = "cuPointerSetAttribute" 6000 (value: In<u32>, number: u32, address: u64) {
        state::with_current(|state, _| {
            value.get()?;
            known(state, address)?;
            if number == number::SYNC_MEMOPS { Ok(()) } else { Err(Status::InvalidValue) }
        })
    }
}
