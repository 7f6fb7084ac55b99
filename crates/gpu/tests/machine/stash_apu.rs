//! The Stash paper's machine: the latencies of its Table 2, by placement of the nodes, and its workloads in all their versions.

use strata_gpu::device::TimedDevice;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DevicePtr, Shape, Size};

use crate::golden_cycles::words;
use crate::support::{How, PLAIN, counter, module, on_device, verified};

/// The machine of the microbenchmarks: the CU is in a corner of the mesh, the cores are at the other routers.
const MICRO: &[&str] = &["gpu.sms=1", "cpu.cores=15"];

fn machine(systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("stash-apu", systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// Links of a chase.
const LINKS: u64 = 7;

/// Bytes of device memory in one bank before those of the next.
const CHUNK: u64 = 256;

/// Bytes between two links in one bank.
const AROUND: u64 = 16 * CHUNK;

/// `k`: two clocks around a chase. `own`: core i registers the links in the region of `bytes` that is its own.
fn text() -> String {
    let mut text = String::from(
        ".visible .entry k(.param .u64 out, .param .u64 in) {\n.reg .b32 %c<2>; .reg .b64 %rd<4>;\n\
         ld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [in];\n\
         ld.global.u64 %rd2, [%rd1];\nand.b64 %rd2, %rd2, -8;\nmov.u32 %c0, %clock;\n",
    );
    text += &"ld.global.u64 %rd2, [%rd2];\n".repeat(LINKS as usize);
    text += "add.s64 %rd3, %rd2, %rd2;\nmov.u32 %c1, %clock;\nst.global.u32 [%rd0], %c0;\n\
             st.global.u32 [%rd0+4], %c1;\nst.global.u64 [%rd0+64], %rd3;\nret;\n}\n";
    text += ".visible .entry own(.param .u64 in, .param .u32 bytes) {\n.reg .b32 %r<2>; .reg .b64 %rd<4>;\n\
             ld.param.u64 %rd0, [in]; ld.param.u32 %r0, [bytes];\nmov.u32 %r1, %ctaid.x;\n\
             mul.wide.u32 %rd1, %r0, %r1; add.u64 %rd0, %rd0, %rd1;\n";
    for link in 0..LINKS {
        let at = link * AROUND;
        text += &format!("ld.global.u64 %rd2, [%rd0+{at}]; st.global.u64 [%rd0+{at}], %rd2;\n");
    }
    module(&(text + "ret;\n}\n"))
}

/// A device with its buffers.
struct Bench<'a, 'b> {
    device: &'a mut TimedDevice<'b>,
    out: DevicePtr,
    links: DevicePtr,
}

impl<'a, 'b> Bench<'a, 'b> {
    fn new(device: &'a mut TimedDevice<'b>) -> Bench<'a, 'b> {
        let out = device.alloc("out", 256).unwrap();
        let links = device.alloc("links", 1 << 22).unwrap();
        Bench { device, out, links }
    }

    /// Links through these distances from the buffer's start, from `start` on.
    fn link(&mut self, start: u64, offsets: &[u64]) {
        let mut from = start;
        for offset in offsets {
            let to = self.links.0 + offset;
            self.device.upload(self.links.offset(from), &to.to_le_bytes()).unwrap();
            from = *offset;
        }
    }

    /// Cycles between the clocks of a chase.
    fn chase(&mut self, start: u64) -> u64 {
        let args = [Arg::Ptr(self.out), Arg::Ptr(self.links.offset(start))];
        self.device.launch("k", Shape::new([1; 3], [32, 1, 1]), &args).unwrap();
        let clocks = words(self.device, self.out);
        clocks[1] - clocks[0]
    }
}

/// Where a chase starts: far from the links, in the first bank.
const START: u64 = 1 << 21;

/// The links of a chase in one bank.
fn in_bank(bank: u64) -> Vec<u64> {
    (0..LINKS).map(|link| bank * CHUNK + link * AROUND).collect()
}

/// Cycles from a load's access to the L1D until it is served, less the one of a hit, when each link is in that bank and, in
/// this order, in memory and in the L2.
fn latencies(machine: &Machine, bank: u64) -> [f64; 2] {
    on_device(machine, PLAIN, &text(), |device| {
        let mut bench = Bench::new(device);
        bench.link(START, &in_bank(bank));
        let (memory, l2) = (bench.chase(START), bench.chase(START));
        // One line over and over: a load as those before, and hits.
        let line = bank * CHUNK;
        bench.link(START, &[line, line]);
        let hits = bench.chase(START);
        let more = (l2 - hits) as f64 / (LINKS - 1) as f64;
        [more + (memory - l2) as f64 / LINKS as f64, more]
    })
}

/// Latencies of loads from the L2, in order.
fn of_the_l2(machine: &Machine) -> Vec<f64> {
    let mut found: Vec<f64> = (0..16).map(|bank| 1.0 + latencies(machine, bank)[1]).collect();
    found.sort_by(f64::total_cmp);
    found
}

/// Links from a corner of the mesh to each router, in order.
const FROM_A_CORNER: [u32; 16] = [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6];

#[test]
fn loads_from_the_l2_take_30_to_61_cycles_by_the_links_between() {
    // 30 + 5 h, one more where h is odd, and one more where the reply's 9 flits wait for credits on a link.
    let expected = FROM_A_CORNER.map(|links| f64::from(30 + 5 * links + links % 2 + links.min(1)));
    let found = of_the_l2(&machine(&[], MICRO));
    assert_eq!(found, expected);
    assert!(found.iter().all(|cycles| (29.0..=61.0).contains(cycles)), "Table 2");
    // With room for a packet in each buffer nothing waits.
    let expected = FROM_A_CORNER.map(|links| f64::from(30 + 5 * links + links % 2));
    let sets = [MICRO, &["network.buffer_flits=16"]].concat();
    assert_eq!(of_the_l2(&machine(&[], &sets)), expected);
}

#[test]
fn loads_from_memory_take_197_to_261_cycles() {
    let machine = machine(&[], MICRO);
    for bank in 0..16 {
        let memory = 1.0 + latencies(&machine, bank)[0];
        assert!((197.0..=261.0).contains(&memory), "{memory} cycles, bank {bank}");
    }
}

#[test]
fn loads_from_another_l1d_take_35_to_83_cycles() {
    // Core i has words of every bank.
    let region = LINKS * AROUND;
    let machine = machine(&[], MICRO);
    let mut found = Vec::new();
    for bank in 0..16 {
        on_device(&machine, PLAIN, &text(), |device| {
            let mut bench = Bench::new(device);
            let hits = {
                bench.link(START, &[bank * CHUNK; 2]);
                bench.chase(START);
                bench.chase(START)
            };
            let l2 = 1.0 + latencies(&machine, bank)[1];
            for core in 0..15 {
                let offsets: Vec<u64> = in_bank(bank).iter().map(|offset| core * region + offset).collect();
                bench.link(START, &offsets);
            }
            let args = [Arg::Ptr(bench.links.offset(bank * CHUNK)), Arg::U32(region as u32)];
            bench.device.on_cpu("own", 15, &args).unwrap();
            for core in 0..15 {
                let first = bench.links.0 + core * region + bank * CHUNK;
                bench.device.upload(bench.links.offset(START), &first.to_le_bytes()).unwrap();
                // The hits' chase is a load from the L2 and six hits of a cycle.
                let more = bench.chase(START) as f64 - hits as f64 + l2 - 1.0;
                found.push(1.0 + more / LINKS as f64);
            }
            let supplied = counter(bench.device, "cpu.denovo", "supplied_words");
            assert!(supplied >= 15 * LINKS * 2, "{supplied} words come from the cores");
        });
    }
    found.sort_by(f64::total_cmp);
    let (least, most) = (found[0], found[found.len() - 1]);
    assert!(35.0 <= least && most <= 83.0, "{least} to {most} cycles");
    // 33 and 2 1/2 for each link of the triangle of node, bank and owner, which has 2 to 12 of them; clocks meet four times.
    assert!((38.0..=39.0).contains(&least) && (63.0..=64.0).contains(&most), "{least} to {most} cycles");
}

/// The system behind shared memory that a version needs.
fn system(version: &str) -> &'static str {
    match version {
        "stash" | "stash-g" => "stash",
        "scratch-gd" => "scratch-dma",
        _ => "scratch",
    }
}

/// The paper's workloads.
const MICROBENCHMARKS: [&str; 4] = ["implicit", "pollution", "on-demand", "reuse"];
const APPLICATIONS: [&str; 7] = ["lud", "backprop", "nw", "pathfinder", "sgemm", "stencil", "surf"];

/// Runs each version of a workload, checked; the versions that there are.
fn every_version(name: &str, sets: &[&str]) -> usize {
    let workload = strata_workloads::find(name).expect("it is one of the suite");
    for version in workload.versions() {
        let (name, system) = (version.name, system(version.version()));
        let program = version.program(Size::Test).expect("every workload has it");
        let result = verified(&machine(&[system], sets), program.as_ref(), How::CHECKED, system);
        for group in &result.statistics {
            assert_eq!(group.broken, None, "{name}: {}", group.name);
        }
        assert!(result.phases.iter().all(|phase| !phase.functional), "{name}");
    }
    workload.versions().count()
}

#[test]
fn every_version_of_the_microbenchmarks_is_right() {
    let runs: usize = MICROBENCHMARKS.iter().map(|name| every_version(name, MICRO)).sum();
    assert_eq!(runs, 4 * 4 + 2, "versions of microbenchmarks");
}

#[test]
fn every_version_of_the_applications_is_right() {
    let runs: usize = APPLICATIONS.iter().map(|name| every_version(name, &[])).sum();
    assert_eq!(runs, 7 * 6, "versions of applications");
}
