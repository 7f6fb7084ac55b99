//! `strata store`: care for a result store.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use strata_lab::store;

use crate::{Finished, print, sweep};

/// Arguments of `strata store`.
#[derive(Args)]
pub struct StoreArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Pack the results of a store into a few files, so that a store of many thousands opens in seconds. Safe to kill
    /// and to repeat; sweeps may go on beside it.
    #[command(after_help = "Example:\n  strata store compact strata-store")]
    Compact {
        /// Folder of the result store.
        store: PathBuf,
    },
}

/// Packs a store.
///
/// # Errors
/// A store that is not there, cannot be written or is being packed.
pub fn store(arguments: &StoreArguments) -> Result<Finished, String> {
    let What::Compact { store: folder } = &arguments.what;
    sweep::check_there(folder)?;
    let done = store::compact(folder)?;
    sweep::report(&done.findings);
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let (moved, packs) = (files(done.moved), files(done.packs));
    print(&format!("{}: {} results are in {packs}; {moved} were packed\n", folder.display(), done.results))?;
    Ok(Finished::Well)
}
