//! A hash of all that can change a number: the sources of this room and every room below it, what they include, the scripts that
//! write some of them, their manifests, and the versions of the crates from elsewhere that compute values.
//!
//! Those versions come from the workspace's manifest, which names exactly one of each, and not from `Cargo.lock`: `cargo install`
//! without `--locked` takes no notice of that file, and a crate outside the workspace is built by its own.
//!
//! What each job's key holds already is left out: a workload's PTX, its inputs, the machine. So are comments and tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The rooms whose sources decide numbers.
pub const ROOMS: [&str; 9] = ["engine", "warp", "ptx", "memory", "sm", "cpu", "designs", "workloads", "gpu"];

/// The crates from elsewhere whose code computes a program's values. The tests say why the others cannot change a number.
pub const COMPUTING: [&str; 1] = ["half"];

/// Paths whose changes make cargo run the build script again.
pub fn watched(root: &Path) -> Vec<PathBuf> {
    let of_room = |room| {
        ["src", "build", "build.rs", "Cargo.toml"].map(|part| root.join("crates").join(room).join(part))
    };
    let paths = ROOMS.into_iter().flat_map(of_room).chain([root.join("Cargo.toml")]);
    paths.filter(|path| path.exists()).collect()
}

/// The hash; nothing where the rooms are not beside each other, as in a package.
///
/// # Errors
/// A file that cannot be read, or a crate that computes values in no exact version.
pub fn digest(root: &Path) -> Result<Option<String>, String> {
    if !ROOMS.iter().all(|room| root.join("crates").join(room).join("src").is_dir()) {
        return Ok(None);
    }
    let mut hash = Sha256::new();
    for (name, bytes) in parts(root)? {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    Ok(Some(hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()))
}

/// Everything that is hashed, by name.
///
/// # Errors
/// As [`digest`].
pub fn parts(root: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut parts = BTreeMap::new();
    for room in ROOMS {
        let folder = root.join("crates").join(room);
        collect(root, &folder.join("src"), &mut parts)?;
        if folder.join("build").is_dir() {
            collect(root, &folder.join("build"), &mut parts)?;
        }
        for file in
            ["build.rs", "Cargo.toml"].map(|file| folder.join(file)).into_iter().filter(|file| file.exists())
        {
            add(root, &file, &mut parts)?;
        }
    }
    let manifest = String::from_utf8_lossy(&read(&root.join("Cargo.toml"))?).into_owned();
    for package in COMPUTING {
        parts.insert(format!("Cargo.toml: {package}"), pinned(&manifest, package)?.into_bytes());
    }
    Ok(parts)
}

/// The files of a folder that decide numbers.
fn collect(root: &Path, folder: &Path, parts: &mut BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(named)? {
        let path = entry.map_err(named)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            collect(root, &path, parts)?;
        } else if path.is_file() && name != "tests.rs" && !is_in_the_key(&path) {
            add(root, &path, parts)?;
        }
    }
    Ok(())
}

/// Whether a file is a workload's beside its host side: PTX and inputs are in the keys of its own jobs.
fn is_in_the_key(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "suite") && path.extension().is_none_or(|of| of != "rs")
}

fn add(root: &Path, path: &Path, parts: &mut BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let bytes = read(path)?;
    let is_source = path.extension().is_some_and(|extension| extension == "rs");
    parts.insert(name, if is_source { without_comments(&bytes) } else { bytes });
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Lines that are no comments, without their indentation.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
}

/// The line of the workspace's manifest that says which version of a crate the rooms are built with.
fn pinned(manifest: &str, package: &str) -> Result<String, String> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[workspace.dependencies]").skip(1);
    let mut lines = lines.take_while(|line| !line.starts_with('['));
    let line = lines.find(|line| line.split_once('=').is_some_and(|(name, _)| name.trim() == package));
    match line.map(str::trim) {
        Some(line) if line.contains("\"=") => Ok(line.to_owned()),
        found => Err(format!(
            "Cargo.toml: [workspace.dependencies]: found {}, expected one exact version, {package} = \"=1.2.3\": it computes \
             values, and builds that take no notice of Cargo.lock must take the same one",
            found.unwrap_or("nothing")
        )),
    }
}
