//! `strata run --races`.

use serde_json::json;

use crate::{FILL, Ran, fill, folder, json, launch_file, refused, strata, well};

/// A launch file whose CTAs fill the same words.
fn filled_twice() -> String {
    launch_file("filled-twice", &fill("expected = { constant = 7 }").replace("grid = [1]", "grid = [2]"))
}

#[test]
fn a_program_without_races_exits_with_0() {
    let file = launch_file("clean", &fill("expected = { constant = 7 }"));
    assert_eq!(well(&["run", &file, "--races"]), "fill: no races in 1 launch\n");
    assert_eq!(well(&["run", "saxpy", "--races"]), "saxpy at size test: no races in 2 launches\n");
    let value = json(&well(&["run", "saxpy", "--races", "--json", "-"]));
    assert_eq!(
        value,
        json!({ "workload": "saxpy", "size": "test", "launches": 2, "races": [], "half_words": [], "stopped": null })
    );
}

#[test]
fn races_exit_with_1_and_are_told() {
    let file = filled_twice();
    let Ran { status, out, err } = strata(&["run", &file, "--races"]);
    assert_eq!((status, err.as_str()), (1, ""));
    let expected = "fill: RACES at 1 pair of places in 1 launch\n\
        race: both write the same value, 32 times; first in launch 0 at byte 0 of `to` (address 0x100000)\n  \
        fill, line 13: write of 4 bytes, CTA (0, 0, 0), thread (0, 0, 0)\n  \
        fill, line 13: write of 4 bytes, CTA (1, 0, 0), thread (0, 0, 0)\n";
    assert_eq!(out, expected);
}

#[test]
fn races_are_json_too() {
    let file = filled_twice();
    let path = folder("races-json", &[]).join("races.json").display().to_string();
    assert_eq!(strata(&["run", &file, "--races", "--json", &path]).status, 1);
    let value = json(&std::fs::read_to_string(&path).unwrap());
    let place = |cta: u32| {
        json!({ "kernel": "fill", "text": null, "line": 13, "access": "write", "writes": true, "bytes": 4,
                "cta": [cta, 0, 0], "thread": [0, 0, 0] })
    };
    let race = json!({ "earlier": place(0), "later": place(1), "count": 32, "same_value": 32, "launch": 0,
                       "space": "global", "address": 0x10_0000, "buffer": "to", "offset": 0 });
    assert_eq!((&value["races"], &value["workload"]), (&json!([race]), &json!("fill")));
}

#[test]
fn a_program_that_fails_has_its_races_until_then() {
    // All threads write the first word, then one that is nowhere.
    let bad = FILL.replace("%r1, 4", "%r1, 0");
    let bad = bad.replace("ret;\n", "mov.u64 %rd2, 16;\nst.global.u32 [%rd2], %r0;\nret;\n");
    let files = [("fill.ptx", bad.as_str()), ("launch.toml", &fill(""))];
    let file = folder("races-fault", &files).join("launch.toml").display().to_string();
    let Ran { status, out, err } = strata(&["run", &file, "--races"]);
    assert_eq!(status, 2, "{out}{err}");
    assert!(
        out.starts_with("fill: NOT FINISHED, until then RACES at 1 pair of places in 1 launch\n"),
        "{out}"
    );
    assert!(err.contains("which holds no memory"), "{err}");
    let stopped = json(&strata(&["run", &file, "--races", "--json", "-"]).out)["stopped"].clone();
    assert!(stopped.as_str().is_some_and(|reason| reason.contains("which holds no memory")), "{stopped}");
}

#[test]
fn what_a_timed_run_offers_is_refused() {
    for option in
        [&["--check"][..], &["--threads", "2"], &["--max-cycles", "9"], &["--kernel", "k"], &["--show", "x"]]
    {
        let err = refused(&[&["run", "saxpy", "--races"], option].concat());
        assert!(err.starts_with("error: the argument '--races' cannot be used with"), "{err}");
    }
}
