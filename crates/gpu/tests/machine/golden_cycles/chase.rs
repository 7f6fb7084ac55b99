//! Pointer chases through each level: the classic measurement of latencies.

use strata_gpu::device::TimedDevice;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DevicePtr, Shape};

use super::walk::{Row, Step, walk};
use super::{PLAIN, clock_places, four_clocks, gtx480, module, on_device, words};

/// Links of a chase: all that fits a line of code.
const LINKS: usize = 7;

/// A chase: two clocks around loads each of whose addresses is the value before it.
fn text() -> String {
    let mut body = String::from(super::HEAD);
    body += "ld.global.u64 %rd2, [%rd1];\nand.b64 %rd2, %rd2, -8;\nmov.u32 %c0, %clock;\n";
    body += &"ld.global.u64 %rd2, [%rd2];\n".repeat(LINKS);
    body += "add.s64 %rd3, %rd2, %rd2;\nmov.u32 %c1, %clock;\nst.global.u32 [%rd0], %c0;\n\
             st.global.u32 [%rd0+4], %c1;\nst.global.u64 [%rd0+64], %rd3;\nret;\n}\n";
    module(&body)
}

/// Runs a chase through lines at these distances from the buffer's start, and once more: what the second launch
/// finds in the L2 is what the first one brought. The clocks of both.
fn chase(machine: &Machine, offsets: &[u64; LINKS]) -> [Vec<u64>; 2] {
    on_device(machine, PLAIN, &text(), |device: &mut TimedDevice<'_>| {
        let out = device.alloc("out", 256).unwrap();
        let links = device.alloc("links", 1 << 23).unwrap();
        // The first link is a place of its own, in another slice than the lines that are measured.
        let start = (1 << 22) + 5 * 256;
        let mut from = start;
        for offset in offsets {
            let to = DevicePtr(links.0 + offset);
            device.upload(links.offset(from), &to.0.to_le_bytes()).unwrap();
            from = *offset;
        }
        let mut launch = || {
            let args = [Arg::Ptr(out), Arg::Ptr(links.offset(start))];
            device.launch("k", Shape::new([1; 3], [32, 1, 1]), &args).unwrap();
            words(device, out)
        };
        [launch(), launch()]
    })
}

/// The walk of a chase whose loads are these.
fn expected(machine: &Machine, loads: &[Step; LINKS], first: u64) -> Vec<u64> {
    let steps = [&[Step::Add, Step::Clock], &loads[..], &[Step::Add, Step::Clock]].concat();
    walk(machine.file(), &steps, &clock_places(machine, &text()), first)
}

fn check(offsets: &[u64; LINKS], cold: &[Step; LINKS], warm: &[Step; LINKS], settings: &[&[&str]]) {
    for sets in settings {
        check_on(&gtx480(sets), offsets, cold, warm, sets);
    }
}

fn check_on(
    machine: &Machine,
    offsets: &[u64; LINKS],
    cold: &[Step; LINKS],
    warm: &[Step; LINKS],
    sets: &[&str],
) {
    let [first, second] = chase(machine, offsets);
    assert_eq!(first[..2], expected(machine, cold, first[0]), "{sets:?}, nothing cached");
    assert_eq!(second[..2], expected(machine, warm, second[0]), "{sets:?}, in the L2");
}

/// Lines of different slices and banks, one each: every load finds a closed row.
const SPREAD: [u64; LINKS] = [256, 2 * 256, 3 * 256, 6 * 256, 7 * 256, 8 * 256, 9 * 256];

#[test]
fn lines_in_dram_and_then_in_the_l2() {
    // gtx480, L2: 2 + 10 (issue to access) + 1 (tags) + 48 (request) + 66 (ROP) + 1 (L2) + 48 + 3 (reply of 4 flits)
    // + 1 + 1 (fill, then service) + 1 (write-back) = 182 cycles a load.
    let settings: &[&[&str]] = &[
        &[],
        &["network.hop_latency_cycles=3"],
        &["network.flit_bytes=32", "network.topology=crossbar"],
        &["network.topology={ butterfly = { radix = 6, stages = 2 } }"],
        &["llc.conventional.rop_latency_cycles=10", "llc.conventional.hit_latency_cycles=9"],
        &["l1d.sram.fill_latency_cycles=4", "l1d.sram.tag_latency_cycles=2"],
        &["dram.timing.rcd=20", "dram.timing.cl=9"],
        &["dram.controller_latency_cycles=7", "clocks.dram_mhz=350"],
        &["dram.atom_bytes=32", "dram.timing.ccd_l=5"],
    ];
    check(&SPREAD, &[Step::Dram(Row::Miss); LINKS], &[Step::L2Hit; LINKS], settings);
}

#[test]
fn an_l2_load_takes_182_cycles() {
    let machine = gtx480(&[]);
    let one = |loads| expected(&machine, loads, 1000)[1];
    let mut fewer = [Step::L2Hit; LINKS];
    fewer[0] = Step::L1Hit(1);
    assert_eq!(one(&[Step::L2Hit; LINKS]) - one(&fewer), 182 - 40);
}

#[test]
fn clocks_of_their_own() {
    let settings: &[&[&str]] = &[
        &[],
        &["clocks.network_mhz=720"],
        &["clocks.network_mhz=2160", "clocks.l2_mhz=2160"],
        &["clocks.l2_mhz=480", "network.topology={ butterfly = { radix = 6, stages = 2 } }"],
        &["network.hop_latency_cycles=2", "clocks.dram_mhz=700"],
    ];
    for sets in settings {
        let (cold, warm) = ([Step::Dram(Row::Miss); LINKS], [Step::L2Hit; LINKS]);
        check_on(&four_clocks(sets), &SPREAD, &cold, &warm, sets);
    }
}

#[test]
fn a_load_through_a_slow_and_a_fast_network() {
    // The 182 cycles of gtx480 without the network's 48 + 51: a request that is sent at c comes to the L2, 67 cycles later
    // its reply is sent, and 16 cycles are the SM's. L2 and DRAM have the core clock.
    //
    // At half the core clock, c even: the request enters at c / 2 and is there 48 network cycles later, at c + 96. The
    // reply is sent at c + 163, enters at (c + 164) / 2 and is there 51 later, at c + 266: 282 cycles a load, and the
    // next c is even again. From an odd c the request is there at c + 97, the reply at c + 267: one cycle more, once.
    //
    // At 3/2 of it, c even: 48 network cycles are 32, the reply is sent at c + 99, enters at 1.5 (c + 99) + 0.5, and its
    // 51 cycles end at c + 99 + 34 1/3, for the SM c + 134: 150 cycles a load. From an odd c one more, once.
    let took = |network_mhz: &str| {
        let l2 = ["clocks.core_mhz=700", "clocks.l2_mhz=700", "clocks.dram_mhz=924"];
        let machine = four_clocks(&[&l2[..], &[network_mhz]].concat());
        let [_, second] = chase(&machine, &SPREAD);
        second[1] - second[0]
    };
    let base = took("clocks.network_mhz=700");
    let loads = LINKS as u64;
    let (slow, fast) = (took("clocks.network_mhz=350") - base, base - took("clocks.network_mhz=1050"));
    assert!([100 * loads, 100 * loads + 1].contains(&slow), "{slow} cycles more");
    assert!([32 * loads, 32 * loads - 1].contains(&fast), "{fast} cycles less");
}

#[test]
fn the_latencies_of_rtx3080_are_what_the_head_of_its_file_says() {
    let machine = Machine::load("rtx3080", &["gpu.sms=1".to_owned()]).unwrap();
    let took = |offsets: &[u64; LINKS]| chase(&machine, offsets).map(|clocks| clocks[1] - clocks[0]);
    let [dram, l2] = took(&SPREAD);
    let [_, l1] = took(&[256; LINKS]);
    // Seven loads that hit the L2, and one with six that hit the L1D: 181 and 39 cycles.
    assert_eq!(l2 - l1, 6 * (181 - 39));
    // From DRAM a load takes 129 cycles to the L2's tags, waits for up to a DRAM cycle, takes 33 + 33 + 2 DRAM cycles at
    // 4750 MHz, 16.2 of the core, which end in one of the 17th or 18th, then 490 of the controller and 52 back: 688 or 689.
    let each = 688 - 181..=689 - 181;
    assert!((7 * each.start()..=7 * each.end()).contains(&(dram - l2)), "{} cycles more", dram - l2);
}

#[test]
fn a_line_in_the_l1d() {
    // The same line over and over: brought once, then 40 cycles a load.
    let mut cold = [Step::L1Hit(1); LINKS];
    let mut warm = cold;
    cold[0] = Step::Dram(Row::Miss);
    warm[0] = Step::L2Hit;
    let settings: &[&[&str]] =
        &[&[], &["l1d.sram.hit_latency_cycles=13"], &["lsu.writeback_latency_cycles=0"]];
    check(&[256; LINKS], &cold, &warm, settings);
}

#[test]
fn rows_of_a_bank() {
    // The second line of a chunk of 256 bytes lies in the same row. A row has 2^16 bytes of a channel with all its
    // banks (the lowest R of the address pattern is bit 16): 256 chunks of the channel, 128 of each of its 2 slices,
    // which lie 12 chunks apart in device memory.
    let row = 128 * 12 * 256;
    let offsets = [256, 256 + 128, row + 256, row + 256 + 128, 2 * row + 256, 512, 512 + 128];
    let cold =
        [Row::Miss, Row::Hit, Row::Conflict, Row::Hit, Row::Conflict, Row::Miss, Row::Hit].map(Step::Dram);
    let settings: &[&[&str]] = &[
        &[],
        &["dram.timing.rp=25"],
        &["dram.timing.rcd=31", "dram.timing.ras=33"],
        &["dram.timing.ccd_l=2"],
    ];
    check(&offsets, &cold, &[Step::L2Hit; LINKS], settings);
}

#[test]
fn fermi_apu_has_the_latencies_of_tinycaches_table_1() {
    let machine = Machine::load("fermi-apu", &["gpu.sms=1".to_owned()]).unwrap();
    let took = |offsets: &[u64; LINKS]| chase(&machine, offsets).map(|clocks| clocks[1] - clocks[0]);
    // A line of each of seven banks.
    let [dram, l2] = took(&[1, 2, 3, 4, 5, 6, 7].map(|bank| bank << 12));
    let [_, l1] = took(&[256; LINKS]);
    // 2 + 10 + 18 + 1 cycles in the SM for a hit of the L1D. From the L2: 2 + 10 + 1 (tags), 4 + 4 + 2 (network), 1 + 7
    // (ROP, L2), 4 + 4 + 1 (network), 1 + 1 + 1 (fill, service, write-back).
    assert_eq!(l2 - l1, 6 * (43 - 31));
    // Beyond it 14 cycles of the LLC, 56 of the controller and 10 of DRAM (an activation, a read, four bursts of two), which
    // are 13 1/3 of the core, and one or two where clocks meet.
    let more = dram - l2;
    assert!((LINKS as u64 * 84..=LINKS as u64 * 86).contains(&more), "{more} cycles more");
}
