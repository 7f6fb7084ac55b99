//! A program while it runs: it is waited for, and stopped with all processes under it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use super::{processes, tree};
use crate::interrupt;

/// How often the run is looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// How long launches may take to end once they are asked to: far longer than they need, even on a busy host.
const LAUNCHES: Duration = Duration::from_secs(10);

/// How long a program may take to end by itself once its launches have ended, and then again when it is told to.
const GRACE: Duration = Duration::from_millis(250);

/// How a program ended.
pub struct Ended {
    /// Its exit status, as a shell has it.
    pub status: u8,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// The processes that used CUDA and had not ended when the run was interrupted.
    pub stopped: BTreeSet<u32>,
    /// The program, and processes whose parents had ended, that a signal ended: its number.
    pub killed: BTreeMap<u32, i32>,
}

/// Runs a program until it and all processes under it that use CUDA have ended. `lock` is released to stop their
/// launches, `folder` is where the driver writes, and `look` is called from time to time.
///
/// # Errors
/// If the program cannot be started.
pub fn run(
    command: &mut Command,
    lock: &File,
    folder: &Path,
    look: &mut dyn FnMut(),
) -> Result<Ended, String> {
    let interrupts = interrupt::counter();
    // Processes whose parents have ended stay under this one.
    let _ = set_child_subreaper(Some(getpid()));
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let mut under =
        Under { reaped: reap(), main: child.id(), status: None, killed: BTreeMap::new(), anybody: true };
    loop {
        under.wait(PERIOD);
        look();
        if interrupts.count() > 0 {
            break;
        }
        if let Some(status) = under.status {
            let alive = tree::descendants();
            if !under.anybody || processes::pids(folder).is_disjoint(&alive) {
                let stopped = BTreeSet::new();
                return Ok(Ended { status, interrupted: false, stopped, killed: under.killed });
            }
        }
    }
    // Of those that have ended by now all is known.
    let alive = tree::descendants();
    let stopped = processes::pids(folder).intersection(&alive).copied().collect();
    let _ = lock.unlock();
    let asked = Instant::now();
    let mut settled = None;
    while under.anybody {
        let alive = tree::descendants();
        let at_once = interrupts.count() > 1;
        let launching = !processes::launching(folder).is_disjoint(&alive);
        if at_once || !launching || asked.elapsed() > LAUNCHES {
            let since: Instant = *settled.get_or_insert_with(Instant::now);
            let how = match since.elapsed() {
                _ if at_once => Some(Signal::KILL),
                time if time > 2 * GRACE => Some(Signal::KILL),
                time if time > GRACE => Some(Signal::TERM),
                _ => None,
            };
            if since.elapsed() > LAUNCHES {
                eprintln!("{program}: processes that cannot be ended: {alive:?}");
                break;
            }
            for pid in alive {
                how.into_iter().for_each(|how| tree::signal(pid, how));
            }
        }
        under.wait(PERIOD);
        look();
    }
    Ok(Ended { status: interrupt::status(), interrupted: true, stopped, killed: under.killed })
}

/// The processes under this one.
struct Under {
    /// Those that have ended.
    reaped: Receiver<(Pid, WaitStatus)>,
    /// The program itself.
    main: u32,
    status: Option<u8>,
    killed: BTreeMap<u32, i32>,
    /// Whether any process may be left.
    anybody: bool,
}

impl Under {
    /// Waits until a process ends, but no longer than this.
    fn wait(&mut self, time: Duration) {
        match self.reaped.recv_timeout(time) {
            Ok((pid, status)) => {
                let pid = pid.as_raw_nonzero().get() as u32;
                if pid == self.main {
                    self.status = status_of(status);
                }
                self.killed.extend(status.terminating_signal().map(|signal| (pid, signal)));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.anybody = false,
        }
    }
}

/// Waits for every process under this one, until there is none left.
fn reap() -> Receiver<(Pid, WaitStatus)> {
    let (ended, reaped) = channel();
    thread::spawn(move || {
        loop {
            match wait(WaitOptions::empty()) {
                Ok(Some(found)) if ended.send(found).is_err() => return,
                Ok(_) | Err(Errno::INTR) => {}
                // There is none.
                Err(_) => return,
            }
        }
    });
    reaped
}

/// An exit status as a shell gives it; `None` for a process that has not ended.
fn status_of(status: WaitStatus) -> Option<u8> {
    let ended = status.exit_status().map(|code| code as u8);
    ended.or(status.terminating_signal().map(|signal| 128 + signal as u8))
}
