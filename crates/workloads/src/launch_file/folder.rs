//! Where the files that a launch file names are looked for: beside it, or in a package that brings them along.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::node::Node;
use super::{LaunchFileError, Package};

type Result<T> = std::result::Result<T, LaunchFileError>;

/// The folder that a launch file's paths begin from.
#[derive(Debug)]
pub(super) struct Folder<'a> {
    place: Place<'a>,
    /// Names of the files that were read, each once, in the order in which they were first named.
    read: RefCell<Vec<String>>,
}

#[derive(Debug)]
enum Place<'a> {
    /// A folder of the host's.
    Host(&'a Path),
    /// A package's files.
    Package(&'a BTreeMap<String, Vec<u8>>),
}

impl<'a> Folder<'a> {
    /// A folder of the host's.
    pub(super) fn host(path: &'a Path) -> Self {
        Self { place: Place::Host(path), read: RefCell::default() }
    }

    /// A package's files.
    pub(super) fn package(package: &'a Package) -> Self {
        Self { place: Place::Package(&package.files), read: RefCell::default() }
    }

    /// The files that were read, each with the name that the launch file has for it.
    pub(super) fn into_files(self) -> Vec<(String, PathBuf)> {
        let path = |name: &String| match self.place {
            Place::Host(folder) => folder.join(name),
            Place::Package(_) => name.into(),
        };
        self.read.take().into_iter().map(|name| (name.clone(), path(&name))).collect()
    }

    /// Reads the file that a value names, once its length is right.
    pub(super) fn read(
        &self,
        node: &Node<'_>,
        right_length: impl Fn(u64) -> bool,
        expected: impl Fn() -> String,
    ) -> Result<Vec<u8>> {
        let name = node.name("the path of a file")?;
        let wrong = |bytes: u64| node.error(format!("a file of {bytes} bytes"), expected());
        let right = |bytes: u64| if right_length(bytes) { Ok(()) } else { Err(wrong(bytes)) };
        let bytes = match self.place {
            Place::Host(folder) => read_regular(&folder.join(name), node, &right)?,
            Place::Package(files) => {
                files.get(name).cloned().ok_or_else(|| node.error(node.found(), "a file that came along"))?
            }
        };
        // A file may have changed since its length was asked for.
        right(bytes.len() as u64)?;
        let mut read = self.read.borrow_mut();
        if !read.iter().any(|known| known == name) {
            read.push(name.to_owned());
        }
        Ok(bytes)
    }
}

/// Reads a file of the host's, unless it is a folder, a pipe or a device, or its length is not right.
fn read_regular(path: &Path, node: &Node<'_>, right: &impl Fn(u64) -> Result<()>) -> Result<Vec<u8>> {
    let unreadable = |error: io::Error| node.error(format!("{} ({error})", node.found()), "a readable file");
    let meta = std::fs::metadata(path).map_err(unreadable)?;
    if !meta.is_file() {
        return Err(node.error(format!("{}, which is not a regular file", node.found()), "a readable file"));
    }
    right(meta.len())?;
    std::fs::read(path).map_err(unreadable)
}
