//! Memory pools. All share one heap.

use crate::api::api;
use crate::api::device::check;
use crate::client::{Bytes, Out};
use crate::objects::Pool;
use crate::state::{self, State};
use crate::status::Status;
use crate::table::Handle;

/// Attributes that are byte counts: reserved and used memory, current and highest.
const BYTES: std::ops::RangeInclusive<u32> = 5..=8;
/// 32-bit attributes: which memory may be reused.
const SWITCHES: std::ops::RangeInclusive<u32> = 1..=3;
/// Attribute: bytes to keep at a synchronisation.
const RELEASE_THRESHOLD: u32 = 4;

/// The device's default pool.
fn own(state: &mut State) -> Handle<Pool> {
    let own = state.pools.iter().find(|(_, pool)| pool.default).map(|(handle, _)| handle);
    own.unwrap_or_else(|| state.pools.insert(Pool { default: true, ..Pool::default() }))
}

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
            let set = state.pool.filter(|pool| state.pools.has(*pool));
            place.put(set.unwrap_or_else(|| own(state)));
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

    /// Creates a pool; its properties have no effect.
    cuMemPoolCreate = "cuMemPoolCreate" 11020 (pool: Out<Handle<Pool>>, properties: Bytes) {
        state::with(|state| {
            let place = pool.place()?;
            if properties.is_null() {
                return Err(Status::InvalidValue);
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

    /// Stores an attribute, without effect.
    cuMemPoolSetAttribute = "cuMemPoolSetAttribute" 11020 (pool: Handle<Pool>, number: u32, value: Bytes) {
        state::with(|state| {
            let pool = state.pools.get_mut(pool)?;
            let value = match number {
                number if SWITCHES.contains(&number) => u64::from(value.values::<u32>().get()?),
                number if number == RELEASE_THRESHOLD || BYTES.contains(&number) => {
                    value.values::<u64>().get()?
                }
                _ => return Err(Status::InvalidValue),
            };
            pool.attributes.insert(number, value);
            Ok(())
        })
    }
}
