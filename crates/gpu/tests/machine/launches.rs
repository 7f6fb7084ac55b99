//! What launches cost, one after another and after the host has waited.

use strata_gpu::results::LaunchResult;
use strata_workloads::{Device, Shape};

use crate::support::{PLAIN, gtx480, module, on_device};

const SMALL: &[&str] = &["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=16"];

/// Four launches of an empty kernel; the host reads memory before the last one.
fn launches(sets: &[&str]) -> Vec<LaunchResult> {
    let machine = gtx480(&[SMALL, sets].concat());
    on_device(&machine, PLAIN, &module(".visible .entry k() {\nret;\n}\n"), |device| {
        let out = device.alloc("out", 4).unwrap();
        for _ in 0..3 {
            device.launch("k", Shape::new([1, 1, 1], [32, 1, 1]), &[]).unwrap();
        }
        device.download(out, &mut [0; 4]).unwrap();
        device.launch("k", Shape::new([1, 1, 1], [32, 1, 1]), &[]).unwrap();
        device.launches().to_vec()
    })
}

fn cycles(launches: &[LaunchResult]) -> Vec<(u64, u64)> {
    launches.iter().map(|launch| (launch.cycles, launch.overlapped_cycles)).collect()
}

/// The kernel takes 389 cycles with its code in DRAM, and 100 later.
const COLD: u64 = 389;
const WARM: u64 = 100;

#[test]
fn launches_cost_nothing_unless_the_machine_says_so() {
    assert_eq!(cycles(&launches(&[])), [(COLD, 0), (WARM, 0), (WARM, 0), (WARM, 0)]);
}

#[test]
fn each_launch_takes_its_latency() {
    let found = launches(&["gpu.launch_latency_cycles=1000"]);
    assert_eq!(cycles(&found), [COLD, WARM, WARM, WARM].map(|cycles| (1000 + cycles, 0)));
}

#[test]
fn launches_overlap_until_the_host_waits() {
    let found = launches(&["gpu.launch_latency_cycles=1000", "gpu.launch_interval_cycles=700"]);
    // The second kernel begins 700 cycles after the first one, the third 700 after the second; the fourth waits for all of its latency.
    let second = 700 - COLD;
    let third = 700 - WARM;
    let expected =
        [(1000 + COLD, 0), (second + WARM, 1000 - second), (third + WARM, 1000 - third), (1000 + WARM, 0)];
    assert_eq!(cycles(&found), expected);
    let serial: Vec<u64> = found.iter().map(|launch| launch.cycles + launch.overlapped_cycles).collect();
    assert_eq!(serial, [1000 + COLD, 1000 + WARM, 1000 + WARM, 1000 + WARM]);
}
