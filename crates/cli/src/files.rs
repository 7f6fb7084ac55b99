//! The files that a command names: none that it writes may be one that it reads, or one that it writes for another option.
//!
//! Files are told apart as the host tells them apart, so hard links, symbolic links and other spellings of a path change
//! nothing. Pipes and devices may be named more than once.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use strata_gpu::machine::Machine;
use strata_workloads::launch_file::LaunchFile;

/// What a host knows a file by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// A file that exists: its device and number.
    Existing(u64, u64),
    /// A file that does not exist yet: its folder and its name.
    New(u64, u64, OsString),
}

/// A file and what names it.
#[derive(Debug)]
struct Entry {
    identity: Identity,
    /// As messages name it: `--json w.toml`.
    named: String,
    written: bool,
}

/// The files of a command.
#[derive(Debug, Default)]
pub struct Files(Vec<Entry>);

impl Files {
    /// No file yet.
    pub fn new() -> Files {
        Files::default()
    }

    /// Adds a file that the command reads; `role` says what it is: `the launch file`.
    #[must_use]
    pub fn reads(self, role: &str, path: &Path) -> Files {
        let named = format!("{role} {}", path.display());
        self.add(path, named, false)
    }

    /// Adds the files of a machine and its systems.
    #[must_use]
    pub fn reads_machine(self, machine: &Machine) -> Files {
        machine.files().fold(self, |files, path| files.reads("the machine's file", path))
    }

    /// Adds the files that a launch file names.
    #[must_use]
    pub fn reads_launch_file(self, file: &LaunchFile) -> Files {
        file.files().fold(self, |files, path| files.reads("the launch file's", path))
    }

    /// Adds a file that an option names and the command writes. `None` and `-`, standard output, are no files.
    #[must_use]
    pub fn writes(self, option: &str, path: Option<&Path>) -> Files {
        match path {
            Some(path) if path != Path::new("-") => {
                self.writes_as(format!("{option} {}", path.display()), path)
            }
            _ => self,
        }
    }

    /// Adds a file that the command writes, as messages name it.
    #[must_use]
    pub fn writes_as(self, named: String, path: &Path) -> Files {
        self.add(path, named, true)
    }

    fn add(mut self, path: &Path, named: String, written: bool) -> Files {
        // Nothing can be read from a file that does not exist.
        let identity =
            identity(path).filter(|identity| written || matches!(identity, Identity::Existing(..)));
        if let Some(identity) = identity {
            self.0.push(Entry { identity, named, written });
        }
        self
    }

    /// Checks that every file that is written is written once and not read.
    ///
    /// # Errors
    /// The first two names of one file.
    pub fn check(&self) -> Result<(), String> {
        for (index, written) in self.0.iter().enumerate().filter(|(_, entry)| entry.written) {
            let others = self.0.iter().enumerate().filter(|(other, entry)| *other < index || !entry.written);
            let mut same = others.filter(|(_, entry)| entry.identity == written.identity);
            if let Some((_, other)) = same.next() {
                let Entry { named, .. } = written;
                return Err(match other.written {
                    true => format!("{named}: {} goes to the same file, expected two files", other.named),
                    false => format!("{named}: would overwrite {}, expected another file", other.named),
                });
            }
        }
        Ok(())
    }
}

/// Most symbolic links that are followed, as on Linux.
const LINKS: usize = 40;

/// What the host knows a path's file by; `None` for pipes, devices and folders, and where there can be no file.
fn identity(path: &Path) -> Option<Identity> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if let Ok(meta) = std::fs::metadata(&path) {
            return meta.is_file().then(|| Identity::Existing(meta.dev(), meta.ino()));
        }
        let folder = folder_of(&path);
        match std::fs::read_link(&path) {
            // A link to a file that does not exist: writing makes that file.
            Ok(target) => path = folder.join(target),
            Err(_) => {
                let meta = std::fs::metadata(folder).ok()?;
                return Some(Identity::New(meta.dev(), meta.ino(), path.file_name()?.to_owned()));
            }
        }
    }
    None
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => ".".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn one_file_by_any_two_names_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("w.toml"), "").unwrap();
        fs::hard_link(at("w.toml"), at("hard")).unwrap();
        symlink("w.toml", at("soft")).unwrap();
        symlink(at("sub/../new.json"), at("to-new")).unwrap();
        symlink("loop", at("loop")).unwrap();
        let check = |read: &str, first: &str, second: &str| {
            let files = Files::new().reads("the launch file", &at(read));
            let files = files.writes("--json", Some(&at(first))).writes("--csv", Some(&at(second)));
            files.check()
        };
        for name in ["w.toml", "hard", "soft", "sub/../w.toml"] {
            let error = check("w.toml", "other", name).unwrap_err();
            let expected = ": would overwrite the launch file ";
            assert!(error.starts_with("--csv ") && error.contains(expected), "{name}: {error}");
        }
        for (first, second) in [("a", "a"), ("a", "sub/../a"), ("new.json", "to-new"), ("to-new", "new.json")]
        {
            let error = check("w.toml", first, second).unwrap_err();
            assert!(
                error.ends_with(" goes to the same file, expected two files"),
                "{first} {second}: {error}"
            );
        }
        assert_eq!(check("w.toml", "a", "b"), Ok(()));
        assert_eq!(check("w.toml", "loop", "loop"), Ok(()), "nothing can be written there");
    }

    #[test]
    fn devices_and_standard_output_may_be_named_twice() {
        let null = Some(Path::new("/dev/null"));
        let dash = Some(Path::new("-"));
        let files = Files::new().reads("the launch file", Path::new("/dev/null"));
        let files =
            files.writes("--json", null).writes("--csv", null).writes("--json", dash).writes("--csv", dash);
        assert_eq!(files.writes("--out", None).check(), Ok(()));
    }
}
