//! Microbenchmarks on a machine, and their export for a GPU.

use std::path::Path;

use crate::{json, refused, strata, well};

#[test]
fn figures_stand_beside_those_of_the_cards_that_are_asked_for() {
    let arguments =
        ["validate", "gtx480", "--family", "synchronisation", "--machine-data", "h200", "--quiet"];
    let out = well(&arguments);
    assert!(out.contains("synchronisation: bar-sync-w8") && out.contains(" %"), "{out}");
    // The card that the machine models comes first, and has nothing of this family.
    assert!(
        out.contains("gtx480: NVIDIA GeForce GTX 480 (GF100), published\n  no figure has a counterpart"),
        "{out}"
    );
    assert!(out.contains("\nh200: NVIDIA H200, measured with these microbenchmarks\n"), "{out}");
    let all = json(&well(&[&arguments[..], &["--json"]].concat()));
    let barrier =
        all["figures"].as_array().unwrap().iter().find(|figure| figure["case"] == "bar-sync-w8").unwrap();
    let (value, beside) = (barrier["value"].as_f64().unwrap(), &barrier["hardware"][0]);
    assert_eq!((&beside["card"], &beside["low"]), (&"h200".into(), &29.25.into()));
    let error = beside["error"].as_f64().unwrap();
    assert!((value / 29.25 - 1.0 - error).abs() < 1e-9, "{barrier:#}");
}

#[test]
fn a_page_has_the_figures_and_loads_nothing() {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("validation.html");
    well(&["validate", "stash-apu", "--quiet", "--family", "clock", "--out", page.to_str().unwrap()]);
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("<td>core clock</td>") && text.contains("Microbenchmarks: stash-apu"), "{text}");
    assert!(!text.contains("src=") && !text.contains("href=\"http"), "{text}");
}

#[test]
fn an_exported_set_is_for_the_sms_that_are_asked_for_and_runs() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("micro");
    let _ = std::fs::remove_dir_all(&folder);
    let name = folder.to_str().unwrap();
    let out = well(&["validate", "gtx480", "--family", "clock,launches", "--export", name, "--sms", "7"]);
    assert!(out.contains("launch files for 7 SMs"), "{out}");
    let table = std::fs::read_to_string(folder.join("figures.csv")).unwrap();
    assert!(table.contains("clock-spin.toml,clock,spin,,core clock,MHz,cycles-per-time,"), "{table}");
    let launch = std::fs::read_to_string(folder.join("launches-back-to-back-one-per-sm.toml")).unwrap();
    assert!(launch.contains("grid = [7]"), "{launch}");
    let file = folder.join("launches-back-to-back-one-warp.toml");
    well(&["run", file.to_str().unwrap()]);
}

#[test]
fn what_there_is_not_is_refused() {
    let family = refused(&["validate", "gtx480", "--family", "clocks"]);
    assert!(family.starts_with("error: --family clocks: expected one of clock, latency, "), "{family}");
    let card = refused(&["validate", "gtx480", "--machine-data", "h300"]);
    assert_eq!(
        card,
        "error: --machine-data: found `h300`, expected one of h200, h100, a100, v100, rtx3080, gtx480\n"
    );
    let threads = refused(&["validate", "gtx480", "--threads", "0"]);
    assert_eq!(threads, "error: --threads 0: expected at least 1\n");
    assert_eq!(strata(&["validate", "gtx480", "--sms", "4"]).status, 2);
}
