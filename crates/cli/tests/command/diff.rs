//! `strata diff`: runs named in every way, and what is refused.

use std::path::Path;

use serde_json::Value;

use crate::strata;

fn difference(arguments: &[&str]) -> Value {
    let ran = strata(&[&["diff"][..], arguments, &["--json", "-", "--quiet"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn a_file_a_key_and_a_command_are_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (file, store) = (at("a.json"), at("store"));
    let one = "run saxpy --set l1d.ways=2";
    let other = "run saxpy --set l1d.ways=2 --set sm.schedulers=1";
    let ran = strata(&["run", "saxpy", "--set", "l1d.ways=2", "--json", &file, "--quiet"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let of_commands = difference(&[one, other, "--store", &store]);
    let keys: Vec<String> = std::fs::read_dir(Path::new(&store))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".parquet"))
        .collect();
    assert_eq!(keys.len(), 2, "a run each");
    let first = of_commands["left"]["statistics_hash"].as_str().unwrap();
    let is_left = |key: &&str| difference(&[key, one, "--store", &store])["left"]["statistics_hash"] == first;
    let key = keys.iter().map(|name| &name[..12]).find(is_left).unwrap();
    for left in [file.as_str(), key, one] {
        for how in [&["--store", &store][..], &["--store", &store, "--threads", "1"]] {
            let found = difference(&[&[left, other][..], how, &["--first", "--attribute"]].concat());
            for same in ["asked", "cycles", "counters"] {
                assert_eq!(found[same], of_commands[same], "{left}: {same}");
            }
            let asked = &found["asked"];
            assert_eq!(
                (&asked[0]["what"], asked.as_array().unwrap().len()),
                (&"sm.schedulers".into(), 1),
                "{asked}"
            );
            let brought = &found["attribution"]["changes"][0];
            assert_eq!(brought["shapley"]["value"].as_f64(), found["cycles"]["change"].as_f64());
            assert_eq!(found["first"]["parted"], true);
            assert_eq!(found["first"]["issue_slots_compared"], false);
        }
        let same = strata(&["diff", left, one, "--store", &store, "--first", "--quiet"]);
        assert!(same.out.contains("the runs measured the same, in every counter"), "{}", same.out);
        assert!(same.out.contains("the runs do not part"), "{}", same.out);
    }
}

#[test]
fn what_is_no_run_is_refused_with_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (empty, none) = (at("empty.json"), at("none.json"));
    std::fs::write(&empty, "{}").unwrap();
    let run = "run saxpy";
    for (arguments, expected) in [
        (vec![none.as_str(), run], "none.json: No such file"),
        (vec![empty.as_str(), run], "empty.json: schema: found none, expected \"strata-run-1\""),
        (
            vec!["saxpy", run],
            "saxpy: found no such file, expected a JSON file of `strata run --json`, the key",
        ),
        (vec!["ab12", run], "ab12: found a key, expected --store DIR to look it up in"),
        (vec!["run 'saxpy", run], "run 'saxpy: found a quote without its end"),
        (vec!["run saxpi", run], "run saxpi: "),
        (vec!["run saxpy --sets x", run], "run saxpy --sets x: unexpected argument '--sets' found"),
        (
            vec!["run saxpy --check", run],
            "run saxpy --check: found --check, expected options that decide numbers",
        ),
        (
            vec![run, "run bfs", "--attribute"],
            "--attribute: workload: found `saxpy` and `bfs`, expected runs that",
        ),
        (vec![run, run, "--threads", "0"], "--threads 0: expected at least 1"),
        (vec![run, run, "--attribute", "--chains", "0"], "--chains 0: expected at least 1"),
        (vec![empty.as_str(), run, "--json", &empty], ": would overwrite the run "),
        (
            vec![run, "run saxpy --set l1d.ways=8", "--attribute", "--together", "l2"],
            "--attribute: --together: found `l2`, which does not differ, expected one of l1d.sram.ways",
        ),
    ] {
        let ran = strata(&[&["diff"][..], &arguments[..], &["--quiet"]].concat());
        assert_eq!(ran.status, 2, "{arguments:?}: {}", ran.out);
        assert!(ran.err.contains(expected), "{arguments:?}: {}", ran.err);
    }
}
