//! What the store holds, kept up to date by a thread that looks whenever the folder has changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant, SystemTime};

use strata_lab::job::Key;
use strata_lab::store::Store;
use strata_workloads::Size;
use tokio::sync::watch;

/// Least time between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// A look may take one part in so many of the time.
const SHARE: u32 = 5;

/// How long a folder's time may lag behind its contents: clocks of files are coarse.
const COARSE: Duration = Duration::from_secs(2);

/// After so long the folder is read again even if its time says that nothing has changed: other hosts' changes may show late.
const LATEST: Duration = Duration::from_secs(30);

/// How often the times of sweeps are shown anew while nothing else changes.
const TICK: Duration = Duration::from_secs(5);

/// Numbers that go up when something has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Results and failures.
    pub results: u64,
    /// Sweeps: which there are, and how far they are.
    pub sweeps: u64,
    /// Papers' pages that were made.
    pub papers: u64,
}

/// What the store held at the last look.
#[derive(Debug)]
pub struct Snapshot {
    /// The store; `None` until it has been opened.
    pub store: Option<Store>,
    /// The finished jobs, the newest first.
    pub newest: Vec<Key>,
    /// Sizes of the finished jobs of workloads.
    pub sizes: BTreeSet<Size>,
    /// Why the store could not be read, or its results of another simulator not be found.
    pub problem: Option<String>,
    /// What lies in the folder and is no result.
    pub passed_over: Vec<String>,
    /// [`News::results`] of this look.
    pub results: u64,
}

/// Looks after a store.
#[derive(Debug)]
pub struct Watch {
    /// The store's folder.
    pub folder: PathBuf,
    /// Version of the simulator whose results papers are measured by, or `any`; `None` for this one's.
    pub simulator: Option<String>,
    snapshot: RwLock<Arc<Snapshot>>,
    news: watch::Sender<News>,
    ended: AtomicBool,
}

impl Watch {
    /// Looks after the store in a folder from now on.
    pub fn start(folder: PathBuf, simulator: Option<String>) -> Arc<Watch> {
        let watch = Arc::new(Watch::new(folder, simulator));
        let watching = watch.clone();
        std::thread::spawn(move || watching.look_until_ended());
        watch
    }

    /// A watch that has not looked yet.
    pub fn new(folder: PathBuf, simulator: Option<String>) -> Watch {
        let snapshot = Snapshot {
            store: None,
            newest: vec![],
            sizes: BTreeSet::new(),
            problem: None,
            passed_over: vec![],
            results: 0,
        };
        Watch {
            folder,
            simulator,
            snapshot: RwLock::new(Arc::new(snapshot)),
            news: watch::Sender::new(News::default()),
            ended: AtomicBool::new(false),
        }
    }

    /// What the store held at the last look.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.read().expect("no holder panics").clone()
    }

    /// What has changed, now and from now on.
    pub fn news(&self) -> watch::Receiver<News> {
        self.news.subscribe()
    }

    /// Says that a paper's page was made.
    pub fn has_made_a_page(&self) {
        self.news.send_modify(|news| news.papers += 1);
    }

    /// Ends its threads.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Whether its threads are to end.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn look_until_ended(&self) {
        let mut last: Option<(Instant, Option<SystemTime>)> = None;
        let mut ticked = Instant::now();
        while !self.has_ended() {
            let started = Instant::now();
            let changed = self.changed();
            let is_coarse = |at: &SystemTime| at.elapsed().is_ok_and(|elapsed| elapsed < COARSE);
            let is_due = last.is_none_or(|(looked, known)| {
                known != changed || looked.elapsed() > LATEST || changed.as_ref().is_some_and(is_coarse)
            });
            if is_due || self.has_lost_a_sweep() {
                self.look();
                last = Some((started, changed));
            }
            let sweeps = self.snapshot().store.as_ref().map_or(0, |store| store.sweeps().count());
            if sweeps > 0 && ticked.elapsed() >= TICK {
                self.news.send_modify(|news| news.sweeps += 1);
                ticked = Instant::now();
            }
            std::thread::sleep(LOOK.max(started.elapsed() * SHARE));
        }
    }

    /// When the folder has changed.
    fn changed(&self) -> Option<SystemTime> {
        fs::metadata(&self.folder).and_then(|found| found.modified()).ok()
    }

    /// Whether a sweep's process was killed: that changes no folder.
    fn has_lost_a_sweep(&self) -> bool {
        self.snapshot().store.as_ref().is_some_and(|store| store.sweeps().any(|sweep| !sweep.is_alive()))
    }

    /// Looks at the store once.
    pub fn look(&self) {
        let before = self.snapshot();
        let opened = match &before.store {
            None => Store::open(&self.folder).map(|(store, findings)| {
                (store, findings.passed_over.iter().map(ToString::to_string).collect())
            }),
            Some(store) => {
                let mut store = store.clone();
                store.refresh().map(|()| (store, before.passed_over.clone()))
            }
        };
        let mut news = *self.news.borrow();
        let next = match opened {
            Err(problem) => {
                // What was there before stays; the next look may find it again.
                if before.problem.as_ref() != Some(&problem) {
                    news.results += 1;
                }
                let Snapshot { store, newest, sizes, passed_over, .. } = &*before;
                Snapshot {
                    store: store.clone(),
                    newest: newest.clone(),
                    sizes: sizes.clone(),
                    problem: Some(problem),
                    passed_over: passed_over.clone(),
                    results: news.results,
                }
            }
            Ok((mut store, passed_over)) => {
                let problem = self.look_up(before.store.as_ref(), &mut store);
                if before.store.as_ref().is_none_or(|old| differ(old, &store)) || before.problem != problem {
                    news.results += 1;
                }
                let ids =
                    |store: &Store| store.sweeps().map(|sweep| sweep.id.clone()).collect::<BTreeSet<_>>();
                let had = before.store.as_ref().map(ids).unwrap_or_default();
                let has = ids(&store);
                if had != has || (!has.is_empty() && news.results != before.results) {
                    news.sweeps += 1;
                }
                let (newest, sizes) = (newest(&store), store.sizes());
                Snapshot { store: Some(store), newest, sizes, problem, passed_over, results: news.results }
            }
        };
        *self.snapshot.write().expect("no holder panics") = Arc::new(next);
        self.news.send_if_modified(|known| {
            let (results, sweeps) = (known.results, known.sweeps);
            (known.results, known.sweeps) = (news.results, known.sweeps.max(news.sweeps));
            (results, sweeps) != (known.results, known.sweeps)
        });
    }

    /// Lets a store find the results of another simulator, if that is wanted and they have changed. Returns why it cannot.
    fn look_up(&self, before: Option<&Store>, store: &mut Store) -> Option<String> {
        let version = self.simulator.as_ref()?;
        let others = |store: &Store| {
            let others = store.runs().filter(|(_, run)| run.job.simulator != strata_lab::SIMULATOR);
            others.map(|(key, _)| key.clone()).collect::<Vec<_>>()
        };
        match before {
            Some(before) if others(before) == others(store) => None,
            _ => store.look_up(version).err(),
        }
    }
}

/// Whether two looks found other results or failures.
fn differ(one: &Store, other: &Store) -> bool {
    !one.keys().eq(other.keys()) || !one.failures().eq(other.failures())
}

/// The finished jobs, the newest first; those in packs, which do not say when they were measured, come last.
fn newest(store: &Store) -> Vec<Key> {
    let mut all: Vec<(Option<SystemTime>, &Key)> =
        store.keys().map(|key| (store.written(key), key)).collect();
    all.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    all.into_iter().map(|(_, key)| key.clone()).collect()
}
