//! Host time of common instructions with an L1D that does nothing; run by hand, in release mode.

use std::hint::black_box;
use std::time::Instant;

use super::*;

/// An L1D that returns every access in the next cycle.
#[derive(Default)]
struct Mirror(VecDeque<Completion>);

impl L1d for Mirror {
    fn offer(&mut self, access: Access, _: Cycle) -> Result<(), (Access, Refusal)> {
        self.0.push_back(Completion { token: access.token, action: access.action });
        Ok(())
    }
    fn accept(&mut self, _: Packet, _: Cycle) {}
    fn tick(&mut self, _: Cycle) {}
    fn completed(&mut self, _: Cycle) -> Option<Completion> {
        self.0.pop_front()
    }
    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        None
    }
    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        None
    }
    fn begin_flush(&mut self, _: bool, _: Cycle) {}
    fn is_flushed(&self) -> bool {
        true
    }
    fn outstanding(&self) -> usize {
        0
    }
    fn next_event(&self, _: Cycle) -> Cycle {
        Cycle::NEVER
    }
    fn waits(&self, _: &mut Vec<String>) {}
    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}

#[test]
#[ignore = "measures host time"]
fn host_nanoseconds_per_instruction() {
    let global = mode(Space::Global, Ty::F32, 1);
    let shared = mode(Space::Shared, Ty::F32, 1);
    let vector = mode(Space::Global, Ty::F32, 4);
    let unit = Sources::at(|lane| BASE + 4 * lane);
    let inside = Sources::at(|lane| 4 * lane);
    let table = [
        ("coalesced load", Op::Load(global), unit.clone()),
        ("coalesced store", Op::Store(global), unit),
        ("load of one word", Op::Load(global), Sources::at(|_| BASE)),
        ("stride 2 load", Op::Load(global), Sources::at(|lane| BASE + 8 * lane)),
        ("vector load, 4 lines", Op::Load(vector), Sources::at(|lane| BASE + 16 * lane)),
        ("scattered load, 32 lines", Op::Load(global), Sources::at(|lane| BASE + 256 * (lane * 7 % 32))),
        ("shared load", Op::Load(shared), inside.clone()),
        ("shared store", Op::Store(shared), inside),
        ("shared load of one word", Op::Load(shared), Sources::at(|_| 4)),
        ("shared load, two-way conflict", Op::Load(shared), Sources::at(|lane| 8 * lane)),
    ];
    for (name, op, sources) in table {
        let mut bench = Bench::new(&config());
        let (mut l1d, instruction) = (Mirror::default(), instruction(op));
        // The minimum of several runs, because other programs use the host too.
        let least = (0..20).map(|_| run(&mut bench, &mut l1d, &instruction, &sources)).min();
        println!("{name}: {} ns", least.unwrap_or(0));
    }
}

/// Measures the host time per instruction, in nanoseconds.
fn run(bench: &mut Bench, l1d: &mut Mirror, instruction: &Instruction, sources: &Sources) -> u128 {
    let (rounds, start) = (10_000u32, Instant::now());
    let mut left = rounds;
    while left > 0 {
        bench.lsu.complete(l1d, bench.now);
        bench.lsu.tick(l1d, &mut bench.constants, bench.now);
        while let Some(finished) = bench.lsu.finished(bench.now) {
            black_box(finished.rows);
        }
        if bench.lsu.can_accept() {
            let memory = MemoryInstruction {
                instruction,
                pc: 0,
                warp: 0,
                lanes: LaneMask::MAX,
                shared_base: 0,
                cta_slot: 0,
                cta: [0; 3],
                warp_in_cta: 0,
            };
            bench.lsu.issue(memory, black_box(sources), &bench.launch, bench.now).unwrap();
            left -= 1;
        }
        bench.now = bench.now.next();
    }
    start.elapsed().as_nanos() / u128::from(rounds)
}
