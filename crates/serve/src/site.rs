//! What requests are answered from.

use std::sync::{Arc, LazyLock};

use strata_lab::paper::{self, Paper};
use tokio::sync::{Semaphore, watch};

use crate::access::Access;
use crate::desk::Desk;
use crate::watch::Watch;

/// Most browsers that are told at once what has changed.
pub const LISTENERS: usize = 100;

/// Most results that are read at once.
const READERS: usize = 2;

/// The papers that come along.
pub static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    let load = |name| Paper::load(name).expect("a paper that comes along can be read");
    paper::names().into_iter().map(load).collect()
});

/// What requests are answered from.
pub struct Site {
    /// What the store holds.
    pub watch: Arc<Watch>,
    /// Papers' pages.
    pub desk: Arc<Desk>,
    /// Room for browsers that are told what has changed.
    pub listeners: Arc<Semaphore>,
    /// Becomes true at the end.
    pub stop: watch::Receiver<bool>,
    /// Who is answered.
    pub access: Arc<Access>,
    /// Room for who reads results.
    pub readers: Semaphore,
}

impl Site {
    /// A site that shows what `watch` looks after.
    pub fn new(watch: Arc<Watch>, access: Access, stop: watch::Receiver<bool>) -> Site {
        Site {
            desk: Desk::start(&PAPERS, watch.clone()),
            watch,
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            stop,
            access: Arc::new(access),
            readers: Semaphore::new(READERS),
        }
    }

    /// Ends its threads.
    pub fn end(&self) {
        self.watch.end();
    }
}
