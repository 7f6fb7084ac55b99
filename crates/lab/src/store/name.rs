//! Names of the files in a store's folder.

use super::file::TEMPORARY;
use crate::job::{Key, is_digest};

/// What a name in a store's folder is for.
#[derive(Debug, PartialEq, Eq)]
pub enum Name {
    /// The result of a job, with the checksum of its bytes: `KEY-CHECKSUM.parquet`.
    Result(Key, String),
    /// The file that whoever runs a job holds locked: `KEY.claim`.
    Claim(Key),
    /// Why a job failed: `KEY.failed`.
    Failure(Key),
    /// Many results: `pack-DIGEST.zip`.
    Pack(String),
    /// What whoever runs a sweep holds locked, with what tells it from others: `ID.sweep`.
    Sweep(String),
    /// What a writer renames when it is whole: one of the above, `.PROCESS.tmp` or `.PROCESS.ATTEMPT.tmp`.
    Temporary,
    /// Ends as a name of the store but is none; with what was expected.
    Wrong(&'static str),
    /// Not the store's.
    Other,
}

/// Suffix of results.
pub const RESULT: &str = ".parquet";
/// Beginning of packs.
pub const PACK: &str = "pack-";
/// Suffix of packs.
pub const ARCHIVE: &str = ".zip";
/// Suffix of claims.
pub const CLAIM: &str = ".claim";
/// The file that shows whether a store can be written.
pub const PROBE: &str = "probe";
/// Suffix of failures.
pub const FAILURE: &str = ".failed";
/// Suffix of the notes of sweeps.
pub const SWEEP: &str = ".sweep";

impl Name {
    /// Reads a file's name.
    pub fn read(name: &str) -> Name {
        if let Some(name) = name.strip_suffix(RESULT) {
            let parts = name.split_once('-').filter(|(_, checksum)| is_digest(checksum));
            let read = parts.and_then(|(key, checksum)| Some((Key::read(key)?, checksum.to_owned())));
            return match read {
                Some((key, checksum)) => Name::Result(key, checksum),
                None => Name::Wrong("KEY-CHECKSUM.parquet"),
            };
        }
        if let Some(key) = name.strip_suffix(CLAIM) {
            return Key::read(key).map_or(Name::Wrong("KEY.claim"), Name::Claim);
        }
        if let Some(key) = name.strip_suffix(FAILURE) {
            return Key::read(key).map_or(Name::Wrong("KEY.failed"), Name::Failure);
        }
        if let Some(id) = name.strip_suffix(SWEEP) {
            return if is_digest(id) { Name::Sweep(id.to_owned()) } else { Name::Wrong("ID.sweep") };
        }
        if let Some(digest) = name.strip_prefix(PACK).and_then(|name| name.strip_suffix(ARCHIVE)) {
            return match is_digest(digest) {
                true => Name::Pack(digest.to_owned()),
                false => Name::Wrong("pack-DIGEST.zip"),
            };
        }
        if let Some(name) = name.strip_suffix(TEMPORARY)
            && is_temporary(name)
        {
            return Name::Temporary;
        }
        Name::Other
    }
}

/// Whether this is a name of the store, or `probe`, and one or two numbers.
fn is_temporary(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((name, last)) = name.rsplit_once('.') else { return false };
    if !number(last) {
        return false;
    }
    let is_target = |name: &str| {
        let is_written =
            |name: Name| matches!(name, Name::Result(..) | Name::Failure(_) | Name::Pack(_) | Name::Sweep(_));
        name == PROBE || is_written(Name::read(name))
    };
    is_target(name) || name.rsplit_once('.').is_some_and(|(name, first)| number(first) && is_target(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_store_s_own_names_are_the_store_s() {
        let (key, sum) = ("0123456789abcdef0123456789abcdef", "f".repeat(32));
        let read = |name: &str| Name::read(&name.replace("KEY", key).replace("SUM", &sum));
        let wanted = Key::read(key).unwrap();
        assert_eq!(read("KEY-SUM.parquet"), Name::Result(wanted.clone(), sum.clone()));
        assert_eq!(read("pack-SUM.zip"), Name::Pack(sum.clone()));
        assert_eq!(read("KEY.claim"), Name::Claim(wanted.clone()));
        assert_eq!(read("KEY.failed"), Name::Failure(wanted));
        assert_eq!(read("KEY.sweep"), Name::Sweep(key.to_owned()));
        for temporary in [
            "KEY-SUM.parquet.12.tmp",
            "pack-SUM.zip.12.3.tmp",
            "KEY.failed.1.0.tmp",
            "KEY.sweep.1.0.tmp",
            "probe.7.0.tmp",
        ] {
            assert_eq!(read(temporary), Name::Temporary, "{temporary}");
        }
        for wrong in
            ["KEY.parquet", "KEY-SUM (1).parquet", "x.claim", "x.failed", "x.sweep", ".parquet", "pack-x.zip"]
        {
            assert!(matches!(read(wrong), Name::Wrong(_)), "{wrong}");
        }
        for other in
            ["notes.tmp", "notes.1.tmp", "KEY-SUM.parquet.tmp", "host.log", "KEY-SUM.parquet.x.tmp", "KEY"]
        {
            assert_eq!(read(other), Name::Other, "{other}");
        }
    }
}
