//! Runs that did not end, parts of runs, and what is refused before anything runs.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::{Ran, fill, folder, json, launch_file, refused, strata, well};

/// Runs with JSON on standard output and gives status and JSON.
fn run(arguments: &[&str]) -> (i32, Value) {
    let Ran { status, out, .. } = strata(&[&["run"], arguments, &["--json", "-"]].concat());
    (status, json(&out))
}

#[test]
fn a_run_under_check_that_is_stopped_is_not_verified() {
    let stops: [&[&str]; 2] =
        [&["gemm", "--check", "--max-cycles", "2000"], &["histo", "--machine", "stash-apu", "--check"]];
    for arguments in stops {
        let Ran { status, out, .. } = strata(&[&["run"], arguments].concat());
        let first = out.lines().next().unwrap_or_default();
        assert!(status == 2 && first.ends_with(": NOT FINISHED") && !out.contains("verified"), "{out}");
        assert!(
            out.contains("PARTIAL, until the run was stopped: ") && out.contains(" until then\n"),
            "{out}"
        );
        let (status, run) = run(arguments);
        assert_eq!((status, &run["verdict"], &run["verified"]), (2, &"not finished".into(), &Value::Null));
        assert!(run["stopped"].is_string() && run["comparisons"] == serde_json::json!([]), "{run:#}");
    }
    let (_, run) = run(stops[1]);
    assert_eq!(
        run["checked"],
        serde_json::json!({ "launches": 2, "host_phases": 0 }),
        "histo_main is refused"
    );
}

#[test]
fn a_run_ends_after_the_last_launch_that_is_measured() {
    let (status, run) = run(&["bfs", "--to-launch", "0", "--check"]);
    assert_eq!((status, &run["verdict"], &run["verified"]), (0, &"not compared".into(), &Value::Null));
    assert_eq!(run["launches"].as_array().map(Vec::len), Some(1));
    assert_eq!(run["checked"]["launches"], 1);
    assert_eq!(run["simulation"]["warp_instructions"], run["warp_instructions"], "nothing else ran");
    // The last launch of the program is also its end.
    let whole = well(&["run", "bfs", "--to-launch", "13"]);
    assert!(whole.starts_with("bfs (test) on gtx480: results verified\n"), "{whole}");
}

#[test]
fn launches_before_a_region_run_on_the_reference_executor_or_warm_the_caches() {
    let part = ["bfs", "--from-launch", "4", "--to-launch", "5", "--check"];
    let (status, cold) = run(&part);
    assert_eq!((status, &cold["problems"]), (0, &serde_json::json!([])));
    assert_eq!(cold["simulation"]["fast_forwarded_launches"], 4);
    assert_eq!(cold["simulation"]["warp_instructions"], cold["warp_instructions"]);
    let (_, warm) = run(&[&part[..], &["--warm"]].concat());
    assert_eq!(warm["simulation"]["fast_forwarded_launches"], 0);
    let simulated = |run: &Value| run["simulation"]["warp_instructions"].as_u64().unwrap();
    assert!(simulated(&warm) > simulated(&cold));
    assert_eq!(warm["warp_instructions"], cold["warp_instructions"], "the same part");
    assert!(warm["cycles"].as_u64() < cold["cycles"].as_u64(), "it found its data in the caches");
    // The rest of the program computes what it should on the data that the fast part left.
    let summary = well(&["run", "bfs", "--from-launch", "4"]);
    assert!(summary.starts_with("bfs (test) on gtx480: results verified\n"), "{summary}");
    assert!(
        summary.contains("10 launches of the run; 4 before them ran on the reference executor"),
        "{summary}"
    );
}

#[test]
fn a_region_that_cannot_be_is_refused_before_the_run() {
    let file = launch_file("region", &fill("expected = { constant = 7 }"));
    for (arguments, expected) in [
        (
            ["bfs", "--kernel", "bfs_expnd"],
            "--kernel bfs_expnd: the module has no such kernel (did you mean `bfs_expand`?), expected one of bfs_expand, bfs_advance",
        ),
        (["bfs", "--from-launch", "14"], "--from-launch 14: the program makes 14 launches, counted from 0"),
        ([&file, "--from-launch", "1"], "--from-launch 1: the program makes 1 launch, counted from 0"),
    ] {
        assert_eq!(refused(&[&["run"], &arguments[..]].concat()), format!("error: {expected}\n"));
    }
}

#[test]
fn a_checkpoint_gives_the_numbers_of_the_run_before_it() {
    let folder = folder("checkpoints", &[]);
    let path = |name: &str| folder.join(name).display().to_string();
    let (first, later) = (path("first.strata"), path("later.strata"));
    let said = well(&["run", "bfs", "--from-launch", "4", "--from-cta", "2", "--checkpoint", &first]);
    assert!(said.starts_with(&format!("{first}: launch 4, CTA 2, after ")), "{said}");
    let (_, plain) = run(&["bfs", "--from-launch", "4", "--from-cta", "2"]);
    let (status, again) = run(&["bfs", "--from-checkpoint", &first, "--threads", "2"]);
    assert_eq!((status, &again["verdict"]), (0, &"verified".into()));
    for key in ["statistics_hash", "cycles", "launches", "region", "began", "ended", "energy"] {
        assert_eq!(again[key], plain[key], "{key}");
    }
    let began = &plain["began"];
    assert_eq!((&began["launch"], &began["cta"], &began["caches"]), (&4.into(), &2.into(), &"cold".into()));
    well(&["run", "bfs", "--from-checkpoint", &first, "--from-launch", "9", "--checkpoint", &later]);
    let (_, plain) = run(&["bfs", "--system", "dy-fuse", "--from-launch", "9"]);
    let (_, again) = run(&["bfs", "--system", "dy-fuse", "--from-checkpoint", &later]);
    assert_eq!(again["statistics_hash"], plain["statistics_hash"]);

    let bytes = std::fs::read(&first).unwrap();
    std::fs::write(path("short.strata"), &bytes[..bytes.len() - 1]).unwrap();
    for (arguments, expected) in [
        (["gemm", "--from-checkpoint", &first], "error: the checkpoint is of bfs (test) with PTX "),
        (
            ["bfs", "--from-checkpoint", &path("short.strata")],
            &format!("error: {}: found bytes with checksum ", path("short.strata")),
        ),
        (["bfs", "--from-checkpoint", &path("none")], &format!("error: {}: No such file", path("none"))),
    ] {
        let error = refused(&[&["run"], &arguments[..]].concat());
        assert!(error.starts_with(expected), "{error}");
    }
    let overwritten =
        refused(&["run", "bfs", "--from-checkpoint", &first, "--from-launch", "9", "--checkpoint", &first]);
    assert!(overwritten.contains(": would overwrite the checkpoint "), "{overwritten}");
    let with_numbers = refused(&["run", "bfs", "--from-launch", "9", "--checkpoint", &later, "--json", "-"]);
    assert!(with_numbers.contains("cannot be used with"), "{with_numbers}");
}

#[test]
fn two_parts_of_a_run_are_compared() {
    let said = well(&["diff", "run gemm --from-cta 12", "run gemm --from-cta 12 --warm-ctas 4"]);
    let asked =
        said.lines().find(|line| line.contains("launches measured")).unwrap_or_else(|| panic!("{said}"));
    assert_eq!(
        asked.split("  ").filter(|word| !word.is_empty()).collect::<Vec<_>>(),
        ["launches measured", "from_cta 12", "from_cta 12, warm_ctas 4",]
    );
}

#[test]
fn a_part_says_where_it_began_and_ended() {
    let part = ["run", "gemm", "--from-cta", "5", "--warm-ctas", "2", "--for-ctas", "10"];
    let summary = well(&part);
    assert!(summary.starts_with("gemm (test) on gtx480: results not compared"), "{summary}");
    assert!(
        summary.contains(
            "reference executor; caches warmed by 2 CTAs of that launch\n  until launch 0, CTA 15\n"
        ),
        "{summary}"
    );
    let finished = well(&[&part[..], &["--finish", "--check"]].concat());
    assert!(finished.starts_with("gemm (test) on gtx480: results verified\n"), "{finished}");
    assert_eq!(
        refused(&["run", "gemm", "--from-cta", "24"]),
        "error: cannot launch `gemm`: CTA 24: launch 0 has 24, counted from 0\n"
    );
}

/// A file's bytes, to see that they stay.
fn bytes(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn an_output_never_overwrites_an_input_or_another_output() {
    let file = launch_file("overwritten", &fill("expected = { constant = 7 }"));
    let folder = Path::new(&file).parent().unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let links = [path("hard.json"), path("soft.json")];
    links.iter().for_each(|link| drop(std::fs::remove_file(link)));
    std::fs::hard_link(&file, &links[0]).unwrap();
    symlink(&file, &links[1]).unwrap();
    let machine = path("m.toml");
    std::fs::write(&machine, "name = \"m\"\ndescription = \"d\"\nbase = \"gtx480\"\n").unwrap();
    let ptx = path("fill.ptx");
    let before = [bytes(&file), bytes(&ptx), bytes(&machine)];
    let (dumped, other, store) = (format!("to={ptx}"), path("other"), path("store"));
    let commands: &[&[&str]] = &[
        &["run", &file, "--json", &file],
        &["run", &file, "--json", &links[0]],
        &["run", &file, "--json", &links[1]],
        &["run", &file, "--timeline", &file],
        &["run", &file, "--out", &links[1]],
        &["run", &file, "--trace", &file],
        &["run", &file, "--dump", &dumped],
        &["run", &file, "--races", "--json", &file],
        &["run", "saxpy", "--machine", &machine, "--json", &machine],
        &["compare", &file, "--store", &store, "--csv", &file],
        &["compare", &file, "--store", &store, "--json", &ptx],
        &["compare", &file, "--store", &store, "--out", &links[1]],
        &["compare", "saxpy", "--machine", &machine, "--store", &store, "--out", &machine],
        &["exec", "--json", &file, "--", "cat", &file],
    ];
    for command in commands {
        let error = refused(command);
        assert!(error.contains(": would overwrite "), "{command:?}: {error}");
        assert!(before == [bytes(&file), bytes(&ptx), bytes(&machine)], "{command:?}");
        assert!(!Path::new(&store).exists(), "{command:?}");
    }
    let to = format!("to={other}");
    let commands: &[&[&str]] = &[
        &["run", &file, "--json", &other, "--timeline", &other],
        &["run", &file, "--json", &other, "--trace", &other],
        &["run", &file, "--json", &other, "--dump", &to],
        &["run", &file, "--json", &other, "--out", &other],
        &["run", &file, "--dump", &to, "--dump", &to],
        &["compare", &file, "--store", &store, "--csv", &other, "--out", &other],
    ];
    for command in commands {
        let error = refused(command);
        assert!(error.ends_with(" goes to the same file, expected two files\n"), "{command:?}: {error}");
        assert!(!Path::new(&other).exists(), "{command:?}");
    }
}

#[test]
fn an_export_leaves_what_it_did_not_write() {
    let place = folder("exported", &[]);
    let text = place.display().to_string();
    let _ = std::fs::remove_dir_all(&place);
    well(&["workload", "export", "saxpy", &text]);
    well(&["workload", "export", "saxpy", &text]);
    std::fs::write(place.join("launch.toml"), "# mine\n").unwrap();
    let kernel = std::fs::read(place.join("kernel.ptx")).unwrap();
    let error = refused(&["workload", "export", "gemm", &text]);
    assert!(error.contains("launch.toml: is not of an export, expected another folder"), "{error}");
    assert_eq!(std::fs::read(place.join("kernel.ptx")).unwrap(), kernel);
}

#[test]
fn impossible_points_of_a_sweep_are_left_out_by_name_and_the_others_run() {
    let store = folder("impossible", &[]).join("store").display().to_string();
    let sweep = |values: &str| {
        let sweep = format!("l1d.sets={values}");
        strata(&[
            "compare", "saxpy", "--sweep", &sweep, "--metric", "cycles", "--store", &store, "--csv", "-",
        ])
    };
    let Ran { status, out, err } = sweep("2..4");
    assert_eq!(status, 0, "{out}{err}");
    let left_out: Vec<&str> = err.lines().filter_map(|line| line.strip_prefix("left out: ")).collect();
    let [three] = left_out[..] else { panic!("{err}") };
    assert!(three.starts_with("gtx480 l1d.sets=3: ") && three.contains("found 3"), "{three}");
    let of = |value: &str| {
        let mut lines = csv::Reader::from_reader(out.as_bytes());
        let mut lines = lines.records().map(Result::unwrap);
        lines.find(|line| line.iter().any(|cell| cell == value)).unwrap_or_else(|| panic!("{value}: {out}"))
    };
    let has_number =
        |value: &str| of(value).iter().any(|cell| cell.parse::<f64>().is_ok_and(|cycles| cycles > 100.0));
    assert!(has_number("2") && has_number("4") && !has_number("3"), "{out}");
    assert!(of("3").iter().any(|cell| cell.contains("found 3")), "the reason stands beside it: {out}");
    // Ratios are over the first point that is possible, and a base that is not is refused.
    let points = ["compare", "saxpy", "--sweep", "l1d.sets=3,2", "--metric", "cycles", "--store", &store];
    let Ran { status, out, err } = strata(&points);
    assert!(status == 0 && out.contains("over gtx480 l1d.sets=2"), "{out}{err}");
    assert!(!out.contains("the base of the ratio is missing"), "{out}");
    let error = refused(&[&points[..], &["--base", "l1d.sets=3"]].concat());
    assert!(error.starts_with("error: --base l1d.sets=3: ") && error.contains("found 3"), "{error}");
    let Ran { err, .. } = sweep("11,3,4");
    let names: Vec<&str> = err.lines().filter_map(|line| line.split(": ").nth(1)).collect();
    assert_eq!(names, ["gtx480 l1d.sets=11", "gtx480 l1d.sets=3"], "in the order of the sweep: {err}");
    let Ran { status, out, err } = sweep("3,5");
    assert!(status == 2 && out.is_empty() && err.contains("found 3"), "no point is left: {err}");
}
