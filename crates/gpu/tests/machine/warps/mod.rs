//! Operations across the lanes of a warp against what the PTX ISA's text says of them, in both executors.
//!
//! Threads of a warp diverge at random, form groups at random, as tiles, by labels or by a predicate as cooperative groups do,
//! and execute every operation with their group's membermask. Both executors share what an operation computes, so neither
//! says what is right: `oracle.rs` does.

mod case;
mod oracle;
mod text;

use crate::support::random;
use crate::support::variation::{self, Variation};
use case::{Case, LANES, Round};
use oracle::OPERATIONS;
use strata_gpu::device::{ReferenceDevice, TimedDevice};
use strata_gpu::gpu::Gpu;
use strata_workloads::{Arg, Device, DeviceError, Module, Shape};

/// What stands in a word that no thread wrote.
const UNTOUCHED: u32 = 0xdead_beef;

#[test]
fn warps_compute_what_the_isa_says_of_every_group() {
    let strategy = (case::case(), variation::variation());
    random::check(48, 200, &strategy, |(case, variation)| {
        let text = text::text(&case);
        both(&case, &variation, &text).map_err(|error| format!("{error}\n{text}"))
    });
}

/// Runs a case in both executors; says where one departs from the oracle.
fn both(case: &Case, variation: &Variation, text: &str) -> Result<(), String> {
    let (machine, options) = variation.machine();
    let module = || Module { name: "warps.ptx", text };
    let mut silent = |_: &_| {};
    let memory = *machine.file().gpu.memory_mib << 20;
    let mut reference =
        ReferenceDevice::new(module(), machine.compile_options(), memory, Default::default())?;
    let found = run(case, &mut reference).map_err(|error| error.to_string())?;
    compare(case, &found).map_err(|error| format!("reference executor: {error}"))?;
    let gpu = Gpu::new(&machine, options).map_err(|error| error.to_string())?;
    let mut timed =
        TimedDevice::on(gpu, &machine, module(), &mut silent).map_err(|error| error.to_string())?;
    let found = run(case, &mut timed).map_err(|error| error.to_string())?;
    compare(case, &found).map_err(|error| format!("modelled GPU: {error}"))
}

/// What a device leaves in the output.
fn run(case: &Case, device: &mut dyn Device) -> Result<Vec<u32>, DeviceError> {
    let threads = LANES * case.warps.len();
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let input = text::input(case);
    let given = device.alloc("in", 4 * input.len() as u64)?;
    device.upload(given, &bytes(&input))?;
    let mut found = bytes(&vec![UNTOUCHED; threads * text::output_words(case)]);
    let out = device.alloc("out", found.len() as u64)?;
    device.upload(out, &found)?;
    let shape = Shape::new([case.warps.len() as u32, 1, 1], [LANES as u32, 1, 1]);
    device.launch("warps", shape, &[Arg::Ptr(out), Arg::Ptr(given)])?;
    device.download(out, &mut found)?;
    Ok(found.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
}

/// Compares every thread's results with the oracle's.
fn compare(case: &Case, found: &[u32]) -> Result<(), String> {
    for (w, warp) in case.warps.iter().enumerate() {
        for (at, round) in case.rounds().into_iter().enumerate() {
            let joined = Round::of(case, warp, round);
            for (operation, (name, expected)) in OPERATIONS.iter().enumerate() {
                for lane in 0..LANES {
                    let thread = LANES * w + lane;
                    let place = text::output_words(case) * thread + OPERATIONS.len() * at + operation;
                    let wanted = match joined.executing >> lane & 1 {
                        0 => Some(UNTOUCHED),
                        _ => expected(&joined, lane),
                    };
                    if wanted.is_some_and(|wanted| wanted != found[place]) {
                        return Err(format!(
                            "warp {w}, lane {lane}, step {}, round {}: {name} is {:#x}, the ISA says {:#x}; executing \
                             {:#010x}, membermask {:#010x}",
                            round.step,
                            round.round,
                            found[place],
                            wanted.unwrap_or_default(),
                            joined.executing,
                            joined.masks[lane]
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}
