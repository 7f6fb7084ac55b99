//! The libraries that are handed out, in a folder under the names that programs ask for; stand-ins without version.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::names::{Meaning, file_name, meaning};

/// What a stand-in stands for.
struct Real {
    /// The name that the program asked for last.
    asked: CString,
    /// Whether the stand-in has been loaded, and with it the library that was asked for.
    loaded: bool,
}

/// The libraries of a folder.
pub struct Folder {
    path: PathBuf,
    files: BTreeSet<String>,
    real: BTreeMap<&'static str, Real>,
    /// Paths that were handed out: the linker keeps pointers to them.
    handed_out: BTreeMap<String, &'static CStr>,
}

impl Folder {
    /// The libraries in a folder now; none if it cannot be read.
    pub fn open(path: PathBuf) -> Folder {
        let files = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let files = files.filter_map(|file| file.file_name().into_string().ok()).collect();
        Folder { path, files, real: BTreeMap::new(), handed_out: BTreeMap::new() }
    }

    /// What to search for instead of a name that a program or a library asks for.
    pub fn instead(&mut self, asked: &CStr) -> Option<&'static CStr> {
        let name = asked.to_str().ok()?;
        match meaning(file_name(name)) {
            Meaning::Real(stem) => {
                let real = self.real.get(stem)?.asked.to_str().ok()?.to_owned();
                self.hand_out(real)
            }
            Meaning::Called(stem) => {
                if !self.has(stem, name) {
                    return None;
                }
                match self.real.get_mut(stem) {
                    // Its stand-in stands for another file already.
                    Some(real) if real.loaded && name.contains('/') && !is_same(name, &real.asked) => {
                        return None;
                    }
                    Some(real) if real.loaded => {}
                    _ => drop(self.real.insert(stem, Real { asked: asked.to_owned(), loaded: false })),
                }
                self.hand_out(self.path.join(stem).into_os_string().into_string().ok()?)
            }
            Meaning::Replaced(file) => {
                if !self.has(file, name) {
                    return None;
                }
                self.hand_out(self.path.join(file).into_os_string().into_string().ok()?)
            }
        }
    }

    /// Whether the folder has a file for a name. A path to nothing is asked for to see that nothing is there.
    fn has(&self, file: &str, name: &str) -> bool {
        let is_own = Path::new(name).parent() == Some(&self.path);
        self.files.contains(file) && !is_own && (!name.contains('/') || Path::new(name).exists())
    }

    fn hand_out(&mut self, path: String) -> Option<&'static CStr> {
        if let Some(known) = self.handed_out.get(&path) {
            return Some(known);
        }
        let kept: &'static CStr = Box::leak(CString::new(path.clone()).ok()?.into_boxed_c_str());
        self.handed_out.insert(path, kept);
        Some(kept)
    }

    /// Notes that a library has been loaded.
    pub fn loaded(&mut self, path: &Path) {
        let stem = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if path.parent() == Some(&self.path)
            && let Some(real) = self.real.get_mut(stem)
        {
            real.loaded = true;
        }
    }
}

/// Whether a path and what was asked for are the same file. What was asked for without a path may be any.
fn is_same(path: &str, asked: &CStr) -> bool {
    let asked = Path::new(OsStr::from_bytes(asked.to_bytes()));
    match (Path::new(path).canonicalize(), asked.canonicalize()) {
        (Ok(path), Ok(asked)) => path == asked,
        (Ok(path), Err(_)) => asked.file_name() == path.file_name(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        _temporary: tempfile::TempDir,
        folder: Folder,
        root: String,
    }

    impl Place {
        /// A folder with a driver and a stand-in, and beside it the vendor's files.
        fn new() -> Place {
            let temporary = tempfile::tempdir().unwrap();
            for file in [
                "ours/libcuda.so.1",
                "ours/libnvrtc.so",
                "a/libcuda.so.1",
                "a/libnvrtc.so.12",
                "b/libnvrtc.so.13",
            ] {
                let path = temporary.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            let root = temporary.path().to_str().unwrap().to_owned();
            Place { folder: Folder::open(temporary.path().join("ours")), root, _temporary: temporary }
        }

        fn instead(&mut self, asked: &str) -> Option<String> {
            let asked = CString::new(asked.replace('%', &self.root)).unwrap();
            let found = self.folder.instead(&asked)?;
            Some(found.to_str().unwrap().replace(&self.root, "%"))
        }
    }

    #[test]
    fn what_is_in_the_folder_is_handed_out_by_whatever_path() {
        let mut place = Place::new();
        for asked in ["libcuda.so.1", "%/a/libcuda.so.1"] {
            assert_eq!(place.instead(asked).as_deref(), Some("%/ours/libcuda.so.1"), "{asked}");
        }
        for asked in ["libc.so.6", "%/a/libc.so.6", "%/b/libcuda.so.1", "%/ours/libcuda.so.1", "", "/"] {
            assert_eq!(place.instead(asked), None, "{asked}");
        }
    }

    #[test]
    fn a_stand_in_finds_what_it_stands_for() {
        let mut place = Place::new();
        assert_eq!(place.instead("strata-real-libnvrtc.so"), None, "nobody has asked");
        let stand_in = Some("%/ours/libnvrtc.so".to_owned());
        assert_eq!(place.instead("libnvrtc.so.13"), stand_in);
        assert_eq!(place.instead("strata-real-libnvrtc.so").as_deref(), Some("libnvrtc.so.13"));
        // Nothing of that name was found, so a program goes on with a path.
        assert_eq!(place.instead("%/a/libnvrtc.so.12"), stand_in);
        assert_eq!(place.instead("strata-real-libnvrtc.so").as_deref(), Some("%/a/libnvrtc.so.12"));
        let path = place.folder.path.join("libnvrtc.so");
        place.folder.loaded(&path);
        assert_eq!(place.instead("%/b/libnvrtc.so.13"), None, "a second one has no stand-in");
        assert_eq!(place.instead("%/a/libnvrtc.so.12"), stand_in);
        assert_eq!(place.instead("libnvrtc.so.12"), stand_in);
        assert_eq!(place.instead("strata-real-libnvrtc.so").as_deref(), Some("%/a/libnvrtc.so.12"));
    }
}
