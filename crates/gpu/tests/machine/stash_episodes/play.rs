//! An episode on a machine and on the reference executor, with the array that the plan predicts.

use strata_engine::seed::Stream;
use strata_engine::statistics::Group;
use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

use super::machines::Variation;
use super::plan::{Phase, Runner};
use super::text;

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
    let differences = both.finish().1;
    let statistics = timed.statistics();
    let laws = statistics.iter().filter_map(|group| {
        let law = group.broken.as_ref()?;
        Some(format!("statistics of `{}` break their law \"{law}\"", group.name))
    });
    let all: Vec<String> = wrong.into_iter().chain(differences).chain(laws).collect();
    if all.is_empty() { Ok(statistics) } else { Err(all.join("\n")) }
}

/// An episode before it is played.
struct Episode {
    /// The array before the first phase, and where it begins in its buffer.
    x: Vec<u8>,
    first: u64,
    phases: Vec<Phase>,
    /// By phase, what the host writes afterwards, and where.
    writes: Vec<Option<(usize, Vec<u8>)>>,
}

fn episode(number: u64, extent: u32) -> Episode {
    let mut stream = Stream::new(number, "stash episode");
    let words = [96, 256, 512, 1500, 4096][stream.below(5) as usize];
    let first = 16 * stream.below(16);
    let at_first: Vec<u8> = (0..4 * words).map(|_| stream.next() as u8).collect();
    let mut x = at_first.clone();
    let (mut history, mut names) = (Vec::new(), 0);
    let (mut phases, mut writes) = (Vec::new(), Vec::new());
    for _ in 0..3 + stream.below(4) {
        let phase = if stream.below(3) == 0 {
            Phase::cpu(&x, &mut stream)
        } else {
            Phase::gpu(&x, &mut history, &mut names, extent, &mut stream)
        };
        x.clone_from(&phase.x);
        phases.push(phase);
        let write = (stream.below(3) == 0).then(|| {
            let at = stream.below(x.len() as u64) as usize;
            let end = (at + 1 + stream.below(300) as usize).min(x.len());
            x[at..end].fill_with(|| stream.next() as u8);
            (at, x[at..end].to_vec())
        });
        writes.push(write);
    }
    Episode { x: at_first, first, phases, writes }
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
    let Episode { x, first, phases, writes } = episode(number, variation.extent);
    let most = |bytes: &dyn Fn(&Phase) -> usize| phases.iter().map(bytes).max().unwrap_or(0).max(4) as u64;
    let buffers = Buffers {
        // It begins anywhere in a line where the widest access can.
        x: device.alloc("x", x.len() as u64 + first)?.offset(first),
        plan: device.alloc("plan", most(&|phase| phase.plan().len()))?,
        tiles: device.alloc("tiles", most(&|phase| 4 * phase.tiles.len()))?,
        results: device.alloc("results", most(&Phase::result_bytes))?,
    };
    device.upload(buffers.x, &x)?;
    for (place, (phase, write)) in phases.iter().zip(writes).enumerate() {
        run(phase, &buffers, device)?;
        if let Some(wrong) = find_wrong(phase, &buffers, device)? {
            return Ok(Some(format!("phase {place}, {:?}: {wrong}", phase.runner)));
        }
        if let Some((at, bytes)) = write {
            device.upload(buffers.x.offset(at as u64), &bytes)?;
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
