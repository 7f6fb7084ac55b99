//! The device and the settings of its context.

use crate::api::api;
use crate::client::{Bytes, In, Out, Text};
use crate::context::{self, DEVICE, check};
use crate::driver;
use crate::error::{Answer, Error};

/// Sets the flags of the primary context now, or for when it is created.
fn set_flags(flags: u32) -> Answer {
    driver::get()?.cuDevicePrimaryCtxSetFlags_v2(DEVICE, flags)
}

api! {
    /// Writes the driver's number of devices.
    cudaGetDeviceCount(count: Out<i32>) {
        driver::get()?.cuDeviceGetCount(count)
    }

    /// Writes the ordinal of the one device, 0.
    cudaGetDevice(device: Out<i32>) {
        driver::get()?;
        device.put(DEVICE)
    }

    /// Selects the device and creates its primary context.
    cudaSetDevice(device: i32) {
        check(device)?;
        context::ready().map(|_| ())
    }

    /// Creates the device's primary context, with `flags` if the third argument says so.
    cudaInitDevice(device: i32, flags: u32, which: u32) {
        check(device)?;
        if which & 1 != 0 {
            set_flags(flags)?;
        }
        context::ready().map(|_| ())
    }

    /// Writes the ordinal of the one device, whatever the wish.
    cudaChooseDevice(device: Out<i32>, wish: Bytes) {
        if wish.is_null() {
            return Err(Error::InvalidValue);
        }
        driver::get()?;
        device.put(DEVICE)
    }

    /// Sets the devices that may be chosen; each must be the one device.
    cudaSetValidDevices(devices: In<i32>, count: i32) {
        let count = usize::try_from(count).map_err(|_| Error::InvalidValue)?;
        (0..count).try_for_each(|index| check(devices.at(index)?).map(|_| ()))
    }

    /// Writes an attribute. Numbers are the driver API's.
    cudaDeviceGetAttribute(value: Out<i32>, number: u32, device: i32) {
        let (place, mut found) = (value.place()?, 0);
        check(device)?.cuDeviceGetAttribute(&mut found, number, device)?;
        place.put(found);
        Ok(())
    }

    /// Destroys the primary context with everything in it. Clears sticky errors.
    cudaDeviceReset | cudaThreadExit () {
        context::reset()?;
        crate::registry::forget_managed();
        Ok(())
    }

    /// Waits for all work, and reports any kernel failure.
    cudaDeviceSynchronize | cudaThreadSynchronize () {
        context::ready()?.cuCtxSynchronize()
    }

    /// Writes a limit. Numbers are the driver API's.
    cudaDeviceGetLimit | cudaThreadGetLimit (value: Out<u64>, limit: u32) {
        context::ready()?.cuCtxGetLimit(value, limit)
    }

    /// Sets a limit. Numbers are the driver API's.
    cudaDeviceSetLimit | cudaThreadSetLimit (limit: u32, value: u64) {
        context::ready()?.cuCtxSetLimit(limit, value)
    }

    /// Writes the cache preference that was set.
    cudaDeviceGetCacheConfig | cudaThreadGetCacheConfig (value: Out<u32>) {
        context::ready()?.cuCtxGetCacheConfig(value)
    }

    /// Stores the cache preference, without effect: the machine fixes the sizes of L1D and shared memory.
    cudaDeviceSetCacheConfig | cudaThreadSetCacheConfig (value: u32) {
        context::ready()?.cuCtxSetCacheConfig(value)
    }

    /// Writes the bank width preference that was set.
    cudaDeviceGetSharedMemConfig(value: Out<u32>) {
        context::ready()?.cuCtxGetSharedMemConfig(value)
    }

    /// Stores the bank width preference, without effect: the machine fixes the banks.
    cudaDeviceSetSharedMemConfig(value: u32) {
        context::ready()?.cuCtxSetSharedMemConfig(value)
    }

    /// Sets scheduling and mapping flags, which have no effect.
    cudaSetDeviceFlags(flags: u32) {
        set_flags(flags)
    }

    /// Writes the flags of the primary context, or those it will be created with.
    cudaGetDeviceFlags(flags: Out<u32>) {
        let place = flags.place()?;
        let (mut found, mut active) = (0, 0);
        driver::get()?.cuDevicePrimaryCtxGetState(DEVICE, &mut found, &mut active)?;
        place.put(found);
        Ok(())
    }

    /// Writes the PCI address with its NUL, truncated to `room` bytes.
    cudaDeviceGetPCIBusId(text: Bytes, room: i32, device: i32) {
        check(device)?.cuDeviceGetPCIBusId(text, room, device)
    }

    /// Finds the device with a PCI address.
    cudaDeviceGetByPCIBusId(device: Out<i32>, address: Text) {
        driver::get()?.cuDeviceGetByPCIBusId(device, address)
    }

    /// Writes 0: there is no other device.
    cudaDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        driver::get()?.cuDeviceCanAccessPeer(can, device, peer)
    }

    /// Fails: there is no other device.
    cudaDeviceGetP2PAttribute(value: Out<i32>, attribute: u32, device: i32, peer: i32) {
        driver::get()?.cuDeviceGetP2PAttribute(value, attribute, device, peer)
    }

    /// Fails: there is no other device.
    cudaDeviceEnablePeerAccess(peer: i32, _flags: u32) {
        check(peer)?;
        Err(Error::InvalidDevice)
    }

    /// Fails: there is no other device.
    cudaDeviceDisablePeerAccess(peer: i32) {
        check(peer)?;
        Err(Error::PeerAccessNotEnabled)
    }

    /// Accepted without effect: no data is set to persist in L2.
    cudaCtxResetPersistingL2Cache() {
        context::ready()?.cuCtxResetPersistingL2Cache()
    }
}
