//! The mesh in a whole machine: results are right, laws hold, threads, windows and skips change no number, and what
//! cannot be built is refused by name.

use crate::support::{How, run_on, ticked, verified};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

/// Meshes that differ in size, switching, channels, pipeline and place of the nodes.
const MESHES: &[&[&str]] = &[
    &[],
    &[
        "network.columns=4",
        "network.rows=6",
        "network.switching=virtual-cut-through",
        "network.buffer_flits=14",
    ],
    &["network.columns=5", "network.rows=5", "network.virtual_channels=1", "network.placement=together"],
    &["network.columns=27", "network.rows=1", "network.placement=in-order", "network.routing_cycles=1"],
    &[
        "network.columns=2",
        "network.rows=2",
        "network.buffer_flits=1",
        "network.virtual_channels=2",
        "network.vc_allocation_cycles=0",
        "network.placement=together",
        "network.interface_cycles=3",
        "network.interface_flits=14",
    ],
];

/// Two routers; the SMs are at the first.
const LISTED: &[&str] = &[
    "network.columns=2",
    "network.rows=1",
    "network.placement={ list = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] }",
];

fn machine(base: &str, sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with(base, &["mesh"], &sets).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_workload_is_right() {
    for (index, workload) in strata_workloads::all().iter().enumerate() {
        let program = workload.program(Size::Test).expect("every workload has it");
        // Each workload on one of the meshes.
        let sets = MESHES[index % MESHES.len()];
        let result = verified(&machine("gtx480", sets), program.as_ref(), How::CHECKED, &format!("{sets:?}"));
        for group in &result.statistics {
            assert_eq!(group.broken, None, "{}, {sets:?}", workload.name);
        }
        let hops = |direction| result.counter(direction, "flit_hops").expect("a mesh counts them");
        assert!(hops("network.request") > 0 && hops("network.reply") > 0);
    }
}

#[test]
fn threads_and_windows_change_no_number() {
    for (name, base, sets) in [
        ("gather", "gtx480", MESHES[0]),
        ("histogram", "gtx480", MESHES[4]),
        ("bfs", "rtx3080", MESHES[0]),
        ("spmv", "gtx480", LISTED),
    ] {
        let machine = machine(base, sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let what = format!("{sets:?} on {base}");
        let one = verified(&machine, program.as_ref(), How::CHECKED, &what);
        for (threads, window) in [(1, Some(1)), (2, Some(3)), (4, None)] {
            let other = verified(&machine, program.as_ref(), How { threads, window, ..How::PLAIN }, &what);
            assert_eq!(one.statistics, other.statistics, "{name} {what}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (workload, sets) in [("gather", MESHES[0]), ("histogram", MESHES[4]), ("bfs", MESHES[1])] {
        let machine = machine("gtx480", sets);
        let program = find(workload).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{workload} on {sets:?}");
        let networks = |group: &&strata_engine::statistics::Group| group.name.starts_with("network");
        let (one, other): (Vec<_>, Vec<_>) = (
            skipping.statistics.iter().filter(networks).collect(),
            statistics.iter().filter(networks).collect(),
        );
        assert_eq!(one, other, "{workload} on {sets:?}");
        assert_eq!(one.len(), 4, "counters and links of both directions");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let refusal = |set: &str| {
        let machine = match Machine::load_with("gtx480", &["mesh"], &[set.to_owned()]) {
            Ok(machine) => machine,
            Err(error) => return Some(error.to_string()),
        };
        let options = GpuOptions {
            threads: 1,
            saves_threads: false,
            window: None,
            limit: strata_engine::Cycle::NEVER,
            interrupt: None,
        };
        Gpu::new(&machine, options).err()
    };
    for (set, message) in [
        ("network.columns=0", "network.mesh: columns: found 0, expected 1 to 64"),
        (
            "network.placement=anywhere",
            "unknown variant `anywhere`, expected one of `in-order`, `together`, `top-and-bottom`, `list`",
        ),
        (
            "network.placement={ list = [0, 1] }",
            "network.mesh: placement: found a list of 2 routers, expected one for each of 27 nodes",
        ),
        (
            "network.rows=2",
            "network.mesh: placement: found 2 rows, expected at least 3, so that SMs have some between the first and the last",
        ),
        (
            "network.switching=virtual-cut-through",
            "network.mesh: buffer_flits: found 8, expected at least the 14 flits of the largest packet with virtual-cut-through",
        ),
        (
            "network.interface_flits=13",
            "network.mesh: interface_flits: found 13, expected at least the 14 flits of the largest packet",
        ),
        ("network.hop_latency_cycles=3", "unknown key `network.hop_latency_cycles`"),
    ] {
        let found = refusal(set).unwrap_or_else(|| "nothing is wrong".into());
        assert!(found.contains(message), "{set}\n  found    {found}\n  expected {message}");
    }
}
