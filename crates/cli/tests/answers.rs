//! What once went wrong for those who use the command: what was asked, what it answered then, and what it answers now.
//! The rows that take more than one command have a test of their own, whose name stands here.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command that is answered by a sentence.
struct Answer {
    ask: &'static [&'static str],
    then: &'static str,
    status: i32,
    /// Part of standard output or standard error.
    now: &'static str,
}

const ANSWERS: &[Answer] = &[
    Answer {
        ask: &["run", "saxpy", "--machine", "huge.toml"],
        then: "a panic: integers of 2^63 and more were cast",
        status: 2,
        now: "found 9223372036854775808",
    },
    Answer {
        ask: &["run", "saxpy", "--machine", "mine.toml"],
        then: "`on gtx480`, though a copy with other values ran",
        status: 0,
        now: "on gtx480 (mine.toml)",
    },
    Answer {
        ask: &["run", "saxpy", "--json", "nowhere/at/all.json"],
        then: "the whole run, and then an error in place of its results",
        status: 2,
        now: "nowhere/at/all.json: ",
    },
    Answer {
        ask: &["run", "gemm", "--max-cycles", "2000"],
        then: "up to 165 lines of warps, and no statistics",
        status: 2,
        now: "PARTIAL, until the run was stopped",
    },
    Answer {
        ask: &["repro", "paper.toml", "--store", "paper-store", "--out", "paper.html"],
        then: "exit status 0 and nothing on the terminal, whatever the paper's file got wrong",
        status: 2,
        now: "did you mean `l1d.sram.ways`",
    },
    Answer {
        ask: &["compare", "saxpy", "--metric", "l1d.loadz / l1d.loads", "--store", "metric-store"],
        then: "a table of dashes",
        status: 2,
        now: "no counter `l1d.loadz`",
    },
    Answer {
        ask: &["repro", "fuse", "--no-run", "--store", "nope", "--out", "kept.html"],
        then: "an empty page over the one that was there",
        status: 2,
        now: "nope: found no store",
    },
    Answer {
        ask: &["run", "wrong-scalar.toml"],
        then: "a run: `{ f32 = 1e-41 }` passed for a `.u32` of its size",
        status: 2,
        now: "parameter `value` is .u32",
    },
    Answer {
        ask: &["run", "values.toml"],
        then: "an unknown key: contents could not be written out",
        status: 0,
        now: "results verified",
    },
    Answer {
        ask: &["run", "outside.toml"],
        then: "an address that lies in no allocation, and no word of the nearest",
        status: 2,
        now: "`to` (128 bytes at ",
    },
    Answer {
        ask: &["run", "saxpy", "--set", "l1d.way=8"],
        then: "`expected one of `sram``, and not the keys",
        status: 2,
        now: "did you mean `l1d.sram.ways`",
    },
    Answer {
        ask: &[
            "compare",
            "saxpy",
            "saxpy",
            "--sweep",
            "l1d.ways=2,2",
            "--metric",
            "cycles",
            "--store",
            "twice",
        ],
        then: "each row and column twice",
        status: 0,
        now: "  saxpy ",
    },
    Answer {
        ask: &["compare", "saxpy", "--write-jobs", "jobs", "--store", "unwritten"],
        then: "tables without a number",
        status: 0,
        now: "1 jobs are in jobs",
    },
    Answer { ask: &["explain", "ipc"], then: "no such counter", status: 0, now: "ipc" },
    Answer {
        ask: &["run", "saxpi"],
        then: "a list of all workloads",
        status: 2,
        now: "did you mean `saxpy`",
    },
    Answer {
        ask: &["run", "saxpy", "--machine", "gtx408"],
        then: "a list of machines",
        status: 2,
        now: "did you mean `gtx480`",
    },
    Answer { ask: &["machine", "show", "gtx480"], then: "no such command", status: 0, now: "[l1d.sram" },
    Answer { ask: &["machine", "keys", "l1d"], then: "no such command", status: 0, now: "l1d.sram.ways" },
    Answer { ask: &["--version"], then: "the version without the sources' hash", status: 0, now: "0.1.0+" },
    Answer { ask: &["completions", "bash"], then: "no such command", status: 0, now: "_strata" },
    Answer {
        ask: &["exec", "--driver", "libcuda.so", "--", "sh", "-c", "exit 7"],
        then: "exit status 2 for every failure, and silence about a program without a CUDA call",
        status: 7,
        now: "made no CUDA call",
    },
];

/// What takes several commands: what it did, and the test that shows what it does.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    (
        "a page of old results named the simulator that drew it",
        "../lab/src/page/tests.rs",
        "a_page_names_the_simulator_that_ran_and_not_the_one_that_draws",
    ),
    ("a fault left no statistics", "tests/command/outputs.rs", "a_fault_leaves_what_was_counted_until_then"),
    (
        "a result did not say where it came from",
        "tests/command/outputs.rs",
        "a_result_says_where_it_comes_from",
    ),
    (
        "reading commands deleted files of a store",
        "tests/sweep.rs",
        "reading_changes_nothing_and_a_missing_store_is_named",
    ),
    (
        "two sweeps on one store did each job twice",
        "tests/sweep.rs",
        "two_sweeps_share_the_work_of_one_store",
    ),
    (
        "one's own kernel could not enter the lab",
        "tests/sweep.rs",
        "one_s_own_kernel_stands_beside_workloads",
    ),
    ("compile time was quadratic", "../ptx/tests/large_ptx.rs", "fn "),
    ("a killed sweep", "tests/sweep.rs", "a_sweep_that_is_killed_again_and_again_ends_with_the_same_store"),
];

const FILL: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry fill(.param .u64 to, .param .u32 value)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
    ld.param.u64 %rd0, [to];\nld.param.u32 %r0, [value];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\n\
    add.s64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], %r0;\nret;\n}\n";

fn launch(block: u32, value: &str, rest: &str) -> String {
    format!(
        "name = \"fill\"\nmodule = \"fill.ptx\"\n[[buffer]]\nname = \"to\"\ntype = \"u32\"\ncount = 32\n\
         [[launch]]\nkernel = \"fill\"\ngrid = [1]\nblock = [{block}]\n\
         arguments = [{{ buffer = \"to\" }}, {{ {value} }}]\n{rest}"
    )
}

/// A folder with the files that the commands name.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("answers");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let machine = include_str!("../../gpu/machines/gtx480.toml");
    let sevens = vec!["7"; 32].join(", ");
    let check = format!("[[check]]\nbuffer = \"to\"\nexpected = {{ values = [{sevens}] }}\n");
    let paper = include_str!("campaign/paper.toml").replace("l1d.ways=8", "l1d.wayz=8");
    for (name, text) in [
        ("huge.toml", machine.replacen("ways = { value = 4,", "ways = { value = 9223372036854775808,", 1)),
        ("mine.toml", machine.replacen("ways = { value = 4,", "ways = { value = 1,", 1)),
        ("paper.toml", paper),
        ("fill.ptx", FILL.to_owned()),
        ("wrong-scalar.toml", launch(32, "f32 = 1e-41", "")),
        ("values.toml", launch(32, "u32 = 7", &check)),
        ("outside.toml", launch(64, "u32 = 7", "")),
        ("libcuda.so", String::new()),
        ("kept.html", "kept".to_owned()),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder
}

#[test]
fn each_question_has_its_answer() {
    let folder = folder();
    let mut wrong = Vec::new();
    for Answer { ask, then, status, now } in ANSWERS {
        let output =
            Command::new(env!("CARGO_BIN_EXE_strata")).args(*ask).current_dir(&folder).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        if output.status.code() != Some(*status) || !said.contains(now) {
            wrong.push(format!(
                "strata {}\n  then: {then}\n  expected: {status}, `{now}`\n  found: {:?}, {said}",
                ask.join(" "),
                output.status.code()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(std::fs::read_to_string(folder.join("kept.html")).unwrap(), "kept");
    // Twice is once: a header, a row and nothing more for each table.
    let rows = std::fs::read_dir(folder.join("twice")).unwrap();
    let results =
        rows.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "parquet"));
    assert_eq!(results.count(), 1);
}

#[test]
fn what_takes_several_commands_has_a_test_of_its_own() {
    for (what, file, test) in ELSEWHERE {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert!(text.contains(test), "{what}: {file} has no `{test}`");
    }
}
