//! Files that a command writes at its end, checked at its beginning.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// A file that can be written. What it held before stays until [`Output::write`].
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

    /// Replaces the file's contents.
    ///
    /// # Errors
    /// If the file cannot be written any more.
    pub fn write(&mut self, text: &str) -> Result<(), String> {
        std::fs::write(&self.path, text).map_err(|error| format!("{}: {error}", self.path.display()))?;
        self.written = true;
        Ok(())
    }

    /// Notes that the contents were written by other means.
    pub fn keep(&mut self) {
        self.written = true;
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
