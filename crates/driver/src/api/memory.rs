//! Memory allocation: device, pinned, managed and registered memory.

use crate::api::api;
use crate::api::handles::check_stream;
use crate::blocks::UNIT;
use crate::buffer::{Allocation, Kind, Mirror};
use crate::client::{Bytes, Out, PAGE, Pages};
use crate::graph::parts::Work;
use crate::objects::{Context, Pool, Stream};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work;

/// Pitch of a pitched buffer: rows start at multiples of this many bytes.
const PITCH: usize = 512;
/// Number of addresses tried when memory needs the same address on host and device.
const PLACES: u32 = 24;

/// Allocates device memory for the current context. Zero bytes are refused.
pub fn allocate(address: Out<u64>, bytes: usize, call: &str) -> Answer {
    state::with_current(|state, context| {
        let place = address.place()?;
        if bytes == 0 {
            return Err(Status::InvalidValue);
        }
        state.safe()?;
        place.put(state.allocate(context, bytes as u64, call)?);
        Ok(())
    })
}

/// Allocates device memory in a stream: at once, or, where the stream is captured, when the graph is launched.
fn allocate_in(stream: Handle<Stream>, address: Out<u64>, bytes: usize, call: &str) -> Answer {
    state::with_current(|state, context| {
        let place = address.place()?;
        let captured = state.captured(stream)?;
        if bytes == 0 {
            return Err(Status::InvalidValue);
        }
        let made = state.allocate(context, bytes as u64, call)?;
        if let Some(capture) = captured {
            state.own(made);
            state.capture(capture, stream, Work::Allocate { address: made, bytes: bytes as u64 })?;
        }
        place.put(made);
        Ok(())
    })
}

impl State {
    /// Allocates memory at the same address on host and device. Device memory is small and starts low, so its
    /// addresses are nearly always free in the client's process; if one is not, the next candidate is tried.
    pub fn mirrored(
        &mut self,
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
        let call = if managed { "cuMemAllocManaged" } else { "cuMemHostAlloc" };
        let mut spacers = Vec::new();
        let mut found = Err(Status::OutOfMemory);
        for place in 0..PLACES {
            found = self.allocate_mirrored(context, bytes, PAGE, call, |address| {
                let pages = Some(Pages::at(address, whole)?);
                Some(Mirror { host: address, bytes, pages, managed, flags })
            });
            if found.is_ok() {
                break;
            }
            // Double the distance each time.
            match self.card()?.alloc("spacer", PAGE << place) {
                Ok(spacer) => spacers.push(spacer),
                Err(_) => break,
            }
        }
        for spacer in spacers {
            self.card()?.free(spacer).map_err(|_| Status::Unknown)?;
        }
        found
    }
}

fn host_alloc(pointer: Out<u64>, bytes: usize, flags: u32) -> Answer {
    state::with_current(|state, context| {
        let place = pointer.place()?;
        // Portable, mapped and write-combined.
        if flags > 7 {
            return Err(Status::InvalidValue);
        }
        state.safe()?;
        place.put(state.mirrored(context, bytes as u64, false, flags)?);
        Ok(())
    })
}

/// Frees memory from one of the allocating functions; `which` says whether the kind is right.
fn free(address: u64, which: impl Fn(&Allocation) -> bool) -> Answer {
    state::with_current(|state, _| {
        // Freeing null does nothing.
        if address == 0 {
            return Ok(());
        }
        state.safe()?;
        match state.allocations.get(&address) {
            Some(allocation) if which(allocation) => state.end_use(address),
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
        if flags & DEVICE_MEMORY != 0 {
            return Err(Status::NotSupported);
        }
        // Portable, mapped and read-only.
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
        state.allocate_mirrored(context, bytes, UNIT, "cuMemHostRegister", |_| Some(mirror)).map(|_| ())
    })
}

/// Flag of host memory to register: it is a device's.
const DEVICE_MEMORY: u32 = 4;

/// Refuses every device but the one and the CPU, which is -1.
fn check_device(device: i32) -> Answer {
    if matches!(device, 0 | -1) { Ok(()) } else { Err(Status::InvalidDevice) }
}

/// Refuses a `CUmemLocation`, two words in one, that is neither the device nor memory of the host.
fn check_location(location: u64) -> Answer {
    match (location as u32, location >> 32) {
        // The device; the host, one of its NUMA nodes, or the nearest.
        (1, 0) | (2..=4, _) => Ok(()),
        (1, _) => Err(Status::InvalidDevice),
        _ => Err(Status::InvalidValue),
    }
}

/// Refuses what is no `CUmem_advise`.
fn check_advice(advice: u32) -> Answer {
    if (1..=6).contains(&advice) { Ok(()) } else { Err(Status::InvalidValue) }
}

api! {
    /// Allocates zeroed device memory.
    cuMemAlloc_v2 = "cuMemAlloc" 3020 (address: Out<u64>, bytes: usize) {
        allocate(address, bytes, "cuMemAlloc")
    }

    /// Allocates rows that start at multiples of the pitch, which it writes.
    cuMemAllocPitch_v2 = "cuMemAllocPitch" 3020 (
        address: Out<u64>, pitch: Out<usize>, width: usize, rows: usize, element: u32,
    ) {
        if !matches!(element, 4 | 8 | 16) {
            return Err(Status::InvalidValue);
        }
        let pitch = pitch.place()?;
        let row = width.checked_next_multiple_of(PITCH).ok_or(Status::InvalidValue)?;
        allocate(address, row.checked_mul(rows).ok_or(Status::InvalidValue)?, "cuMemAllocPitch")?;
        pitch.put(row);
        Ok(())
    }

    /// Frees device or managed memory.
    cuMemFree_v2 = "cuMemFree" 3020 (address: u64) {
        free(address, is_for_device)
    }

    /// Allocates managed memory, at one address on host and device; see [`Mirror`].
    cuMemAllocManaged = "cuMemAllocManaged" 6000 (address: Out<u64>, bytes: usize, flags: u32) {
        state::with_current(|state, context| {
            let place = address.place()?;
            // Attached to all streams, to the host, or to one stream.
            if !matches!(flags, 1 | 2) {
                return Err(Status::InvalidValue);
            }
            state.safe()?;
            place.put(state.mirrored(context, bytes as u64, true, flags)?);
            Ok(())
        })
    }

    /// Allocates pinned host memory, which is always mapped.
    cuMemAllocHost_v2 = "cuMemAllocHost" 3020 (pointer: Out<u64>, bytes: usize) {
        host_alloc(pointer, bytes, 0)
    }

    /// Allocates pinned host memory with flags; it is always mapped.
    cuMemHostAlloc = "cuMemHostAlloc" 2020 (pointer: Out<u64>, bytes: usize, flags: u32) {
        host_alloc(pointer, bytes, flags)
    }

    /// Frees pinned host memory.
    cuMemFreeHost = "cuMemFreeHost" 2000 (pointer: Bytes) {
        free(pointer.address(), is_pinned)
    }

    /// Registers host pages of the client; the device maps them at another address.
    cuMemHostRegister_v2 / cuMemHostRegister 4000 = "cuMemHostRegister" 6050 (pointer: Bytes, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }

    /// Unregisters host pages; takes the address that was registered.
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

    /// Writes the device address of pinned or registered memory.
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

    /// Writes the flags that pinned memory was allocated with.
    cuMemHostGetFlags = "cuMemHostGetFlags" 2030 (flags: Out<u32>, pointer: Bytes) {
        state::with_current(|state, _| {
            let (_, mirror) = state.mirror_of_host(pointer.address()).ok_or(Status::InvalidValue)?;
            flags.put(mirror.flags)
        })
    }

    /// Writes the free and total device memory in bytes.
    cuMemGetInfo_v2 = "cuMemGetInfo" 3020 (free: Out<usize>, total: Out<usize>) {
        state::with_current(|state, _| {
            free.put_if_wanted(state.card()?.free_bytes() as usize);
            total.put_if_wanted((*state.settings.machine.file().gpu.memory_mib << 20) as usize);
            Ok(())
        })
    }

    /// Writes the start and size of the buffer or variable that contains an address.
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

    /// Allocates device memory; see `allocate_in`.
    cuMemAllocAsync | cuMemAllocAsync_ptsz = "cuMemAllocAsync" 11020 (address: Out<u64>, bytes: usize, stream: Handle<Stream>) {
        allocate_in(stream, address, bytes, "cuMemAllocAsync")
    }

    /// Allocates as without a pool; all pools share one heap.
    cuMemAllocFromPoolAsync | cuMemAllocFromPoolAsync_ptsz = "cuMemAllocFromPoolAsync" 11020 (
        address: Out<u64>, bytes: usize, pool: Handle<Pool>, stream: Handle<Stream>,
    ) {
        state::with_current(|state, _| state.pools.get(pool).map(|_| ()))?;
        allocate_in(stream, address, bytes, "cuMemAllocFromPoolAsync")
    }

    /// Frees device memory, at once unless the stream is captured.
    cuMemFreeAsync | cuMemFreeAsync_ptsz = "cuMemFreeAsync" 11020 (address: u64, stream: Handle<Stream>) {
        work::submit(stream, |state, _| match state.allocations.get(&address) {
            Some(allocation) if is_for_device(allocation) => Ok(Work::Free(address)),
            _ => Err(Status::InvalidValue),
        })
    }

    /// Accepted without effect: managed memory does not move.
    cuMemPrefetchAsync | cuMemPrefetchAsync_ptsz = "cuMemPrefetchAsync" 8000 (
        address: u64, bytes: usize, device: i32, stream: Handle<Stream>,
    ) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            check_device(device)?;
            state.on_device(address, bytes as u64).map(|_| ())
        })
    }

    /// Accepted without effect: advice does not change how managed memory is handled.
    cuMemAdvise = "cuMemAdvise" 8000 (address: u64, bytes: usize, advice: u32, device: i32) {
        state::with_current(|state, _| {
            check_advice(advice)?;
            check_device(device)?;
            state.on_device(address, bytes as u64).map(|_| ())
        })
    }

    /// Accepted without effect: managed memory does not move. The location is two words in one.
    cuMemPrefetchAsync_v2 | cuMemPrefetchAsync_v2_ptsz = "cuMemPrefetchAsync" 12020 (
        address: u64, bytes: usize, location: u64, flags: u32, stream: Handle<Stream>,
    ) {
        state::with_current(|state, _| {
            check_stream(state, stream)?;
            check_location(location)?;
            if flags != 0 {
                return Err(Status::InvalidValue);
            }
            state.on_device(address, bytes as u64).map(|_| ())
        })
    }

    /// Accepted without effect: advice does not change how managed memory is handled. The location is two
    /// words in one.
    cuMemAdvise_v2 = "cuMemAdvise" 12020 (address: u64, bytes: usize, advice: u32, location: u64) {
        state::with_current(|state, _| {
            check_advice(advice)?;
            check_location(location)?;
            state.on_device(address, bytes as u64).map(|_| ())
        })
    }
}
