//! What a run has come to is not lost: not when the command is killed, and not when a disk is full.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use strata_lab::store::columns;

/// A new folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

fn strata(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The command where no file gets longer than so many blocks of 512 or 1024 bytes, as on a full disk.
fn full(blocks: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"";
    command.args(["-c", script, &blocks.to_string(), env!("CARGO_BIN_EXE_strata")]).args(arguments);
    command.stdin(Stdio::null());
    command
}

/// Standard output and error of a command that must end with a status.
fn failed(expected: i32, command: &mut Command) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert_eq!(status.code(), Some(expected), "{out}{err}");
    assert!(!err.contains("panicked"), "{err}");
    (out, err)
}

/// Waits until something is so, which it must be before a command ends, however long that takes.
fn until(event: &str, child: &mut Child, mut is_so: impl FnMut() -> bool) {
    loop {
        let status = child.try_wait().unwrap();
        if is_so() {
            return;
        }
        assert_eq!(status, None, "the command ended before {event}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Processor time of a process so far, in hundredths of a second.
fn ticks(id: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    // Behind the name come the state and eleven more fields, then the times of user and system.
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2);
    fields.map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
fn there_is_a_report_before_the_first_launch_ends() {
    let folder = folder("first-launch");
    let file = path(&folder, "run.json");
    // Its one launch takes minutes.
    let mut child = strata(&["run", "gemm", "--size", "paper", "--json", &file]).spawn().unwrap();
    until("a report", &mut child, || fs::metadata(&file).is_ok_and(|file| file.len() > 0));
    child.kill().unwrap();
    child.wait().unwrap();
    let report: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(report["launches"], serde_json::json!([]));
    assert_eq!(report["stopped"], "under way");
}

#[test]
fn a_run_that_is_killed_leaves_what_it_had() {
    let folder = folder("killed");
    let (file, timeline) = (path(&folder, "run.json"), path(&folder, "run.csv"));
    let run = ["run", "gaussian", "--size", "paper", "--threads", "1"];
    let written = ["--json", &file, "--timeline", &timeline, "--span", "5000"];
    let mut child = strata(&[&run[..], &written].concat()).spawn().unwrap();
    let report = || serde_json::from_str::<Value>(&fs::read_to_string(&file).unwrap());
    let launches = |report: &Value| report["launches"].as_array().unwrap().len();
    // Whatever moment it is: there is nothing yet, or all of a report.
    let is_empty = || fs::metadata(&file).map_or(true, |file| file.len() == 0);
    until("a report of a launch", &mut child, || !is_empty() && launches(&report().unwrap()) > 0);
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "it was killed at work");
    let report = report().unwrap();
    assert_eq!(report["stopped"], "under way");
    let cycles: u64 =
        report["launches"].as_array().unwrap().iter().map(|of| of["cycles"].as_u64().unwrap()).sum();
    assert_eq!(report["cycles"].as_u64(), Some(cycles));
    assert!(report["statistics"]["sm"]["issued"].as_u64().unwrap() > 0);
    let mut lines = csv::ReaderBuilder::new().from_path(&timeline).unwrap();
    let records: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
    let spans = |launch: usize| records.iter().filter(|of| of[0] == *launch.to_string()).count() as u64;
    let first = report["launches"][0]["cycles"].as_u64().unwrap();
    assert_eq!(spans(0), first.div_ceil(5000));
    assert!(spans(launches(&report) - 1) > 0, "every launch that ended has its spans");
}

#[test]
fn a_run_on_a_full_disk_says_what_is_not_written_and_shows_the_rest() {
    let folder = folder("full");
    let (json, csv) = (path(&folder, "run.json"), path(&folder, "run.csv"));
    let device = ["run", "saxpy", "--json", "/dev/full", "--timeline", "/dev/full"];
    let (out, err) = failed(2, &mut strata(&device));
    assert!(out.starts_with("saxpy (test) on gtx480: results verified\n"), "{out}");
    assert_eq!(err.matches("/dev/full: No space left on device (os error 28)").count(), 3, "{err}");

    fs::write(&json, "before").unwrap();
    let (out, err) = failed(2, &mut full(1, &["run", "saxpy", "--json", &json, "--timeline", &csv]));
    assert!(out.starts_with("saxpy (test) on gtx480: results verified\n"), "{out}");
    for file in [&json, &csv] {
        let reason = format!("{file}: File too large (os error 27)");
        assert!(err.contains(&format!("{reason}; the run goes on\n")), "{err}");
        assert_eq!(err.matches(&reason).count(), 2, "{err}");
    }
    assert_eq!(fs::read_to_string(&json).unwrap(), "before", "there is all of a report or none");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing else is left");

    let output = fs::File::options().write(true).open("/dev/full").unwrap();
    let (_, err) = failed(2, &mut strata(&["exec", "--json", "/dev/full", "--", "true"]));
    assert_eq!(err, "error: --json /dev/full: not a regular file, expected one\n");
    let (_, err) = failed(2, strata(&["run", "saxpy", "--json", "-"]).stdout(output));
    assert!(err.contains("standard output: No space left on device"), "{err}");
}

#[test]
fn a_buffer_that_does_not_fit_its_disk_is_named() {
    let folder = folder("full-dump");
    let dir = folder.display().to_string();
    assert!(strata(&["new", "mine", "--dir", &dir]).status().unwrap().success());
    let (file, dump) = (path(&folder, "mine.toml"), path(&folder, "y.bin"));
    let text = fs::read_to_string(&file).unwrap();
    let buffer = text.split("[[buffer]]").nth(1).unwrap().split('"').nth(1).unwrap();
    let (out, err) = failed(2, &mut full(1, &["run", &file, "--dump", &format!("{buffer}={dump}")]));
    assert!(out.starts_with("mine on gtx480: results verified\n"), "{out}");
    assert_eq!(err, format!("error: {dump}: File too large (os error 27)\n"));
    assert!(!Path::new(&dump).exists());
    let (_, err) = failed(2, &mut strata(&["run", &file, "--dump", &format!("{buffer}=/dev/full")]));
    assert!(err.ends_with("/dev/full: not a regular file\n"), "{err}");
}

#[test]
fn a_sweep_on_a_full_disk_names_every_result_that_is_not_stored() {
    let folder = folder("full-store");
    let (store, paper) = (path(&folder, "store"), path(&folder, "p.toml"));
    let text = "name = \"p\"\ntitle = \"P\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
         [workloads]\nall = [\"saxpy\", \"gather\"]\n[systems]\nbase = {}\n\
         [[figures]]\nid = \"1\"\ntitle = \"IPC\"\ndrawing = \"grouped-bars\"\nmetrics = [\"ipc\"]\n\
         systems = [\"base\"]\n";
    fs::write(&paper, text).unwrap();
    // Enough for the check that the store can be written.
    let blocks = 10;
    let page = path(&folder, "p.html");
    for (status, asked) in [
        (1, vec!["compare", "saxpy", "gather", "--systems", "gtx480", "--store", &store]),
        // Its page does not fit, either.
        (2, vec!["repro", &paper, "--size", "test", "--store", &store, "--out", &page]),
    ] {
        let (_, err) = failed(status, full(blocks, &asked).env("TMPDIR", &folder));
        for workload in ["saxpy", "gather"] {
            let line = err.lines().find(|line| line.starts_with(&format!("failed: {workload} (test) on ")));
            let line = line.unwrap_or_else(|| panic!("{err}"));
            assert_eq!(line.matches("File too large (os error 27)").count(), 2, "{line}");
            assert!(line.contains(&store) && line.contains("strata-rescued"), "{line}");
        }
    }
    let left: Vec<String> = fs::read_dir(&store)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "host.log" && !name.ends_with(".failed"))
        .collect();
    assert_eq!(left, Vec::<String>::new(), "parts of results");
}

#[test]
fn a_result_that_its_store_does_not_take_is_kept() {
    let folder = folder("rescue");
    let (store, jobs) = (path(&folder, "store"), path(&folder, "jobs"));
    let asked = ["compare", "srad_v1", "--size", "small", "--systems", "gtx480", "--metric", "ipc"];
    let asked = strata(&[&asked[..], &["--store", &store, "--write-jobs", &jobs]].concat()).output().unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let job = fs::read_dir(&jobs).unwrap().next().unwrap().unwrap().path();
    let child = strata(&["job", job.to_str().unwrap(), "--store", &store]).env("TMPDIR", &folder).spawn();
    let mut child = child.unwrap();
    // The store goes while the job runs: it is claimed, and has had a fifth of a second of a processor since.
    let is_claim = |entry: fs::DirEntry| entry.path().extension().is_some_and(|of| of == "claim");
    let is_claimed = || fs::read_dir(&store).is_ok_and(|entries| entries.flatten().any(is_claim));
    until("the job is claimed", &mut child, is_claimed);
    let (id, claimed) = (child.id(), ticks(child.id()));
    until("the job runs", &mut child, || ticks(id) >= claimed + 20);
    fs::remove_dir_all(&store).unwrap();
    fs::write(&store, "no folder").unwrap();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    let err = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{err}");
    let (reason, kept) =
        err.trim_end().split_once("; the result is kept in ").unwrap_or_else(|| panic!("{err}"));
    assert!(reason.starts_with(&format!("error: {store}")), "{err}");
    let record = columns::decode(fs::read(kept).unwrap()).unwrap();
    assert_eq!(record.job.workload, "srad_v1");
}
