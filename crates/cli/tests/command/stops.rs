//! Runs that are stopped at random: by a cycle limit, by a signal, by a fault planted in the PTX. None says that its results
//! are verified unless it had ended before, and each leaves JSON that says why it ended. Each stop derives from its number.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::{folder, json, well};

/// Stops of the test, a third of each kind.
const STOPS: u64 = 60;

/// Stops of the campaign.
const CAMPAIGN: u64 = 1000;

const WORKLOADS: [&str; 10] =
    ["saxpy", "gemm", "bfs", "atax", "histo", "hotspot", "reduction", "kmeans", "lud", "gather"];

/// Random numbers (Steele and others, "Fast splittable pseudorandom number generators": SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len() as u64) as usize]
    }
}

/// A run that ended, and what it left.
struct Ended {
    status: Option<i32>,
    out: String,
    run: Value,
}

/// Runs a program under `--check`; `meanwhile` may disturb it.
fn run(program: &str, more: &[String], place: &Path, meanwhile: impl FnOnce(u32, &Path)) -> Ended {
    let file = place.join("run.json");
    let _ = std::fs::remove_file(&file);
    let child = Command::new(env!("CARGO_BIN_EXE_strata"))
        .args(["run", program, "--check", "--quiet", "--json"])
        .arg(&file)
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    meanwhile(child.id(), &file);
    let output = child.wait_with_output().expect("the command ends");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    Ended {
        status: output.status.code(),
        out: String::from_utf8(output.stdout).expect("the command writes UTF-8"),
        run: json(&text),
    }
}

/// What a workload does when nobody disturbs it.
struct Undisturbed {
    cycles: u64,
    hash: Value,
}

fn undisturbed(workload: &str, place: &Path) -> Undisturbed {
    let Ended { run, .. } = run(workload, &[], place, |_, _| {});
    assert_eq!(run["verdict"], "verified", "{workload}");
    Undisturbed { cycles: run["cycles"].as_u64().unwrap(), hash: run["statistics_hash"].clone() }
}

/// A launch file that does what a workload does until it comes to the fault.
fn planted(workload: &str, dice: &mut Dice, place: &Path) -> String {
    well(&["workload", "export", workload, "--size", "test", &place.display().to_string()]);
    let kernel = place.join("kernel.ptx");
    let text = std::fs::read_to_string(&kernel).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let operations = ["ld.", "st.", "add.", "mul.", "mad.", "fma.", "setp.", "mov.", "shl.", "and.", "cvt."];
    let is_operation = |line: &&usize| {
        let line = lines[**line].trim_start();
        line.ends_with(';') && operations.iter().any(|operation| line.starts_with(operation))
    };
    let places: Vec<usize> = (0..lines.len()).collect();
    let places: Vec<usize> = places.iter().filter(is_operation).copied().collect();
    let fault = match dice.roll(3) {
        0 => "@%stops trap;",
        1 => "@%stops st.global.u32 [16], 1;",
        _ => "@%stops st.global.u32 [1048577], 1;",
    };
    let cta = dice.roll(4);
    let planted = format!(
        "{{ .reg .pred %stops; .reg .b32 %cta; mov.u32 %cta, %ctaid.x; setp.eq.u32 %stops, %cta, {cta}; {fault} }}"
    );
    let at = *dice.pick(&places);
    let lines = [&lines[..at], &[planted.as_str()], &lines[at..]].concat();
    std::fs::write(&kernel, lines.join("\n") + "\n").unwrap();
    place.join("launch.toml").display().to_string()
}

/// Waits until a run has begun, which is when its first report is there.
fn until_it_runs(file: &Path) {
    while std::fs::metadata(file).map_or(0, |meta| meta.len()) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn signal(process: u32, name: &str) {
    // The run may have ended before.
    let _ = Command::new("kill").args(["-s", name, &process.to_string()]).stderr(Stdio::null()).status();
}

/// Refuses a run that claims more than it did.
fn is_honest(ended: &Ended, whole: Option<&Undisturbed>, context: &str) -> bool {
    let Ended { status, out, run } = ended;
    let claims = run["verified"] == true || run["verdict"] == "verified" || out.contains("verified");
    if claims {
        assert!(run["stopped"].is_null() && *status == Some(0), "{context}: {status:?}: {run:#}");
        assert!(run["comparisons"].as_array().is_some_and(|made| !made.is_empty()), "{context}: {run:#}");
        if let Some(Undisturbed { cycles, hash }) = whole {
            assert_eq!((&run["cycles"], &run["statistics_hash"]), (&(*cycles).into(), hash), "{context}");
        }
    } else {
        let reason = run["stopped"].as_str().unwrap_or_else(|| panic!("{context}: no reason: {run:#}"));
        assert!(!reason.is_empty() && reason != "under way", "{context}: {reason}");
        assert_eq!((*status, &run["verdict"]), (Some(2), &"not finished".into()), "{context}: {run:#}");
        assert!(out.is_empty() || out.contains("NOT FINISHED"), "{context}: {out}");
    }
    !claims
}

/// Makes so many stops, and says how many of each kind came before the end.
fn campaign(stops: u64, name: &str) {
    let place = |of: &str| -> PathBuf { folder(&format!("stops-{name}-{of}"), &[]) };
    let whole: BTreeMap<&str, Undisturbed> =
        WORKLOADS.map(|workload| (workload, undisturbed(workload, &place("whole")))).into();
    let mut stopped = [0; 3];
    for number in 0..stops {
        let mut dice = Dice(number);
        let kind = (number % 3) as usize;
        let workload = *dice.pick(&WORKLOADS);
        let whole = &whole[workload];
        let context = format!("stop {number}, {workload}");
        let honest = match kind {
            0 => {
                let limit = 1 + dice.roll(whole.cycles * 5 / 4);
                let more = ["--max-cycles".to_owned(), limit.to_string()];
                is_honest(&run(workload, &more, &place("limit"), |_, _| {}), Some(whole), &context)
            }
            1 => {
                let (delay, name) = (dice.roll(200), *dice.pick(&["INT", "TERM"]));
                let disturb = |process, file: &Path| {
                    until_it_runs(file);
                    std::thread::sleep(Duration::from_millis(delay));
                    signal(process, name);
                };
                is_honest(&run(workload, &[], &place("signal"), disturb), Some(whole), &context)
            }
            _ => {
                let place = place("fault");
                let file = planted(workload, &mut dice, &place);
                is_honest(&run(&file, &[], &place, |_, _| {}), None, &context)
            }
        };
        stopped[kind] += u64::from(honest);
    }
    let [limits, signals, faults] = stopped;
    println!(
        "{stops} stops from seed 0: {limits} limits, {signals} signals, {faults} faults came before the end"
    );
    assert!(limits > 0 && faults > 0, "nothing was stopped");
}

#[test]
fn a_run_that_is_stopped_never_says_that_it_is_verified() {
    campaign(STOPS, "test");
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_stops() {
    campaign(CAMPAIGN, "campaign");
}
