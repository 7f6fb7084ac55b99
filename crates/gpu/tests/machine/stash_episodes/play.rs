//! An episode on a machine and on the reference executor, with the array that the plan predicts.

use strata_engine::seed::Stream;
use strata_engine::statistics::Group;
use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

use super::machines::Variation;
use super::plan::{Phase, Runner, STEPS, TILES_WORDS};
use super::text::{self, STEP_BYTES};

/// Builds the machine, or one with a bug.
pub type Build<'a> = &'a mut dyn FnMut(&Machine, GpuOptions) -> Result<Gpu, String>;

/// Plays an episode. The error says what was wrong first; else the counters at the end.
pub fn play(number: u64, variation: &Variation, build: Build<'_>) -> Result<Vec<Group>, String> {
    let (machine, options) = variation.machine()?;
    let text = text::text();
    let module = || Module { name: "episode.ptx", text: &text };
    let mut silent = |_: &_| {};
    let gpu = build(&machine, options)?;
    let mut timed = TimedDevice::on(gpu, &machine, module(), &mut silent)?;
    let memory = *machine.file().gpu.memory_mib << 20;
    let mut reference =
        ReferenceDevice::new(module(), machine.compile_options(), memory, Default::default())?;
    let mut both = Lockstep::new(&mut timed, &mut reference);
    let wrong = phases(number, variation, &mut both).map_err(|error| error.to_string())?;
    let differences = both.into_differences();
    let statistics = timed.statistics();
    let laws = statistics.iter().filter_map(|group| {
        let law = group.broken.as_ref()?;
        Some(format!("statistics of `{}` break their law \"{law}\"", group.name))
    });
    let all: Vec<String> = wrong.into_iter().chain(differences).chain(laws).collect();
    if all.is_empty() { Ok(statistics) } else { Err(all.join("\n")) }
}

struct Buffers {
    x: DevicePtr,
    plan: DevicePtr,
    tiles: DevicePtr,
    results: DevicePtr,
}

/// What was wrong after the first phase with anything wrong.
fn phases(
    number: u64,
    variation: &Variation,
    device: &mut dyn Device,
) -> Result<Option<String>, DeviceError> {
    let mut stream = Stream::new(number, "stash episode");
    let words = [96, 256, 512, 1500, 4096][stream.below(5) as usize];
    let mut x: Vec<u8> = (0..4 * words).map(|_| stream.next() as u8).collect();
    let buffers = Buffers {
        // It begins anywhere in a line where the widest access can.
        x: device.alloc("x", x.len() as u64 + 256)?.offset(16 * stream.below(16)),
        plan: device.alloc("plan", (STEPS * STEP_BYTES) as u64)?,
        tiles: device.alloc("tiles", 4 * TILES_WORDS as u64)?,
        results: device.alloc("results", 4 * STEPS as u64)?,
    };
    device.upload(buffers.x, &x)?;
    let (mut history, mut names) = (Vec::new(), 0);
    for place in 0..3 + stream.below(5) {
        let runs_on_cpu = stream.below(3) == 0;
        let phase = if runs_on_cpu {
            Phase::cpu(&x, &mut stream)
        } else {
            Phase::gpu(&x, &mut history, &mut names, variation.extent, &mut stream)
        };
        run(&phase, &buffers, device)?;
        x.clone_from(&phase.x);
        if let Some(wrong) = find_wrong(&phase, &buffers, device)? {
            return Ok(Some(format!("phase {place}, {:?}: {wrong}", phase.runner)));
        }
        if stream.below(3) == 0 {
            let first = stream.below(x.len() as u64) as usize;
            let end = (first + 1 + stream.below(300) as usize).min(x.len());
            x[first..end].fill_with(|| stream.next() as u8);
            device.upload(buffers.x.offset(first as u64), &x[first..end])?;
        }
    }
    Ok(None)
}

fn run(phase: &Phase, buffers: &Buffers, device: &mut dyn Device) -> Result<(), DeviceError> {
    let &Buffers { x, plan, tiles, results } = buffers;
    device.upload(plan, &phase.plan())?;
    let mut args = vec![Arg::Ptr(plan), Arg::Ptr(x), Arg::Ptr(results), Arg::U32(phase.steps)];
    match phase.runner {
        Runner::Cpu { threads } => device.on_cpu("host", threads, &args),
        Runner::Gpu { ctas, threads, shared_bytes } => {
            let words: Vec<u8> = phase.tiles.iter().flat_map(|word| word.to_le_bytes()).collect();
            device.upload(tiles, &words)?;
            args.extend([Arg::Ptr(tiles), Arg::U32(phase.rounds), Arg::U32(phase.operations)]);
            let shape = Shape::new([ctas, 1, 1], [threads, 1, 1]).with_shared(shared_bytes);
            device.launch("gpu", shape, &args)
        }
    }
}

fn find_wrong(
    phase: &Phase,
    buffers: &Buffers,
    device: &mut dyn Device,
) -> Result<Option<String>, DeviceError> {
    let mut results = vec![0; phase.result_bytes()];
    device.download(buffers.results, &mut results)?;
    if let Some(wrong) = phase.find_wrong(&results) {
        return Ok(Some(wrong));
    }
    let mut found = vec![0; phase.x.len()];
    device.download(buffers.x, &mut found)?;
    let wrong = found.iter().zip(&phase.x).position(|(found, expected)| found != expected);
    Ok(wrong.map(|byte| {
        let (found, expected) = (found[byte], phase.x[byte]);
        format!("byte {byte} of the array is {found:#04x} afterwards, expected {expected:#04x}")
    }))
}
