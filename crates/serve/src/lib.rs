//! The live page: one result store in a browser, while sweeps go on.
//!
//! | module | subject |
//! |---|---|
//! | `access` | who is answered: methods, hosts, tokens |
//! | `listen` | connections, and their limits |
//! | `watch` | what the store holds, kept up to date |
//! | `desk` | papers' pages, which take long: made in the background and kept |
//! | `site` | what requests are answered from |
//! | `routes` | addresses, and what they lead to |
//! | `address` | what pages load |
//! | `events` | tells browsers what has changed |
//! | `answer` | responses and what all of them forbid |
//! | `view` | pages |
//! | `words` | times and counts as text |
//!
//! Nothing here writes: not to the store and not to anything else.

mod access;
mod address;
mod answer;
mod desk;
mod events;
mod listen;
mod routes;
mod site;
#[cfg(test)]
mod tests;
mod view;
mod watch;
mod words;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

pub use access::Token;

use access::Access;
use site::Site;
use watch::Watch;

/// What is served, where and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder of the result store.
    pub store: PathBuf,
    /// Version of the simulator whose results the papers' pages show, or `any`; `None` for this one's.
    pub simulator: Option<String>,
    /// Where to listen. Port 0 is any that is free.
    pub listen: SocketAddr,
    /// What a browser must bring along. Without one, whoever reaches a local address is answered, and one is made for others.
    pub token: Option<Token>,
}

/// Serves a store until the process is interrupted or asked to end. Calls `on_listening` with the address to open once
/// browsers are answered.
///
/// # Errors
/// An address that cannot be listened at, or a host without randomness.
pub fn serve(options: &Options, on_listening: impl FnOnce(&str)) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("the live page's thread: {error}"))?;
    runtime.block_on(async {
        let at = options.listen;
        let listener = tokio::net::TcpListener::bind(at).await.map_err(|error| {
            format!("--listen {at}: {error}, expected an address of this host and a free port (0 takes any)")
        })?;
        let at = listener.local_addr().map_err(|error| format!("--listen {at}: {error}"))?;
        let access = Access::new(at, options.token.clone())?;
        let url = access.url(at);
        let watch = Watch::start(options.store.clone(), options.simulator.clone());
        let stop = listen::stop()?;
        let site = Arc::new(Site::new(watch, access, stop.clone()));
        on_listening(&url);
        listen::serve(listener, routes::router(site.clone()), stop).await;
        site.end();
        Ok::<(), String>(())
    })?;
    // A page that is being made is nobody's any more.
    runtime.shutdown_background();
    Ok(())
}
