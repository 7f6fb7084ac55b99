//! What a client asks of the driver and does not get as on hardware, for `strata exec --report`: a line for each in the file that `STRATA_AUDIT_LOG`
//! names, where the dynamic linker's audit library writes, too.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Why a client does not get what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// A function was looked up that the driver does not have.
    Absent,
    /// A function was called that does nothing.
    Unsupported,
    /// PTX was loaded that is not for the reported device.
    Target,
}

/// Notes a name, once.
pub fn note(why: Asked, name: &str) {
    static NOTED: Mutex<BTreeSet<(Asked, String)>> = Mutex::new(BTreeSet::new());
    let Some(path) = std::env::var_os("STRATA_AUDIT_LOG") else { return };
    if !NOTED.lock().unwrap_or_else(PoisonError::into_inner).insert((why, name.to_owned())) {
        return;
    }
    let kind = match why {
        Asked::Absent => "absent",
        Asked::Unsupported => "unsupported",
        Asked::Target => "target",
    };
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let line = format!("{}\t{kind}\t{name}\n", std::process::id());
    // A client runs without the report too.
    let file = File::options().append(true).create(true).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
