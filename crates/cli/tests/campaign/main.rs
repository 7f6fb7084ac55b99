//! Thousands of spoilt machine, system and paper files: each is read and checked without a panic, and each refusal
//! says where. All of them derive from the seeds here.

mod spoil;

use std::path::{Path, PathBuf};
use std::time::Duration;

use spoil::{Dice, spoil};
use strata_gpu::energy::Meter;
use strata_gpu::machine::{Machine, builtin, system};
use strata_gpu::{catalogue, endurance};
use strata_lab::paper::Paper;

/// Spoilt files of each kind.
const FILES: u64 = 2000;

/// Most processor time that reading and checking one may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// One in so many of the files that are still right is assembled.
const ASSEMBLED: u64 = 8;

/// How a message says what is right.
const EXPECTATIONS: &[&str] = &["expected", "must", "needs", "missing field", "duplicate key"];

/// Refuses a message that does not begin with the file and go on with a line, or name a key of one of the texts; or that
/// does not say what is expected.
fn says_where(message: &str, file: &str, texts: &[&str]) {
    let after = message.find(file).map(|at| &message[at + file.len()..]);
    let after = after.unwrap_or_else(|| panic!("no `{file}` in: {message}"));
    let has_line = after.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let has_key = || words(after).any(|word| texts.iter().any(|text| keys(text).any(|key| key == word)));
    assert!(has_line || has_key(), "neither a line nor a key in: {message}");
    assert!(EXPECTATIONS.iter().any(|words| after.contains(words)), "nothing is expected in: {message}");
}

/// The words in the keys of a text, and in the names of its tables.
fn keys(text: &str) -> impl Iterator<Item = &str> {
    let of_line = |line: &'_ str| line.starts_with('[').then_some(line.len()).or_else(|| line.find('='));
    text.lines().filter_map(move |line| Some(&line[..of_line(line)?])).flat_map(words)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').filter(|word| !word.is_empty())
}

/// Processor time of this thread so far, which other work on the host does not lengthen.
fn busy() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// Reads a spoilt file, which must not take long.
fn soon<R>(seed: u64, read: impl FnOnce() -> R) -> R {
    let started = busy();
    let outcome = read();
    let took = busy() - started;
    assert!(took < PATIENCE, "seed {seed}: {took:?} of processor time");
    outcome
}

/// Does with a machine what `strata machine check` does.
fn assemble(machine: &Machine) -> Result<(), String> {
    let _ = (machine.outline(), machine.facts(), machine.llc_bytes());
    let groups = catalogue::statistics(machine)?;
    Meter::new(machine, &groups)?;
    endurance::lifetimes(machine, &groups, 0).map(drop)
}

/// Whether this host has the memory to assemble it without a second thought.
fn is_small(machine: &Machine) -> bool {
    *machine.file().gpu.sms <= 32 && machine.file().host_bytes() <= 64 << 20
}

#[test]
fn spoilt_machine_files_are_refused_by_place_or_work() {
    let mut right = 0;
    for seed in 0..FILES {
        let text = builtin()[seed as usize % builtin().len()].text;
        let spoilt = spoil(text, &mut Dice::new(seed));
        match soon(seed, || Machine::parse(Path::new("m.toml"), &spoilt, &[])) {
            Err(error) => says_where(&error.to_string(), "m.toml", &[text, &spoilt]),
            Ok(machine) => {
                right += 1;
                if right % ASSEMBLED == 0 && is_small(&machine) {
                    let _ = assemble(&machine)
                        .map_err(|error| says_where(&format!("m.toml: {error}"), "m.toml", &[&spoilt]));
                }
            }
        }
    }
    assert!(right > FILES / 20 && right < FILES / 2, "{right} are still right");
}

/// A folder for this test's files.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("campaign");
    std::fs::create_dir_all(&folder).expect("a folder for the files");
    folder
}

#[test]
fn spoilt_system_files_are_refused_by_place_or_work() {
    let file = folder().join("s.toml");
    let name = file.display().to_string();
    let mut right = 0;
    for seed in 0..FILES {
        let text = system::builtin()[seed as usize % system::builtin().len()].text;
        let spoilt = spoil(text, &mut Dice::new(seed));
        std::fs::write(&file, &spoilt).expect("the file can be written");
        match soon(seed, || Machine::load_with("gtx480", &[&name], &[])) {
            Err(error) => says_where(&error.to_string(), &name, &[text, &spoilt, builtin()[0].text]),
            Ok(machine) => {
                right += 1;
                if right % ASSEMBLED == 0 && is_small(&machine) {
                    let _ = assemble(&machine);
                }
            }
        }
    }
    assert!(right > FILES / 20 && right < FILES / 2, "{right} are still right");
}

#[test]
fn spoilt_paper_files_are_refused_by_place_or_work() {
    let text = include_str!("paper.toml");
    Paper::parse(Path::new("p.toml"), text)
        .and_then(|paper| paper.check_names())
        .expect("it is right as it is");
    let mut right = 0;
    for seed in 0..FILES {
        let spoilt = spoil(text, &mut Dice::new(seed));
        let checked = soon(seed, || {
            Paper::parse(Path::new("p.toml"), &spoilt).and_then(|paper| match seed % ASSEMBLED {
                0 => paper.check_names(),
                _ => Ok(()),
            })
        });
        match checked {
            Err(error) => says_where(&error, "p.toml", &[text, &spoilt]),
            Ok(()) => right += 1,
        }
    }
    assert!(right > FILES / 20 && right < FILES / 2, "{right} are still right");
}

#[test]
fn files_that_are_no_text_are_refused_by_name() {
    let file = folder().join("bytes.toml");
    std::fs::write(&file, [0xff, 0xfe, 0, 0x80]).expect("the file can be written");
    let name = file.display().to_string();
    let errors = [
        Machine::load(&name, &[]).map(drop).map_err(|error| error.to_string()),
        Machine::load_with("gtx480", &[&name], &[]).map(drop).map_err(|error| error.to_string()),
        Paper::load(&name).map(drop),
    ];
    for error in errors {
        assert!(error.unwrap_err().starts_with(&name));
    }
}
