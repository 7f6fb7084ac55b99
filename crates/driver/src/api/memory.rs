//! Memory: the device's, pinned, managed and registered.

use crate::api::api;
use crate::api::handles::check_stream;
use crate::blocks::UNIT;
use crate::buffer::{Allocation, Kind, Mirror};
use crate::client::{Bytes, Out, PAGE, Pages};
use crate::objects::{Context, Pool, Stream};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Rows of a pitched buffer begin at multiples of this.
const PITCH: usize = 512;
/// Places that are tried for memory at the same address on host and device.
const PLACES: u32 = 24;

/// Allocates device memory for the current context; none is refused.
pub fn allocate(address: Out<u64>, bytes: usize) -> Answer {
    state::with_current(|state, context| {
        let place = address.place()?;
        if bytes == 0 {
            return Err(Status::InvalidValue);
        }
        place.put(state.allocate(context, bytes as u64)?);
        Ok(())
    })
}

/// Memory at the same address on host and device. Device memory is small and lies low, so that address is nearly always
/// free in the client's process; where something is, the next one is tried.
fn mirrored(
    state: &mut State,
    context: Handle<Context>,
    bytes: u64,
    managed: bool,
    flags: u32,
) -> Answer<u64> {
    if bytes == 0 {
        return Err(Status::InvalidValue);
    }
    let whole = bytes.checked_next_multiple_of(PAGE).and_then(|bytes| usize::try_from(bytes).ok());
    let whole = whole.ok_or(Status::OutOfMemory)?;
    let mut spacers = Vec::new();
    let mut found = Err(Status::OutOfMemory);
    for place in 0..PLACES {
        found = state.allocate_mirrored(context, bytes, PAGE, |address| {
            let pages = Some(Pages::at(address, whole)?);
            Some(Mirror { host: address, bytes, pages, managed, flags })
        });
        if found.is_ok() {
            break;
        }
        // Twice as far each time.
        match state.card()?.alloc("spacer", PAGE << place) {
            Ok(spacer) => spacers.push(spacer),
            Err(_) => break,
        }
    }
    for spacer in spacers {
        state.card()?.free(spacer).map_err(|_| Status::Unknown)?;
    }
    found
}

fn host_alloc(pointer: Out<u64>, bytes: usize, flags: u32) -> Answer {
    state::with_current(|state, context| {
        let place = pointer.place()?;
        // Portable, mapped, write-combined.
        if flags > 7 {
            return Err(Status::InvalidValue);
        }
        place.put(mirrored(state, context, bytes as u64, false, flags)?);
        Ok(())
    })
}

/// Frees what one of the allocating functions gave.
fn free(address: u64, which: impl Fn(&Allocation) -> bool) -> Answer {
    state::with_current(|state, _| {
        // Freeing nothing is nothing.
        if address == 0 {
            return Ok(());
        }
        match state.allocations.get(&address) {
            Some(allocation) if which(allocation) => state.free(address).map(|_| ()),
            _ => Err(Status::InvalidValue),
        }
    })
}

fn is_for_device(allocation: &Allocation) -> bool {
    match &allocation.kind {
        Kind::Device => true,
        Kind::Mirrored(mirror) => mirror.managed,
    }
}

fn is_pinned(allocation: &Allocation) -> bool {
    matches!(&allocation.kind, Kind::Mirrored(mirror) if !mirror.managed && mirror.pages.is_some())
}

fn register(pointer: Bytes, bytes: usize, flags: u32) -> Answer {
    state::with_current(|state, context| {
        // Portable, mapped, of a device, read-only.
        if pointer.is_null() || bytes == 0 || flags > 0xf || !pointer.is_mapped(bytes) {
            return Err(Status::InvalidValue);
        }
        let (host, bytes) = (pointer.address(), bytes as u64);
        let end = host.checked_add(bytes).ok_or(Status::InvalidValue)?;
        let overlaps = |allocation: &Allocation| match &allocation.kind {
            Kind::Mirrored(mirror) => mirror.host < end && host < mirror.host + mirror.bytes,
            Kind::Device => false,
        };
        if state.allocations.values().any(overlaps) {
            return Err(Status::HostMemoryAlreadyRegistered);
        }
        let mirror = Mirror { host, bytes, pages: None, managed: false, flags };
        state.allocate_mirrored(context, bytes, UNIT, |_| Some(mirror)).map(|_| ())
    })
}

api! {
    /// Zeroed.
    cuMemAlloc_v2 = "cuMemAlloc" 3020 (address: Out<u64>, bytes: usize) {
        allocate(address, bytes)
    }

    /// Rows at multiples of the pitch.
    cuMemAllocPitch_v2 = "cuMemAllocPitch" 3020 (
        address: Out<u64>, pitch: Out<usize>, width: usize, rows: usize, element: u32,
    ) {
        if !matches!(element, 4 | 8 | 16) {
            return Err(Status::InvalidValue);
        }
        let pitch = pitch.place()?;
        let row = width.checked_next_multiple_of(PITCH).ok_or(Status::InvalidValue)?;
        allocate(address, row.checked_mul(rows).ok_or(Status::InvalidValue)?)?;
        pitch.put(row);
        Ok(())
    }

    /// Of any kind but pinned.
    cuMemFree_v2 = "cuMemFree" 3020 (address: u64) {
        free(address, is_for_device)
    }

    /// At one address on host and device; see [`Mirror`].
    cuMemAllocManaged = "cuMemAllocManaged" 6000 (address: Out<u64>, bytes: usize, flags: u32) {
        state::with_current(|state, context| {
            let place = address.place()?;
            // Attached to all, to the host, to one stream.
            if !matches!(flags, 1 | 2) {
                return Err(Status::InvalidValue);
            }
            place.put(mirrored(state, context, bytes as u64, true, flags)?);
            Ok(())
        })
    }

    /// Mapped, as all pinned memory is.
    cuMemAllocHost_v2 = "cuMemAllocHost" 3020 (pointer: Out<u64>, bytes: usize) {
        host_alloc(pointer, bytes, 0)
    }

    /// Mapped, as all pinned memory is.
    cuMemHostAlloc = "cuMemHostAlloc" 2020 (pointer: Out<u64>, bytes: usize, flags: u32) {
        host_alloc(pointer, bytes, flags)
    }

    /// Pinned memory only.
    cuMemFreeHost = "cuMemFreeHost" 2000 (pointer: Bytes) {
        free(pointer.address(), is_pinned)
    }

    /// The client's pages; the device has them at another address.
    cuMemHostRegister_v2 = "cuMemHostRegister" 6050 (pointer: Bytes, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }

    /// By the address that was registered.
    cuMemHostUnregister = "cuMemHostUnregister" 4000 (pointer: Bytes) {
        state::with_current(|state, _| {
            let host = pointer.address();
            let start = state.allocations.iter().find_map(|(start, allocation)| match &allocation.kind {
                Kind::Mirrored(mirror) if mirror.pages.is_none() && mirror.host == host => Some(*start),
                _ => None,
            });
            state.free(start.ok_or(Status::HostMemoryNotRegistered)?).map(|_| ())
        })
    }

    /// Where the device has pinned or registered memory.
    cuMemHostGetDevicePointer_v2 = "cuMemHostGetDevicePointer" 3020 (
        address: Out<u64>, pointer: Bytes, flags: u32,
    ) {
        state::with_current(|state, _| {
            let place = address.place()?;
            if flags != 0 {
                return Err(Status::InvalidValue);
            }
            let host = pointer.address();
            let (start, mirror) = state.mirror_of_host(host).ok_or(Status::InvalidValue)?;
            place.put(start + (host - mirror.host));
            Ok(())
        })
    }

    /// What pinned memory was made with.
    cuMemHostGetFlags = "cuMemHostGetFlags" 2030 (flags: Out<u32>, pointer: Bytes) {
        state::with_current(|state, _| {
            let (_, mirror) = state.mirror_of_host(pointer.address()).ok_or(Status::InvalidValue)?;
            flags.put(mirror.flags)
        })
    }

    /// What is left, and the machine's.
    cuMemGetInfo_v2 = "cuMemGetInfo" 3020 (free: Out<usize>, total: Out<usize>) {
        state::with_current(|state, _| {
            free.put_if_wanted(state.card()?.free_bytes() as usize);
            total.put_if_wanted((*state.settings.machine.file().gpu.memory_mib << 20) as usize);
            Ok(())
        })
    }

    /// The whole buffer or variable that holds an address.
    cuMemGetAddressRange_v2 = "cuMemGetAddressRange" 3020 (
        start: Out<u64>, bytes: Out<usize>, address: u64,
    ) {
        state::with_current(|state, _| {
            let (at, size) = match state.allocation(address) {
                Some((at, allocation)) => (at, allocation.bytes),
                None => state.variable(address)?.ok_or(Status::NotFound)?,
            };
            start.put_if_wanted(at);
            bytes.put_if_wanted(size as usize);
            Ok(())
        })
    }

    /// At once.
    cuMemAllocAsync = "cuMemAllocAsync" 11020 (address: Out<u64>, bytes: usize, stream: Handle<Stream>) {
        state::with_current(|state, _| check_stream(state, stream))?;
        allocate(address, bytes)
    }

    /// From the one heap.
    cuMemAllocFromPoolAsync = "cuMemAllocFromPoolAsync" 11020 (
        address: Out<u64>, bytes: usize, pool: Handle<Pool>, stream: Handle<Stream>,
    ) {
        state::with_current(|state, _| {
            state.pools.get(pool)?;
            check_stream(state, stream)
        })?;
        allocate(address, bytes)
    }

    /// At once.
    cuMemFreeAsync = "cuMemFreeAsync" 11020 (address: u64, stream: Handle<Stream>) {
        state::with_current(|state, _| check_stream(state, stream))?;
        if address == 0 {
            return Err(Status::InvalidValue);
        }
        free(address, is_for_device)
    }

    /// Where managed memory should be: it is where it is.
    cuMemPrefetchAsync = "cuMemPrefetchAsync" 8000 (
        address: u64, bytes: usize, _device: i32, stream: Handle<Stream>,
    ) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            state.on_device(address, bytes as u64).map(|_| ())
        })
    }

    /// How managed memory is used: it makes no difference.
    cuMemAdvise = "cuMemAdvise" 8000 (address: u64, bytes: usize, _advice: u32, _device: i32) {
        state::with_current(|state, _| state.on_device(address, bytes as u64).map(|_| ()))
    }

    /// Where managed memory should be: it is where it is. The location is two words in one.
    cuMemPrefetchAsync_v2 = "cuMemPrefetchAsync" 12020 (
        address: u64, bytes: usize, _location: u64, _flags: u32, stream: Handle<Stream>,
    ) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            state.on_device(address, bytes as u64).map(|_| ())
        })
    }

    /// How managed memory is used: it makes no difference. The location is two words in one.
    cuMemAdvise_v2 = "cuMemAdvise" 12020 (address: u64, bytes: usize, _advice: u32, _location: u64) {
        state::with_current(|state, _| state.on_device(address, bytes as u64).map(|_| ()))
    }
}
