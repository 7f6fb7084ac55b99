//! Job files: what they hold, and where they run.

use std::path::Path;

use crate::{Ran, fill, folder, launch_file, refused, strata, well};

/// The only file in a folder.
fn only_file(folder: &Path) -> String {
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    file.display().to_string()
}

#[test]
fn a_job_runs_where_its_launch_file_is_not() {
    let place = folder("travels", &[]);
    std::fs::remove_dir_all(&place).unwrap();
    let expected: Vec<u8> = [7, 0, 0, 0].repeat(32);
    let file = launch_file("travels/here", &fill("expected = { file = \"to.bin\" }"));
    let here = Path::new(&file).parent().unwrap().to_owned();
    std::fs::write(here.join("to.bin"), expected).unwrap();
    let (jobs, store) = (place.join("jobs"), place.join("store").display().to_string());
    let compare = ["compare", &file, "--metric", "cycles", "--store", &store];
    well(&[&compare[..], &["--write-jobs", jobs.to_str().unwrap()]].concat());
    let job = only_file(&jobs);
    // As on another machine: none of the files is there, and paths begin elsewhere.
    let away = place.join("away");
    std::fs::rename(&here, &away).unwrap();
    well(&["job", &job, "--store", &store]);
    std::fs::rename(&away, &here).unwrap();
    let shown = well(&[&compare[..], &["--no-run"]].concat());
    assert!(shown.contains("616"), "{shown}");
    // A job whose files were changed, or are missing, is refused.
    let text = std::fs::read_to_string(&job).unwrap();
    std::fs::write(&job, text.replace("mul.wide", "mul.lo")).unwrap();
    assert!(refused(&["job", &job, "--store", &store]).contains(": ptx: found `"));
    std::fs::write(&job, &text[..text.find("[package]").unwrap()]).unwrap();
    assert!(refused(&["job", &job, "--store", &store]).contains(": package: expected the launch file"));
}

#[test]
fn a_job_on_standard_input_is_as_long_as_its_first_line_says() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let place = folder("piped", &[]);
    let store = place.join("store").display().to_string();
    let jobs = place.join("jobs");
    let _ = std::fs::remove_dir_all(&place);
    well(&[
        "compare",
        "saxpy",
        "--metric",
        "cycles",
        "--write-jobs",
        jobs.to_str().unwrap(),
        "--store",
        &store,
    ]);
    let text = std::fs::read_to_string(only_file(&jobs)).unwrap();
    let with_length = format!("# bytes of the job: {}\n{text}", text.len());
    for (given, status) in [(text.as_str(), 0), (&with_length, 0), ("# bytes of the job: x\n", 2)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_strata"))
            .args(["job", "-", "--store", &store])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(given.as_bytes()).unwrap();
        if given.starts_with("# bytes") {
            // The pipe stays open.
            assert_eq!(child.wait().unwrap().code(), Some(status), "{given}");
        }
        drop(input);
        assert_eq!(child.wait().unwrap().code(), Some(status), "{given}");
    }
    let Ran { out, .. } = strata(&["list", "runs", "--store", &store]);
    assert!(out.contains("saxpy"), "{out}");
}

#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    use std::process::{Command, Stdio};
    let store = folder("interrupted", &[]).join("store");
    let _ = std::fs::remove_dir_all(&store);
    let text = store.display().to_string();
    // Long jobs, and more of them than run at once.
    let sweep = [
        "--size",
        "small",
        "--sweep",
        "l1d.ways=1,2,4",
        "--jobs",
        "1",
        "--metric",
        "cycles",
        "--store",
        &text,
    ];
    let child = Command::new(env!("CARGO_BIN_EXE_strata"))
        .args([&["compare", "kmeans", "srad_v1"], &sweep[..]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first job has begun when it is claimed.
    let is_claimed = || {
        let names = std::fs::read_dir(&store).into_iter().flatten().map(|entry| entry.unwrap().file_name());
        names.into_iter().any(|name| name.to_string_lossy().ends_with(".claim"))
    };
    while !is_claimed() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{err}");
    let expected = format!(" of 6 jobs are in {text}; the same command goes on with the rest\n");
    assert!(err.starts_with("interrupted: ") && err.ends_with(&expected), "{err}");
    assert!(!err.contains("failed"), "what was stopped has not failed: {err}");
}
