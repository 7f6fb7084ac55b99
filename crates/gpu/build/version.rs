//! A hash of all that can change a number: the sources of this room and every room below it, what they include, the scripts that
//! write some of them, their manifests, and the versions of the crates that they are built with.
//!
//! What each job's key holds already is left out: a workload's PTX, its inputs, the machine. So are comments and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The rooms whose sources decide numbers.
pub const ROOMS: [&str; 9] = ["engine", "warp", "ptx", "memory", "sm", "cpu", "designs", "workloads", "gpu"];

/// Paths whose changes make cargo run the build script again.
pub fn watched(root: &Path) -> Vec<PathBuf> {
    let of_room = |room| {
        ["src", "build", "build.rs", "Cargo.toml"].map(|part| root.join("crates").join(room).join(part))
    };
    let paths = ROOMS.into_iter().flat_map(of_room).chain([root.join("Cargo.lock"), root.join("Cargo.toml")]);
    paths.filter(|path| path.exists()).collect()
}

/// The hash; nothing where the rooms are not beside each other, as in a package.
///
/// # Errors
/// A file that cannot be read.
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
/// A file that cannot be read.
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
    let lock = root.join("Cargo.lock");
    if lock.exists() {
        let text = String::from_utf8_lossy(&read(&lock)?).into_owned();
        for (package, entry) in built_with(&text) {
            parts.insert(format!("Cargo.lock: {package}"), entry.into_bytes());
        }
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

/// The entries of `Cargo.lock` that the rooms are built with, by package and version.
fn built_with(lock: &str) -> BTreeMap<String, String> {
    let entries: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let field = |entry: &str, name: &str| {
        let line = entry.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        line.map(|value| value.trim_matches('"').to_owned()).unwrap_or_default()
    };
    let needs = |entry: &str| -> Vec<String> {
        let list =
            entry.split_once("dependencies = [").map_or("", |(_, rest)| rest.split(']').next().unwrap_or(""));
        list.lines().map(|line| line.trim().trim_matches(|c| c == '"' || c == ',').to_owned()).collect()
    };
    let mut wanted: Vec<String> = ROOMS.map(|room| format!("strata-{room}")).into();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeMap::new());
    while let Some(wish) = wanted.pop() {
        if wish.is_empty() || !seen.insert(wish.clone()) {
            continue;
        }
        // A name, and where there are several of it their version.
        let mut words = wish.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for entry in &entries {
            let entry_version = field(entry, "version");
            if field(entry, "name") == name && version.is_none_or(|version| version == entry_version) {
                wanted.extend(needs(entry));
                found.insert(format!("{name} {entry_version}"), (*entry).trim().to_owned());
            }
        }
    }
    found
}
