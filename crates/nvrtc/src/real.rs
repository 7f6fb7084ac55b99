//! The NVRTC that stands behind.
#![allow(unsafe_code, reason = "NVRTC's interface is C")]

use std::ffi::{c_char, c_int};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY};

/// The name by which this library needs NVRTC (`build.rs`), so it is loaded.
const NAME: &str = "strata-real-libnvrtc.so";

/// A program, `nvrtcProgram`.
pub type Program = usize;
/// `nvrtcResult`.
pub type Result = c_int;

/// NVRTC's functions that are called here.
pub struct Nvrtc {
    pub compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Result,
    pub destroy: unsafe extern "C" fn(*mut Program) -> Result,
    pub ptx_size: unsafe extern "C" fn(Program, *mut usize) -> Result,
    pub ptx: unsafe extern "C" fn(Program, *mut c_char) -> Result,
    pub cubin_size: unsafe extern "C" fn(Program, *mut usize) -> Result,
    pub cubin: unsafe extern "C" fn(Program, *mut c_char) -> Result,
}

impl Nvrtc {
    fn find() -> std::result::Result<Nvrtc, libloading::Error> {
        // SAFETY: it is loaded already.
        let library = unsafe { Library::open(Some(NAME), RTLD_LAZY) }?;
        // SAFETY: the types are those of NVRTC's header.
        unsafe {
            Ok(Nvrtc {
                compile: *library.get("nvrtcCompileProgram")?,
                destroy: *library.get("nvrtcDestroyProgram")?,
                ptx_size: *library.get("nvrtcGetPTXSize")?,
                ptx: *library.get("nvrtcGetPTX")?,
                cubin_size: *library.get("nvrtcGetCUBINSize")?,
                cubin: *library.get("nvrtcGetCUBIN")?,
            })
        }
    }
}

/// NVRTC; none if it is older than 11.1, which has no machine code to ask for, or is not what it is named.
pub fn nvrtc() -> Option<&'static Nvrtc> {
    static NVRTC: OnceLock<Option<Nvrtc>> = OnceLock::new();
    let find = || Nvrtc::find().inspect_err(|error| eprintln!("strata: NVRTC: {error}")).ok();
    NVRTC.get_or_init(find).as_ref()
}
