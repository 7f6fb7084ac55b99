//! `--uncertain`, where the right answer is known: a chain of loads whose cycles are a latency.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Table;

use crate::{Ran, json, refused, strata};

/// Loads in a row that the program of [`CHASE`] makes, each after the one before: 512, 512 and 768 turns of a loop of eight.
const LOADS: f64 = 8.0 * 1792.0;
const CHASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/latency/l1.toml");

/// A folder for one test, of which nothing is left from an earlier one.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A GTX 480 of which three values are assumed to lie in a range, and nothing else is. One of them is part of every load's latency.
fn machine(folder: &Path) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/machines/gtx480.toml");
    let mut table: Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    table.remove("ranges");
    without_ranges(&mut table);
    for (section, key, range) in [
        ("lsu", "writeback_latency_cycles", "from = 1, to = 8"),
        ("dram", "starvation_bound", "times = [0.5, 2]"),
        ("gpu", "watchdog_cycles", "from = 100000, to = 2000000, scale = \"log\""),
    ] {
        let range: Table = format!("range = {{ {range}, because = \"a test\" }}").parse().unwrap();
        table[section][key].as_table_mut().unwrap().extend(range);
    }
    let path = folder.join("machine.toml");
    std::fs::write(&path, table.to_string()).unwrap();
    path
}

fn without_ranges(table: &mut Table) {
    for (_, value) in table.iter_mut() {
        if let Some(inner) = value.as_table_mut() {
            inner.remove("range");
            without_ranges(inner);
        }
    }
}

/// What a study says of its only number about an assumption.
fn moved<'a>(study: &'a Value, name: &str) -> &'a Value {
    let all = study["numbers"][0]["assumptions"].as_array().unwrap();
    all.iter().find(|of| of["name"] == name).unwrap_or_else(|| panic!("{name}: {study:#}"))
}

#[test]
fn the_one_latency_that_makes_the_cycles_has_all_of_their_variance() {
    let folder = folder("uncertain");
    let machine = machine(&folder);
    let study = |store: &str, more: &[&str]| {
        let (machine, store) = (machine.to_str().unwrap(), folder.join(store));
        let asked = ["compare", CHASE, "--machine", machine, "--metric", "run.cycles", "--uncertain", "8"];
        let draws = ["--trajectories", "2", "--json", "-", "--store", store.to_str().unwrap()];
        let Ran { status, out, err } = strata(&[&asked[..], &draws, more].concat());
        assert_eq!(status, 0, "{err}");
        json(&out)
    };
    let found = study("a", &["--jobs", "1"]);
    assert_eq!(found["kept"], serde_json::json!(["lsu.writeback_latency_cycles"]), "{found:#}");
    let latency = moved(&found, "lsu.writeback_latency_cycles");
    // From 1 to 6 or from 3 to 8 over two thirds of the range: 5 cycles a load, and those of a few loads of parameters.
    let per_load = latency["effect"]["size"].as_f64().unwrap() / 7.5;
    assert!((LOADS..LOADS * 1.02).contains(&per_load), "{per_load}: {found:#}");
    assert!(latency["effect"]["deviation"].as_f64().unwrap() < 0.01 * LOADS, "{found:#}");
    let total = latency["index"]["total"]["value"].as_f64().unwrap();
    assert!((total - 1.0).abs() < 0.3, "{found:#}");
    for other in ["dram.starvation_bound", "gpu.watchdog_cycles"] {
        assert_eq!(moved(&found, other)["effect"]["size"].as_f64(), Some(0.0), "{other}");
    }
    let others = &found["numbers"][0]["others"];
    assert_eq!(
        (others["first"]["value"].as_f64(), others["total"]["value"].as_f64()),
        (Some(0.0), Some(0.0))
    );
    let spread = &found["numbers"][0]["spread"];
    let (low, high) = (spread["low"].as_f64().unwrap(), spread["high"].as_f64().unwrap());
    assert!((5.0 * LOADS..7.0 * LOADS * 1.02).contains(&(high - low)), "{found:#}");
    // The same draws whoever runs them, and what the store has.
    assert_eq!(study("b", &["--jobs", "2"]), found);
    assert_eq!(study("a", &["--no-run"]), found);
    assert_ne!(study("a", &["--no-run", "--seed", "2"])["numbers"], found["numbers"]);
}

#[test]
fn a_papers_study_is_run_in_two_parts_kept_and_shown_again() {
    let folder = folder("uncertain-paper");
    let paper = format!(
        "name = \"p\"\ntitle = \"t\"\nmachine = \"{}\"\nmean = \"arithmetic\"\n\
         [workloads]\nall = [\"{CHASE}\"]\n[systems]\nbase = {{}}\nlate = {{ sets = [\"lsu.address_latency_cycles=20\"] }}\n\
         [measured]\n\"p.cycles\" = {{ kind = \"ratio\", metric = \"cycles\", system = \"late\", over = \"base\", workloads = \"all\" }}\n",
        machine(&folder).display()
    );
    let (file, store, jobs) = (folder.join("paper.toml"), folder.join("store"), folder.join("jobs"));
    let draws = folder.join("draws.json");
    std::fs::write(&file, &paper).unwrap();
    let repro = |more: &[&str]| {
        let draws = ["--uncertain", "2", "--trajectories", "1", "--store", store.to_str().unwrap()];
        let Ran { status, out, err } =
            strata(&[&["repro", file.to_str().unwrap()], &draws[..], more].concat());
        assert_eq!(status, 0, "{err}");
        out
    };
    let written = |part: &str| {
        let part = jobs.join(part);
        repro(&["--write-jobs", part.to_str().unwrap()]);
        let files: Vec<PathBuf> = std::fs::read_dir(part).unwrap().map(|file| file.unwrap().path()).collect();
        for file in &files {
            let Ran { status, err, .. } =
                strata(&["job", file.to_str().unwrap(), "--store", store.to_str().unwrap()]);
            assert_eq!(status, 0, "{err}");
        }
        files.len()
    };
    // Two machines as they are, and at four points; then at four points of each of two rows.
    assert_eq!(written("first"), 2 + 2 * 4);
    assert_eq!(written("second"), 2 * 4 * 2);
    let shown = repro(&["--no-run", "--draws", draws.to_str().unwrap()]);
    assert!(shown.starts_with("p at size test: 3 assumptions, 1 trajectories, 2 rows, seed 1\n"), "{shown}");
    let again = strata(&["claims", "fuse", "--uncertain", "--draws", draws.to_str().unwrap()]);
    assert_eq!((again.status, again.out), (0, shown));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let said = refused(&["compare", "saxpy", "--uncertain", "1"]);
    assert!(said.contains("--uncertain 1: expected 2 to 100000"), "{said}");
    let without = folder("uncertain-without-ranges").join("machine.toml");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/machines/gtx480.toml");
    let mut table: Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    table.remove("ranges");
    without_ranges(&mut table);
    std::fs::write(&without, table.to_string()).unwrap();
    let said = refused(&["compare", "saxpy", "--machine", without.to_str().unwrap(), "--uncertain", "4"]);
    assert!(said.contains("found no assumed value with a range, expected one"), "{said}");
    let said = refused(&["repro", "fuse", "--uncertain", "4", "--claims", "fuse.ip"]);
    assert!(said.contains("--claims: no claim `fuse.ip` (did you mean `fuse.ipc`"), "{said}");
    let said = refused(&["claims", "--uncertain"]);
    assert!(said.contains("--uncertain: expected a paper"), "{said}");
    let folder = folder("uncertain-refused");
    let draws = folder.join("draws.json");
    std::fs::write(&draws, "{ \"of\": 3 }").unwrap();
    let said = refused(&["claims", "fuse", "--uncertain", "--draws", draws.to_str().unwrap()]);
    assert!(said.contains("draws.json: invalid type: integer `3`, expected a string at line 1"), "{said}");
}
