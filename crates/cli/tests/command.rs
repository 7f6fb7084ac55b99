//! The `strata` command as a script sees it: exit status, standard output, standard error and JSON.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Output and exit status of a run of the command.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn strata(arguments: &[&str]) -> Ran {
    let output =
        Command::new(env!("CARGO_BIN_EXE_strata")).args(arguments).output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes UTF-8");
    Ran {
        status: output.status.code().expect("the command exits"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Standard output of a command that must succeed with empty standard error.
fn well(arguments: &[&str]) -> String {
    let Ran { status, out, err } = strata(arguments);
    assert_eq!((status, err.as_str()), (0, ""), "{arguments:?}");
    out
}

/// Standard error of a command that must be refused with empty standard output.
fn refused(arguments: &[&str]) -> String {
    let Ran { status, out, err } = strata(arguments);
    assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}: {err}");
    err
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A temporary folder for one test, with the given files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

const FILL: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry fill(.param .u64 to, .param .u32 value)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
    ld.param.u64 %rd0, [to];\nld.param.u32 %r0, [value];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\n\
    add.s64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], %r0;\nret;\n}\n";

/// A launch file that fills a buffer with 7 and expects `expected` there.
fn fill(expected: &str) -> String {
    format!(
        "name = \"fill\"\nmodule = \"fill.ptx\"\n[[buffer]]\nname = \"to\"\ntype = \"u32\"\ncount = 32\n\
         [[launch]]\nkernel = \"fill\"\ngrid = [1]\nblock = [32]\narguments = [{{ buffer = \"to\" }}, {{ u32 = 7 }}]\n\
         [[check]]\nbuffer = \"to\"\n{expected}\n"
    )
}

fn launch_file(name: &str, text: &str) -> String {
    folder(name, &[("fill.ptx", FILL), ("launch.toml", text)]).join("launch.toml").display().to_string()
}

#[test]
fn a_verified_run_exits_with_0() {
    let file = launch_file("verified", &fill("expected = { constant = 7 }"));
    let out = well(&["run", &file]);
    assert!(out.starts_with("fill on gtx480: results verified\n"), "{out}");
}

#[test]
fn wrong_results_exit_with_1_and_are_named() {
    let file = launch_file("wrong", &fill("expected = { constant = 8 }"));
    let Ran { status, out, err } = strata(&["run", &file]);
    assert_eq!(status, 1);
    assert!(out.starts_with("fill on gtx480: RESULTS WRONG (1)\n"), "{out}");
    assert_eq!(err, "wrong: to: 32 of 32 elements wrong; [0] is 7, expected 8\n");
    let Ran { status, out, .. } = strata(&["run", &file, "--json", "-"]);
    assert_eq!((status, &json(&out)["verified"]), (1, &Value::Bool(false)));
}

#[test]
fn a_run_without_expectations_is_not_called_verified() {
    let file = launch_file("unchecked", &fill(""));
    assert_eq!(json(&well(&["run", &file, "--json", "-"]))["verified"], Value::Null);
    // The comparison with the reference executor counts as an expectation.
    assert_eq!(json(&well(&["run", &file, "--check", "--json", "-"]))["verified"], Value::Bool(true));
}

#[test]
fn a_new_program_runs_as_it_says() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new").join("deeper");
    let _ = std::fs::remove_dir_all(&folder);
    let new = ["new", "mine", "--dir", folder.to_str().unwrap()];
    let out = well(&new);
    let commands: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("  strata ")).collect();
    assert_eq!(commands.len(), 3, "{out}");
    for command in commands {
        let ran = well(&command.split(' ').collect::<Vec<_>>());
        assert!(ran.starts_with("mine on gtx480: results verified\n"), "{command}: {ran}");
        assert_eq!(ran.contains("holds"), command.contains(" --"), "{command}: {ran}");
    }
    assert!(std::fs::read_to_string(folder.join("mine.csv")).unwrap().ends_with("\n1996.5\n1998.5\n"));

    std::fs::write(folder.join("mine.ptx"), "kept").unwrap();
    assert!(refused(&new).contains("mine.toml: exists already"));
    std::fs::remove_file(folder.join("mine.toml")).unwrap();
    assert!(refused(&new).contains("mine.ptx: exists already"));
    assert!(!folder.join("mine.toml").exists(), "neither is written");
    assert_eq!(std::fs::read_to_string(folder.join("mine.ptx")).unwrap(), "kept");
    for name in ["", "a/b", "..", "a b", "é"] {
        assert!(refused(&["new", name]).contains("expected a name of letters"), "{name}");
    }
}

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
    assert!(twice.ends_with("another buffer goes to the same file\n"), "{twice}");
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
fn threads_and_windows_change_no_number() {
    let hash = |arguments: &[&str]| {
        let all = [&["run", "transpose", "--json", "-"], arguments].concat();
        json(&well(&all))["statistics_hash"].clone()
    };
    let expected = hash(&["--threads", "1"]);
    assert_eq!(hash(&["--threads", "2"]), expected);
    assert_eq!(hash(&["--threads", "3", "--window", "3"]), expected);
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
    let shipped = include_str!("../../gpu/machines/gtx480.toml");
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
    let (first, rest) = (of(&["--to-launch", "0"]), of(&["--from-launch", "1"]));
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
    let error = refused(&["run", "saxpy", "--from-launch", "9"]);
    assert!(error.ends_with("launches is in the region, expected at least one\n"), "{error}");
    let error = refused(&["run", "saxpy", "--from-launch", "9", "--max-cycles", "100"]);
    assert!(error.starts_with("error: `saxpy` failed: the kernel reached the cycle limit"), "{error}");
}

#[test]
fn outputs_are_checked_before_anything_runs() {
    for option in ["--json", "--timeline"] {
        let error = refused(&["run", "saxpy", option, "/nowhere/at/all"]);
        assert!(error.starts_with("error: /nowhere/at/all: "), "{error}");
    }
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
fn lists_are_json_too() {
    let names = |what| {
        let rows = json(&well(&["list", what, "--json"]));
        let rows = rows.as_array().unwrap().clone();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let workloads: Vec<_> = strata_workloads::all().iter().map(|workload| workload.name).collect();
    assert_eq!(names("workloads"), workloads);
    assert!(names("machines").contains(&"gtx480".to_owned()));
    assert!(["l1d", "llc", "sm.scheduling"].iter().all(|door| names("doors").contains(&(*door).to_owned())));
    for what in ["workloads", "machines", "doors"] {
        let table = well(&["list", what]);
        assert!(table.starts_with("NAME"), "{table}");
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        for name in names(what) {
            assert!(
                table.lines().any(|line| line.split(' ').next() == Some(name.as_str())),
                "{name}: {table}"
            );
        }
    }
}

#[test]
fn every_statistic_is_explained() {
    let run = json(&well(&["run", "saxpy", "--json", "-"]));
    for (group, counters) in run["statistics"].as_object().unwrap() {
        // A group's name may itself contain a dot, so ask group by group.
        let text = well(&["explain", group]);
        for counter in counters.as_object().unwrap().keys() {
            let line = text.lines().find(|line| line.starts_with(&format!("{group}.{counter} [")));
            let meaning = line.and_then(|line| line.split_once("]: ")).map(|(_, meaning)| meaning);
            assert!(meaning.is_some_and(|meaning| !meaning.is_empty()), "{group}.{counter}: {text}");
        }
    }
    assert!(well(&["explain", "network.request.packets_in"]).starts_with("network.request.packets_in ["));
    let one = well(&["explain", "l1d.load_hits"]);
    assert!(one.starts_with("l1d.load_hits [") && one.contains("law: "), "{one}");
    assert!(refused(&["explain", "l1d.luck"]).starts_with("error: no statistic `l1d.luck`, `l1d` has "));
    assert!(refused(&["explain", "luck"]).starts_with("error: no statistics group `luck`, expected one of "));
}

#[test]
fn machines_are_checked() {
    for machine in json(&well(&["list", "machines", "--json"])).as_array().unwrap() {
        let name = machine["name"].as_str().unwrap();
        let out = well(&["machine", "check", name]);
        assert!(out.starts_with(&format!("{name}: a machine can be built\n")), "{out}");
    }
    let text = include_str!("../../gpu/machines/gtx480.toml").replace("warp_slots =", "warp_slot =");
    let file = folder("machine", &[("m.toml", &text)]).join("m.toml").display().to_string();
    let err = refused(&["machine", "check", &file]);
    let line = 1 + text.lines().position(|line| line.starts_with("warp_slot ")).unwrap();
    assert!(
        err.starts_with(&format!(
            "error: {file}:{line}:1: unknown field `warp_slot` (did you mean `warp_slots`"
        )),
        "{err}"
    );
}

#[test]
fn machines_are_shown_and_compared() {
    let shown = well(&["machine", "show", "gtx480", "--system", "l1-sram", "--set", "gpu.sms=4"]);
    assert!(shown.contains("\nsms = { value = 4, source = \"set for this run\" }\n"), "{shown}");
    let file = folder("shown", &[("m.toml", &shown)]).join("m.toml").display().to_string();
    assert_eq!(well(&["machine", "show", &file]), shown);
    let same = well(&["machine", "diff", "gtx480+l1-sram", "gtx480+l1-sram"]);
    assert_eq!(same, "gtx480+l1-sram and gtx480+l1-sram have the same values\n");
    let diff = well(&["machine", "diff", "gtx480+l1-sram", &file]);
    let lines: Vec<Vec<&str>> = diff.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["gpu.sms", "15", "4"]), "{diff}");
    let keys = well(&["machine", "keys", "l1d.sram.wa"]);
    assert!(keys.starts_with("KEY") && keys.lines().nth(1).unwrap().starts_with("l1d.sram.ways  "), "{keys}");
}

#[test]
fn metrics_are_explained_by_their_counters() {
    let ipc = well(&["explain", "ipc"]);
    assert!(
        ipc.starts_with("ipc [thread-instructions a cycle]: IPC\n= run.thread_instructions / run.cycles\n")
    );
    assert!(ipc.contains("\nrun.cycles [core cycles]: "), "{ipc}");
    for metric in json(&well(&["list", "metrics", "--json"])).as_array().unwrap() {
        let name = metric["name"].as_str().unwrap();
        let (text, expression) = (well(&["explain", name]), metric["expression"].as_str().unwrap());
        assert!(text.contains(expression) && text.lines().count() > 2, "{text}");
    }
    assert!(well(&["explain"]).contains("\nl1d-miss-rate (metric)\n"));
}

#[test]
fn lists_can_be_filtered_and_offer_only_papers_that_there_are() {
    assert!(well(&["list", "workloads", "GEMM"]).lines().count() < 8);
    for paper in json(&well(&["list", "papers", "--json"])).as_array().unwrap() {
        let name = paper["name"].as_str().unwrap();
        strata_lab::paper::Paper::load(name).unwrap();
    }
    for system in json(&well(&["list", "systems", "--json"])).as_array().unwrap() {
        strata_lab::paper::Paper::load(system["paper"].as_str().unwrap()).unwrap();
    }
}

#[test]
fn mistakes_in_a_paper_are_refused_before_anything_runs() {
    let paper = include_str!("campaign/paper.toml");
    let refusal = |from: &str, to: &str| {
        let folder = folder("paper", &[("p.toml", &paper.replace(from, to))]);
        let path = |name: &str| folder.join(name).display().to_string();
        refused(&["repro", &path("p.toml"), "--store", &path("store"), "--out", &path("p.html")])
    };
    let error = refusal("l1d.ways=8", "l1d.wayz=8");
    assert!(
        error.contains("p.toml: systems.wide: --set l1d.wayz=8: unknown key `l1d.wayz` (did you mean"),
        "{error}"
    );
    let error = refusal("\"saxpy\", \"gemm\"", "\"examples/vector-add/launch.toml\"");
    assert!(error.contains("examples/vector-add/launch.toml: No such file or directory"), "{error}");
    let error = refusal("l1d.fills /", "l1d.fillz /");
    assert!(error.contains("p.toml: metrics.fills: no counter `l1d.fillz` (did you mean `fills`"), "{error}");
}

#[test]
fn a_figure_without_a_job_is_refused() {
    let store = folder("no-job", &[]).display().to_string();
    let error =
        refused(&["repro", "fuse", "--figure", "3a", "--size", "stash", "--no-run", "--store", &store]);
    assert_eq!(error, "error: fuse: found no workload with a size `stash`\n");
}

#[test]
fn a_name_given_twice_is_used_once() {
    let compare = ["compare", "saxpy", "saxpy", "--metric", "ipc", "--metric", "ipc", "--no-run", "--sweep"];
    let store = folder("twice", &[]).display().to_string();
    let table = well(&[&compare[..], &["l1d.ways=2,4,2", "--store", &store]].concat());
    assert_eq!(table.matches("saxpy").count(), 2, "once in each of two tables: {table}");
}

#[test]
fn the_version_names_the_simulator() {
    assert_eq!(well(&["--version"]), format!("strata {}\n", strata_lab::SIMULATOR));
    assert_eq!(well(&["-V"]), format!("strata {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn colours_are_used_where_they_are_wanted() {
    let has_colour = |arguments: &[&str]| strata(arguments).err.contains('\u{1b}');
    for wrong in ["nonsense", "--nonsense"] {
        assert!(
            has_colour(&["--color", "always", "run", wrong]) && has_colour(&["run", wrong, "--color=always"])
        );
        assert!(!has_colour(&["run", wrong]) && !has_colour(&["run", wrong, "--color", "never"]));
    }
    well(&["--quiet", "run", "saxpy"]);
}

#[test]
fn shells_and_man_know_the_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(well(&["completions", shell]).contains("strata"));
    }
    let folder = folder("man", &[]).display().to_string();
    well(&["man", &folder]);
    for page in ["strata.1", "strata-run.1", "strata-machine-diff.1"] {
        assert!(std::fs::read_to_string(Path::new(&folder).join(page)).unwrap().contains("strata"), "{page}");
    }
}

#[test]
fn energies_are_explained_with_their_sources() {
    let all = well(&["explain", "energy"]);
    for line in ["energy.dram (6, one a channel, serves off-chip requests)", "energy.rest (1, one a gpu)"] {
        assert!(all.lines().any(|found| found == line), "{line}: {all}");
    }
    let l1d = well(&["explain", "energy.l1d", "--system", "l1-sram"]);
    assert!(l1d.starts_with("energy.l1d (15, one a sm)\n"), "{l1d}");
    assert!(l1d.contains("150 pJ  l1d.data_reads: FUSE Table I"), "{l1d}");
    assert!(well(&["explain", "l1d.data_reads"]).contains(" Costs energy.\n"));
    assert!(!well(&["explain", "l1d.loads"]).contains("Costs energy"));
}

#[test]
fn energies_that_fit_no_counter_are_found_by_the_check() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/machines/gtx480.toml"));
    let text = text.unwrap().replace("pj.l1d.data_reads", "pj.l1d.load_hits");
    let file = folder("bad_energy", &[("m.toml", &text)]).join("m.toml").display().to_string();
    let err = refused(&["machine", "check", &file]);
    assert!(err.contains("energy.l1d.pj.l1d: found `load_hits`, expected one of"), "{err}");
    assert_eq!(refused(&["run", "saxpy", "--machine", &file]), err);
}

#[test]
fn the_area_of_the_l1d_is_fuse_table_iii() {
    let table = well(&["area"]);
    let first = "l1d.sram\ndata array                 1572864  256 lines x 1024 bits x 6T\n";
    assert!(table.starts_with(first), "{table}");
    assert!(table.contains("transistors                1732620  "), "{table}");
    assert_eq!(well(&["area", "--system", "l1-sram"]), table);
}

/// Commands that are refused, and how the message starts.
const REFUSED: &[(&[&str], &str)] = &[
    (
        &["run", "zzz"],
        "error: no workload `zzz`, `strata list workloads` shows all; a launch file's name ends in .toml",
    ),
    (&["run", "gem"], "error: no workload `gem` (did you mean `gemm`"),
    (
        &["run", "gemm", "--size", "stash"],
        "error: workload `gemm` has no size `stash`: expected test, small, paper",
    ),
    (&["run", "saxpy", "--system", "fuze"], "error: fuze: no such system, expected one of "),
    (&["workload", "export", "nothing", "x"], "error: no workload `nothing`"),
    (&["run", "absent.toml"], "error: absent.toml: "),
    (
        &["run", "saxpy", "--size", "huge"],
        "error: --size huge: no size is called `huge`: expected test, small, paper or stash",
    ),
    (&["run", "saxpy", "--machine", "cray"], "error: cray: no such machine, expected one of gtx480"),
    (&["run", "saxpy", "--machine", "absent.toml"], "error: absent.toml: "),
    (&["run", "saxpy", "--threads", "0"], "error: --threads 0: expected at least 1"),
    (
        &["run", "saxpy", "--window", "0"],
        "error: window: found 0, expected 1 to 24, the smallest link latency",
    ),
    (
        &["run", "saxpy", "--window", "25"],
        "error: window: found 25, expected 1 to 24, the smallest link latency",
    ),
    (&["run", "saxpy", "--set", "l1d.sram.ways=0"], "error: "),
    (
        &["run", "saxpy", "--set", "l1d.way=4"],
        "error: --set l1d.way=4: unknown key `l1d.way` (did you mean `l1d.sram.ways`?), expected one of the keys of ",
    ),
    (&["machine", "check", "cray"], "error: cray: no such machine, expected one of gtx480"),
    (
        &["explain", "energy.l3"],
        "error: no energy of `l3`, expected one of constant_cache, dram, execution, ",
    ),
    (&["area", "--system", "nothing"], "error: nothing: no such system, expected one of "),
    (&["run", "saxpy", "--span", "5"], "error: the following required arguments were not provided:"),
    (&["run", "saxpy", "--timeline", "t.csv", "--span", "0"], "error: --span 0: expected at least 1"),
    (&["run", "saxpy", "--machine", "gtx48"], "error: gtx48: no such machine (did you mean `gtx480`?)"),
    (&["run", "saxpy", "--system", "l1-sran"], "error: l1-sran: no such system (did you mean `l1-sram`"),
    (&["explain", "l1d.load_hit"], "error: no statistic `l1d.load_hit` (did you mean `load_hits`"),
    (&["explain", "load_hits"], "error: no statistics group `load_hits` (did you mean `l1d.load_hits`"),
    (
        &["explain", "ipcc"],
        "error: no statistics group `ipcc` (did you mean `ipc`?), expected one of run, sm, ",
    ),
    (&["explain", "energy.l1"], "error: no energy of `l1` (did you mean `l1d`"),
    (&["repro", "fusee"], "error: no paper `fusee` (did you mean `fuse`?), expected one of fuse or a file"),
    (&["claims", "fusee"], "error: no claims of a paper `fusee` (did you mean `fuse`?)"),
    (&["compare", "saxpi", "--no-run"], "error: no workload `saxpi` (did you mean `saxpy`"),
    (
        &["compare", "saxpy", "--no-run", "--metric", "l1d.fillz"],
        "error: --metric l1d.fillz: no counter `l1d.fillz` (did you mean `fills`",
    ),
    (&["compare", "saxpy", "--no-run", "--metric", "ipcc"], "error: no metric `ipcc` (did you mean `ipc`?)"),
    (&["list", "workloads", "gemmm"], "error: no workload contains `gemmm` (did you mean `gemm`"),
    (&["machine", "keys", "wayz"], "error: no key contains `wayz` (did you mean `ways`"),
    (&["fly"], "error: unrecognized subcommand 'fly'"),
    (&["run", "saxpy", "--frobnicate"], "error: unexpected argument '--frobnicate' found"),
];

#[test]
fn what_is_refused_exits_with_2_and_says_why() {
    for (arguments, expected) in REFUSED {
        let err = refused(arguments);
        assert!(err.starts_with(expected), "{arguments:?}: {err}");
    }
}

#[test]
fn bad_launch_files_and_bad_ptx_are_refused_with_their_place() {
    let file = launch_file("bad_key", &fill("expected = { constant = 7 }\ncolour = 1"));
    assert!(refused(&["run", &file]).contains("launch.toml:15:"), "{}", refused(&["run", &file]));
    let bad = FILL.replace("st.global.u32", "st.globe.u32");
    let folder =
        folder("bad_ptx", &[("fill.ptx", &bad), ("launch.toml", &fill("expected = { constant = 7 }"))]);
    let err = refused(&["run", &folder.join("launch.toml").display().to_string()]);
    assert!(err.contains("fill.ptx:13:"), "{err}");
}

/// The lines that a driver would write about a program that does what a run did.
fn driver_lines(run: &str) -> String {
    let mut whole = json(run);
    let mut lines = String::new();
    let launches = whole["launches"].take();
    for (number, launch) in launches.as_array().unwrap().iter().enumerate() {
        let mut launch = launch.clone();
        launch["launch"] = number.into();
        lines += &format!("{launch}\n");
    }
    whole["launch_count"] = launches.as_array().unwrap().len().into();
    format!("{lines}{whole}\n")
}

#[test]
fn exec_stores_what_a_whole_program_cost() {
    let folder = folder("exec_store", &[("libcuda.so", "")]);
    let path = |name: &str| folder.join(name).display().to_string();
    let _ = std::fs::remove_dir_all(folder.join("store"));
    let whole = driver_lines(&well(&["run", "saxpy", "--set", "gpu.sms=2", "--json", "-"]));
    std::fs::write(folder.join("whole"), &whole).unwrap();
    std::fs::write(folder.join("part"), whole.lines().next().unwrap()).unwrap();
    let (driver, store) = (path("libcuda.so"), path("store"));
    let run = |lines: &str, status: &str| {
        let script = "cp \"$0\" \"$STRATA_RESULTS\" && exit $1";
        strata(&[
            "exec",
            "--driver",
            &driver,
            "--set",
            "gpu.sms=2",
            "--store",
            &store,
            "--",
            "sh",
            "-c",
            script,
            &path(lines),
            status,
        ])
    };
    let stored = || {
        let names = std::fs::read_dir(folder.join("store")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".parquet")).count()
    };
    let part = run("part", "0");
    assert_eq!(part.status, 2, "{}", part.err);
    assert!(part.err.contains("error: sh: not stored: found no results of the whole run"), "{}", part.err);
    let failed = run("whole", "3");
    assert_eq!((failed.status, stored()), (3, 0));
    assert!(failed.err.ends_with("sh: not stored: exit status: 3, expected 0\n"), "{}", failed.err);
    for _ in 0..2 {
        let Ran { status, err, .. } = run("whole", "0");
        assert_eq!((status, stored()), (0, 1), "{err}");
        let file = err.lines().last().unwrap().strip_prefix("sh: stored in ").expect("it says where");
        let record = strata_lab::store::columns::decode(std::fs::read(file).unwrap()).unwrap();
        assert_eq!(record.job.variant, "gtx480 with gpu.sms=2");
        assert_eq!(record.job.command[1], "exec");
        let cycles = |row: &&strata_lab::record::Row| row.launch == Some(0) && row.counter == "cycles";
        let cycles = record.rows.iter().find(cycles).unwrap().value;
        assert_eq!(json(whole.lines().next().unwrap())["cycles"].as_f64(), Some(cycles.as_f64()));
    }
    let listed = json(&well(&["list", "runs", "saxpy", "--store", &store, "--json"]));
    assert_eq!(listed[0]["program"], "CUDA program");
    assert_eq!(listed[0]["cycles"], json(whole.lines().next_back().unwrap())["cycles"]);
    let table = well(&["list", "runs", "--store", &store]);
    assert!(table.starts_with("NAME   SIZE  PROGRAM"), "{table}");
    let other = whole.replace("\"registers_per_thread\":", "\"registers_per_thread\":1");
    std::fs::write(folder.join("other"), other).unwrap();
    let other = run("other", "0");
    assert_eq!((other.status, stored()), (2, 1));
    assert!(other.err.contains("has other numbers for it"), "{}", other.err);
    assert!(
        refused(&["exec", "--functional", "--store", &store, "--", "true"]).contains("cannot be used with")
    );
}

#[test]
fn exec_runs_a_program_with_its_environment() {
    let folder = std::env::temp_dir().join(format!("strata-exec-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let library = folder.join("libcuda.so");
    for name in ["libcuda.so", "libcudart_12.so"] {
        std::fs::write(folder.join(name), name).unwrap();
    }
    // The driver and the runtimes must appear under the names that programs look for; missing runtimes are
    // left out.
    let script = "cd \"${LD_LIBRARY_PATH%%:*}\" && echo $(ls) $(cat libcuda.so.1 libcudart.so.12) \
                  && echo $STRATA_MACHINE $STRATA_SET $STRATA_MODE && exit $0";
    let run = |status: &str, set: &str| {
        let driver = library.to_str().unwrap();
        strata(&["exec", "--driver", driver, "--functional", "--set", set, "--", "sh", "-c", script, status])
    };
    let well = run("0", "gpu.sms=2");
    let expected =
        "libcuda.so libcuda.so.1 libcudart.so.12 libcuda.solibcudart_12.so\ngtx480 gpu.sms=2 functional\n";
    assert_eq!((well.status, well.out.as_str()), (0, expected), "{}", well.err);
    assert_eq!(well.err, "sh: made no CUDA call, so there are no results\n");
    assert_eq!(run("3", "gpu.sms=2").status, 3, "the program's own status");
    assert!(run("0", "gpu.sm=2").err.contains("unknown key `gpu.sm` (did you mean `gpu.sms`?)"));
    std::fs::remove_dir_all(&folder).unwrap();
}
