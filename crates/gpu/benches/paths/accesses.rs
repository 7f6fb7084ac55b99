//! A load from issue to write-back: the load/store unit before an L1D in which everything hits.

use std::hint::black_box;
use std::sync::Arc;

use strata_designs::baseline::SramL1d;
use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::L1d;
use strata_memory::read_only::ReadOnly;
use strata_memory::{Address, Body, Line, LineAddress, NodeId, Packet, SliceMap};
use strata_ptx::exec::Operands;
use strata_ptx::isa::{Op, PredReg};
use strata_ptx::lanes::{ALL_LANES, LaneMask, Row};
use strata_sm::Launch;
use strata_sm::lsu::{Lsu, MemoryInstruction, Surroundings};

use super::{Path, machine};
use crate::paths::memory::sram;

/// Address of the program's memory.
const BASE: u64 = 0x10_0000;

/// 32 lanes load 32 words of one line: one access.
pub fn load_coalesced() -> Path {
    path(|lane| BASE + 4 * lane)
}

/// 32 lanes load from 32 lines: 32 accesses.
pub fn load_scattered() -> Path {
    path(|lane| BASE + 128 * (lane * 7 % 32))
}

/// The addresses of the lanes, in source 0.
struct Addresses([Row; 2]);

impl Operands for Addresses {
    fn source(&self, _: usize, half: usize) -> &Row {
        &self.0[half]
    }
    fn write(&mut self, _: usize, _: usize, _: LaneMask, _: &Row) {}
    fn predicate(&self, _: PredReg) -> LaneMask {
        ALL_LANES
    }
    fn write_predicate(&mut self, _: PredReg, _: LaneMask, _: LaneMask) {}
}

/// A constant cache that is never used.
struct NoConstants;

impl ReadOnly for NoConstants {
    fn request(&mut self, _: LineAddress, _: u32, _: Cycle) -> bool {
        unreachable!("a global load asks for no constants")
    }
    fn arrived(&mut self, _: Cycle) -> Option<(u32, &Line)> {
        None
    }
    fn accept(&mut self, _: Packet, _: Cycle) {
        unreachable!("nothing was asked of the network")
    }
    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        None
    }
    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        None
    }
    fn invalidate(&mut self) {}
    fn next_event(&self, _: Cycle) -> Cycle {
        Cycle::NEVER
    }
    fn waits(&self, _: &mut Vec<String>) {}
    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// Issues one load and runs its cycles until it is written back.
fn path(address: impl Fn(u64) -> u64) -> Path {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at) {\n\
                .reg .b32 %r1; .reg .b64 %at;\nld.param.u64 %at, [at];\nld.global.u32 %r1, [%at];\n\
                st.global.u32 [%at], %r1;\nret;\n}\n";
    let options = strata_ptx::back::Options::default();
    let module =
        strata_ptx::load::load("bench.ptx", text, &options).unwrap_or_else(|error| panic!("{error}"));
    let kernel = module.kernels.into_iter().next().expect("the text has a kernel");
    let is_load = |op: &Op| matches!(op, Op::Load(mode) if mode.space == strata_ptx::isa::Space::Global);
    let load = kernel.code.iter().find(|instruction| is_load(&instruction.op)).expect("the load").clone();
    let launch = Launch {
        kernel: Arc::new(kernel),
        constants: Vec::new(),
        params: Vec::new(),
        params_at: Address(0),
        code_at: Address(0),
        code_version: 0,
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        local_at: Address(0),
        allocations: vec![(BASE, BASE + (1 << 16))],
        registers: None,
        headers: std::sync::Arc::default(),
        number: 0,
        micro: strata_sm::micro::MicroCode::default(),
    };
    let machine = machine();
    let surroundings = Surroundings { warp_slots: 48, first_warp: 0, shared_bytes: 48 << 10 };
    let mut lsu = Lsu::new(&machine.file().lsu, surroundings).expect("the machine was checked");
    let slices = SliceMap::new(1, 256, NodeId(1)).expect("one slice");
    let mut l1d = SramL1d::new(sram(&machine), NodeId(0), slices, 1).expect("the machine was checked");
    let mut addresses = Addresses([Row::ZERO; 2]);
    for lane in 0..32 {
        addresses.0[0].0[lane] = address(lane as u64) as u32;
    }
    let mut now = Cycle::ZERO;
    Path::new(move || {
        let instruction = MemoryInstruction {
            instruction: &load,
            pc: 0,
            warp: 0,
            lanes: ALL_LANES,
            shared_base: 0,
            cta_slot: 0,
            cta: [0; 3],
            warp_in_cta: 0,
        };
        lsu.issue(instruction, black_box(&addresses), &launch, now).unwrap_or_else(|fault| panic!("{fault}"));
        loop {
            now = now.next();
            // Cold misses are answered immediately; afterwards everything hits.
            while let Some(packet) = l1d.outgoing(now) {
                assert!(matches!(packet.body, Body::Read(_)), "only loads are issued");
                l1d.accept(packet.into_reply(), now);
            }
            l1d.tick(now);
            lsu.complete(&mut l1d, now);
            lsu.tick(&mut l1d, &mut NoConstants, now);
            if let Some(finished) = lsu.finished(now) {
                black_box(finished.rows);
                break;
            }
            let next = lsu.next_event(&l1d, now.next()).min(l1d.next_event(now.next()));
            now = Cycle(now.0.max(next.0 - 1));
        }
    })
    .warm()
}
