//! Timed machines against the reference executor on random programs: all of memory is equal after every launch.
//!
//! The programs come from one seed, so that a run says the same tomorrow. `STRATA_RANDOM_SEED` chooses another,
//! `STRATA_RANDOM_CASES` how many there are.

#[path = "../common/mod.rs"]
mod common;
mod program;
mod text;

use common::setting;
use common::variation::{self, Variation};
use program::Program;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use strata_engine::seed::Stream;
use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, Module};

/// As many as an ordinary test run has time for.
const CASES: u32 = 160;
/// Words that programs meet more often than chance would have it.
const SPECIAL: [u32; 12] =
    [0, 1, 2, 31, 32, 0xff, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x7f80_0000, 0x3f80_0000, 0xff80_0001];

/// `words` words for a program to work on.
fn words(stream: &mut Stream, words: u32) -> Vec<u8> {
    let mut word = || match stream.below(4) {
        0 => SPECIAL[stream.below(SPECIAL.len() as u64) as usize],
        1 => stream.below(100) as u32,
        _ => stream.next() as u32,
    };
    (0..words).flat_map(|_| word().to_le_bytes()).collect()
}

/// Two launches: in the second each CTA works on what another CTA, in general on another SM, wrote in the first.
fn host(program: &Program, seed: u64, device: &mut dyn Device) -> Result<(), DeviceError> {
    let mut stream = Stream::new(seed, "data");
    let threads = program.block * program.grid;
    let mut buffer = |name, bytes: u32, device: &mut dyn Device| {
        let ptr = device.alloc(name, u64::from(bytes))?;
        device.upload(ptr, &words(&mut stream, bytes / 4))?;
        Ok::<_, DeviceError>(ptr)
    };
    let out = buffer("out", text::output_bytes(threads), device)?;
    let input = buffer("in", 4 * text::INPUT_WORDS.max(8 * threads), device)?;
    let counters = buffer("counters", text::COUNTER_BYTES, device)?;
    for shift in 0..2 {
        device.launch(
            "random",
            [program.grid, 1, 1],
            [program.block, 1, 1],
            0,
            &[Arg::Ptr(out), Arg::Ptr(input), Arg::Ptr(counters), Arg::U32(shift)],
        )?;
    }
    Ok(())
}

/// Runs a program on both. The error says where they differ first, or what went wrong.
fn compare(program: &Program, variation: &Variation, seed: u64, text: &str) -> Result<(), String> {
    let (machine, options) = variation.machine();
    let module = || Module { name: "random.ptx", text };
    let mut silent = |_: &_| {};
    let mut timed = TimedDevice::new(&machine, module(), options, &mut silent)?;
    let mut reference = reference(&machine, module())?;
    let mut both = Lockstep::new(&mut timed, &mut reference);
    host(program, seed, &mut both).map_err(|error| error.to_string())?;
    let broken = both.into_differences();
    let laws = timed.statistics().into_iter().filter_map(|group| {
        group.broken.map(|law| format!("statistics of `{}` break their law \"{law}\"", group.name))
    });
    match broken.into_iter().chain(laws).next() {
        Some(first) => Err(first),
        None => Ok(()),
    }
}

fn reference(machine: &Machine, module: Module<'_>) -> Result<ReferenceDevice, String> {
    ReferenceDevice::new(
        module,
        machine.compile_options(),
        *machine.file().gpu.memory_mib << 20,
        Default::default(),
    )
}

#[test]
fn random_programs_do_what_the_reference_executor_does() {
    let seed = setting("STRATA_RANDOM_SEED", 1);
    let config = ProptestConfig {
        cases: setting("STRATA_RANDOM_CASES", CASES),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 3000,
        ..ProptestConfig::default()
    };
    let strategy = (program::program(), variation::variation(), any::<u64>());
    let outcome = TestRunner::new(config).run(&strategy, |(program, variation, data)| {
        let text = text::text(&program);
        compare(&program, &variation, data, &text)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))
    });
    if let Err(error) = outcome {
        panic!("STRATA_RANDOM_SEED={seed}: {error}");
    }
}
