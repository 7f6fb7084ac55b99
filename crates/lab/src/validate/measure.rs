//! Microbenchmarks run on a machine.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_gpu::{RunError, RunRequest, run};
use strata_workloads::HostProgram;
use strata_workloads::micro::{self, Benchmark, CLOCKS, Figure, Scale, Target};

use super::reading::read;

/// Core cycles after which a benchmark is given up.
const MOST_CYCLES: u64 = 40_000_000;

/// A figure of a machine.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What the benchmark belongs to, as `latency`.
    pub family: &'static str,
    /// What was measured.
    pub figure: Figure,
    /// The number, or why there is none.
    pub value: Result<f64, String>,
}

/// The names of the families, in order.
#[must_use]
pub fn families() -> Vec<&'static str> {
    let target = Target { sms: 1, capability: 90, l2_bytes: 1 << 20 };
    let mut families: Vec<&str> = Vec::new();
    for benchmark in micro::all(Scale::Full, target) {
        if !families.contains(&benchmark.family) {
            families.push(benchmark.family);
        }
    }
    families
}

/// The benchmarks for a machine: few points, by the sizes of its caches.
#[must_use]
pub fn benchmarks(machine: &Machine) -> Vec<Benchmark> {
    let file = machine.file();
    let sms = u32::try_from(file.gpu.compute_sms().len()).expect("few SMs");
    // Kernels of every compute capability run; what a machine lacks, it says.
    micro::all(Scale::Small, Target { sms, capability: 90, l2_bytes: machine.llc_bytes() })
}

/// Runs benchmarks on so many threads. `done` is told how many benchmarks have ended; `interrupt` stops it.
///
/// Results come in the benchmarks' order and do not depend on the number of threads.
///
/// # Errors
/// It was interrupted.
pub fn measure(
    machine: &Machine,
    benchmarks: &[Benchmark],
    threads: usize,
    interrupt: Option<&'static AtomicBool>,
    done: &(dyn Fn(usize, &Benchmark) + Sync),
) -> Result<Vec<Measured>, String> {
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Mutex<BTreeMap<usize, Vec<Measured>>> = Mutex::default();
    let is_interrupted = || interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, benchmarks.len().max(1)) {
            scope.spawn(|| {
                while !is_interrupted() {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(benchmark) = benchmarks.get(place) else { break };
                    let measured = one(machine, benchmark, interrupt);
                    found.lock().expect("no thread panics with it").insert(place, measured);
                    done(ended.fetch_add(1, Ordering::Relaxed) + 1, benchmark);
                }
            });
        }
    });
    if is_interrupted() {
        return Err("interrupted".into());
    }
    Ok(found.into_inner().expect("no thread panicked with it").into_values().flatten().collect())
}

fn one(machine: &Machine, benchmark: &Benchmark, interrupt: Option<&'static AtomicBool>) -> Vec<Measured> {
    let (mut ignore_progress, mut ignore_results) =
        (|_: &strata_gpu::Progress| (), |_: &mut dyn FnMut() -> RunResult| ());
    let request = RunRequest {
        max_cycles: Some(MOST_CYCLES),
        interrupt,
        ..RunRequest::plain(benchmark as &dyn HostProgram, machine, &mut ignore_progress, &mut ignore_results)
    };
    let read_all = |result: RunResult| -> Vec<Result<f64, String>> {
        let clocks = clocks(&result);
        let times = times(benchmark, &result, f64::from(machine.facts().core_mhz));
        let longer = "the longer span took no longer than the shorter one";
        let read = |figure| read(figure, &clocks, &times).map_err(|_| longer.to_owned());
        benchmark.figures.iter().map(read).collect()
    };
    let values = match run(request) {
        Ok(result) => read_all(result),
        Err(RunError::Stopped(_, error)) => vec![Err(error.to_string()); benchmark.figures.len()],
        Err(RunError::Refused(reason)) => vec![Err(reason); benchmark.figures.len()],
    };
    let figures = benchmark.figures.iter().cloned();
    figures.zip(values).map(|(figure, value)| Measured { family: benchmark.family, figure, value }).collect()
}

/// The clock readings of a run.
fn clocks(result: &RunResult) -> Vec<u64> {
    let output = result.outputs.iter().find(|output| output.name == CLOCKS).expect("every benchmark has it");
    let words = output.bytes.chunks_exact(8);
    words.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()
}

/// How long each launch of the benchmark took, its repetitions together, in nanoseconds. On a GPU each is timed by itself, so
/// the first repetition counts what it spent beside the launch before it.
fn times(benchmark: &Benchmark, result: &RunResult, core_mhz: f64) -> Vec<f64> {
    let mut launches = result.launches.iter();
    let of = |launch: &micro::Launch| {
        let repetitions = launches.by_ref().take(launch.repeat as usize).enumerate();
        let cycles = repetitions.map(|(index, ran)| match index {
            0 => ran.cycles + ran.overlapped_cycles,
            _ => ran.cycles,
        });
        cycles.sum::<u64>() as f64 * 1e3 / core_mhz
    };
    benchmark.launches.iter().map(of).collect()
}
