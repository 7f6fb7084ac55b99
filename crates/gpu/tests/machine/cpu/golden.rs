//! Cycles of single threads on a CPU core, computed by hand from the machine file. All cycles are the core's.

use strata_designs::baseline::SramL1dConfig;
use strata_engine::ClockRatio;
use strata_gpu::machine::{Machine, MachineFile};
use strata_memory::{HEADER_BYTES, LINE_BYTES};
use strata_workloads::{Arg, Device};

use super::{CROSSBAR, with_cores};
use crate::golden_cycles::walk::{l2, network};
use crate::golden_cycles::{clock_places, words};
use crate::support::{FOUR_CLOCKS, PLAIN, module, on_device};

/// The module of a body.
fn text(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 out, .param .u64 in) {{\n.reg .b32 %r<4>; .reg .b32 %c<4>; .reg .b64 %rd<8>;\n\
         ld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [in];\n{body}\nret;\n}}\n"
    ))
}

/// The clocks that a thread stores on core 0, in the second of two phases: the L2 then has every line, the L1D none.
fn clocks(machine: &Machine, body: &str) -> Vec<u64> {
    on_device(machine, PLAIN, &text(body), |device| {
        let out = device.alloc("out", 256).unwrap();
        let input = device.alloc("in", 1 << 16).unwrap();
        for _ in 0..2 {
            device.on_cpu("k", 1, &[Arg::Ptr(out), Arg::Ptr(input)]).unwrap();
        }
        words(device, out)
    })
}

fn l1d(file: &MachineFile) -> &SramL1dConfig {
    file.doors.cpu_l1d().downcast().expect("the cores' L1D is one of SRAM")
}

fn address_latency(file: &MachineFile) -> u64 {
    u64::from(*file.cpu.as_ref().expect("the machine has CPU cores").address_latency_cycles)
}

/// The cycle in which the instruction after a load issues that issued in cycle `issued` and hits.
fn after_hit(file: &MachineFile, issued: u64) -> u64 {
    issued + address_latency(file) + *l1d(file).hit_latency_cycles
}

/// The same of a load that misses the L1D and hits the L2: the tags say so, the request crosses the network and the ROP
/// queue; the reply crosses it, is written into the array in the cycle it comes, and the access is served in the next one.
fn after_l2_hit(file: &MachineFile, issued: u64) -> u64 {
    let clock = file.clocks.of(&file.cpu.as_ref().unwrap().clock_mhz);
    let sent = issued + address_latency(file) + *l1d(file).tag_latency_cycles;
    let turn = network(file, HEADER_BYTES, sent, clock, file.clocks.l2()) + *l2(file).rop_latency_cycles;
    let reply = turn + *l2(file).hit_latency_cycles;
    let arrives = network(file, HEADER_BYTES + LINE_BYTES as u32, reply, file.clocks.l2(), clock);
    arrives + 1 + *l1d(file).fill_latency_cycles
}

/// Machines whose cores have their own clock, the SMs' clock, a slower one, and in which every part has its own.
fn machines(more: &[&str]) -> Vec<Machine> {
    let sets = |own: &[&'static str]| [&[CROSSBAR, "cpu.cores=2"], own].concat();
    let with = |own: &[&'static str]| [sets(own).as_slice(), more].concat();
    vec![
        with_cores(&[], &with(&[])),
        with_cores(&[], &with(&["cpu.clock_mhz=700"])),
        with_cores(&[], &with(&["cpu.clock_mhz=333", "cpu.address_latency_cycles=3"])),
        with_cores(&[FOUR_CLOCKS], &with(&["cpu.l1d.hit_latency_cycles=4", "cpu.l1d.tag_latency_cycles=2"])),
    ]
}

#[test]
fn the_clocks_of_the_example() {
    let machine = &machines(&[])[0];
    let file = machine.file();
    let clock = file.clocks.of(&file.cpu.as_ref().unwrap().clock_mhz);
    assert_eq!(Some(clock), ClockRatio::of(20, 7));
    assert_eq!(after_hit(file, 100), 102);
}

#[test]
fn a_computation_takes_a_cycle() {
    let body = "mov.u32 %r0, %tid.x;\nmov.u32 %c0, %clock;\nadd.u32 %r0, %r0, %r0;\nmul.lo.u32 %r0, %r0, %r0;\n\
                div.u32 %r1, %r0, 7;\nadd.u32 %r0, %r1, %r0;\nmov.u32 %c1, %clock;\n\
                st.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\nst.global.u32 [%rd0+64], %r0;";
    for machine in machines(&[]) {
        let found = clocks(&machine, body);
        let places = clock_places(&machine, &text(body));
        assert_eq!(found[1] - found[0], (places[1] - places[0]) as u64);
        assert!(places[1] - places[0] >= 5);
    }
}

#[test]
fn a_load_that_misses_and_one_that_hits() {
    let body = "mov.u32 %c0, %clock;\nld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %c1, %clock;\n\
                ld.global.u64 %rd4, [%rd3];\nadd.s64 %rd5, %rd3, %rd4;\nmov.u32 %c2, %clock;\n\
                st.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\nst.global.u32 [%rd0+8], %c2;\n\
                st.global.u64 [%rd0+64], %rd5;";
    for more in [&[][..], &["network.hop_latency_cycles=9", "llc.conventional.rop_latency_cycles=40"]] {
        for machine in machines(more) {
            let found = clocks(&machine, body);
            let places = clock_places(&machine, &text(body));
            assert_eq!(
                [places[1] - places[0], places[2] - places[1]],
                [3, 3],
                "the code is as it was written"
            );
            let file = machine.file();
            // The clock, the load; what comes after it is the addition, then the next clock.
            let missed = after_l2_hit(file, found[0] + 1) + 1;
            let hit = after_hit(file, missed + 1) + 1;
            assert_eq!(found[1..3], [missed, hit], "{more:?}");
        }
    }
}

#[test]
fn stores_do_not_block_until_the_buffer_is_full() {
    // Each store takes a cycle; they go to lines that the L1D takes at once, one a cycle.
    let stores: String = (0..6).map(|n| format!("st.global.u32 [%rd1+{}], %r0;\n", 128 * n)).collect();
    let body = format!(
        "mov.u32 %r0, %tid.x;\nmov.u32 %c0, %clock;\n{stores}mov.u32 %c1, %clock;\nst.global.u32 [%rd0], %c0;\n\
         st.global.u32 [%rd0+4], %c1;"
    );
    for (sets, cycles) in [
        (&[][..], 7),
        // One entry: the next store issues when the one before it has been taken, in the cycle of its access, which is the
        // core's address latency after its issue.
        (&["cpu.store_buffer=1", "cpu.address_latency_cycles=5"], 1 + 5 * 5 + 1),
        // Two entries: the third store waits for the first, and so on: two stores every five cycles.
        (&["cpu.store_buffer=2", "cpu.address_latency_cycles=5"], 1 + 2 * 5 + 1 + 1),
    ] {
        let machine = with_cores(&[], &[&[CROSSBAR, "cpu.cores=1"], sets].concat());
        let found = clocks(&machine, &body);
        assert_eq!(found[1] - found[0], cycles, "{sets:?}");
    }
}
