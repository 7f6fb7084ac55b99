//! Asks as frameworks do at their start, and compares with the driver.

#![allow(unsafe_code, reason = "a client of C libraries")]

use std::ffi::{CStr, c_char};
use std::path::PathBuf;

use libloading::Library;

const SUCCESS: u32 = 0;
const UNINITIALIZED: u32 = 1;
const INVALID_ARGUMENT: u32 = 2;
const NOT_SUPPORTED: u32 = 3;
const NOT_FOUND: u32 = 6;
const INSUFFICIENT_SIZE: u32 = 7;

/// A library that was built with the tests.
fn load(name: &str) -> Library {
    let test = std::env::current_exe().unwrap();
    let mut places = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    let path: PathBuf = places.find(|path| path.exists()).unwrap_or_else(|| panic!("{name} is not built"));
    // SAFETY: the libraries do nothing when they are loaded.
    unsafe { Library::new(path) }.unwrap()
}

/// Calls a function whose arguments each fit a register.
macro_rules! call {
    ($library:expr, $name:literal $(, $arg:expr)*) => {{
        // SAFETY: the arguments are those of the function, each of which fits a register.
        unsafe {
            let function = $library.get::<unsafe extern "C" fn($(call!(@ $arg)),*) -> u32>($name).unwrap();
            function($($arg as u64),*)
        }
    }};
    (@ $arg:expr) => { u64 };
}

fn at<T>(value: &mut T) -> u64 {
    std::ptr::from_mut(value).expose_provenance() as u64
}

fn said(text: &[u8]) -> &str {
    CStr::from_bytes_until_nul(text).unwrap().to_str().unwrap()
}

#[test]
fn what_frameworks_ask_is_what_the_driver_says() {
    // From here on the process has a `libcuda.so.1`, which this library finds by that name.
    let cuda = load("libcuda.so");
    let nvml = load("libnvidia_ml.so");
    let mut count = 0_u32;
    assert_eq!(call!(nvml, "nvmlDeviceGetCount_v2", at(&mut count)), UNINITIALIZED);
    assert_eq!(call!(nvml, "nvmlInit_v2"), SUCCESS);
    assert_eq!(call!(nvml, "nvmlDeviceGetCount_v2", at(&mut count)), SUCCESS);
    assert_eq!(count, 1);

    let (mut device, mut other) = (0_u64, 0_u64);
    assert_eq!(call!(nvml, "nvmlDeviceGetHandleByIndex_v2", 1, at(&mut device)), INVALID_ARGUMENT);
    assert_eq!(call!(nvml, "nvmlDeviceGetHandleByIndex_v2", 0, at(&mut device)), SUCCESS);
    assert_eq!(call!(nvml, "nvmlDeviceGetName", device + 1, at(&mut [0_u8; 96]), 96), INVALID_ARGUMENT);

    let (mut name, mut expected) = ([1_u8; 96], [2_u8; 96]);
    assert_eq!(call!(nvml, "nvmlDeviceGetName", device, at(&mut name), 96), SUCCESS);
    assert_eq!(call!(cuda, "cuDeviceGetName", at(&mut expected), 96, 0), SUCCESS);
    assert_eq!(said(&name), said(&expected));
    assert_eq!(call!(nvml, "nvmlDeviceGetName", device, at(&mut name), 3), INSUFFICIENT_SIZE);

    let mut uuid = [0_u8; 96];
    assert_eq!(call!(nvml, "nvmlDeviceGetUUID", device, at(&mut uuid), 96), SUCCESS);
    // GPU-, then the 16 bytes with four more dashes.
    assert!(said(&uuid).starts_with("GPU-") && said(&uuid).len() == 40, "{}", said(&uuid));
    assert_eq!(call!(nvml, "nvmlDeviceGetHandleByUUID", at(&mut uuid), at(&mut other)), SUCCESS);
    assert_eq!(other, device);
    let unknown = c"GPU-00000000-0000-0000-0000-000000000000".as_ptr().expose_provenance();
    assert_eq!(call!(nvml, "nvmlDeviceGetHandleByUUID", unknown, at(&mut other)), NOT_FOUND);

    let mut pci = [0_u8; 68];
    assert_eq!(call!(nvml, "nvmlDeviceGetPciInfo_v3", device, at(&mut pci)), SUCCESS);
    assert_eq!((said(&pci), said(&pci[36..])), ("0000:01:00.0", "00000000:01:00.0"));
    let mut address = [0_u8; 32];
    assert_eq!(call!(cuda, "cuDeviceGetPCIBusId", at(&mut address), 32, 0), SUCCESS);
    other = 0;
    assert_eq!(call!(nvml, "nvmlDeviceGetHandleByPciBusId_v2", at(&mut address), at(&mut other)), SUCCESS);
    assert_eq!(other, device);

    let (mut memory, mut total) = ([0_u64; 3], 0_u64);
    assert_eq!(call!(nvml, "nvmlDeviceGetMemoryInfo", device, at(&mut memory)), SUCCESS);
    assert_eq!(call!(cuda, "cuDeviceTotalMem_v2", at(&mut total), 0), SUCCESS);
    assert_eq!(memory, [total, total, 0], "no context, nothing in use");
    let (mut context, mut buffer) = (0_u64, 0_u64);
    assert_eq!(call!(cuda, "cuCtxCreate_v2", at(&mut context), 0, 0), SUCCESS);
    assert_eq!(call!(cuda, "cuMemAlloc_v2", at(&mut buffer), 1 << 20), SUCCESS);
    let mut memory = [40_u64 | 2 << 24, 0, 0, 0, 0];
    assert_eq!(call!(nvml, "nvmlDeviceGetMemoryInfo_v2", device, at(&mut memory)), SUCCESS);
    assert!(memory[1] == total && memory[4] >= 1 << 20 && memory[3] + memory[4] == total, "{memory:?}");
    memory[0] = 40;
    assert_eq!(call!(nvml, "nvmlDeviceGetMemoryInfo_v2", device, at(&mut memory)), INVALID_ARGUMENT);

    let (mut major, mut minor) = (0_i32, 0_i32);
    let capability =
        call!(nvml, "nvmlDeviceGetCudaComputeCapability", device, at(&mut major), at(&mut minor));
    assert_eq!((capability, major, minor), (SUCCESS, 8, 0));
    let (mut version, mut api) = (0_i32, 0_i32);
    assert_eq!(call!(nvml, "nvmlSystemGetCudaDriverVersion_v2", at(&mut version)), SUCCESS);
    assert_eq!(call!(cuda, "cuDriverGetVersion", at(&mut api)), SUCCESS);
    assert_eq!(version, api);
    let mut text = [0_u8; 80];
    assert_eq!(call!(nvml, "nvmlSystemGetDriverVersion", at(&mut text), 80), SUCCESS);
    assert!(said(&text).contains('.'));

    assert_eq!(call!(nvml, "nvmlDeviceGetTemperature", device, 0, at(&mut count)), NOT_SUPPORTED);
    // SAFETY: the function has this type, and its text stays.
    let text = unsafe {
        let describe = nvml.get::<unsafe extern "C" fn(u32) -> *const c_char>("nvmlErrorString").unwrap();
        CStr::from_ptr(describe(NOT_SUPPORTED))
    };
    assert_eq!(text, c"not supported");
    assert_eq!(call!(nvml, "nvmlShutdown"), SUCCESS);
    assert_eq!(call!(nvml, "nvmlShutdown"), UNINITIALIZED);
}
