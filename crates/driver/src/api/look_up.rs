//! Finds functions by name, version and default stream.

use crate::api::{api, procedures};
use crate::asked::{self, Asked};
use crate::client::{Out, Text};
use crate::current::Default;
use crate::status::{Answer, Status};

/// Results of a look-up: `CUdriverProcAddressQueryResult`.
mod found {
    pub const SUCCESS: u32 = 0;
    pub const SYMBOL_NOT_FOUND: u32 = 1;
    pub const VERSION_NOT_SUFFICIENT: u32 = 2;
}

/// Flags of a look-up: `CUdriverProcAddress_flags`. Without either, the null stream is the legacy one.
mod flag {
    pub const LEGACY: u64 = 1;
    pub const PER_THREAD: u64 = 2;
}

/// What the null stream means to the function that is looked up.
fn default(flags: u64) -> Answer<Default> {
    match flags {
        0 | flag::LEGACY => Ok(Default::Legacy),
        flag::PER_THREAD => Ok(Default::PerThread),
        _ => Err(Status::InvalidValue),
    }
}

/// The newest function of a name that a client of `version` may call, or the look-up result that says why
/// there is none. Functions without a stream have one variant, which serves both kinds of default stream.
fn look_up(name: &str, version: i32, default: Default) -> Result<*const (), u32> {
    let all = || procedures().filter(|procedure| procedure.base == name);
    let newest = all()
        .filter(|procedure| procedure.since <= version)
        .filter(|procedure| procedure.default == Default::Legacy || procedure.default == default)
        .max_by_key(|procedure| (procedure.since, procedure.default == default));
    if let Some(procedure) = newest {
        return Ok(procedure.address);
    }
    asked::note(Asked::Absent, name);
    Err(if all().next().is_some() { found::VERSION_NOT_SUFFICIENT } else { found::SYMBOL_NOT_FOUND })
}

api! {
    /// Looks up a function, for clients with either kind of default stream.
    cuGetProcAddress_v2 = "cuGetProcAddress" 12000 (
        name: Text, function: Out<*const ()>, version: i32, flags: u64, status: Out<u32>,
    ) {
        let place = function.place()?;
        match look_up(name.get()?, version, default(flags)?) {
            Ok(address) => {
                place.put(address);
                status.put_if_wanted(found::SUCCESS);
                Ok(())
            }
            Err(why) => {
                place.put(std::ptr::null());
                status.put_if_wanted(why);
                Err(Status::NotFound)
            }
        }
    }

    /// Looks up a function, without writing the result of the look-up.
    cuGetProcAddress | cuGetProcAddress_ptsz = "cuGetProcAddress" 11030 (
        name: Text, function: Out<*const ()>, version: i32, flags: u64,
    ) {
        let place = function.place()?;
        let found = look_up(name.get()?, version, default(flags)?);
        place.put(found.unwrap_or(std::ptr::null()));
        found.map(|_| ()).map_err(|_| Status::NotFound)
    }
}
