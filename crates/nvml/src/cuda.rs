//! The driver: functions of `libcuda.so.1`, looked up when the client first asks about a device.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use strata_abi::{DRIVER as NAME, driver_functions};

use crate::status::{Answer, Status};

fn answer(status: u32) -> Answer {
    match status {
        0 => Ok(()),
        1 => Err(Status::InvalidArgument),
        101 => Err(Status::NotFound),
        801 => Err(Status::NotSupported),
        _ => Err(Status::Unknown),
    }
}

driver_functions! {
    answer: answer => Answer;
    pass: std::convert::identity;
    cuInit(flags: u32);
    cuDriverGetVersion(version: &mut i32);
    cuDeviceGetCount(count: &mut i32);
    cuDeviceGetName(text: &mut [u8; 96], room: i32, device: i32);
    cuDeviceGetUuid_v2(to: &mut [u8; 16], device: i32);
    cuDeviceTotalMem_v2(bytes: &mut u64, device: i32);
    cuDeviceGetAttribute(value: &mut i32, number: u32, device: i32);
    cuDeviceGetPCIBusId(text: &mut [u8; 32], room: i32, device: i32);
    cuMemGetInfo_v2(free: &mut u64, total: &mut u64);
}

/// The driver, before `cuInit`.
///
/// # Errors
/// If there is no driver, or it lacks a function.
pub fn loaded() -> Answer<&'static Driver> {
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| match Driver::load() {
        Ok(driver) => Some(driver),
        Err(error) => {
            eprintln!("strata: libnvidia-ml.so.1 needs {NAME}: {error}");
            None
        }
    });
    driver.as_ref().ok_or(Status::DriverNotLoaded)
}

/// The driver after `cuInit`.
///
/// # Errors
/// If there is no driver, or it cannot be initialised.
pub fn get() -> Answer<&'static Driver> {
    let driver = loaded()?;
    driver.cuInit(0).map_err(|_| Status::DriverNotLoaded)?;
    Ok(driver)
}
