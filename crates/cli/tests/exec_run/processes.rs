//! Programs of several processes that use CUDA.

use strata_lab::store::Store;

use super::*;

#[test]
fn every_process_has_its_launches_in_summary_json_and_store() {
    let folder = folder("processes");
    let (json, store) = (folder.join("results.json"), folder.join("store"));
    let options = ["--json", json.to_str().unwrap(), "--store", store.to_str().unwrap()];
    let script = "python3 \"$0\" seven; python3 \"$0\" fork:seven,seven; python3 \"$0\" seven,seven,seven";
    let (status, err) = ran(shell(&mut exec(&options), script));
    assert_eq!(status, 0, "{err}");
    let lines = lines(&json);
    let seven = |count| vec!["seven".to_owned(); count];
    assert_eq!(kernels(&lines), [seven(1), seven(2), seven(3)]);
    assert!(lines.iter().all(|line| line["program"].as_str().unwrap().starts_with("python3")), "{lines:?}");
    let pids: Vec<_> = [0, 2, 5].iter().map(|line: &usize| lines[*line]["pid"].as_u64().unwrap()).collect();
    assert!(pids[0] != pids[1] && pids[1] != pids[2], "{pids:?}");
    for whole in [1, 4, 8].map(|line: usize| &lines[line]) {
        assert_eq!((&whole["verdict"], &whole["stopped"]), (&"not checked".into(), &Value::Null), "{whole}");
    }
    assert!(
        err.starts_with("sh: 6 launches, ") && err.contains(" in 3 processes\n  process 0, python3"),
        "{err}"
    );
    for count in [1, 2, 3] {
        let process = format!("  process {}, python3", count - 1);
        let line = err.lines().find(|line| line.starts_with(&process)).unwrap();
        assert!(line.contains(&format!(": {count} launches, ")), "{line}");
    }
    let (store, _) = Store::open(&store).unwrap();
    let records = store.keys().map(|key| store.get(key).unwrap().unwrap());
    let mut ctas: Vec<f64> = records.map(|record| record.get("sm", "ctas").unwrap().as_f64()).collect();
    ctas.sort_by(f64::total_cmp);
    assert_eq!(ctas, [1.0, 2.0, 3.0], "a record for each process");
}

#[test]
fn a_process_that_outlives_the_program_is_waited_for() {
    let folder = folder("outlives");
    let (json, begun) = (folder.join("results.json"), folder.join("begun"));
    // The shell ends while a process in the background has a kernel to run. It begins after `cuInit`: `begun` is a pipe that
    // the shell reads.
    assert!(Command::new("mkfifo").arg(&begun).status().unwrap().success());
    let script = "python3 \"$0\" seven \"open:$1\" seven,seven & read -r line < \"$1\"";
    let mut command = exec(&["--json", json.to_str().unwrap()]);
    let (status, err) = ran(shell(&mut command, script).arg(&begun));
    assert_eq!(status, 0, "{err}");
    assert_eq!(kernels(&lines(&json)), [["seven", "seven", "seven"]]);
}

#[test]
fn processes_that_run_at_once_are_told_apart() {
    let folder = folder("at-once");
    let json = folder.join("results.json");
    let mut command = exec(&["--json", json.to_str().unwrap()]);
    let (status, err) =
        ran(python(&mut command, &["fork:seven", "fork:seven,seven", "fork:seven,seven,seven"]));
    assert_eq!(status, 0, "{err}");
    let mut counts: Vec<usize> = kernels(&lines(&json)).iter().map(Vec::len).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2, 3]);
}

#[test]
fn a_process_that_a_signal_ends_is_not_finished() {
    let folder = folder("signalled");
    let (json, store) = (folder.join("results.json"), folder.join("store"));
    let options = ["--json", json.to_str().unwrap(), "--store", store.to_str().unwrap()];
    let (status, err) = ran(python(&mut exec(&options), &["seven", "kill:KILL"]));
    assert_eq!(status, 128 + 9, "{err}");
    let lines = lines(&json);
    assert_eq!(kernels(&lines), [["seven"]]);
    let whole = &lines[1];
    assert_eq!(
        (&whole["verdict"], &whole["stopped"]),
        (&"not finished".into(), &"signal 9 ended the process".into())
    );
    assert!(err.ends_with("python3: not stored: exit status: 137, expected 0\n"), "{err}");
}
