//! `strata serve`: a result store in a browser.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use strata_serve::{Options, Token};

use crate::{Finished, print, sweep};

/// Arguments of `strata serve`.
#[derive(Args)]
pub struct ServeArguments {
    /// Folder of the result store. It is only read.
    #[arg(long, value_name = "DIR", default_value = "strata-store")]
    store: PathBuf,
    /// Address and port to listen at; port 0 is any that is free. Other hosts reach the page only at an address of theirs,
    /// such as 0.0.0.0, and only with a token.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8327")]
    listen: SocketAddr,
    /// Answer only browsers that bring this token along, in the address that is printed and later as a cookie. Without TOKEN,
    /// one is made, as always where other hosts reach the page.
    #[arg(long, value_name = "TOKEN", num_args = 0..=1)]
    token: Option<Option<String>>,
    /// In papers, show the results of another version of the simulator, or of `any` version.
    #[arg(long, value_name = "VERSION")]
    simulator: Option<String>,
}

/// Shows a store until Ctrl-C.
///
/// # Errors
/// A store that is not there, an address that cannot be listened at, or a token that is too short.
pub fn serve(arguments: &ServeArguments) -> Result<Finished, String> {
    sweep::check_there(&arguments.store)?;
    let token = match &arguments.token {
        None => None,
        Some(None) => Some(Token::random()?),
        Some(Some(text)) => Some(Token::new(text).map_err(|error| format!("--token: {error}"))?),
    };
    let options = Options {
        store: arguments.store.clone(),
        simulator: arguments.simulator.clone(),
        listen: arguments.listen,
        token,
    };
    let mut printed = Ok(());
    strata_serve::serve(&options, |url| {
        let folder = arguments.store.display();
        printed = print(&format!("{folder}: {url}\n"));
        eprintln!("Ctrl-C ends it");
    })?;
    printed?;
    Ok(Finished::Well)
}
