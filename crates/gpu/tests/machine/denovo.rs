//! DeNovo in a whole machine: results are right, laws hold, threads, windows and skips change no number, what is registered stays
//! across launches and host copies find it, and what cannot be built is refused by name.

use strata_engine::statistics::Group;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, Shape, Size, find};

use crate::false_sharing::episodes::{self, Between, Shape as Episodes};
use crate::support::variation::Variation;
use crate::support::{How, PLAIN, counter, module, on_device, run_on, ticked, verified};

/// Machines that differ in size and place of their parts. With small caches, lines are replaced and words recalled at both levels.
const MACHINES: &[&[&str]] = &[
    &[],
    &["l1d.sets=2", "l1d.ways=2", "llc.sets=2", "llc.ways=2", "gpu.sms=6"],
    &[
        "gpu.sms=4",
        "l1d.mshr_entries=2",
        "l1d.mshr_merges=1",
        "l1d.miss_queue=2",
        "l1d.answer_queue=2",
        "l1d.write_buffer=1",
        "llc.sets=4",
        "llc.ways=1",
        "llc.mshr_entries=1",
        "llc.mshr_merges=1",
        "llc.reply_queue=1",
    ],
    &[
        "network.switching=virtual-cut-through",
        "network.buffer_flits=40",
        "network.placement=in-order",
        "l1d.sets=4",
    ],
];

fn machine(sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", &["denovo"], &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn count(statistics: &[Group], group: &str, name: &str) -> u64 {
    let found = statistics.iter().find(|found| found.name == group).and_then(|group| group.get(name));
    found.unwrap_or_else(|| panic!("no counter {group}.{name}"))
}

#[test]
fn every_workload_is_right() {
    let mut recalls = 0;
    for (index, workload) in strata_workloads::all().iter().enumerate() {
        let program = workload.program(Size::Test).expect("every workload has it");
        let sets = MACHINES[index % MACHINES.len()];
        let result = verified(&machine(sets), program.as_ref(), How::CHECKED, &format!("{sets:?}"));
        let statistics = &result.statistics;
        for group in statistics {
            assert_eq!(group.broken, None, "{}, {sets:?}", workload.name);
        }
        // All flits over links are for some purpose.
        let networks = ["network.request", "network.reply", "network.owner"];
        let links: u64 = networks.iter().map(|network| count(statistics, network, "link_flits")).sum();
        let purposes = ["read_flit_hops", "write_flit_hops", "write_back_flit_hops"];
        let purposes: u64 = purposes.iter().map(|name| count(statistics, "network.traffic", name)).sum();
        assert_eq!(links, purposes, "{}, {sets:?}", workload.name);
        recalls += count(statistics, "registry", "eviction_recalls");
    }
    assert!(recalls > 0, "no line with registered words is evicted");
}

#[test]
fn threads_and_windows_change_no_number() {
    for (name, sets) in [("gather", MACHINES[0]), ("histogram", MACHINES[1]), ("bfs", MACHINES[2])] {
        let machine = machine(sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let one = verified(&machine, program.as_ref(), How::CHECKED, name);
        for (threads, window) in [(1, Some(1)), (2, Some(3)), (4, None)] {
            let other = verified(&machine, program.as_ref(), How { threads, window, ..How::PLAIN }, name);
            assert_eq!(one.statistics, other.statistics, "{name} {sets:?}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (name, sets) in [("bfs", MACHINES[0]), ("histogram", MACHINES[1]), ("gather", MACHINES[2])] {
        let machine = machine(sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{name} on {sets:?}");
        let memories = |groups: &[Group]| -> Vec<Group> {
            let moved = |group: &&Group| {
                ["l1d", "denovo", "l2", "registry", "partition"].contains(&group.name)
                    || group.name.starts_with("network")
            };
            groups.iter().filter(moved).cloned().collect()
        };
        assert_eq!(memories(&skipping.statistics), memories(&statistics), "{name} on {sets:?}");
    }
}

/// Threads of all SMs write bytes of the same words, in phases that launches, or barriers of the grid with fences, divide.
#[test]
fn bytes_have_other_writers_in_every_phase() {
    let betweens = [Between::Launches, Between::GridBarrier, Between::GridBarrierOneFence];
    for seed in 0..36 {
        let sets = MACHINES[seed as usize % MACHINES.len()].iter().map(|set| (*set).to_owned()).collect();
        let variation = Variation {
            systems: vec!["denovo"],
            sets,
            threads: 1 + seed as usize % 2,
            window: seed as usize,
            limit: 10_000_000,
        };
        let between = betweens[seed as usize % betweens.len()];
        let (grid, lines) = (2 + seed as u32 % 4, 1 + seed as u32 % 9);
        let shape = Episodes { grid, block: 64, lines, episodes: 5, steps: 4, between, seed };
        let found = episodes::check(shape, &variation, &mut |_, l1d| l1d);
        found.unwrap_or_else(|wrong| panic!("{shape:?} on {variation:?}: {wrong}"));
    }
}

/// Each thread adds to word and byte of its own; those of a CTA lie side by side, and CTAs of different SMs share words of bytes.
const ADD: &str = ".visible .entry add(.param .u64 words, .param .u64 bytes) {
    .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd0, [words];
    ld.param.u64 %rd1, [bytes];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mul.wide.u32 %rd2, %r0, 4;
    add.u64 %rd2, %rd2, %rd0;
    ld.global.u32 %r3, [%rd2];
    add.u32 %r3, %r3, %r0;
    st.global.u32 [%rd2], %r3;
    cvt.u64.u32 %rd3, %r0;
    add.u64 %rd3, %rd3, %rd1;
    ld.global.u8 %r4, [%rd3];
    add.u32 %r4, %r4, 1;
    st.global.u8 [%rd3], %r4;
    ret;
}";

#[test]
fn what_is_registered_stays_across_launches_and_host_copies_find_it() {
    const THREADS: u32 = 15 * 30;
    on_device(&machine(&[]), PLAIN, &module(ADD), |device| {
        let words = device.alloc("words", u64::from(THREADS) * 4).unwrap();
        let bytes = device.alloc("bytes", u64::from(THREADS)).unwrap();
        device.upload(words, &vec![0; THREADS as usize * 4]).unwrap();
        device.upload(bytes, &vec![0; THREADS as usize]).unwrap();
        // CTAs of 30 threads: no word of bytes is one SM's alone at their ends.
        let launch = |device: &mut strata_gpu::device::TimedDevice<'_>| {
            let shape = Shape::new([THREADS / 30, 1, 1], [30, 1, 1]);
            device.launch("add", shape, &[Arg::Ptr(words), Arg::Ptr(bytes)]).unwrap();
        };
        let read = |device: &mut strata_gpu::device::TimedDevice<'_>| {
            let mut found = vec![0; THREADS as usize * 4];
            device.download(words, &mut found).unwrap();
            let values: Vec<u32> =
                found.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
            let mut found = vec![0; THREADS as usize];
            device.download(bytes, &mut found).unwrap();
            (values, found)
        };
        launch(device);
        launch(device);
        let (values, counts) = read(device);
        assert_eq!(values, (0..THREADS).map(|thread| 2 * thread).collect::<Vec<_>>());
        assert_eq!(counts, vec![2; THREADS as usize]);
        // None of it has been written back: the copies have asked the owners.
        assert_eq!(counter(device, "denovo", "write_backs"), 0);
        assert_eq!(counter(device, "dram", "written_bytes"), 0);
        assert!(counter(device, "denovo", "yielded_words") > 0, "words of bytes move between SMs");
        // What a host copy writes, owners have.
        device.upload(words, &vec![1; THREADS as usize * 4]).unwrap();
        launch(device);
        let (values, counts) = read(device);
        assert_eq!(values, (0..THREADS).map(|thread| 0x0101_0101 + thread).collect::<Vec<_>>());
        assert_eq!(counts, vec![3; THREADS as usize]);
    });
}

/// The system without some of its sections, on a GTX 480.
fn without(name: &str, sections: &[&str]) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../designs/systems/denovo/denovo.toml");
    let text = std::fs::read_to_string(path).expect("the system comes with the program");
    let mut table: toml::Table = text.parse().expect("the system is TOML");
    for section in sections {
        table.remove(*section).expect("the system has the section");
    }
    let directory = std::env::temp_dir().join(format!("strata-denovo-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    let file = directory.join(format!("{name}.toml"));
    std::fs::write(&file, table.to_string()).expect("a file can be written");
    let refused = Machine::load_with("gtx480", &[file.to_string_lossy()], &[]).err();
    std::fs::remove_file(&file).expect("the file is there");
    refused.expect("the machine is refused").to_string()
}

#[test]
fn machines_that_lack_a_part_of_it_are_refused() {
    let refusal = without("no-registry", &["llc"]);
    let lacks = "llc.conventional: found an LLC that does not know who owns which word, expected a registry such as \
                 llc.denovo, which l1d.denovo needs";
    assert!(refusal.contains(lacks), "{refusal}");
    let refusal = without("no-owners", &["l1d"]);
    let lacks = "l1d.sram: found an L1D that answers no requests for words that it has written, expected one that does, \
                 such as l1d.denovo, for the registry llc.denovo";
    assert!(refusal.contains(lacks), "{refusal}");
    let refusal = without("no-mesh", &["network"]);
    let lacks = "network.multistage: found a network without ways from SMs to SMs, expected one that has them, such as \
                 network.mesh: with l1d.denovo, owners of words answer those who ask for them";
    assert!(refusal.contains(lacks), "{refusal}");
    let sets = ["gpu.sms=65".to_owned()];
    let refused = Machine::load_with("gtx480", &["denovo"], &sets).map(|_| ());
    let refusal = refused.expect_err("more than there are names for").to_string();
    let lacks = "gpu.sms: found 65 and 0 CPU cores, expected at most 64 together, whose names a word of llc.denovo has room for";
    assert!(refusal.contains(lacks), "{refusal}");
}
