//! Random threads on CPU cores and on SMs of random machines: all of memory is as the reference executor leaves it.

use proptest::prelude::*;
use strata_engine::seed::Stream;
use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::gpu::Gpu;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, Module, Shape};

use super::CPU_CORES;
use crate::random_programs::compare::words;
use crate::random_programs::program::{Phase, Program, Stmt, program};
use crate::random_programs::text;
use crate::support::random;
use crate::support::variation::{Variation, variation};

/// Number of cases that fits an ordinary test run.
const CASES: u32 = 60;

/// The program as threads that are a CTA each: what needs shared memory or other threads is left out.
fn single(program: &Program) -> Program {
    let keeps = |phase: &Phase| match phase {
        Phase::Code(statements) => Some(Phase::Code(alone(statements))),
        Phase::BarrierReduce { .. } | Phase::Fence { .. } => Some(phase.clone()),
        _ => None,
    };
    Program { block: 1, grid: 5 * program.grid, phases: program.phases.iter().filter_map(keeps).collect() }
}

fn alone(statements: &[Stmt]) -> Vec<Stmt> {
    let keeps = |statement: &Stmt| match statement.clone() {
        Stmt::Ticket { shared: true, .. } | Stmt::CountShared { .. } => None,
        Stmt::If { cmp, a, b, then, other } => {
            Some(Stmt::If { cmp, a, b, then: alone(&then), other: alone(&other) })
        }
        Stmt::Loop { count, body, leave, rest } => {
            Some(Stmt::Loop { count, body: alone(&body), leave, rest: alone(&rest) })
        }
        other => Some(other),
    };
    statements.iter().filter_map(keeps).collect()
}

/// The text of such a program: what lies in shared memory is the thread's own, so it may as well lie in local memory.
fn single_text(program: &Program) -> String {
    text::text(program).replace(".shared", ".local")
}

/// Phases, with a launch of the same between them; each works on what another thread wrote before.
fn host(program: &Program, seed: u64, device: &mut dyn Device) -> Result<(), DeviceError> {
    let mut stream = Stream::new(seed, "data");
    let threads = program.grid;
    let mut buffer = |name, bytes: u32, device: &mut dyn Device| {
        let ptr = device.alloc(name, u64::from(bytes))?;
        device.upload(ptr, &words(&mut stream, bytes / 4))?;
        Ok::<_, DeviceError>(Arg::Ptr(ptr))
    };
    let out = buffer("out", text::output_bytes(threads).next_multiple_of(4), device)?;
    let input = buffer("in", 4 * text::INPUT_WORDS.max(8 * threads), device)?;
    let counters = buffer("counters", text::COUNTER_BYTES, device)?;
    let args = |shift| [out, input, counters, Arg::U32(shift)];
    device.on_cpu("random", threads, &args(0))?;
    device.launch("random", Shape::of_phase(threads), &args(1))?;
    device.on_cpu("random", threads, &args(1))?;
    device.on_cpu("random", threads, &args(0))
}

fn compare(program: &Program, variation: &Variation, cores: u16, seed: u64) -> Result<(), String> {
    let (_, options) = variation.machine();
    let mut systems = variation.systems.clone();
    systems.push(CPU_CORES);
    let sets: Vec<String> = variation.sets.iter().cloned().chain([format!("cpu.cores={cores}")]).collect();
    let machine = Machine::load_with("gtx480", &systems, &sets).map_err(|error| error.to_string())?;
    let text = single_text(program);
    let module = || Module { name: "random.ptx", text: &text };
    let mut silent = |_: &_| {};
    let mut timed = TimedDevice::on(Gpu::new(&machine, options)?, &machine, module(), &mut silent)?;
    let memory = *machine.file().gpu.memory_mib << 20;
    let mut reference =
        ReferenceDevice::new(module(), machine.compile_options(), memory, Default::default())?;
    let mut both = Lockstep::new(&mut timed, &mut reference);
    host(program, seed, &mut both).map_err(|error| error.to_string())?;
    let differences = both.finish().1;
    let laws = timed.statistics().into_iter().filter_map(|group| {
        group.broken.map(|law| format!("statistics of `{}` break their law \"{law}\"", group.name))
    });
    differences.into_iter().chain(laws).next().map_or(Ok(()), Err)
}

#[test]
fn random_threads_do_what_the_reference_executor_does() {
    let strategy = (program(), variation(), 1..4_u16, any::<u64>());
    random::check(CASES, 1000, &strategy, |(program, variation, cores, data)| {
        let program = single(&program);
        compare(&program, &variation, cores, data)
            .map_err(|error| format!("{error}\n{}", single_text(&program)))
    });
}
