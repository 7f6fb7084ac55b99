//! The documented timelines as arithmetic: the cycles that each instruction of straight-line code costs one
//! warp.

use strata_designs::baseline::{L2Config, MultistageConfig, SramL1dConfig, SramRegisterFileConfig, Topology};
use strata_engine::{ClockRatio, Cycle};
use strata_gpu::machine::MachineFile;
use strata_memory::{HEADER_BYTES, LINE_BYTES};

/// An instruction. Each except a clock waits for the value of the last non-clock before it.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A read of `%clock`.
    Clock,
    /// An integer addition, `add.u32`.
    Add,
    /// A load with this many accesses, all of which hit the L1D.
    L1Hit(u32),
    /// A load from shared memory in this many passes.
    Shared(u32),
    /// A load that misses the L1D and hits the L2.
    L2Hit,
    /// A load that misses both caches and finds its DRAM row in this state.
    Dram(Row),
}

/// State of the DRAM row that an access finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Its row is open.
    Hit,
    /// No row is open.
    Miss,
    /// Another row is open.
    Conflict,
}

/// From an instruction's issue to its operands in the unit: granted a cycle after the issue, read, dispatched
/// (sm/src/lib.rs).
fn collection(file: &MachineFile) -> u64 {
    let registers: &SramRegisterFileConfig =
        file.doors.register_file.downcast().expect("the walk is that of an SRAM register file");
    1 + u64::from(*registers.read_latency_cycles)
}

/// From a load's issue to its first access, and from its last completion to the issue of what waits for it.
fn around_memory(file: &MachineFile) -> u64 {
    let lsu = &file.lsu;
    collection(file) + u64::from(*lsu.address_latency_cycles) + u64::from(*lsu.writeback_latency_cycles)
}

/// The L1D configuration of a machine with the conventional L1D.
fn sram(file: &MachineFile) -> &SramL1dConfig {
    file.doors.l1d.downcast().expect("the walk is that of an SRAM L1D")
}

/// The L2 configuration of a machine with the conventional L2.
pub fn l2(file: &MachineFile) -> &L2Config {
    file.doors.llc.downcast().expect("the walk is that of a conventional L2")
}

/// A load of one line that hits the L1D (lsu/mod.rs).
pub fn l1_hit(file: &MachineFile) -> u64 {
    around_memory(file) + *sram(file).hit_latency_cycles
}

/// When a packet of `bytes`, sent in cycle `at` of clock `from`, arrives over an idle network, in cycles of clock `to`: a
/// link, the stages, the flits behind the first (network/mod.rs), all in cycles of the network, which the packet enters
/// with its next edge and leaves with the receiver's next (engine/src/link.rs).
pub fn network(file: &MachineFile, bytes: u32, at: u64, from: ClockRatio, to: ClockRatio) -> u64 {
    let network: &MultistageConfig =
        file.doors.network.downcast().expect("the walk is that of a multistage network");
    let stages = match *network.topology {
        Topology::Crossbar => 1,
        Topology::Butterfly { stages, .. } => stages as u64,
    };
    let flits = u64::from(bytes.div_ceil(*network.flit_bytes));
    let own = file.clocks.network();
    let entered = own.over(from).first_from(Cycle(at));
    let arrives = entered + *network.hop_latency_cycles * (1 + stages) + (flits - 1);
    to.over(own).first_from(Cycle(arrives))
}

/// The L2's cycle in which it looks a load up that was issued in core cycle `issued`: the L1D's tags say that it
/// misses, its request of a header crosses the network and the ROP queue.
fn to_l2(file: &MachineFile, issued: u64) -> u64 {
    let l2 = l2(file);
    let sent = issued
        + collection(file)
        + u64::from(*file.lsu.address_latency_cycles)
        + *sram(file).tag_latency_cycles;
    network(file, HEADER_BYTES, sent, ClockRatio::ONE, file.clocks.l2()) + *l2.rop_latency_cycles
}

/// The core cycle of the issue of what waits for a load whose turn in the L2 is in its cycle `turn`: the reply with a
/// line crosses the network, is written into the array in the cycle it comes, and the access is served in the next one.
fn from_l2(file: &MachineFile, turn: u64) -> u64 {
    let sent = turn + *l2(file).hit_latency_cycles;
    network(file, HEADER_BYTES + LINE_BYTES as u32, sent, file.clocks.l2(), ClockRatio::ONE)
        + 1
        + *sram(file).fill_latency_cycles
        + u64::from(*file.lsu.writeback_latency_cycles)
}

/// The L2's cycle in which the DRAM has served a read of a line that the L2 has offered in its cycle `offered`.
fn dram(file: &MachineFile, offered: u64, row: Row) -> u64 {
    let dram = &file.dram;
    let timing = &dram.timing;
    let clock = file.clocks.dram_over_l2();
    // Seen in the first DRAM cycle that begins after the offer; rows and columns in their minimum distances.
    let seen = clock.local(Cycle(offered)) + 1;
    let rows = match row {
        Row::Hit => 0,
        Row::Miss => *timing.rcd,
        Row::Conflict => *timing.rp + *timing.rcd,
    };
    // The bursts of a line follow each other in one bank, and so in one bank group.
    let bursts = (LINE_BYTES / *dram.atom_bytes) as u64;
    let columns = (bursts - 1) * (*timing.ccd_l).max(*timing.ccd).max(*dram.burst_cycles);
    let end = seen + rows + columns + *timing.cl + *dram.burst_cycles;
    clock.reference(end).0 + *dram.controller_latency_cycles
}

/// Walks code from its first clock, which reads `first`; gives the values of all its clocks. `places` are those of
/// the clocks in the code. An addition may stand before the first clock; its value is then waited for.
///
/// A warp's instructions come in pairs (the instruction buffer has two places): what stands in an even place
/// issues two cycles after the one before it at the earliest, what stands in an odd place one (sm/src/tests/golden.rs).
/// A clock is read at its dispatch, a cycle after its issue, as it reads no register.
pub fn walk(file: &MachineFile, steps: &[Step], places: &[usize], first: u64) -> Vec<u64> {
    let is_clock = |step: &Step| matches!(step, Step::Clock);
    let start = steps.iter().position(is_clock).expect("a walk has a clock");
    let walked: Vec<usize> =
        (0..steps.len()).filter(|at| is_clock(&steps[*at])).map(|at| at + places[0] - start).collect();
    assert_eq!(walked, places, "the compiled code has these instructions");
    assert_eq!(*file.sm.instruction_buffer, 2, "the walk counts pairs");
    let gap = |at: usize| if (at + places[0] - start).is_multiple_of(2) { 2 } else { 1 };
    let unit = *file.sm.pipeline_latency_cycles + *file.sm.timing.int_add.latency_cycles;
    let add = collection(file) + u64::from(unit);

    let mut issued = first - 1;
    let mut ready = if start > 0 { issued - gap(start) + add } else { 0 };
    let mut clocks = vec![first];
    for (at, step) in steps.iter().enumerate().skip(start + 1) {
        let fetched = issued + gap(at);
        issued = if is_clock(step) { fetched } else { fetched.max(ready) };
        ready = match *step {
            Step::Clock => {
                clocks.push(issued + 1);
                ready
            }
            Step::Add => issued + add,
            Step::L1Hit(accesses) => issued + l1_hit(file) + u64::from(accesses - 1),
            Step::Shared(passes) => {
                let shared = u64::from(*file.lsu.shared.latency_cycles);
                issued + around_memory(file) + u64::from(passes - 1) + shared
            }
            Step::L2Hit => from_l2(file, to_l2(file, issued)),
            Step::Dram(row) => from_l2(file, dram(file, to_l2(file, issued), row)),
        };
    }
    clocks
}
