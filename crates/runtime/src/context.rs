//! The primary context: created on first use, and current in every thread that calls.

use std::sync::Mutex;

use crate::driver::{self, Context, Driver};
use crate::error::{self, Answer, Error};

/// Ordinal of the one device.
pub const DEVICE: i32 = 0;

/// The primary context, once it has been retained.
static PRIMARY: Mutex<Option<Context>> = Mutex::new(None);

/// The driver, with a context current in this thread: the client's own choice, or else the primary context.
pub fn ready() -> Answer<&'static Driver> {
    let driver = driver::get()?;
    match driver.cuCtxGetDevice(&mut 0) {
        Ok(()) => Ok(driver),
        // There is no current context, or a reset destroyed it.
        Err(Error::DeviceUninitialized | Error::ContextIsDestroyed) => bind(driver).map(|()| driver),
        Err(error) => Err(error),
    }
}

/// Makes the primary context current, creating it if necessary.
fn bind(driver: &Driver) -> Answer {
    let mut primary = PRIMARY.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // One that was reset through the driver API is gone, or nobody retains it.
    if let Some(context) = *primary
        && driver.cuCtxSetCurrent(context).is_ok()
        && driver.cuCtxGetDevice(&mut 0).is_ok()
    {
        return Ok(());
    }
    let mut context = Context::NULL;
    driver.cuDevicePrimaryCtxRetain(&mut context, DEVICE)?;
    *primary = Some(context);
    driver.cuCtxSetCurrent(context)
}

/// Refuses every ordinal but the device's.
pub fn check(device: i32) -> Answer<&'static Driver> {
    let driver = driver::get()?;
    driver.cuDeviceGet(&mut 0, device)?;
    if device == DEVICE { Ok(driver) } else { Err(Error::InvalidDevice) }
}

/// Destroys the primary context with everything in it.
pub fn reset() -> Answer {
    let driver = driver::get()?;
    let mut primary = PRIMARY.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    driver.cuDevicePrimaryCtxReset_v2(DEVICE)?;
    *primary = None;
    error::unstick();
    Ok(())
}
