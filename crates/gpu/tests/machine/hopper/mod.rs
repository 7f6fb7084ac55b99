//! What came with Hopper, on the whole machine and in the reference executor: each case is computed here, too.

mod bulk;
mod cluster;
mod product;

use crate::support::{PLAIN, gtx480};
use strata_engine::Cycle;
use strata_gpu::device::{Backend, Card, Functional, Modelled, ModuleId};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_gpu::program::Program;
use strata_workloads::{DeviceError, DevicePtr, Module, Shape};

const HEAD: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n";

/// Runs a case on the reference executor and on machines; returns the cycles of the plain one.
fn everywhere(case: &dyn Fn(&mut dyn Device)) -> u64 {
    case(&mut On::new(Functional::new(1 << 30, Default::default()), &gtx480(&[])));
    let small = ["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=64", "gpu.watchdog_cycles=200000"];
    let mut cycles = 0;
    for (n, sets) in [
        &[][..],
        &["lsu.queue=1", "l1d.sram.mshr_entries=1", "lsu.shared.banks=16"],
        &["sm.scheduling=\"loose-round-robin\"", "lsu.address_latency_cycles=30", "lsu.segment_bytes=32"],
        &["lsu.shared.remote_latency_cycles=90"],
    ]
    .into_iter()
    .enumerate()
    {
        let sets: Vec<&str> = small.iter().chain(sets).copied().collect();
        let machine = gtx480(&sets);
        let mut on = On::new(modelled(&machine, PLAIN, false), &machine);
        case(&mut on);
        if n > 0 {
            continue;
        }
        cycles = on.cycles;
        // Neither threads, nor the window, nor skipping change a number.
        let threads = GpuOptions {
            threads: 3,
            saves_threads: false,
            window: Some(1),
            limit: Cycle::NEVER,
            interrupt: None,
        };
        for (options, ticks) in [(threads, false), (PLAIN, true)] {
            let mut on = On::new(modelled(&machine, options, ticks), &machine);
            case(&mut on);
            assert_eq!(on.cycles, cycles);
        }
    }
    cycles
}

fn modelled(machine: &Machine, options: GpuOptions, ticks: bool) -> Modelled {
    let mut gpu = Gpu::new(machine, options).unwrap_or_else(|error| panic!("{error}"));
    if ticks {
        gpu.tick_every_cycle();
    }
    Modelled::new(gpu, machine).unwrap_or_else(|error| panic!("{error}"))
}

/// A card with one module at a time.
trait Device {
    fn module(&mut self, text: &str);
    fn buffer(&mut self, bytes: &[u8]) -> u64;
    fn bytes(&mut self, at: u64, count: usize) -> Vec<u8>;
    fn launch(&mut self, kernel: &str, grid: [u32; 3], block: u32, params: &[u8]) -> Result<(), DeviceError>;
}

struct On<B: Backend> {
    card: Card<B>,
    machine: Machine,
    module: Option<ModuleId>,
    cycles: u64,
}

impl<B: Backend> On<B> {
    fn new(backend: B, machine: &Machine) -> On<B> {
        On { card: Card::new(backend), machine: machine.clone(), module: None, cycles: 0 }
    }
}

/// Cycles of a launch, where it has some.
trait Cycles {
    fn cycles(&self) -> u64;
}

impl Cycles for strata_gpu::results::LaunchResult {
    fn cycles(&self) -> u64 {
        self.cycles
    }
}

impl Cycles for strata_ptx::reference::Summary {
    fn cycles(&self) -> u64 {
        0
    }
}

impl<B: Backend> Device for On<B>
where
    B::Done: Cycles,
{
    fn module(&mut self, text: &str) {
        let text = format!("{HEAD}{text}");
        let module = Module { name: "hopper.ptx", text: &text };
        let program = Program::parse(module, self.machine.compile_options())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        if let Some(old) = self.module.take() {
            assert!(self.card.unload(old));
        }
        self.module = Some(self.card.load(program).expect("there is room"));
    }

    fn buffer(&mut self, bytes: &[u8]) -> u64 {
        let at = self.card.alloc("buffer", bytes.len() as u64).expect("there is room");
        self.card.write(at, bytes).expect("it was allocated");
        at.0
    }

    fn bytes(&mut self, at: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.card.read(DevicePtr(at), &mut bytes).expect("it was allocated");
        bytes
    }

    fn launch(&mut self, kernel: &str, grid: [u32; 3], block: u32, params: &[u8]) -> Result<(), DeviceError> {
        let entry = self.card.kernel(self.module.expect("a module is loaded"), kernel).expect("it has it");
        let shape = Shape::new(grid, [block, 1, 1]);
        let mut block = vec![0; entry.kernel.param_bytes as usize];
        block[..params.len()].copy_from_slice(params);
        let done = self.card.launch(&entry, shape, &block, &mut |_| {})?;
        self.cycles += done.cycles();
        Ok(())
    }
}
