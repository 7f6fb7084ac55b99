//! Files that a command writes, checked at its beginning.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that can be written. What it held before stays until something is written.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Whether the check created it.
    is_new: bool,
    written: bool,
}

impl Output {
    /// Checks that a file can be written.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(path: &Path) -> Result<Output, String> {
        let is_new = !path.exists();
        let opened = OpenOptions::new().create(true).append(true).open(path);
        opened
            .map_err(|error| format!("{}: {error}, expected a file that can be written", path.display()))?;
        Ok(Output { path: path.to_owned(), is_new, written: false })
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can be written over and over. A pipe or a device cannot.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.path.is_file()
    }

    /// Replaces the file's contents: whoever reads it finds the old ones or the new ones, whole.
    ///
    /// # Errors
    /// If the file cannot be written any more.
    pub fn write(&mut self, contents: impl AsRef<[u8]>) -> Result<(), String> {
        let contents = contents.as_ref();
        let replaced = match self.is_file().then(|| beside(&self.path)) {
            Some(Ok((path, file))) => replace(&path, file, contents),
            // A pipe or a device, or a file in a folder that takes no other.
            _ => std::fs::write(&self.path, contents),
        };
        replaced.map_err(|error| format!("{}: {error}", self.path.display()))?;
        self.written = true;
        Ok(())
    }

    /// Empties the file, to be written bit by bit.
    ///
    /// # Errors
    /// If the file cannot be written any more.
    pub fn empty(&mut self) -> io::Result<File> {
        let file = File::create(&self.path)?;
        self.written = true;
        Ok(file)
    }
}

impl Drop for Output {
    /// A file that was created for nothing goes.
    fn drop(&mut self) {
        if self.is_new && !self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn replace(path: &Path, mut file: NamedTempFile, contents: &[u8]) -> io::Result<()> {
    file.as_file_mut().write_all(contents)?;
    file.as_file().set_permissions(std::fs::metadata(path)?.permissions())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The file that a path means, links followed, and a new one beside it, to be moved there whole. It must be a regular
/// file or not exist.
///
/// # Errors
/// Why the file cannot be written.
pub fn beside(path: &Path) -> io::Result<(PathBuf, NamedTempFile)> {
    let path = match path.canonicalize() {
        Ok(path) if !path.is_file() => return Err(io::Error::other("not a regular file")),
        Ok(path) => {
            OpenOptions::new().append(true).open(&path)?;
            path
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            folder.canonicalize()?.join(path.file_name().ok_or(error)?)
        }
        Err(error) => return Err(error),
    };
    let folder = path.parent().expect("a file lies in a folder");
    // As any new file: readable and writable by whom the process's mask lets.
    let mode = Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().prefix(".strata-").permissions(mode).tempfile_in(folder)?;
    Ok((path, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_leaves_no_trace_and_loses_nothing() {
        let path = std::env::temp_dir().join(format!("strata-output-{}", std::process::id()));
        drop(Output::new(&path).unwrap());
        assert!(!path.exists());
        std::fs::write(&path, "before").unwrap();
        drop(Output::new(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        Output::new(&path).unwrap().write("after").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "after");
        std::fs::remove_file(&path).unwrap();
        let error = Output::new(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.starts_with("/nowhere/at/all: "), "{error}");
    }
}
