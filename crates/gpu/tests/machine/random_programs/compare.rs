//! One program on one machine, and on the reference executor.

use strata_engine::seed::Stream;
use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, Module, Shape};

use super::program::Program;
use super::text;
use crate::support::variation::Variation;
use crate::support::{WrapL1d, with_wrapped_l1ds};

/// Words that programs meet more often than chance would have it.
const SPECIAL: [u32; 12] =
    [0, 1, 2, 31, 32, 0xff, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x7f80_0000, 0x3f80_0000, 0xff80_0001];

/// `words` words for a program to work on.
pub fn words(stream: &mut Stream, words: u32) -> Vec<u8> {
    let mut word = || match stream.below(4) {
        0 => SPECIAL[stream.below(SPECIAL.len() as u64) as usize],
        1 => stream.below(100) as u32,
        _ => stream.next() as u32,
    };
    (0..words).flat_map(|_| word().to_le_bytes()).collect()
}

/// Three launches: in the second each CTA works on what another CTA, in general on another SM, wrote in the first, and
/// in the third it comes back to what was its own.
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
    for shift in [0, 1, 0] {
        device.launch(
            "random",
            Shape::new([program.grid, 1, 1], [program.block, 1, 1]),
            &[Arg::Ptr(out), Arg::Ptr(input), Arg::Ptr(counters), Arg::U32(shift)],
        )?;
    }
    Ok(())
}

/// Runs a program on both. The error says where they differ first, or what went wrong.
pub fn compare(
    program: &Program,
    variation: &Variation,
    seed: u64,
    text: &str,
    wrap_l1d: WrapL1d<'_>,
) -> Result<(), String> {
    let (machine, options) = variation.machine();
    let module = || Module { name: "random.ptx", text };
    let mut silent = |_: &_| {};
    let mut timed =
        TimedDevice::on(with_wrapped_l1ds(&machine, options, wrap_l1d)?, &machine, module(), &mut silent)?;
    let mut reference = reference(&machine, module())?;
    let mut both = Lockstep::new(&mut timed, &mut reference);
    host(program, seed, &mut both).map_err(|error| error.to_string())?;
    let broken = both.finish().1;
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
