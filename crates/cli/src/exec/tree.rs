//! The processes under this one.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// All processes that descend from this one and have not ended. Those whose parents have ended are among them once this
/// process is their subreaper.
pub fn descendants() -> BTreeSet<u32> {
    let processes: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| Some((pid, parent(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect();
    let mut found = BTreeSet::new();
    let mut next = vec![getpid().as_raw_nonzero().get() as u32];
    while let Some(above) = next.pop() {
        for (pid, _) in processes.iter().filter(|(_, parent)| *parent == above) {
            if found.insert(*pid) {
                next.push(*pid);
            }
        }
    }
    found
}

/// The parent of a process that has not ended, from its line in `/proc/PID/stat` (proc_pid_stat(5)): number, name in
/// parentheses, state, parent.
fn parent(stat: &str) -> Option<u32> {
    // A name may contain parentheses and spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    match fields.next()? {
        "Z" | "X" => None,
        _ => fields.next()?.parse().ok(),
    }
}

/// Sends a signal to a process; one that has ended needs none.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    #[test]
    fn a_name_hides_no_parent() {
        assert_eq!(parent("12 (a) b) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (sh) Z 7 12 12 0"), None, "it has ended");
        assert_eq!(parent("12"), None);
    }

    #[test]
    fn a_child_and_its_child_are_found() {
        // The shell says when its child runs, and both wait for their input to end.
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sh -c 'echo $$; read -r line'; true"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let inner: u32 = line.trim().parse().unwrap();
        let found = descendants();
        assert!(found.contains(&child.id()) && found.contains(&inner), "{found:?}");
        child.wait().unwrap();
        let found = descendants();
        assert!(!found.contains(&child.id()) && !found.contains(&inner), "{found:?}");
    }
}
