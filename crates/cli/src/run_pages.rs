//! A page of each run, beside a page of many.

use std::path::{Path, PathBuf};

use strata_lab::job::{Job, Key};
use strata_lab::page;
use strata_lab::store::Store;

use crate::output::Output;

/// The folder, beside the page.
const FOLDER: &str = "runs";

/// Where a page finds that of one of its runs.
pub fn address(key: &Key) -> String {
    format!("{FOLDER}/{key}.html")
}

/// The folder beside a page, which is made if it is not there.
///
/// # Errors
/// Why it cannot be made.
pub fn folder(page: &Path) -> Result<PathBuf, String> {
    let folder = page.with_file_name(FOLDER);
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("{}: {error}, expected a folder for the runs' pages", folder.display()))?;
    Ok(folder)
}

/// Writes a page of each run that the store has into the folder.
///
/// # Errors
/// A store that cannot be read, or a page that cannot be written.
pub fn write(folder: &Path, jobs: &[Job], store: &Store) -> Result<(), String> {
    for key in jobs.iter().filter_map(|job| store.find(job)) {
        let Some(record) = store.get(&key)? else { continue };
        let parts = page::run(&record, &key, 0, &|_| "#launches".to_owned());
        Output::new(&folder.join(format!("{key}.html")))?.write(parts.document())?;
    }
    Ok(())
}
