//! The `strata` command as a script sees it: exit status, standard output, standard error and JSON.
//!
//! What this command, or another part, once said that was not so, lost or overwrote, and the test that keeps it from doing so
//! again. Paths begin at `crates`; those without one are tests of this folder.
//!
//! | it once | the test |
//! |---|---|
//! | called a run verified that `--check` did not see the end of | `parts::a_run_under_check_that_is_stopped_is_not_verified`, `stops` |
//! | kept only the last process of `exec` | `cli/tests/exec_run`: `processes` |
//! | printed another hash than README has | `scripts/documents.py --check` |
//! | took other dependencies under the same version | `gpu/tests/version.rs` |
//! | divided a region's instructions by the whole run's time | `parts::a_run_ends_after_the_last_launch_that_is_measured` |
//! | ran a job file only where its launch file lay | `jobs::a_job_runs_where_its_launch_file_is_not` |
//! | said of a failed job that it had not run | `cli/tests/store.rs`: `a_job_that_fails_is_called_failed_wherever_it_is_shown` |
//! | sent an L2 operation for each lane of an atomic on a Volta | `gpu/tests/machine/combining.rs` |
//! | could not be interrupted in a kernel under `exec`, and had no limits there | `cli/tests/exec_run`: `stops`, `checked` |
//! | let kernels of CUDA programs run past their buffers | `driver/tests/bounds.rs` |
//! | wrote over what it read, or one result over another | `parts::an_output_never_overwrites_an_input_or_another_output`, `parts::an_export_leaves_what_it_did_not_write` |
//! | simulated all of a program for a kernel that it does not have | `parts::a_region_that_cannot_be_is_refused_before_the_run` |
//! | waited for a pipe in a store, or read a device to its end | `cli/tests/store.rs`: `whatever_lies_in_a_store_is_named_and_left_and_the_results_are_shown` |
//! | took a register's first value for granted | `faults`, `ptx/tests/undefined.rs` |
//! | went round in a lock for ever | `faults::a_livelock_ends_the_run_and_names_its_lines`, `gpu/tests/machine/livelock.rs` |
//! | printed tables wider than the terminal | `cli/src/grid.rs`: `no_line_is_wider_than_the_terminal_and_no_number_is_lost` |
//! | left systems and swept values in one string of CSV | `cli/src/numbers.rs`: `each_swept_parameter_has_a_column_of_its_own` |
//! | lost bits of hashes in pandas | `scripts/store-in-pandas.py` |
//! | found no key `l1d.ways` and said nothing of what keys mean | `cli/src/machine/keys.rs`, `gpu/tests/machine/keys.rs` |
//! | had no way on from a PTX file alone | `offer` |
//! | refused a sweep for one impossible point | `parts::impossible_points_of_a_sweep_are_left_out_by_name_and_the_others_run` |
//! | said nothing of how to go on with an interrupted sweep | `jobs::an_interrupted_sweep_says_how_to_go_on` |
//! | called a store that is not there empty | `cli/tests/store.rs`: `a_claims_store_that_is_not_there_is_refused_unless_none_was_named` |
//! | ended with 2 for every signal of a program | `cli/tests/exec_run`: `processes::a_process_that_a_signal_ends_is_not_finished` |

mod diff;
mod doctor;
mod exec;
mod faults;
mod jobs;
mod new;
mod offer;
mod outputs;
mod parts;
mod races;
mod stops;
mod uncertain;
mod validate;

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
fn a_workload_runs_in_a_version() {
    let run = |arguments: &[&str]| json(&well(&[&["run", "--json", "-"], arguments].concat()));
    let cached = run(&["implicit", "--version", "cache"]);
    assert_eq!((&cached["workload"], &cached["verified"]), (&"implicit@cache".into(), &true.into()));
    assert_eq!(run(&["implicit@cache"])["statistics_hash"], cached["statistics_hash"]);
    let plain = run(&["implicit"]);
    assert_eq!(plain["workload"], "implicit");
    assert_eq!(run(&["implicit", "--version", "scratch"])["provenance"]["ptx"], plain["provenance"]["ptx"]);
    assert_ne!(cached["provenance"]["ptx"], plain["provenance"]["ptx"]);
    let listed = json(&well(&["list", "workloads", "implicit", "--json"]));
    assert_eq!(listed[0]["versions"], serde_json::json!(["scratch", "cache", "scratch-gd", "stash"]));
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
    assert!(names("policies").contains(&"fr-fcfs-cap".to_owned()));
    let policies = well(&["list", "policies", "row hits"]);
    assert!(policies.starts_with("KEY") && policies.contains("dram.scheduler"), "{policies}");
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
    let text = include_str!("../../../gpu/machines/gtx480.toml").replace("warp_slots =", "warp_slot =");
    let file = folder("machine", &[("m.toml", &text)]).join("m.toml").display().to_string();
    let err = refused(&["machine", "check", &file]);
    let line = 1 + text.lines().position(|line| line.starts_with("warp_slot ")).unwrap();
    assert!(
        err.starts_with(&format!(
            "error: {file}:{line}:1: unknown field `warp_slot` (did you mean `warp_slots`"
        )),
        "{err}"
    );
    // A system's numbers are for the GPU of its paper.
    let sets = well(&["machine", "fit", "gtx480", "--system", "morpheus-all"]);
    let sets: Vec<&str> = sets.split_whitespace().collect();
    well(&[&["machine", "check", "gtx480", "--system", "morpheus-all"][..], &sets].concat());
    assert!(
        refused(&["machine", "check", "gtx480", "--system", "morpheus-all"])
            .contains("llc.morpheus.shared.ways")
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
    assert!(keys.starts_with("l1d.sram.ways = 4 ways\n    Ways of each set"), "{keys}");
    assert_eq!(well(&["machine", "keys", "l1d.ways"]), keys);
    let keys = json(&well(&["machine", "keys", "l1d.ways", "--json"]));
    assert_eq!((&keys[0]["key"], &keys[0]["most"]), (&"l1d.sram.ways".into(), &64.into()), "{keys}");
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
        // A system may come along before its paper's evaluation does.
        let paper = system["paper"].as_str().unwrap();
        if !paper.is_empty() {
            strata_lab::paper::Paper::load(paper).unwrap();
        }
    }
}

#[test]
fn mistakes_in_a_paper_are_refused_before_anything_runs() {
    let paper = include_str!("../campaign/paper.toml");
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
    let (help, script) = (well(&["help"]), well(&["completions", "bash"]));
    let commands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.strip_prefix("  "));
    let names: Vec<&str> = commands
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !["", "help"].contains(name))
        .collect();
    assert!(names.contains(&"doctor") && names.len() > 15, "{help}");
    for name in names {
        assert!(Path::new(&folder).join(format!("strata-{name}.1")).exists(), "{name} has no page");
        assert!(script.contains(&format!("strata,{name})")), "{name} is not completed");
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
    let first = "l1d.sram\ndata array                       1572864  256 lines x 1024 bits x 6T\n";
    assert!(table.starts_with(first), "{table}");
    assert!(table.contains("transistors                      1732620  "), "{table}");
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
        "error: --size huge: no size is called `huge`: expected test, small, paper, suite, stash or morpheus",
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
        "error: no energy of `l3`, expected one of coalescer, constant_cache, dram, execution, ",
    ),
    (&["area", "--system", "zzzzzzz"], "error: zzzzzzz: no such system, expected one of "),
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
    (
        &["repro", "fusee"],
        "error: no paper `fusee` (did you mean `fuse`?), expected one of fuse, hi-end, morpheus, stash, tinycache or a file",
    ),
    (&["claims", "fusee"], "error: no claims of a paper `fusee` (did you mean `fuse`?)"),
    (&["compare", "saxpi", "--no-run"], "error: no workload `saxpi` (did you mean `saxpy`"),
    (
        &["compare", "saxpy", "--no-run", "--metric", "l1d.fillz"],
        "error: --metric l1d.fillz: no counter `l1d.fillz` (did you mean `fills`",
    ),
    (&["compare", "saxpy", "--no-run", "--metric", "ipcc"], "error: no metric `ipcc` (did you mean `ipc`?)"),
    (&["list", "workloads", "gemmm"], "error: no workload contains `gemmm` (did you mean `gemm`"),
    (&["machine", "keys", "wayz"], "error: no key contains `wayz` (did you mean `ways`"),
    (
        &["run", "implicit", "--version", "cash"],
        "error: --version: workload `implicit` has no version `cash`: expected scratch, cache, scratch-gd, stash",
    ),
    (
        &["run", "a.toml", "--version", "cache"],
        "error: --version cache: expected a workload, found a launch file",
    ),
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
