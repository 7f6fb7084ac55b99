//! A result store in which all kinds of things lie: each is named and passed over, nothing is waited for, read without
//! bound or changed, and the results are shown.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sha2::{Digest, Sha256};
use strata_lab::job::Job;
use strata_lab::record::Record;
use strata_lab::store::{columns, put};

/// A new folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("store-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn output(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    command.args(arguments).stdin(Stdio::null()).output().expect("the command starts")
}

/// Status, standard output and standard error.
fn said(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = output(arguments);
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Everything in a folder, with type, size, time, target of a link and hash of contents that can be read.
fn listing(folder: &Path) -> BTreeMap<PathBuf, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let describe = |path: PathBuf| {
        let found = fs::symlink_metadata(&path).unwrap();
        let is_short = found.is_file() && found.len() < 1 << 20;
        let hash = is_short.then(|| fs::read(&path).map(|bytes| checksum(&bytes)).unwrap_or_default());
        let link = fs::read_link(&path).ok();
        let about = (found.mode(), found.ino(), found.len(), found.mtime(), found.mtime_nsec());
        (path, format!("{about:?} {link:?} {hash:?}"))
    };
    entries.map(describe).collect()
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The results of a store's folder.
fn results(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_file() && path.extension().is_some_and(|suffix| suffix == "parquet"));
    found.sort();
    found
}

/// A key that no job has.
fn key(number: u32) -> String {
    format!("{number:032x}")
}

/// Puts one of each kind of thing into a store that holds `result`. Returns what must be named.
fn spoil(store: &Path, result: &Path) -> Vec<PathBuf> {
    let bytes = fs::read(result).unwrap();
    let mut bad = Vec::new();
    let mut name = |end: &str| {
        let path = store.join(format!("{}{end}", key(u32::try_from(bad.len()).unwrap())));
        bad.push(path.clone());
        path
    };
    let any = format!("-{}.parquet", "a".repeat(32));
    fifo(&name(&any));
    fifo(&name(".claim"));
    fifo(&name(".failed"));
    fifo(&name(".parquet"));
    fifo(&name(&format!("{any}.1.tmp")));
    fs::create_dir(name(&any)).unwrap();
    fs::create_dir(name(".claim")).unwrap();
    symlink("/dev/zero", name(&any)).unwrap();
    symlink("/dev/zero", name(".claim")).unwrap();
    symlink("/dev/zero", name(".failed")).unwrap();
    symlink("nowhere", name(&any)).unwrap();
    let looping = name(&any);
    symlink(&looping, &looping).unwrap();
    symlink(result, name(&format!("-{}.parquet", checksum(&bytes)))).unwrap();
    drop(UnixListener::bind(short_socket(&name(&any))));
    File::create(name(&any)).unwrap().set_len(30_000_000_000).unwrap();
    File::create(name(&any)).unwrap().set_len(200 << 20).unwrap();
    File::create(name(".failed")).unwrap().set_len(30_000_000_000).unwrap();
    File::create(name(&any)).unwrap();
    fs::write(name(&any), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(name(&any), &bytes).unwrap();
    fs::write(name(&format!("-{}.parquet", checksum(b"no result"))), b"no result").unwrap();
    fs::write(name(&format!("-{}.parquet", checksum(&bytes))), &bytes).unwrap();
    fs::write(name(".claim"), "somebody's").unwrap();
    fs::write(name(".failed"), "somebody's").unwrap();
    let unreadable = name(&any);
    fs::write(&unreadable, &bytes).unwrap();
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o000)).unwrap();
    let mut pack = || {
        let path = store.join(format!("pack-{}.zip", key(u32::try_from(bad.len()).unwrap())));
        bad.push(path.clone());
        path
    };
    fifo(&pack());
    symlink("/dev/zero", pack()).unwrap();
    fs::create_dir(pack()).unwrap();
    File::create(pack()).unwrap().set_len(30_000_000_000).unwrap();
    File::create(pack()).unwrap().set_len(4_000_000_000).unwrap();
    fs::write(pack(), "somebody's").unwrap();
    fs::write(pack(), [&b"PK\x05\x06"[..], &[0; 18]].concat()).unwrap();
    // Two results of one job, of another version so that no command asks for them.
    let mut record: Record = columns::decode(bytes).unwrap();
    record.job.simulator = "0.0.1+other".into();
    bad.push(put(store, &record).unwrap());
    record.rows.truncate(1);
    bad.push(put(store, &record).unwrap());
    bad
}

/// A path by which a socket can be bound, whose names are short.
fn short_socket(path: &Path) -> PathBuf {
    let short = std::env::temp_dir().join(format!("strata-socket-{}", std::process::id()));
    let _ = fs::remove_file(&short);
    symlink(path.parent().unwrap(), &short).unwrap();
    let socket = short.join(path.file_name().unwrap());
    assert!(socket.as_os_str().len() < 108, "{}", socket.display());
    socket
}

#[test]
fn whatever_lies_in_a_store_is_named_and_left_and_the_results_are_shown() {
    let folder = folder("spoilt");
    let (store, page) = (folder.join("store"), folder.join("page.html"));
    let (store_name, page) = (store.to_str().unwrap(), page.to_str().unwrap());
    let paper = folder.join("paper.toml");
    let text = "name = \"p\"\ntitle = \"P\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
         [workloads]\nall = [\"saxpy\"]\n[systems]\nbase = {}\n[[figures]]\nid = \"1\"\ntitle = \"IPC\"\n\
         drawing = \"grouped-bars\"\nmetrics = [\"ipc\"]\nsystems = [\"base\"]\n";
    fs::write(&paper, text).unwrap();
    let reading: [&[&str]; 5] = [
        &["list", "runs", "--store", store_name],
        &["compare", "saxpy", "gather", "--systems", "gtx480", "--no-run", "--store", store_name],
        &["repro", paper.to_str().unwrap(), "--no-run", "--out", page, "--store", store_name],
        &["claims", "fuse", "--store", store_name],
        &["claims", "fuse", "--json", "--simulator", "any", "--store", store_name],
    ];
    let compare = ["compare", "saxpy", "--systems", "gtx480", "--store", store_name];
    let (status, whole, err) = said(&compare);
    assert_eq!(status, Some(0), "{err}");
    let [result]: [PathBuf; 1] = results(&store).try_into().unwrap();
    let shown: Vec<String> = reading.iter().map(|arguments| said(arguments).1).collect();
    assert!(shown[0].contains("saxpy") && shown[2].starts_with("1 of 1 jobs"), "{shown:?}");

    let bad = spoil(&store, &result);
    // Who may read everything reads that file, too, and finds that it is damaged.
    let before = listing(&store);
    for (arguments, shown) in reading.iter().zip(shown) {
        let (status, out, err) = said(arguments);
        assert_eq!((status, out), (Some(0), shown), "{arguments:?}: {err}");
        for path in &bad {
            let named = format!("passed over: {}: ", path.display());
            assert_eq!(err.matches(&named).count(), 1, "{arguments:?}: {}:\n{err}", path.display());
        }
        assert_eq!(err.matches("passed over: ").count(), bad.len(), "{err}");
        assert_eq!(listing(&store), before, "{arguments:?}");
    }

    // What runs jobs leaves it all, too, and its own result stands beside it.
    let more = ["compare", "saxpy", "gather", "--systems", "gtx480", "--store", store_name];
    let (status, out, err) = said(&more);
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains("gather") && !whole.contains("gather"), "{out}");
    let after = listing(&store);
    for (path, about) in &before {
        assert!(path.ends_with("host.log") || after.get(path) == Some(about), "{}", path.display());
    }
    assert_eq!(after.len(), before.len() + 1);

    // So does what packs results.
    let (status, _, err) = said(&["store", "compact", store_name]);
    assert_eq!((status, err.matches("passed over: ").count()), (Some(0), bad.len()), "{err}");
    let packed = listing(&store);
    assert!(bad.iter().all(|path| packed.get(path) == before.get(path)));
    let (status, shown, err) = said(&[&more[..], &["--no-run"]].concat());
    assert_eq!((status, shown), (Some(0), out), "{err}");
}

#[test]
fn a_job_whose_place_is_taken_fails_by_name_and_the_others_run() {
    let folder = folder("taken");
    let (clean, store) = (folder.join("clean"), folder.join("store"));
    fs::create_dir(&store).unwrap();
    // The checksum covers the command line, so it must be the same: the store is called the same in both runs.
    let sweep = |ways: &str, store: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
        let sweep = format!("l1d.ways={ways}");
        let arguments = ["compare", "saxpy", "--sweep", &sweep, "--csv", "-", "--store", "store"];
        let here = store.parent().unwrap();
        let Output { status, stdout, stderr } =
            command.args(arguments).current_dir(here).stdin(Stdio::null()).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    };
    fs::create_dir(&clean).unwrap();
    assert_eq!(sweep("1,2,4", &clean.join("store")).0, Some(0));
    let [a, b, c]: [PathBuf; 3] = results(&clean.join("store")).try_into().unwrap();
    let in_place = |path: &Path| store.join(path.file_name().unwrap());
    fs::create_dir(in_place(&a)).unwrap();
    let name = b.file_name().unwrap().to_str().unwrap();
    let claim = store.join(format!("{}.claim", name.split_once('-').unwrap().0));
    fifo(&claim);
    fs::write(in_place(&c), b"cut").unwrap();

    let (status, out, err) = sweep("1,2,4", &store);
    assert_eq!(status, Some(1), "{err}");
    let named = |path: &Path| format!("{}: found a ", path.file_name().unwrap().to_str().unwrap());
    for path in [in_place(&a), claim.clone()] {
        let failures: Vec<&str> = err.lines().filter(|line| line.starts_with("failed: ")).collect();
        assert_eq!(failures.len(), 2, "{err}");
        assert_eq!(failures.iter().filter(|line| line.contains(&named(&path))).count(), 1, "{err}");
    }
    assert!(in_place(&a).is_dir() && fs::symlink_metadata(&claim).is_ok());
    assert_eq!(fs::read(in_place(&c)).unwrap(), fs::read(&c).unwrap(), "a damaged result is replaced");
    let answers: Vec<&str> = out.lines().skip(1).filter(|line| line.contains("failed: ")).collect();
    assert_eq!(answers.len(), 4, "two jobs, two metrics: {out}");

    // Free again, they run, and the failures are forgotten.
    fs::remove_dir(in_place(&a)).unwrap();
    fs::remove_file(&claim).unwrap();
    let (status, out, err) = sweep("1,2,4", &store);
    assert_eq!((status, out.contains("failed")), (Some(0), false), "{err}{out}");
    let names: Vec<PathBuf> =
        listing(&store).into_keys().filter(|path| !path.ends_with("host.log")).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn a_claims_store_that_is_not_there_is_refused_unless_none_was_named() {
    let folder = folder("mistyped");
    let (status, out, err) = said(&["claims", "fuse", "--store", folder.join("mistyped").to_str().unwrap()]);
    assert_eq!((status, out.as_str()), (Some(2), ""));
    assert!(err.ends_with("mistyped: found no store, expected a folder of results\n"), "{err}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    let Output { status, stdout, stderr } =
        command.args(["claims", "fuse"]).current_dir(&folder).output().unwrap();
    assert!(status.success() && !stdout.is_empty());
    let expected = "strata-store: found no store, so only the published numbers are shown\n";
    assert_eq!(String::from_utf8(stderr).unwrap(), expected);
}

#[test]
fn a_packed_store_answers_as_before_and_a_killed_compaction_loses_nothing() {
    let folder = folder("packed");
    let store = folder.join("store");
    let name = store.to_str().unwrap();
    let sweep = ["compare", "saxpy", "--sweep", "l1d.ways=1,2", "--store", name];
    let (status, first, err) = said(&sweep);
    assert_eq!(status, Some(0), "{err}");
    let [of_sweep, _]: [PathBuf; 2] = results(&store).try_into().unwrap();
    let record = columns::decode(fs::read(of_sweep).unwrap()).unwrap();
    for number in 0..400 {
        let inputs = format!("{number:032x}");
        put(&store, &Record { job: Job { inputs, ..record.job.clone() }, ..record.clone() }).unwrap();
    }
    let list = ["list", "runs", "--json", "--store", name];
    let keys = || -> Vec<String> {
        let runs: serde_json::Value = serde_json::from_str(&said(&list).1).unwrap();
        let mut keys: Vec<String> =
            runs.as_array().unwrap().iter().map(|run| run["key"].to_string()).collect();
        keys.sort();
        keys
    };
    let before = keys();
    assert_eq!(before.len(), 402);
    let table = said(&["list", "runs", "--store", name]);
    // Killed when it has begun to write, when the pack is there, and when it has removed some.
    let files =
        || fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let moments: [&dyn Fn() -> bool; 3] = [
        &|| files().any(|name| name.ends_with(".tmp")),
        &|| files().any(|name| name.starts_with("pack-") && name.ends_with(".zip")),
        &|| results(&store).len() < 300,
    ];
    for moment in moments {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
        let mut child = command.args(["store", "compact", name]).stdout(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && !moment() {}
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(keys(), before);
    }
    let (status, out, err) = said(&["store", "compact", name]);
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains(": 402 results are in 1 file; "), "{out}");
    assert_eq!(said(&["list", "runs", "--store", name]), table);
    assert_eq!(said(&sweep), (Some(0), first, String::new()), "nothing runs again");
    let mut left: Vec<String> = files().collect();
    left.retain(|name| name != "host.log");
    // The sweep has removed what the killed ones left.
    assert_eq!(left.len(), 1, "{left:?}");
    let (status, _, err) = said(&["store", "compact", folder.join("mistyped").to_str().unwrap()]);
    assert!(status == Some(2) && err.contains("mistyped: found no store"), "{err}");
}

#[test]
fn a_job_that_fails_is_called_failed_wherever_it_is_shown() {
    let folder = folder("failing");
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(
        path("fill.ptx"),
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry fill(.param .u64 to) {\n\
         .reg .b64 %rd<1>;\nld.param.u64 %rd0, [to];\nst.global.u32 [%rd0], 7;\nret;\n}\n",
    )
    .unwrap();
    let file = "name = \"mine\"\nmodule = \"fill.ptx\"\n[[buffer]]\nname = \"to\"\ntype = \"u32\"\ncount = 1\n\
                [[launch]]\nkernel = \"fill\"\ngrid = [1]\nblock = [1]\narguments = [{ buffer = \"to\" }]\n\
                [[check]]\nbuffer = \"to\"\nexpected = { constant = 8 }\n";
    fs::write(path("fill.toml"), file).unwrap();
    let (store, page) = (path("store"), path("page.html"));
    let compare = [
        "compare",
        &path("fill.toml"),
        "saxpy",
        "--systems",
        "gtx480",
        "--out",
        &page,
        "--csv",
        "-",
        "--store",
        &store,
    ];
    let reason = "failed: its results are wrong: ";
    for more in [&[][..], &["--no-run"], &[]] {
        let (status, out, err) = said(&[&compare[..], more].concat());
        let expected = if more.is_empty() { 1 } else { 0 };
        assert_eq!(status, Some(expected), "{err}");
        assert_eq!(
            err.matches("fill.toml on gtx480: its results are wrong: ").count() as i32,
            expected,
            "{err}"
        );
        assert_eq!(out.lines().filter(|line| line.contains(reason)).count(), 2, "{out}");
        let page = fs::read_to_string(&page).unwrap();
        assert!(page.contains(reason) && !page.contains("not run yet"), "the page says so, too");
        let (status, out, err) = said(&["list", "runs", "--store", &store]);
        assert_eq!((status, out.contains("saxpy"), out.contains("mine")), (Some(0), true, false), "{out}");
        assert!(
            err.starts_with("failed: ") && err.contains("fill.toml on gtx480: its results are wrong: "),
            "{err}"
        );
    }
}
