//! A store with many writers, which die at any moment: no result is lost, half of one is never read, and none is made twice.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use strata_lab::job::Key;
use strata_lab::record::Row;
use strata_lab::store::Store;

/// Writers at a time.
const WRITERS: usize = 6;

/// How many writers are killed at work.
const KILLS: usize = 60;

/// Numbers from 0 to below `below`, the same in every run of the test.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn strata() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Writes the files of sixteen jobs.
fn jobs(folder: &Path) -> Vec<PathBuf> {
    let sweep = ["compare", "saxpy", "--sweep", "l1d.ways=1..4", "--sweep", "l1d.mshr_entries=1..4"];
    let (jobs, store) = (folder.join("jobs"), folder.join("none"));
    let mut command = strata();
    command.args(sweep).arg("--store").arg(store).arg("--write-jobs").arg(&jobs);
    assert!(command.status().unwrap().success());
    let mut files: Vec<PathBuf> = fs::read_dir(jobs).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 16);
    files
}

/// The numbers of all results of a store, which must hold nothing else. Removes what the dead have left, as sweeps do.
fn results(store: &Path) -> BTreeMap<String, Vec<Row>> {
    let (opened, findings) = Store::open(store).unwrap();
    let passed_over: Vec<String> = findings.passed_over.iter().map(ToString::to_string).collect();
    assert_eq!(passed_over, Vec::<String>::new());
    findings.clean().unwrap();
    let read = |key: &Key| (key.to_string(), opened.get(key).unwrap().unwrap().rows);
    opened.keys().map(read).collect()
}

/// How often each job was run to its end.
fn runs(store: &Path) -> BTreeMap<String, usize> {
    let mut runs = BTreeMap::new();
    for line in fs::read_to_string(store.join("host.log")).unwrap_or_default().lines() {
        *runs.entry(line.split(' ').next().unwrap().to_owned()).or_default() += 1;
    }
    runs
}

/// Lets writers write to a store in a folder, and kills them.
fn many_writers(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    let files = jobs(folder);
    let write = |store: &Path, files: &[&PathBuf]| -> Child {
        let mut command = strata();
        // Of several jobs, each has a process of its own, which dies with this one.
        command.arg("job").args(files).arg("--wait").arg("--store").arg(store).spawn().unwrap()
    };
    let undisturbed = folder.join("undisturbed");
    for file in &files {
        assert!(write(&undisturbed, &[file]).wait().unwrap().success());
    }
    let expected = results(&undisturbed);
    assert_eq!(expected.len(), files.len());

    let mut numbers = Numbers(7);
    let (mut kills, mut stores) = (0, 0);
    while kills < KILLS {
        // A store that is complete leaves nothing to kill.
        let store = folder.join(format!("store {stores}"));
        stores += 1;
        let mut seen: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        let mut writers: Vec<(Child, Instant)> = Vec::new();
        while seen.len() < expected.len() {
            while writers.len() < WRITERS {
                let first = numbers.next(files.len() as u64) as usize;
                let count = 1 + numbers.next(3) as usize;
                let chosen: Vec<&PathBuf> = files.iter().cycle().skip(first).take(count).collect();
                let life = Duration::from_millis(numbers.next(600));
                writers.push((write(&store, &chosen), Instant::now() + life));
            }
            writers.retain_mut(|(child, end)| match child.try_wait().unwrap() {
                Some(status) => {
                    assert!(status.success(), "{status}");
                    false
                }
                None if Instant::now() >= *end => {
                    child.kill().unwrap();
                    kills += usize::from(!child.wait().unwrap().success());
                    false
                }
                None => true,
            });
            let now = results(&store);
            for (key, rows) in &seen {
                assert_eq!(now.get(key), Some(rows), "{key} is lost");
            }
            seen = now;
        }
        for (child, _) in &mut writers {
            assert!(child.wait().unwrap().success());
        }
        assert!(seen == expected, "the numbers differ");
        // All that ran at last have ended, and children of the dead have seen it.
        let end = Instant::now() + Duration::from_secs(60);
        let names =
            || fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        while !names().all(|name| name.ends_with(".parquet") || name == "host.log") {
            assert!(Instant::now() < end, "{:?}", names().collect::<Vec<_>>());
            results(&store);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(names().filter(|name| name.ends_with(".parquet")).count(), expected.len());
        // Who dies between a result and its line writes no line.
        let runs = runs(&store);
        assert!(runs.values().all(|count| *count == 1), "a job was run again: {runs:?}");
        assert!(runs.keys().all(|key| expected.contains_key(key)));
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn writers_that_die_lose_nothing_on_a_disk() {
    many_writers(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("writers"));
}

#[test]
fn writers_that_die_lose_nothing_in_memory() {
    let memory = Path::new("/dev/shm");
    assert!(memory.is_dir(), "Linux has a tmpfs there");
    many_writers(&memory.join(format!("strata-writers-{}", std::process::id())));
}
