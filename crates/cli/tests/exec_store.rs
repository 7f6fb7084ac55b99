//! A CUDA program under `strata exec --store`, from the client's calls to the store: its numbers are found under what it
//! made the device do.

#![allow(unsafe_code, reason = "a client of a C library")]

#[path = "../../driver/tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use strata_lab::record::{Record, Value};
use strata_lab::store::Store;
use support::*;

/// What the client does, for its child process.
const CLIENT: &str = "STRATA_TEST_CLIENT";

/// Adds arrays of so many elements, twice; or runs off its buffers.
fn client(what: &str) {
    let cuda = Cuda::with(&[]);
    context(cuda);
    let (_, add) = function(cuda, ADD, "add");
    let Ok(n) = what.parse::<u32>() else {
        let null = 0_u64;
        assert_ne!(launch(cuda, add, 1, 32, &[of(&null), of(&null), of(&null), of(&32_u32)]), SUCCESS);
        return;
    };
    let a = buffer(cuda, &vec![1.5_f32; n as usize]);
    let out = buffer(cuda, &vec![0.0_f32; n as usize]);
    for _ in 0..2 {
        assert_eq!(launch(cuda, add, n.div_ceil(128), 128, &[of(&out), of(&a), of(&a), of(&n)]), SUCCESS);
    }
    assert_eq!(contents::<f32>(cuda, out, n as usize), vec![3.0; n as usize]);
}

/// Runs this test's client under `strata exec`.
fn exec(store: &Path, what: &str) -> Output {
    let test = std::env::current_exe().unwrap();
    let driver = test.with_file_name("libcuda.so");
    Command::new(env!("CARGO_BIN_EXE_strata"))
        .args(["exec", "--set", "gpu.sms=2", "--driver"])
        .arg(driver)
        .arg("--store")
        .arg(store)
        .arg("--")
        .arg(test)
        .args(["--exact", "a_program_is_stored_under_what_it_made_the_device_do"])
        .env(CLIENT, what)
        .output()
        .unwrap()
}

/// The records of a store.
fn records(store: &Path) -> Vec<Record> {
    let (store, _) = Store::open(store).unwrap();
    store.keys().map(|key| store.get(key).unwrap().unwrap()).collect()
}

#[test]
fn a_program_is_stored_under_what_it_made_the_device_do() {
    if let Ok(what) = std::env::var(CLIENT) {
        return client(&what);
    }
    let store: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec-store");
    let _ = std::fs::remove_dir_all(&store);
    let run = |what: &str| {
        let Output { status, stderr, .. } = exec(&store, what);
        (status.code(), String::from_utf8(stderr).unwrap())
    };
    for count in [1, 1] {
        let (status, err) = run("256");
        assert_eq!(status, Some(0), "{err}");
        assert!(err.contains(": 2 launches, ") && err.contains(": stored in "), "{err}");
        assert_eq!(records(&store).len(), count, "the same doings are one record");
    }
    let [record]: [Record; 1] = records(&store).try_into().unwrap();
    assert!(record.job.workload.starts_with("exec_store") && record.job.executed);
    let value = |launch, counter: &str| {
        let row =
            record.rows.iter().find(|row| row.launch == Some(launch) && row.counter == counter).unwrap();
        assert_eq!(row.group, "add");
        row.value.as_f64()
    };
    let cycles = record.get("run", "cycles").unwrap().as_f64();
    assert_eq!(value(0, "cycles") + value(1, "cycles"), cycles);
    assert_eq!(record.get("sm", "ctas"), Some(Value::Count(4)));

    let (status, err) = run("512");
    assert_eq!((status, records(&store).len()), (Some(0), 2), "{err}");
    assert!(records(&store).iter().all(|other| other.job.ptx == record.job.ptx), "the same text");

    let (status, err) = run("a fault");
    assert_eq!((status, records(&store).len()), (Some(2), 2), "{err}");
    assert!(err.contains("not stored: a launch failed: `add` failed: "), "{err}");
}
