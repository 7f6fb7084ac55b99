//! The device, and what a context of it is set to.

use crate::api::api;
use crate::client::{Bytes, In, Out, Text};
use crate::context::{self, DEVICE, check};
use crate::driver;
use crate::error::{Answer, Error};

/// A context that is there has its flags; one that is not gets them when it is made.
fn set_flags(flags: u32) -> Answer {
    driver::get()?.cuDevicePrimaryCtxSetFlags_v2(DEVICE, flags)
}

api! {
    /// As many as the driver has.
    cudaGetDeviceCount(count: Out<i32>) {
        driver::get()?.cuDeviceGetCount(count)
    }

    /// The one device.
    cudaGetDevice(device: Out<i32>) {
        driver::get()?;
        device.put(DEVICE)
    }

    /// Makes its context.
    cudaSetDevice(device: i32) {
        check(device)?;
        context::ready().map(|_| ())
    }

    /// Makes its context, with flags if the second word says so.
    cudaInitDevice(device: i32, flags: u32, which: u32) {
        check(device)?;
        if which & 1 != 0 {
            set_flags(flags)?;
        }
        context::ready().map(|_| ())
    }

    /// The one device fits every wish best.
    cudaChooseDevice(device: Out<i32>, wish: Bytes) {
        if wish.is_null() {
            return Err(Error::InvalidValue);
        }
        driver::get()?;
        device.put(DEVICE)
    }

    /// Devices among which one may be chosen.
    cudaSetValidDevices(devices: In<i32>, count: i32) {
        let count = usize::try_from(count).map_err(|_| Error::InvalidValue)?;
        (0..count).try_for_each(|index| check(devices.at(index)?).map(|_| ()))
    }

    /// Numbers are the driver API's.
    cudaDeviceGetAttribute(value: Out<i32>, number: u32, device: i32) {
        let (place, mut found) = (value.place()?, 0);
        check(device)?.cuDeviceGetAttribute(&mut found, number, device)?;
        place.put(found);
        Ok(())
    }

    /// Takes the context away with everything in it. After it, a device that failed is as new.
    cudaDeviceReset | cudaThreadExit () {
        context::reset()?;
        crate::registry::forget_managed();
        Ok(())
    }

    /// All work is done; what went wrong is told.
    cudaDeviceSynchronize | cudaThreadSynchronize () {
        context::ready()?.cuCtxSynchronize()
    }

    /// Numbers are the driver API's.
    cudaDeviceGetLimit | cudaThreadGetLimit (value: Out<u64>, limit: u32) {
        context::ready()?.cuCtxGetLimit(value, limit)
    }

    /// Numbers are the driver API's.
    cudaDeviceSetLimit | cudaThreadSetLimit (limit: u32, value: u64) {
        context::ready()?.cuCtxSetLimit(limit, value)
    }

    /// As set.
    cudaDeviceGetCacheConfig | cudaThreadGetCacheConfig (value: Out<u32>) {
        context::ready()?.cuCtxGetCacheConfig(value)
    }

    /// L1D and shared memory are what the machine says.
    cudaDeviceSetCacheConfig | cudaThreadSetCacheConfig (value: u32) {
        context::ready()?.cuCtxSetCacheConfig(value)
    }

    /// As set.
    cudaDeviceGetSharedMemConfig(value: Out<u32>) {
        context::ready()?.cuCtxGetSharedMemConfig(value)
    }

    /// Banks are what the machine says.
    cudaDeviceSetSharedMemConfig(value: u32) {
        context::ready()?.cuCtxSetSharedMemConfig(value)
    }

    /// Scheduling and mapping: they change nothing.
    cudaSetDeviceFlags(flags: u32) {
        set_flags(flags)
    }

    /// Of the context, or those that it will have.
    cudaGetDeviceFlags(flags: Out<u32>) {
        let place = flags.place()?;
        let (mut found, mut active) = (0, 0);
        driver::get()?.cuDevicePrimaryCtxGetState(DEVICE, &mut found, &mut active)?;
        place.put(found);
        Ok(())
    }

    /// A text with its NUL, cut where it is too long.
    cudaDeviceGetPCIBusId(text: Bytes, room: i32, device: i32) {
        check(device)?.cuDeviceGetPCIBusId(text, room, device)
    }

    /// The device that says it stands there.
    cudaDeviceGetByPCIBusId(device: Out<i32>, address: Text) {
        driver::get()?.cuDeviceGetByPCIBusId(device, address)
    }

    /// There is no other device.
    cudaDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        driver::get()?.cuDeviceCanAccessPeer(can, device, peer)
    }

    /// There is no other device.
    cudaDeviceGetP2PAttribute(value: Out<i32>, attribute: u32, device: i32, peer: i32) {
        driver::get()?.cuDeviceGetP2PAttribute(value, attribute, device, peer)
    }

    /// There is no other device.
    cudaDeviceEnablePeerAccess(peer: i32, _flags: u32) {
        check(peer)?;
        Err(Error::InvalidDevice)
    }

    /// There is no other device.
    cudaDeviceDisablePeerAccess(peer: i32) {
        check(peer)?;
        Err(Error::PeerAccessNotEnabled)
    }

    /// None was asked to persist.
    cudaCtxResetPersistingL2Cache() {
        context::ready()?.cuCtxResetPersistingL2Cache()
    }
}
