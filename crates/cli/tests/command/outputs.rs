//! What a run leaves: JSON, timelines, buffers, and where they come from.

use std::path::Path;

use serde_json::Value;

use crate::{FILL, Ran, fill, folder, json, launch_file, refused, strata, well};

#[test]
fn buffers_are_shown_and_written() {
    let file = launch_file("dumped", &fill("name = \"part\"\ntype = \"u16\"\ncount = 3"));
    let folder = Path::new(&file).parent().unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("old.bin"), [1; 1000]).unwrap();
    let _ = std::fs::remove_file(path("link.bin"));
    std::os::unix::fs::symlink("old.bin", path("link.bin")).unwrap();
    let (bytes, text) = (format!("to={}", path("link.bin")), format!("to={}", path("new.csv")));
    let out = well(&["run", &file, "--dump", &bytes, "--dump", &text, "--show", "to"]);
    let held: Vec<&str> = out.lines().filter_map(|line| line.trim().strip_prefix("holds ")).collect();
    assert_eq!(
        held.iter().map(|held| held.trim()).collect::<Vec<_>>(),
        ["part: 3 u16: 7, 0, 7; 0 to 7", "to: 32 u32: 7, 7, 7, 7, ..., 7, 7, 7, 7; 7 to 7"],
        "a check without an expectation, and the buffer asked for, once: {out}"
    );
    assert!(Path::new(&path("link.bin")).is_symlink(), "a link stays");
    assert_eq!(std::fs::read(path("old.bin")).unwrap(), [7, 0, 0, 0].repeat(32));
    assert_eq!(std::fs::read_to_string(path("new.csv")).unwrap(), "7\n".repeat(32));
    let run = json(&well(&["run", &file, "--show", "to", "--json", "-"]));
    let seven = serde_json::json!([7, 7, 7, 7]);
    assert_eq!(
        run["outputs"][1],
        serde_json::json!({ "buffer": "to", "type": "u32", "elements": 32, "first": seven, "last": seven,
                            "least": 7, "greatest": 7, "nans": 0 })
    );
}

#[test]
fn a_dump_that_cannot_be_is_refused_before_the_run() {
    let file = launch_file("undumped", &fill("expected = { constant = 7 }"));
    let folder = Path::new(&file).parent().unwrap().display().to_string();
    let dump = |value: &str| refused(&["run", &file, "--dump", value]);
    assert_eq!(
        dump("too=x"),
        "error: --dump too=x: no buffer `too` (did you mean `to`?), the launch file has to\n"
    );
    assert!(dump("to").contains("invalid value 'to' for '--dump <BUFFER=FILE>': expected BUFFER=FILE"));
    for (place, reason) in
        [(folder.clone(), "not a regular file"), ("/dev/null".into(), "not a regular file")]
    {
        assert_eq!(dump(&format!("to={place}")), format!("error: --dump to={place}: {reason}\n"));
    }
    assert!(dump(&format!("to={folder}/absent/x")).contains("No such file or directory"));
    let twice = refused(&["run", &file, "--dump", "to=x", "--dump", "to=./x"]);
    assert!(
        twice.ends_with("--dump to=./x: --dump to=x goes to the same file, expected two files\n"),
        "{twice}"
    );
    let shown = refused(&["run", &file, "--show", "from"]);
    assert_eq!(shown, "error: --show from: no buffer `from`, the launch file has to\n");
    let workload = refused(&["run", "saxpy", "--show", "y"]);
    assert!(
        workload.starts_with("error: --show and --dump are for launch files; `strata workload export saxpy")
    );
    // A run that is refused leaves what was there, and nothing beside it.
    let kept = format!("{folder}/kept.bin");
    std::fs::write(&kept, "kept").unwrap();
    let bad = ["run", &file, "--dump", &format!("to={kept}"), "--set", "gpu.sms=0"];
    assert!(refused(&bad).contains("gpu.sms: found 0"));
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "kept");
    // A run that is stopped leaves what there is.
    let Ran { status, out, err } =
        strata(&["run", &file, "--dump", &format!("to={kept}"), "--max-cycles", "1"]);
    assert_eq!((status, std::fs::read(&kept).unwrap()), (2, vec![0; 128]), "{out}{err}");
    assert!(err.starts_with(&format!("{kept}: PARTIAL, `to` as it was when the run was stopped\n")), "{err}");
    assert!(out.contains("PARTIAL, until") && out.contains("holds"), "{out}");
    let left =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with(".strata")));
}

#[test]
fn results_as_json_have_their_keys() {
    let out = well(&["run", "saxpy", "--check", "--threads", "1", "--json", "-", "--set", "l1d.sram.ways=8"]);
    let run = json(&out);
    assert_eq!(run["schema"], "strata-run-1");
    assert_eq!(
        (&run["workload"], &run["size"], &run["machine"]),
        (&"saxpy".into(), &"test".into(), &"gtx480".into())
    );
    assert_eq!(run["overrides"], serde_json::json!(["l1d.sram.ways=8"]));
    assert_eq!(run["verified"], true);
    for key in ["cycles", "warp_instructions", "thread_instructions"] {
        assert!(run[key].as_u64().is_some_and(|value| value > 0), "{key}");
    }
    let ipc = run["thread_instructions"].as_f64().unwrap() / run["cycles"].as_f64().unwrap();
    // Parsing the number back may lose its last bit.
    assert!((run["ipc"].as_f64().unwrap() - ipc).abs() <= 1e-12 * ipc);
    let hash = run["statistics_hash"].as_str().unwrap();
    assert!(hash.len() == 16 && u64::from_str_radix(hash, 16).is_ok(), "{hash}");
    for key in ["seconds", "warp_instructions_per_second", "peak_memory_bytes"] {
        assert!(run["simulation"][key].as_f64().is_some_and(|value| value > 0.0), "{key}");
    }
    for group in ["sm", "lsu", "l1d", "network.request", "network.reply", "partition", "l2", "dram"] {
        let group = run["statistics"][group].as_object().unwrap_or_else(|| panic!("no group {group}"));
        assert!(group.values().all(Value::is_u64));
    }
    assert_eq!(run["statistics"]["sm"]["warp_instructions"], run["warp_instructions"]);
}

#[test]
fn a_schedule_says_what_more_threads_would_gain() {
    let out = well(&["run", "saxpy", "--schedule", "--json", "-"]);
    let run = json(&out);
    let schedule = &run["simulation"]["schedule"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {schedule}"));
    let parts = schedule["parts"].as_object().unwrap();
    assert_eq!(
        parts.iter().map(|(kind, part)| (kind.as_str(), number(&part["islands"]))).collect::<Vec<_>>(),
        [
            ("dispatcher", 1.0),
            ("network.reply", 1.0),
            ("network.request", 1.0),
            ("partition", 6.0),
            ("sm", 15.0)
        ]
    );
    let together: f64 = parts.values().map(|part| number(&part["seconds"])).sum();
    assert!((together / number(&schedule["seconds"]) - 1.0).abs() < 1e-9);
    assert!((0.05..1.0).contains(&number(&schedule["longest_share"])), "{schedule}");
    let threads = schedule["threads"].as_array().unwrap();
    let counts: Vec<f64> = threads.iter().map(|span| number(&span["threads"])).collect();
    assert_eq!(counts, [1.0, 2.0, 4.0, 8.0, 16.0, 64.0]);
    for span in threads {
        assert!(number(&span["speed_up"]) <= number(&span["threads"]) + 1e-9, "{span}");
    }
    assert_eq!(number(&threads[0]["speed_up"]), 1.0);
    // It is about the host, and changes nothing else.
    let plain = json(&well(&["run", "saxpy", "--threads", "1", "--json", "-"]));
    assert_eq!(run["statistics_hash"], plain["statistics_hash"]);
    assert!(
        plain["simulation"]["schedule"].is_null()
            && plain["simulation"].as_object().unwrap().contains_key("schedule")
    );
    let page = well(&["run", "saxpy", "--schedule"]);
    for row in ["work", "longest island of a window", "computed speed-up"] {
        assert!(page.lines().any(|line| line.trim_start().starts_with(row)), "{row}: {page}");
    }
}

#[test]
fn a_run_that_is_stopped_leaves_what_it_has() {
    let folder = folder("stopped", &[]);
    let at = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (file, timeline) = (at("run.json"), at("run.csv"));
    let stop =
        ["run", "gemm", "--max-cycles", "5000", "--json", &file, "--timeline", &timeline, "--span", "1000"];
    let Ran { status, out, err } = strata(&stop);
    let reason = "`gemm` failed: the kernel reached the cycle limit (cycle 5000); 0 CTAs have ended";
    assert_eq!((status, err), (2, format!("error: {reason}\n")));
    assert!(out.contains(&format!("PARTIAL, until the run was stopped: {reason}")), "{out}");
    let result = json(&std::fs::read_to_string(file).unwrap());
    assert_eq!((result["stopped"].as_str(), result["cycles"].as_u64()), (Some(reason), Some(5000)));
    assert!(result["statistics"]["sm"]["issued"].as_u64().unwrap() > 1000);
    assert_eq!(std::fs::read_to_string(timeline).unwrap().lines().count(), 6, "a header and five spans");
}

#[test]
fn a_fault_leaves_what_was_counted_until_then() {
    let faulty = FILL.replace("st.global.u32 [%rd1]", "st.global.u32 [%rd1+4096]");
    let folder =
        folder("fault", &[("fill.ptx", &faulty), ("fill.toml", &fill("expected = { constant = 7 }"))]);
    let file = folder.join("fault.json").to_string_lossy().into_owned();
    let Ran { status, out, .. } =
        strata(&["run", folder.join("fill.toml").to_str().unwrap(), "--json", &file]);
    assert_eq!(status, 2);
    assert!(out.contains("PARTIAL, until the run was stopped: `fill` failed: "), "{out}");
    let result = json(&std::fs::read_to_string(file).unwrap());
    assert!(result["stopped"].as_str().unwrap().contains("lies in no allocation"), "{result}");
    assert!(result["cycles"].as_u64().unwrap() > 0);
}

#[test]
fn a_result_says_where_it_comes_from() {
    let text = well(&["machine", "check", "gtx480"]);
    assert!(!text.is_empty());
    let shipped = include_str!("../../../gpu/machines/gtx480.toml");
    let mine = shipped.replacen("ways = { value = 4,", "ways = { value = 2,", 1);
    assert_ne!(mine, shipped);
    let folder = folder("provenance", &[("my.toml", &mine)]);
    let machine = folder.join("my.toml").to_string_lossy().into_owned();
    let of = |arguments: &[&str]| json(&well(&[&["run", "saxpy", "--json", "-"], arguments].concat()));
    let (own, plain, set) = (of(&["--machine", &machine]), of(&[]), of(&["--set", "l1d.ways=2"]));
    assert_eq!(own["machine"], format!("gtx480 ({machine})"));
    assert_eq!(own["provenance"]["machine_file"], machine);
    assert_eq!(plain["provenance"]["machine_file"], Value::Null);
    assert_ne!(own["provenance"]["machine"], plain["provenance"]["machine"]);
    assert_eq!(
        own["provenance"]["machine"], set["provenance"]["machine"],
        "the same values are the same machine"
    );
    for key in ["simulator", "ptx", "inputs"] {
        assert!(!plain["provenance"][key].as_str().unwrap().is_empty(), "{key}");
        assert_eq!(own["provenance"][key], plain["provenance"][key], "{key}");
    }
    let command = set["provenance"]["command"].as_array().unwrap();
    assert_eq!(command.last().unwrap(), "l1d.ways=2");
}

#[test]
fn a_region_is_measured_and_the_rest_runs_all_the_same() {
    let of = |arguments: &[&str]| json(&well(&[&["run", "kmeans", "--json", "-"], arguments].concat()));
    let whole = of(&[]);
    let launches = whole["launches"].as_array().unwrap();
    assert!(launches.len() >= 3);
    let issued = |run: &Value| run["statistics"]["sm"]["issued"].as_u64().unwrap();
    let (first, rest) = (of(&["--to-launch", "0"]), of(&["--from-launch", "1", "--warm"]));
    assert_eq!(first["cycles"], launches[0]["cycles"]);
    assert_eq!(first["launches"].as_array().unwrap().as_slice(), &launches[..1]);
    assert_eq!(rest["launches"].as_array().unwrap().as_slice(), &launches[1..]);
    assert_eq!(issued(&first) + issued(&rest), issued(&whole));
    let kernel = launches[0]["kernel"].as_str().unwrap();
    let of_kernel = of(&["--kernel", kernel]);
    let same = launches.iter().filter(|launch| launch["kernel"] == kernel).count();
    assert_eq!(of_kernel["launches"].as_array().unwrap().len(), same);
    assert_eq!(of_kernel["region"]["kernel"], kernel);
    let timeline = folder("region", &[]).join("t.csv").display().to_string();
    well(&["run", "kmeans", "--from-launch", "1", "--to-launch", "1", "--timeline", &timeline]);
    let lines = std::fs::read_to_string(timeline).unwrap();
    assert!(lines.lines().count() > 1 && lines.lines().skip(1).all(|line| line.starts_with("1,")), "{lines}");
    // The last launch is of another kernel.
    let error = refused(&["run", "bfs", "--from-launch", "13", "--kernel", "bfs_expand"]);
    assert!(
        error.ends_with("none of the first 14 launches is in the region, expected at least one\n"),
        "{error}"
    );
}

#[test]
fn outputs_are_checked_before_anything_runs() {
    for option in ["--json", "--timeline", "--trace"] {
        let error = refused(&["run", "saxpy", option, "/nowhere/at/all"]);
        assert!(error.starts_with("error: /nowhere/at/all: "), "{error}");
    }
}

#[test]
fn a_trace_is_of_cycles_that_are_simulated_on_sms_that_are_there() {
    let file = folder("trace", &[]).join("run.pftrace").display().to_string();
    well(&["run", "saxpy", "--trace", &file, "--trace-cycles", "300", "--trace-sms", "0,1"]);
    let trace = std::fs::read(&file).unwrap();
    let says = |name: &str| trace.windows(name.len()).any(|bytes| bytes == name.as_bytes());
    assert!(says("SM 1") && says("warp 0") && says("fetch") && !says("SM 2"));
    let error = refused(&["run", "saxpy", "--trace", &file, "--trace-sms", "7,15"]);
    assert_eq!(error, "error: --trace-sms: found SM 15, expected 0 to 14, which run programs\n");
    for option in ["--trace-cycles", "--trace-sample", "--trace-sample-warps"] {
        let error = refused(&["run", "saxpy", option, "5"]);
        assert!(error.contains("--trace <FILE>"), "{error}");
        let error = refused(&["run", "saxpy", "--trace", &file, option, "0"]);
        assert!(error.contains(&format!("invalid value '0' for '{option} <N>'")), "{error}");
    }
    let sample = folder("trace-sample", &[]).join("run.pftrace").display().to_string();
    let sampled = ["--trace-sample", "64", "--trace-sample-warps", "16"];
    well(
        &[&["run", "saxpy", "--trace", &sample, "--trace-cycles", "300", "--trace-sms", "0,1"][..], &sampled]
            .concat(),
    );
    let sample = std::fs::read(&sample).unwrap();
    // Names are in both, and so short a trace has few requests.
    assert!(2 * sample.len() < trace.len(), "{} of {} bytes", sample.len(), trace.len());
    let late = ["run", "saxpy", "--trace", &file, "--trace-from", "1000000000"];
    // The run has its summary all the same.
    let Ran { status, out, err } = strata(&late);
    assert!(out.starts_with("saxpy (test) on gtx480: results verified\n"), "{out}");
    assert!(status == 2 && err.contains("no launch ran in the cycles of the trace"), "{err}");
    assert_eq!(std::fs::read(&file).unwrap(), trace, "the file stays as it was");
}

#[test]
fn json_goes_to_a_file_beside_the_summary() {
    let file = folder("json", &[]).join("run.json").display().to_string();
    let out = well(&["run", "saxpy", "--json", &file]);
    assert!(out.starts_with("saxpy (test) on gtx480: results verified\n"), "{out}");
    assert_eq!(json(&std::fs::read_to_string(file).unwrap())["workload"], "saxpy");
}

#[test]
fn a_timeline_is_a_table_that_adds_up() {
    let folder = folder("timeline", &[]);
    let path = |name: &str| folder.join(name).display().to_string();
    well(&["run", "bfs", "--timeline", &path("t.csv"), "--span", "500", "--json", &path("run.json")]);
    let run = json(&std::fs::read_to_string(path("run.json")).unwrap());
    let mut table = csv::Reader::from_path(path("t.csv")).unwrap();
    let header = table.headers().unwrap().clone();
    let column = |name: &str| {
        let column = header.iter().position(|other| other == name);
        column.unwrap_or_else(|| panic!("no column `{name}` among {header:?}"))
    };
    let (from, to) = (column("from_cycle"), column("to_cycle"));
    let (issued, leakage) = (column("sm.issued"), column("energy.dram.leakage_pj"));
    let lines: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let sum = |of: &dyn Fn(&csv::StringRecord) -> f64| lines.iter().map(of).sum::<f64>();
    let number = |line: &csv::StringRecord, at: usize| line[at].parse::<f64>().unwrap();
    assert_eq!(sum(&|line| number(line, to) - number(line, from)), run["cycles"].as_f64().unwrap());
    assert_eq!(sum(&|line| number(line, issued)), run["statistics"]["sm"]["issued"].as_f64().unwrap());
    let leaked = run["energy"]["structures"]["dram"]["leakage_pj"].as_f64().unwrap();
    assert!((sum(&|line| number(line, leakage)) - leaked).abs() < 1e-6 * leaked, "of {leaked}");
}

#[test]
fn counters_are_broken_down() {
    let folder = folder("by", &[]);
    let file = folder.join("run.json").display().to_string();
    let asked = ["--by", "sm", "--by", "launch", "--count", "sm.warp_instructions"];
    let text = well(&[&["run", "bfs", "--json", &file][..], &asked].concat());
    let run = json(&std::fs::read_to_string(&file).unwrap());
    let all = run["statistics"]["sm"]["warp_instructions"].as_u64().unwrap();
    for (by, first) in [("sm", "sm 0"), ("launch", "launch 0 (")] {
        let parts = run["by"][by].as_array().unwrap();
        let count =
            |part: &serde_json::Value| part["statistics"]["sm"]["warp_instructions"].as_u64().unwrap();
        assert_eq!(parts.iter().map(count).sum::<u64>(), all, "{by}");
        assert!(parts[0]["part"].as_str().unwrap().starts_with(first), "{by}");
        assert!(
            text.lines().any(|line| line.contains(first) && line.ends_with(&count(&parts[0]).to_string()))
        );
    }
    let ranked = well(&["run", "bfs", "--by", "channel"]);
    assert!(
        ranked.contains("most / mean") && ranked.contains("at\n") && ranked.contains("channel "),
        "{ranked}"
    );
    let wrong = refused(&["run", "bfs", "--by", "sm", "--count", "sm.warp_instruction"]);
    assert!(wrong.contains("--count sm.warp_instruction: found no such counter on gtx480"), "{wrong}");
    assert!(wrong.contains("did you mean `sm.warp_instructions`"), "{wrong}");
    assert!(refused(&["run", "bfs", "--by", "sms"]).contains(
        "found `sms`, expected one of sm, slice, channel, launch, line, instruction, cta, buffer, level"
    ));
}

#[test]
fn lines_buffers_and_kernels_show_what_is_charged_to_them() {
    let folder = folder("charged", &[]);
    let file = folder.join("run.json").display().to_string();
    let text = well(&[
        "run",
        "atax",
        "--size",
        "test",
        "--by",
        "line",
        "--by",
        "buffer",
        "--annotate",
        "--json",
        &file,
    ]);
    let run = json(&std::fs::read_to_string(&file).unwrap());
    let lines = run["by"]["line"].as_array().unwrap();
    let sum = |counter: &str| -> u64 {
        lines.iter().map(|line| line["statistics"]["sm"][counter].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("issue_slots"), run["statistics"]["sm"]["issue_slots"].as_u64().unwrap());
    // Both tables, and the text of both kernels with the lines in their order.
    let places =
        ["by line", "by buffer", "\natax_rows: ", "line\n", "mov.u32", "fma.rn.f32", "\natax_columns: "];
    let mut from = 0;
    for place in places {
        from +=
            text[from..].find(place).unwrap_or_else(|| panic!("{place} is not behind the others:\n{text}"));
    }
    let of_load = text.lines().find(|line| line.contains("ld.global.f32   %f5, [%rd15];")).unwrap();
    let share: f64 = of_load.split_whitespace().next().unwrap().parse().unwrap();
    assert!(share < 5.0 && of_load.split_whitespace().count() > 8, "a load is issued and awaited: {of_load}");
    assert!(of_load.contains("  ld.global.f32 r"), "its instruction stands beside it: {of_load}");
    // A sum of products is several.
    let below =
        text.lines().filter(|line| line.trim_start().contains('%') && line.contains("               mad."));
    assert!(below.count() > 0 || !text.contains("mad.lo"), "{text}");
    let chosen = well(&["run", "atax", "--size", "test", "--by", "line", "--count", "awaited.memory"]);
    assert!(chosen.contains("awaited.memory") && chosen.contains("elsewhere"), "{chosen}");
    let not_kept = refused(&["run", "atax", "--by", "sm", "--count", "awaited.memory"]);
    assert!(not_kept.contains("found no such counter"), "{not_kept}");
}

#[test]
fn a_page_costs_no_number_and_is_refused_where_it_cannot_be_written() {
    let file = launch_file("paged", &fill("expected = { constant = 7 }"));
    let folder = Path::new(&file).parent().unwrap();
    let at = |name: &str| folder.join(name).display().to_string();
    let (page, both) = (at("run.html"), at("run.json"));
    let out = well(&["run", &file, "--out", &page, "--json", &both]);
    assert!(out.starts_with("fill on gtx480: results verified\n"), "{out}");
    let text = std::fs::read_to_string(&page).unwrap();
    let hash = |run: &Value| run["statistics_hash"].as_str().unwrap().to_owned();
    let (with, without) =
        (json(&std::fs::read_to_string(both).unwrap()), json(&well(&["run", &file, "--json", "-"])));
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains(&hash(&with)), "the hash is on the page");
    assert_eq!(hash(&with), hash(&without));
    assert!(with.get("by").is_none(), "the JSON has what was asked for");
    // The line that stores is in the table.
    assert!(text.contains("st.global.u32") && text.contains("<section id=\"kernels\">"));
    let asked = json(&well(&["run", &file, "--out", &page, "--by", "line", "--json", "-"]));
    assert_eq!(asked["by"].as_object().unwrap().keys().collect::<Vec<_>>(), ["line"]);

    let lost = refused(&["run", &file, "--out", &at("absent/run.html")]);
    assert!(
        lost.contains("No such file or directory (os error 2), expected a file that can be written"),
        "{lost}"
    );
    assert_eq!(
        refused(&["run", &file, "--out", &page, "--span", "0"]),
        "error: --span 0: expected at least 1\n"
    );
    assert!(refused(&["run", &file, "--span", "5"]).contains("--timeline <FILE.csv>|--out <FILE.html>"));
    assert!(
        refused(&["run", &file, "--races", "--out", &page])
            .contains("cannot be used with '--out <FILE.html>'")
    );
    // A run that is stopped leaves the page of the time until then.
    let Ran { status, .. } = strata(&["run", "gemm", "--max-cycles", "5000", "--out", &page]);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(
        status == 2 && text.contains("not finished") && text.contains("<section id=\"time\">"),
        "{status}"
    );
}

#[test]
fn a_critical_path_is_as_long_as_its_launches() {
    let run = json(&well(&["run", "atax", "--critical-path", "--json", "-"]));
    let sum =
        |of: &Value| of.as_object().unwrap().values().map(|cycles| cycles.as_u64().unwrap()).sum::<u64>();
    let paths = &run["critical_path"];
    assert_eq!(Some(sum(&paths["by_cause"])), run["cycles"].as_u64());
    assert_eq!(sum(&paths["by_level"]), sum(&paths["by_cause"]));
    let lines = paths["by_line"].as_array().unwrap();
    assert_eq!(lines.iter().map(|line| sum(&line["by_cause"])).sum::<u64>(), sum(&paths["by_cause"]));
    for (launch, path) in
        run["launches"].as_array().unwrap().iter().zip(paths["launches"].as_array().unwrap())
    {
        assert_eq!(Some(sum(&path["by_cause"])), launch["cycles"].as_u64());
    }
    let second = &paths["launches"][1];
    let text = well(&["run", "atax", "--critical-path", "--critical-path-launch", "1"]);
    let head = format!("critical path of 1 launch, {} cycles", second["cycles"]);
    assert!(text.contains(&head), "{text}");
    let beyond = strata(&["run", "atax", "--critical-path", "--critical-path-launch", "9"]);
    assert_eq!(
        (beyond.status, beyond.err.as_str()),
        (2, "error: no critical path of launch 9: found 2 measured launches\n")
    );
    let both = refused(&["run", "atax", "--critical-path", "--trace", "never.pftrace"]);
    assert!(both.contains("'--critical-path' cannot be used with '--trace <FILE>'"), "{both}");
}

#[test]
fn a_trace_and_queues_are_of_an_llc_that_never_misses_too() {
    let machine =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu/machines/gtx480.toml")).unwrap();
    let (before, conventional) = machine.split_once("[llc.conventional]").unwrap();
    let (_, behind) = conventional.split_once("\n[").unwrap();
    let keys = ["request_queue", "rop_latency_cycles", "hit_latency_cycles", "reply_queue", "atomic_cycles"];
    let ideal = keys.map(|key| format!("{key} = {{ value = 8, source = \"ASSUMED: a test\" }}\n")).concat();
    let text = format!("{before}[llc.ideal]\n{ideal}\n[{behind}");
    let folder = folder("ideal", &[("ideal.toml", &text)]);
    let [machine, file] = ["ideal.toml", "run.pftrace"].map(|name| folder.join(name).display().to_string());
    let run = ["run", "saxpy", "--machine", &machine];
    let out = well(&[&run[..], &["--trace", &file, "--by", "queue"]].concat());
    // It has no MSHRs, and asks DRAM for nothing.
    assert!(out.contains("LSU queues  L1D MSHRs  L1D requests  DRAM queues\n"), "{out}");
    assert!(std::fs::read(&file).unwrap().len() > 1000);
}
