//! The nvJitLink that stands behind.
#![allow(unsafe_code, reason = "nvJitLink's interface is C")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY};

/// The name by which this library needs nvJitLink (`build.rs`), so it is loaded.
const NAME: &str = "strata-real-libnvJitLink.so";

/// A link, `nvJitLinkHandle`.
pub type Handle = usize;
/// `nvJitLinkResult`.
pub type Result = c_int;

/// nvJitLink's functions that are called here.
pub struct JitLink {
    pub create: unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> Result,
    pub destroy: unsafe extern "C" fn(*mut Handle) -> Result,
    pub add_data: unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> Result,
    pub add_file: unsafe extern "C" fn(Handle, c_int, *const c_char) -> Result,
    pub complete: unsafe extern "C" fn(Handle) -> Result,
    pub cubin_size: unsafe extern "C" fn(Handle, *mut usize) -> Result,
    pub cubin: unsafe extern "C" fn(Handle, *mut c_void) -> Result,
    pub ptx_size: unsafe extern "C" fn(Handle, *mut usize) -> Result,
    pub ptx: unsafe extern "C" fn(Handle, *mut c_char) -> Result,
    pub error_size: unsafe extern "C" fn(Handle, *mut usize) -> Result,
    pub error: unsafe extern "C" fn(Handle, *mut c_char) -> Result,
}

impl JitLink {
    fn find() -> std::result::Result<JitLink, libloading::Error> {
        // SAFETY: it is loaded already.
        let library = unsafe { Library::open(Some(NAME), RTLD_LAZY) }?;
        // SAFETY: the types are those of nvJitLink's header.
        unsafe {
            Ok(JitLink {
                create: *library.get("nvJitLinkCreate")?,
                destroy: *library.get("nvJitLinkDestroy")?,
                add_data: *library.get("nvJitLinkAddData")?,
                add_file: *library.get("nvJitLinkAddFile")?,
                complete: *library.get("nvJitLinkComplete")?,
                cubin_size: *library.get("nvJitLinkGetLinkedCubinSize")?,
                cubin: *library.get("nvJitLinkGetLinkedCubin")?,
                ptx_size: *library.get("nvJitLinkGetLinkedPtxSize")?,
                ptx: *library.get("nvJitLinkGetLinkedPtx")?,
                error_size: *library.get("nvJitLinkGetErrorLogSize")?,
                error: *library.get("nvJitLinkGetErrorLog")?,
            })
        }
    }

    /// Creates a link with these options.
    pub fn create(&self, options: &[CString]) -> std::result::Result<Handle, Result> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut handle = 0;
        // SAFETY: as many strings as are said, which live until the call returns.
        let result = unsafe { (self.create)(&mut handle, pointers.len() as u32, pointers.as_ptr()) };
        if result == 0 { Ok(handle) } else { Err(result) }
    }

    /// The PTX of a link that is complete.
    pub fn ptx(&self, handle: Handle) -> std::result::Result<String, Result> {
        let answer = |result| if result == 0 { Ok(()) } else { Err(result) };
        let mut size = 0;
        // SAFETY: the size is ours.
        answer(unsafe { (self.ptx_size)(handle, &mut size) })?;
        let mut text = vec![0_u8; size];
        // SAFETY: there is room for what is written.
        answer(unsafe { (self.ptx)(handle, text.as_mut_ptr().cast()) })?;
        text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(size));
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// nvJitLink; none if the library is not what it is named.
pub fn jit_link() -> Option<&'static JitLink> {
    static REAL: OnceLock<Option<JitLink>> = OnceLock::new();
    let find = || JitLink::find().inspect_err(|error| eprintln!("strata: nvJitLink: {error}")).ok();
    REAL.get_or_init(find).as_ref()
}
