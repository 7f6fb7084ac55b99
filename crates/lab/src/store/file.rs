//! Opens, reads and writes files of a store's folder, in which anything may lie.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Suffix of temporary names.
pub const TEMPORARY: &str = ".tmp";

/// Opens a regular file as `options` say. Never waits, never follows a link, and opens nothing else: opening a device
/// may do something, and opening a FIFO waits for its other end.
///
/// # Errors
/// What lies there instead, or why it cannot be opened.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) => regular(found.file_type())?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = options.custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(path)?;
    // It may have been replaced since.
    regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a regular file to read it, as [`open`].
///
/// # Errors
/// As [`open`].
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open`], or that the file is longer.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut file = open_to_read(path)?;
    let too_long = |length| io::Error::other(format!("found {length} bytes, expected at most {limit}"));
    let length = file.metadata()?.len();
    if length > limit {
        return Err(too_long(length));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    // It may grow while it is read.
    (&mut file).take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_long(bytes.len() as u64));
    }
    Ok(bytes)
}

/// Whether a file may end with these bytes: a long one of at most `limit` bytes that does not is not worth reading.
///
/// # Errors
/// As [`open`].
pub fn may_end_with(path: &Path, limit: u64, end: &[u8]) -> io::Result<bool> {
    const LONG: u64 = 1 << 20;
    let file = open_to_read(path)?;
    let length = file.metadata()?.len();
    if !(LONG..=limit).contains(&length) {
        return Ok(true);
    }
    let mut found = vec![0; end.len()];
    file.read_exact_at(&mut found, length - end.len() as u64)?;
    Ok(found == end)
}

/// Writes a file so that whoever looks finds nothing or all of it, and so that it outlasts a crash of the host. Replaces
/// a regular file and nothing else.
///
/// # Errors
/// What lies there instead, or why the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// [`write`] with the file's bytes from a function.
///
/// # Errors
/// As [`write`].
pub fn write_with(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    put(path, fill).map(drop)
}

/// [`write`] that returns the file, still locked.
///
/// # Errors
/// As [`write`].
pub fn write_and_hold(path: &Path, bytes: &[u8]) -> io::Result<File> {
    put(path, |file| file.write_all(bytes))
}

/// Writes a file and returns it, locked as long as it is open.
fn put(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) => regular(found.file_type())?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let (temporary, mut file) = temporary(path)?;
    let whole = || {
        fill(&mut file)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    whole().inspect_err(|_| drop(fs::remove_file(&temporary)))?;
    sync_folder(path)?;
    Ok(file)
}

/// Makes what happened to a file's name durable.
///
/// # Errors
/// If the folder cannot be synced.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// A new file beside a path, locked while it is open: the lock shows that its writer is alive.
fn temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    // A process before this one may have had its number, and a folder may lie there.
    for attempt in 0..100 {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.{attempt}{TEMPORARY}", std::process::id()));
        let temporary = PathBuf::from(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => {
                file.lock()?;
                // Who opens the store between creation and locking takes the file for a leftover.
                if is_at(&file, &temporary) {
                    return Ok((temporary, file));
                }
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("found every temporary name taken"))
}

/// Whether an open file is still the one that a path names.
pub fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: fs::Metadata, other: fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|one| fs::symlink_metadata(path).is_ok_and(|other| same(one, other)))
}

/// Removes a file if nobody holds it locked.
///
/// # Errors
/// Why it cannot be removed.
pub fn remove_abandoned(path: &Path) -> io::Result<()> {
    // Held while it is removed, so that nobody takes it for theirs meanwhile.
    match open_to_read(path) {
        Ok(file) if file.try_lock().is_ok() && is_at(&file, path) => remove(path),
        _ => Ok(()),
    }
}

/// Removes a file. That it is gone already is no error.
///
/// # Errors
/// Why it cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Refuses anything but a regular file.
fn regular(found: FileType) -> io::Result<()> {
    let found = match found {
        file if file.is_file() => return Ok(()),
        folder if folder.is_dir() => "a folder",
        link if link.is_symlink() => "a symbolic link",
        fifo if fifo.is_fifo() => "a FIFO",
        socket if socket.is_socket() => "a socket",
        _ => "a device",
    };
    Err(io::Error::other(format!("found {found}, expected a regular file")))
}

/// Writes a file beside a path and removes it.
///
/// # Errors
/// Why none can be written.
pub fn probe(path: &Path) -> io::Result<()> {
    let (temporary, mut file) = temporary(path)?;
    let written = file.write_all(&[0; 4096]);
    fs::remove_file(&temporary)?;
    written
}
