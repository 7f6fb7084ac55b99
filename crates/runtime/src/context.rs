//! The primary context, made when something first needs it and current in every thread that calls.

use std::sync::Mutex;

use crate::driver::{self, Context, Driver};
use crate::error::{self, Answer, Error};

/// The one device.
pub const DEVICE: i32 = 0;

/// The primary context as this runtime knows it.
#[derive(Default)]
struct Primary {
    context: Option<Context>,
    /// Those that a reset took away; threads may still have one current.
    gone: Vec<Context>,
}

static PRIMARY: Mutex<Primary> = Mutex::new(Primary { context: None, gone: Vec::new() });

/// The driver, with a context current in this thread: the one that the client made current, or the primary one.
pub fn ready() -> Answer<&'static Driver> {
    let driver = driver::get()?;
    let mut current = Context::NULL;
    driver.cuCtxGetCurrent(&mut current)?;
    let mut primary = PRIMARY.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if current != Context::NULL && !primary.gone.contains(&current) {
        return Ok(driver);
    }
    let context = match primary.context {
        Some(context) => context,
        None => {
            let mut context = Context::NULL;
            driver.cuDevicePrimaryCtxRetain(&mut context, DEVICE)?;
            *primary.context.insert(context)
        }
    };
    driver.cuCtxSetCurrent(context)?;
    Ok(driver)
}

/// Refuses every ordinal but that of the device.
pub fn check(device: i32) -> Answer<&'static Driver> {
    let driver = driver::get()?;
    driver.cuDeviceGet(&mut 0, device)?;
    if device == DEVICE { Ok(driver) } else { Err(Error::InvalidDevice) }
}

/// Takes the primary context away with everything in it.
pub fn reset() -> Answer {
    let driver = driver::get()?;
    let mut primary = PRIMARY.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    driver.cuDevicePrimaryCtxReset_v2(DEVICE)?;
    if let Some(context) = primary.context.take() {
        primary.gone.push(context);
    }
    error::unstick();
    Ok(())
}
