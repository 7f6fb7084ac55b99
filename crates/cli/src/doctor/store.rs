//! The result store: whether its filesystem locks files and replaces them whole.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::Path;

use super::finding::Finding;

const FEATURE: &str = "result store";

/// Looks at the store's folder, or at the one that it would be made in. Neither keeps anything of the look.
pub fn finding(folder: &Path) -> Finding {
    let shown = folder.display();
    let exists = folder.symlink_metadata().is_ok();
    let place = if exists { folder } else { above(folder) };
    let elsewhere = "--store DIR names another folder";
    match tempfile::Builder::new().prefix(".strata-doctor-").tempdir_in(place) {
        Err(error) if exists => Finding::broken(
            FEATURE,
            format!("{shown}: {}, expected a folder that takes files", cause(&error)),
            elsewhere,
        ),
        Err(error) => {
            Finding::missing(FEATURE, format!("{shown} cannot be made: {}", cause(&error)), elsewhere)
        }
        Ok(scratch) => match locks_and_replaces(scratch.path()) {
            Ok(()) => {
                let state = if exists { "is there" } else { "can be made" };
                Finding::ok(
                    FEATURE,
                    format!("{shown} {state}; its filesystem locks files and replaces them whole"),
                )
            }
            Err(error) => Finding::broken(
                FEATURE,
                format!("{shown}: its filesystem cannot keep a store: {error}"),
                "--store DIR names a folder of another filesystem",
            ),
        },
    }
}

/// The nearest folder above a path that is there.
fn above(path: &Path) -> &Path {
    path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
}

/// An error without the path of the scratch folder, which nobody has asked for.
fn cause(error: &io::Error) -> io::Error {
    error.kind().into()
}

/// Does in a folder what a store relies on.
fn locks_and_replaces(folder: &Path) -> io::Result<()> {
    let (path, other) = (folder.join("old"), folder.join("new"));
    let wrong = |what: &str| Err(io::Error::other(what.to_owned()));
    fs::write(&path, "old")?;
    // Some filesystems lock only what is open to be written.
    let open = || File::options().read(true).write(true).open(&path);
    let mut held = open()?;
    held.lock()?;
    match open()?.try_lock() {
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => return wrong("two may hold the lock of a file"),
    }
    fs::write(&other, "new")?;
    fs::rename(&other, &path)?;
    let mut text = String::new();
    held.read_to_string(&mut text)?;
    if text != "old" {
        return wrong("whoever reads a file while it is replaced does not read the old one");
    }
    if fs::read_to_string(&path)? != "new" || other.exists() {
        return wrong("a file that was moved is not where it was moved to");
    }
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn a_look_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (deeper, file) = (folder.path().join("a/b"), folder.path().join("file"));
        fs::write(&file, "").unwrap();
        let found = finding(&deeper);
        assert_eq!(found.state, State::Ok, "{found:?}");
        assert!(found.found.contains("a/b can be made"), "{found:?}");
        assert!(finding(folder.path()).found.contains(" is there; "));
        let broken = finding(&file);
        assert_eq!(broken.state, State::Broken, "{broken:?}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "only the file of this test");
    }

    #[test]
    fn a_store_that_cannot_be_made_is_missing() {
        let found = finding(Path::new("/proc/strata-store"));
        assert_eq!(found.state, State::Missing, "{found:?}");
        assert!(found.found.starts_with("/proc/strata-store cannot be made: "), "{found:?}");
        assert!(!found.found.contains(".strata-doctor"), "{found:?}");
    }
}
