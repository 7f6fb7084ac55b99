//! An L1D of one's own behind the door: here, what if there were none?
//!
//! `cargo run --release -p strata-gpu --example own_l1d`

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_memory::Packet;
use strata_memory::doors::{Access, Completion, L1d, Policy, Refusal};
use strata_workloads::{Size, find};

/// Sends every access past the cache that it wraps.
struct NoCache(Box<dyn L1d>);

impl L1d for NoCache {
    fn offer(&mut self, mut access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        access.policy = Policy::Bypass;
        self.0.offer(access, now)
    }
    fn accept(&mut self, reply: Packet, now: Cycle) {
        self.0.accept(reply, now);
    }
    fn tick(&mut self, now: Cycle) {
        self.0.tick(now);
    }
    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.0.completed(now)
    }
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.0.outgoing(now)
    }
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.0.outgoing_bytes(now)
    }
    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        self.0.begin_flush(invalidate, now);
    }
    fn is_flushed(&self) -> bool {
        self.0.is_flushed()
    }
    fn outstanding(&self) -> usize {
        self.0.outstanding()
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        self.0.next_event(now)
    }
    fn waits(&self, report: &mut Vec<String>) {
        self.0.waits(report);
    }
    fn statistics(&self) -> Vec<Group> {
        self.0.statistics()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = Machine::load("gtx480", &[])?;
    for name in ["gemm", "saxpy"] {
        let program = find(name).ok_or("a built-in workload")?.program(Size::Test)?;
        let mut cycles = Vec::new();
        for cached in [true, false] {
            let options = GpuOptions { threads: 1, window: None, limit: Cycle::NEVER };
            let gpu = Gpu::with_l1d(&machine, options, |design, site| {
                let l1d = design.build(site)?;
                Ok(if cached { l1d } else { Box::new(NoCache(l1d)) })
            })?;
            let mut progress = |_: &strata_gpu::Progress| {};
            let mut device = TimedDevice::on(gpu, &machine, program.module(), &mut progress)?;
            let outcome = program.run(&mut device)?;
            if !outcome.passed() {
                return Err(format!("{name}: {outcome}").into());
            }
            cycles.push(device.launches().iter().map(|launch| launch.cycles).sum::<u64>());
        }
        println!("{name}: {} cycles with an L1D, {} without", cycles[0], cycles[1]);
    }
    Ok(())
}
