//! The library as a whole: initialisation, versions, errors.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::api;
use crate::cuda;
use crate::status::{Answer, Bytes, Out, Status};

/// How often the client has initialised the library without shutting it down.
static USERS: AtomicU32 = AtomicU32::new(0);

/// Fails before `nvmlInit`.
pub fn ready() -> Answer {
    if USERS.load(Ordering::Acquire) == 0 { Err(Status::Uninitialized) } else { Ok(()) }
}

/// Writes a text with its NUL, if there is room.
pub fn put_text(text: &str, to: Bytes, room: u32) -> Answer {
    if to.is_null() {
        return Err(Status::InvalidArgument);
    }
    if room as usize <= text.len() {
        return Err(Status::InsufficientSize);
    }
    let to = to.write(text.len() + 1)?;
    to[..text.len()].copy_from_slice(text.as_bytes());
    to[text.len()] = 0;
    Ok(())
}

/// The version of the driver API: 1000 times major plus 10 times minor.
fn version() -> Answer<i32> {
    let mut version = 0;
    cuda::loaded()?.cuDriverGetVersion(&mut version)?;
    Ok(version)
}

fn initialise() -> Answer {
    cuda::loaded()?;
    USERS.fetch_add(1, Ordering::AcqRel);
    Ok(())
}

api! {
    /// Loads the driver. It is initialised when the client first asks about a device.
    nvmlInit | nvmlInit_v2 () {
        initialise()
    }

    /// Loads the driver. There is always a device, so the flags have no effect.
    nvmlInitWithFlags(_flags: u32) {
        initialise()
    }

    /// Undoes one initialisation.
    nvmlShutdown() {
        let less = |users: u32| users.checked_sub(1);
        USERS.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).map_err(|_| Status::Uninitialized)?;
        Ok(())
    }

    /// Writes the version of the driver: that of its API, as a driver's version looks.
    nvmlSystemGetDriverVersion(to: Bytes, room: u32) {
        ready()?;
        let version = version()?;
        put_text(&format!("{}.{:02}", version / 1000, version % 1000 / 10), to, room)
    }

    /// Writes the version of this library: that of the driver's API.
    nvmlSystemGetNVMLVersion(to: Bytes, room: u32) {
        ready()?;
        let version = version()?;
        put_text(&format!("{}.{}", version / 1000, version % 1000 / 10), to, room)
    }

    /// Writes the version of the driver API.
    nvmlSystemGetCudaDriverVersion | nvmlSystemGetCudaDriverVersion_v2 (to: Out<i32>) {
        let place = to.place()?;
        place.put(version()?);
        Ok(())
    }
}

/// Returns the description of a result code.
#[allow(non_snake_case, reason = "the library's name")]
#[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(code: u32) -> *const c_char {
    crate::status::text(code).map_or(c"unknown code", |text| text).as_ptr()
}

/// The text up to a NUL that the driver wrote.
pub fn written(bytes: &[u8]) -> Answer<&str> {
    let text = CStr::from_bytes_until_nul(bytes).map_err(|_| Status::Unknown)?;
    text.to_str().map_err(|_| Status::Unknown)
}
