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

/// The files of jobs of one program on machines with so many ways.
fn files_of(name: &str, ways: &str) -> (Vec<String>, String) {
    let place = folder(name, &[]);
    std::fs::remove_dir_all(&place).unwrap();
    let (jobs, store) = (place.join("jobs"), place.join("store").display().to_string());
    let sweep = format!("l1d.ways={ways}");
    well(&["compare", "saxpy", "--sweep", &sweep, "--store", &store, "--write-jobs", jobs.to_str().unwrap()]);
    let files = std::fs::read_dir(&jobs).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    (files.collect(), store)
}

#[test]
fn of_several_jobs_one_that_fails_does_not_stop_the_others() {
    let (files, store) = files_of("several", "1,2,4");
    // A folder in the place of its claim: nobody can run it.
    let key = Path::new(&files[1]).file_stem().unwrap().to_str().unwrap();
    std::fs::create_dir_all(Path::new(&store).join(format!("{key}.claim"))).unwrap();
    let job = |more: &[&str]| {
        let files = files.iter().map(String::as_str);
        strata(
            &["job", "--store", &store]
                .into_iter()
                .chain(more.iter().copied())
                .chain(files)
                .collect::<Vec<_>>(),
        )
    };
    let Ran { status, out, err } = job(&["--jobs", "2"]);
    assert_eq!((status, out), (1, format!("2 of 3 jobs are in {store}\n")), "{err}");
    assert!(err.starts_with("failed: saxpy (test) on gtx480 l1d.ways=") && err.contains(".claim"), "{err}");
    std::fs::remove_dir(Path::new(&store).join(format!("{key}.claim"))).unwrap();
    let Ran { status, out, err } = job(&[]);
    assert_eq!((status, out), (0, format!("3 of 3 jobs are in {store}\n")), "{err}");
    let log = std::fs::read_to_string(Path::new(&store).join("host.log")).unwrap();
    assert_eq!(log.lines().count(), 3, "what was there did not run again");
    assert!(refused(&["job", &files[0], &files[1], "--jobs", "0", "--store", &store]).contains("--jobs 0"));
}

#[test]
fn a_task_whose_file_is_removed_ends_and_leaves_the_rest() {
    let (files, store) = files_of("withdrawn", "1");
    let removed = format!("{}.gone", files[0]);
    let Ran { status, err, .. } = strata(&["job", &removed, "--until-removed", "--store", &store]);
    assert_eq!((status, err.as_str()), (130, ""));
    // Somebody else runs the job, so the task waits for it, until its file goes.
    let key = Path::new(&files[0]).file_stem().unwrap().to_str().unwrap();
    std::fs::create_dir_all(&store).unwrap();
    let claim = std::fs::File::create(Path::new(&store).join(format!("{key}.claim"))).unwrap();
    claim.lock().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_strata"))
        .args(["job", &files[0], "--until-removed", "--store", &store])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(child.try_wait().unwrap(), None, "it waits");
    std::fs::remove_file(&files[0]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let left: Vec<_> = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [std::ffi::OsString::from(format!("{key}.claim"))], "no result, no failure");
}

#[test]
fn what_a_scheduler_s_command_says_is_passed_on() {
    use std::os::unix::fs::PermissionsExt;
    let place = folder("sbatch", &[]);
    let sbatch = place.join("sbatch");
    // Of an earlier run.
    let _ = std::fs::remove_file(&sbatch);
    let store = place.join("store").display().to_string();
    let compare = |path: &str, option: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_strata"));
        command.args(["compare", "saxpy", "--store", &store, option]).env("PATH", path);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let path = place.display().to_string();
    let missing = "No such file or directory (os error 2), expected this command on the PATH\n";
    assert_eq!(compare(&path, "--slurm"), format!("error: sbatch: {missing}"));
    assert_eq!(compare(&path, "--hyperqueue"), format!("error: python3: {missing}"));
    let script = "#!/bin/sh\necho 'sbatch: error: invalid partition specified: shrot' >&2\necho 'sbatch: error: Batch job submission failed' >&2\nexit 1\n";
    std::fs::write(&sbatch, script).unwrap();
    std::fs::set_permissions(&sbatch, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        compare(&path, "--slurm=-p shrot"),
        "error: sbatch: error: invalid partition specified: shrot; sbatch: error: Batch job submission failed\n"
    );
    assert_eq!(
        compare(&path, "--slurm=-p 'short"),
        "error: --slurm=-p 'short: found a quote that does not end, expected options of sbatch\n"
    );
    assert!(!Path::new(&store).join("submissions").exists());
}
