//! `strata exec` with CUDA programs on the driver that is built with the tests.

mod checked;
mod front;
mod processes;
mod stops;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The client; its words name kernels.
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exec_run/client.py");

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec-run").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// `strata exec` of a small machine, with options. The words of the program come next.
fn exec(options: &[&str]) -> Command {
    let driver = std::env::current_exe().unwrap().with_file_name("libcuda.so");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    command.args(["exec", "--set", "gpu.sms=2", "--driver"]).arg(driver).args(options).arg("--");
    command
}

/// A shell that runs a script, in which `$0` is the client.
fn shell<'a>(command: &'a mut Command, script: &str) -> &'a mut Command {
    command.args(["sh", "-c", script, CLIENT])
}

/// The client with its words.
fn python<'a>(command: &'a mut Command, words: &[&str]) -> &'a mut Command {
    command.args(["python3", CLIENT]).args(words)
}

/// Exit status and standard error.
fn ran(command: &mut Command) -> (i32, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    (status.code().expect("the command exits"), String::from_utf8(stderr).unwrap())
}

/// The lines of a file of results.
fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Kernels of each process's launches, in the order of the file. Each process's lines must end with its whole run.
fn kernels(lines: &[Value]) -> Vec<Vec<String>> {
    let mut processes: Vec<Vec<String>> = Vec::new();
    let mut launches = Vec::new();
    for line in lines {
        assert_eq!(line["process"], processes.len(), "{line}");
        match line["kernel"].as_str() {
            Some(kernel) => {
                assert_eq!(line["launch"], launches.len(), "{line}");
                launches.push(kernel.to_owned());
            }
            None => {
                assert_eq!(
                    (&line["schema"], &line["launch_count"]),
                    (&"strata-run-1".into(), &launches.len().into())
                );
                processes.push(std::mem::take(&mut launches));
            }
        }
    }
    assert!(launches.is_empty(), "launches without a whole run: {launches:?}");
    processes
}
