//! A file in which all processes of a program note what they asked for and loaded, a line each.
//!
//! ```text
//! 4711<tab>replaced<tab>libcuda.so.1<tab>/somewhere/libcuda.so.1
//! 4711<tab>loaded<tab>/elsewhere/libcublas.so.13
//! ```

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::names::is_of_cuda;

/// A record. It is open only while a line is added: a program may close any file descriptor and use its number again.
pub struct Record(pub PathBuf);

impl Record {
    /// Notes what is handed out for what was asked for.
    pub fn replaced(&self, asked: &[u8], instead: &[u8]) {
        self.note(&[b"replaced", asked, instead]);
    }

    /// Notes a library that was loaded, if it is one of CUDA's.
    pub fn loaded(&self, path: &Path) {
        if path.file_name().and_then(OsStr::to_str).is_some_and(is_of_cuda) {
            self.note(&[b"loaded", path.as_os_str().as_bytes()]);
        }
    }

    /// Adds a line with one write, so that lines of several processes do not mix.
    fn note(&self, parts: &[&[u8]]) {
        let mut line = std::process::id().to_string().into_bytes();
        for part in parts {
            line.push(b'\t');
            line.extend(part.iter().map(|byte| if byte.is_ascii_control() { b'?' } else { *byte }));
        }
        line.push(b'\n');
        // A program runs without its record too.
        let file = File::options().append(true).create(true).open(&self.0);
        let _ = file.and_then(|mut file| file.write_all(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_no_more_tabs_than_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let record = Record(path.clone());
        record.replaced(b"a\tb\n", b"/c");
        record.loaded(Path::new("/x/libcublas.so.13"));
        record.loaded(Path::new("/x/libc.so.6"));
        let pid = std::process::id();
        let expected = format!("{pid}\treplaced\ta?b?\t/c\n{pid}\tloaded\t/x/libcublas.so.13\n");
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }
}
