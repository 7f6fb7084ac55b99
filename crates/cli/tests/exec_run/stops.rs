//! Interrupts: they end the program and all processes under it, and leave what was measured until then.

use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// What a hanging test may take at most.
const WATCHDOG: Duration = Duration::from_secs(600);

/// Waits for something, however long a busy host takes.
fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < WATCHDOG, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a process, or to a group if the number is negative.
fn signal(name: &str, to: i64) {
    let sent = Command::new("kill").args(["-s", name, "--", &to.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Starts a program, in a group of its own as a shell would, and waits until its endless kernels run.
fn start(command: &mut Command, json: &Path, kernels: usize) -> Child {
    let mut child = command.process_group(0).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_for("the endless kernels run", || {
        assert_eq!(child.try_wait().unwrap(), None, "it has not ended");
        let text = std::fs::read_to_string(json).unwrap_or_default();
        (text.matches("(`spin`) runs").count() == kernels).then_some(())
    });
    child
}

/// The end of a program: status and standard error.
fn end(mut child: Child) -> (Option<i32>, String) {
    let status = wait_for("the program ends", || child.try_wait().unwrap());
    let err = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    (status.code(), err)
}

/// A process that has not ended.
fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// What an endless kernel leaves: its launch and its process are said to be stopped.
fn assert_stopped(lines: &[Value], launches: &[&[&str]]) {
    let mut found = kernels(lines);
    found.sort();
    let mut expected: Vec<Vec<String>> = launches
        .iter()
        .map(|launches| launches.iter().map(|kernel| (*kernel).to_owned()).collect())
        .collect();
    expected.sort();
    assert_eq!(found, expected);
    for line in lines {
        let process: Vec<&Value> = lines.iter().filter(|other| other["process"] == line["process"]).collect();
        let spins = process.iter().any(|line| line["kernel"] == "spin");
        match line["kernel"].as_str() {
            Some("spin") => {
                assert!(line["cycles"].as_u64() > Some(0), "{line}");
                assert!(line["stopped"].as_str().unwrap().contains("was interrupted"), "{line}");
            }
            Some(_) => assert!(line["cycles"].as_u64() > Some(0) && line["stopped"].is_null(), "{line}"),
            None if spins => {
                assert_eq!(line["verdict"], "not finished");
                assert!(line["stopped"].as_str().unwrap().contains("was interrupted"), "{line}");
            }
            None => assert_eq!((&line["verdict"], &line["stopped"]), (&"not checked".into(), &Value::Null)),
        }
    }
    for pid in lines.iter().map(|line| line["pid"].as_u64().unwrap()) {
        assert!(!is_alive(pid), "{pid} runs on");
    }
}

/// Interrupts a program in its endless kernels in three ways.
fn interrupt(name: &str, program: &dyn Fn(&mut Command), launches: &[&[&str]]) {
    let json = folder(name).join("results.json");
    let spins = launches.iter().filter(|launches| launches.contains(&"spin")).count();
    for (how, to_group) in [("INT", true), ("INT", false), ("TERM", false)] {
        let mut command = exec(&["--json", json.to_str().unwrap()]);
        program(&mut command);
        let child = start(&mut command, &json, spins);
        let pid = i64::from(child.id());
        signal(how, if to_group { -pid } else { pid });
        let (status, err) = end(child);
        assert_eq!(status, Some(if how == "TERM" { 143 } else { 130 }), "{err}");
        assert!(err.contains(" until it was stopped: `spin` failed: the kernel was interrupted"), "{err}");
        assert_stopped(&lines(&json), launches);
        std::fs::remove_file(&json).unwrap();
    }
}

#[test]
fn python_in_an_endless_kernel() {
    interrupt("python", &|command| _ = python(command, &["seven,spin"]), &[&["seven", "spin"]]);
}

#[test]
fn a_shell_whose_second_program_never_ends() {
    let script = "python3 \"$0\" seven; python3 \"$0\" spin; python3 \"$0\" seven";
    interrupt("shell", &|command| _ = shell(command, script), &[&["seven"], &["spin"]]);
}

#[test]
fn children_that_were_forked() {
    let words = ["fork:seven,spin", "fork:spin"];
    interrupt("forked", &|command| _ = python(command, &words), &[&["seven", "spin"], &["spin"]]);
}

#[test]
fn programs_that_ignore_every_signal_and_every_error() {
    let folder = folder("stubborn");
    let (json, pid) = (folder.join("results.json"), folder.join("pid"));
    // One that uses no CUDA is ended with the others.
    let script = "trap '' INT TERM; sleep 100000 & echo $! > \"$1\"; python3 \"$0\" again:spin";
    let mut command = exec(&["--json", json.to_str().unwrap()]);
    let child = start(shell(&mut command, script).arg(&pid), &json, 1);
    signal("INT", -i64::from(child.id()));
    let (status, err) = end(child);
    assert_eq!(status, Some(130), "{err}");
    assert_stopped(&lines(&json), &[&["spin"]]);
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(!is_alive(pid.trim().parse().unwrap()), "sleep runs on");
}

#[test]
fn a_program_between_its_launches_is_not_finished_either() {
    let folder = folder("between");
    let (json, store) = (folder.join("results.json"), folder.join("store"));
    let begun = folder.join("begun");
    assert!(Command::new("mkfifo").arg(&begun).status().unwrap().success());
    let mut command = exec(&["--json", json.to_str().unwrap(), "--store", store.to_str().unwrap()]);
    // Nobody opens the pipe's other end before the interrupt.
    python(&mut command, &["seven", &format!("open:{}", begun.display())]);
    let mut child = command.process_group(0).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the launch is there", || {
        assert_eq!(child.try_wait().unwrap(), None, "it has not ended");
        let text = std::fs::read_to_string(&json).unwrap_or_default();
        text.contains("\"launch_count\":1").then_some(())
    });
    signal("TERM", child.id().into());
    let (status, err) = end(child);
    assert_eq!(status, Some(143), "{err}");
    let lines = lines(&json);
    assert_eq!(kernels(&lines), [["seven"]]);
    assert_eq!(
        (&lines[1]["verdict"], &lines[1]["stopped"]),
        (&"not finished".into(), &"it was interrupted".into())
    );
    assert!(err.ends_with("python3: not stored: the run was interrupted\n"), "{err}");
}

#[test]
fn a_kernel_on_the_reference_executor() {
    let json = folder("functional").join("results.json");
    let mut command = exec(&["--functional", "--json", json.to_str().unwrap()]);
    let child = start(python(&mut command, &["seven,spin"]), &json, 1);
    signal("INT", -i64::from(child.id()));
    let (status, err) = end(child);
    assert_eq!(status, Some(130), "{err}");
    let lines = lines(&json);
    assert_eq!(kernels(&lines), [["seven"]]);
    assert_eq!(lines[1]["verdict"], "not finished");
    assert!(lines[1]["stopped"].as_str().unwrap().contains("was interrupted after "), "{}", lines[1]);
}

#[test]
fn kernels_end_with_a_command_that_is_killed() {
    let json = folder("killed").join("results.json");
    let mut command = exec(&["--json", json.to_str().unwrap()]);
    let mut child = start(python(&mut command, &["spin"]), &json, 1);
    let pid = lines(&json)[0]["pid"].as_u64().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the client ends", || (!is_alive(pid)).then_some(()));
    let whole = &lines(&json)[0];
    assert_eq!(whole["verdict"], "not finished", "the file says what was known");
}
