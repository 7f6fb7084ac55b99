//! Memory pools. All share one heap.

use crate::api::api;
use crate::api::device::check;
use crate::client::{Bytes, In, Out};
use crate::log;
use crate::objects::Pool;
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Attributes that are byte counts: reserved and used memory, current and highest.
const BYTES: std::ops::RangeInclusive<u32> = 5..=8;
/// Of these, the highest.
const HIGHEST: [u32; 2] = [6, 8];
/// 32-bit attributes: which memory may be reused.
const SWITCHES: std::ops::RangeInclusive<u32> = 1..=3;
/// Attribute: bytes to keep at a synchronisation.
const RELEASE_THRESHOLD: u32 = 4;

/// The device's default pool.
fn own(state: &mut State) -> Handle<Pool> {
    let own = state.pools.iter().find(|(_, pool)| pool.default).map(|(handle, _)| handle);
    own.unwrap_or_else(|| state.pools.insert(Pool { default: true, ..Pool::default() }))
}

/// A `CUmemLocation` that is the device, whose memory is pinned (1) as far as pools are concerned.
fn is_device(location: In<u32>, kind: u32) -> Answer {
    device_of([location.at(0)?, location.at(1)?], kind)
}

/// The same for a location's type and number.
fn device_of([place, number]: [u32; 2], kind: u32) -> Answer {
    match (place, number, kind) {
        (1, 0, 1) => Ok(()),
        // Memory of the host, and managed memory.
        (1..=4, _, 1 | 2) => {
            log::once("memory pools of the host and of managed memory are not supported".into());
            Err(Status::NotSupported)
        }
        _ => Err(Status::InvalidValue),
    }
}

/// The device's current pool: the one that was set, or the default.
fn current(state: &mut State) -> Handle<Pool> {
    let set = state.pool.filter(|pool| state.pools.has(*pool));
    set.unwrap_or_else(|| own(state))
}

/// Access that the device itself has to a pool: reading and writing.
const READ_WRITE: u32 = 3;

api! {
    /// Writes the device's default pool.
    cuDeviceGetDefaultMemPool = "cuDeviceGetDefaultMemPool" 11020 (pool: Out<Handle<Pool>>, device: i32) {
        state::with(|state| {
            let place = pool.place()?;
            check(device)?;
            place.put(own(state));
            Ok(())
        })
    }

    /// Writes the device's current pool: the one that was set, or the default.
    cuDeviceGetMemPool = "cuDeviceGetMemPool" 11020 (pool: Out<Handle<Pool>>, device: i32) {
        state::with(|state| {
            let place = pool.place()?;
            check(device)?;
            place.put(current(state));
            Ok(())
        })
    }

    /// Sets the device's current pool. Allocations still come from the one heap.
    cuDeviceSetMemPool = "cuDeviceSetMemPool" 11020 (device: i32, pool: Handle<Pool>) {
        state::with(|state| {
            check(device)?;
            state.pools.get(pool)?;
            state.pool = Some(pool);
            Ok(())
        })
    }

    /// Writes the default pool of a location; only the device has one.
    cuMemGetDefaultMemPool = "cuMemGetDefaultMemPool" 13000 (
        pool: Out<Handle<Pool>>, location: In<u32>, kind: u32,
    ) {
        state::with(|state| {
            let place = pool.place()?;
            is_device(location, kind)?;
            place.put(own(state));
            Ok(())
        })
    }

    /// Writes the current pool of a location; only the device has one.
    cuMemGetMemPool = "cuMemGetMemPool" 13000 (pool: Out<Handle<Pool>>, location: In<u32>, kind: u32) {
        state::with(|state| {
            let place = pool.place()?;
            is_device(location, kind)?;
            place.put(current(state));
            Ok(())
        })
    }

    /// Sets the current pool of a location; only the device has one.
    cuMemSetMemPool = "cuMemSetMemPool" 13000 (location: In<u32>, kind: u32, pool: Handle<Pool>) {
        state::with(|state| {
            is_device(location, kind)?;
            state.pools.get(pool)?;
            state.pool = Some(pool);
            Ok(())
        })
    }

    /// Writes the access that a location has to a pool's memory: the device all, others none.
    cuMemPoolGetAccess = "cuMemPoolGetAccess" 11020 (flags: Out<u32>, pool: Handle<Pool>, location: In<u32>) {
        state::with(|state| {
            let place = flags.place()?;
            state.pools.get(pool)?;
            place.put(if (location.at(0)?, location.at(1)?) == (1, 0) { READ_WRITE } else { 0 });
            Ok(())
        })
    }

    /// Accepts access of the device, which has it and keeps it. There is no other device.
    cuMemPoolSetAccess = "cuMemPoolSetAccess" 11020 (pool: Handle<Pool>, accesses: In<[u32; 3]>, count: usize) {
        state::with(|state| {
            state.pools.get(pool)?;
            for index in 0..count {
                match accesses.at(index)? {
                    [1, 0, READ_WRITE] => {}
                    [1, 0, _] => return Err(Status::InvalidValue),
                    _ => return Err(Status::InvalidDevice),
                }
            }
            Ok(())
        })
    }

    /// Creates a pool of device memory, which cannot be exported.
    cuMemPoolCreate = "cuMemPoolCreate" 11020 (pool: Out<Handle<Pool>>, properties: In<u32>) {
        state::with(|state| {
            let place = pool.place()?;
            // Kind of memory and of handles, then the location.
            let (kind, handles) = (properties.at(0)?, properties.at(1)?);
            device_of([properties.at(2)?, properties.at(3)?], kind)?;
            if handles != 0 {
                log::once("memory pools that can be exported are not supported".into());
                return Err(Status::NotSupported);
            }
            place.put(state.pools.insert(Pool::default()));
            Ok(())
        })
    }

    /// Destroys a pool. Memory allocated from it stays valid.
    cuMemPoolDestroy = "cuMemPoolDestroy" 11020 (pool: Handle<Pool>) {
        state::with(|state| {
            if state.pools.get(pool)?.default {
                return Err(Status::InvalidValue);
            }
            state.pools.remove(pool).map(|_| ())
        })
    }

    /// Accepted without effect: pools hold no unused memory.
    cuMemPoolTrimTo = "cuMemPoolTrimTo" 11020 (pool: Handle<Pool>, _bytes: usize) {
        state::with(|state| state.pools.get(pool).map(|_| ()))
    }

    /// Writes an attribute as it was set; byte counts are those of all device memory.
    cuMemPoolGetAttribute = "cuMemPoolGetAttribute" 11020 (pool: Handle<Pool>, number: u32, value: Bytes) {
        state::with(|state| {
            let set = state.pools.get(pool)?.attributes.get(&number).copied();
            if SWITCHES.contains(&number) {
                return value.out::<u32>().put(set.unwrap_or(1) as u32);
            }
            if number == RELEASE_THRESHOLD {
                return value.out::<u64>().put(set.unwrap_or(0));
            }
            if BYTES.contains(&number) {
                let bytes = state.allocations.values().map(|allocation| allocation.bytes).sum();
                return value.out::<u64>().put(bytes);
            }
            Err(Status::InvalidValue)
        })
    }

    /// Stores an attribute, without effect. Of byte counts, only the highest can be set, to 0.
    cuMemPoolSetAttribute = "cuMemPoolSetAttribute" 11020 (pool: Handle<Pool>, number: u32, value: Bytes) {
        state::with(|state| {
            let pool = state.pools.get_mut(pool)?;
            if HIGHEST.contains(&number) {
                return if value.values::<u64>().get()? == 0 { Ok(()) } else { Err(Status::InvalidValue) };
            }
            let value = match number {
                number if SWITCHES.contains(&number) => u64::from(value.values::<u32>().get()?),
                number if number == RELEASE_THRESHOLD => value.values::<u64>().get()?,
                _ => return Err(Status::InvalidValue),
            };
            pool.attributes.insert(number, value);
            Ok(())
        })
    }
}
