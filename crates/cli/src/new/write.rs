//! Several new files, all or none.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes new files, with the folders that they need. Where one cannot be written, none stays, and no folder that was made for
/// them.
///
/// # Errors
/// A file that exists, or one that cannot be written.
pub fn all(files: &[(PathBuf, String)]) -> Result<(), String> {
    // A link that leads nowhere is there, too.
    if let Some((there, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(format!("{}: exists already; expected a name that no file has", there.display()));
    }
    let mut made = Made::default();
    for (path, text) in files {
        made.write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    made.keep();
    Ok(())
}

/// What has been made, in order; it goes again unless it is kept.
#[derive(Default)]
struct Made {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            let missing =
                folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
            let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
            for folder in missing.into_iter().rev() {
                fs::create_dir(&folder)?;
                self.folders.push(folder);
            }
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    fn keep(mut self) {
        self.folders.clear();
        self.files.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        // Those that something else lies in by now stay.
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_written_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let files = |names: &[&str]| -> Vec<(PathBuf, String)> {
            names.iter().map(|name| (at(name), (*name).to_owned())).collect()
        };
        all(&files(&["a/b/one", "a/two"])).unwrap();
        assert_eq!(fs::read_to_string(at("a/b/one")).unwrap(), "a/b/one");

        let error = all(&files(&["c/new", "a/two"])).unwrap_err();
        assert!(error.ends_with("a/two: exists already; expected a name that no file has"), "{error}");
        // A folder cannot be made where a file lies: what came before goes.
        let error = all(&files(&["c/d/new", "a/two/below"])).unwrap_err();
        assert!(error.contains("a/two/below: "), "{error}");
        assert!(!at("c").exists());
        assert_eq!(fs::read_to_string(at("a/two")).unwrap(), "a/two");
    }
}
