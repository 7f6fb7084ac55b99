//! CPU cores that own words: host phases and kernels exchange values both ways, and neighbours write bytes of one word.

use strata_engine::statistics::Group;
use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_workloads::{Arg, Comparison, Device, DeviceError, HostProgram, Module, Outcome, Shape};

use super::programs::PingPong;
use crate::support::{How, run_on, ticked, verified};

/// A system that puts CPU cores beside any GPU, with the L1D of its SMs.
const OWNING_CORES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/cpu/owning_cores.toml");

/// Bytes of the array. The last word of it has an end of its own.
const BYTES: u32 = 1501;

/// `x[i] = x[i] * 3 + i` in bytes, by CTAs that end within words; then each thread on a CPU core adds a constant to every
/// `threads`th byte, so that a word has up to four owners among the cores, and stores the sum of its own beside the others' sums.
/// Every round has a host copy into a byte, and every other round a second phase.
#[derive(Debug)]
struct Bytes {
    threads: u32,
    rounds: u32,
}

const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry gpu(.param .u64 x, .param .u32 n)\n{\n.reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %p;\n\
    ld.param.u64 %d0, [x]; ld.param.u32 %r4, [n];\nmov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n\
    mad.lo.u32 %r0, %r0, %r1, %r2; setp.ge.u32 %p, %r0, %r4; @%p ret;\n\
    cvt.u64.u32 %d1, %r0; add.u64 %d0, %d0, %d1;\n\
    ld.global.u8 %r3, [%d0]; mad.lo.u32 %r3, %r3, 3, %r0; st.global.u8 [%d0], %r3; ret;\n}\n\
    .visible .entry cpu(.param .u64 x, .param .u32 n, .param .u32 add, .param .u64 sums)\n{\n\
    .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;\n\
    ld.param.u64 %d0, [x]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [add]; ld.param.u64 %d1, [sums];\n\
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r5, %r2; mov.u32 %r7, 0;\nNEXT:\n\
    setp.ge.u32 %p, %r5, %r0; @%p bra DONE;\n\
    cvt.u64.u32 %d2, %r5; add.u64 %d2, %d0, %d2;\n\
    ld.global.u8 %r8, [%d2]; add.u32 %r8, %r8, %r1; st.global.u8 [%d2], %r8; and.b32 %r8, %r8, 255;\n\
    add.u32 %r7, %r7, %r8; add.u32 %r5, %r5, %r3; bra NEXT;\nDONE:\n\
    mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; st.global.u32 [%d1], %r7; ret;\n}\n";

impl HostProgram for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "bytes.ptx", text: TEXT }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let threads = self.threads as usize;
        let mut x: Vec<u8> = (0..BYTES).map(|i| (i * 7) as u8).collect();
        let mut sums = vec![0_u32; threads];
        let (array, out) = (device.alloc("x", u64::from(BYTES))?, device.alloc("sums", 4 * threads as u64)?);
        device.upload(array, &x)?;
        for round in 0..self.rounds {
            let shape = Shape::new([BYTES.div_ceil(30), 1, 1], [30, 1, 1]);
            device.launch("gpu", shape, &[Arg::Ptr(array), Arg::U32(BYTES)])?;
            for (i, x) in (0..).zip(&mut x) {
                *x = x.wrapping_mul(3).wrapping_add(i as u8);
            }
            let place = 97 * (round as usize + 1);
            x[place] = 255 - round as u8;
            device.upload(array.offset(place as u64), &x[place..=place])?;
            for add in (0..=round % 2).map(|phase| 7 * round + phase + 1) {
                let args = [Arg::Ptr(array), Arg::U32(BYTES), Arg::U32(add), Arg::Ptr(out)];
                device.on_cpu("cpu", self.threads, &args)?;
                sums.fill(0);
                for (i, x) in x.iter_mut().enumerate() {
                    *x = x.wrapping_add(add as u8);
                    sums[i % threads] += u32::from(*x);
                }
            }
        }
        let (mut bytes, mut found) = (vec![0; x.len()], vec![0; 4 * threads]);
        device.download(array, &mut bytes)?;
        device.download(out, &mut found)?;
        let found: Vec<u32> = found.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let wide = |bytes: &[u8]| -> Vec<u32> { bytes.iter().map(|byte| u32::from(*byte)).collect() };
        let comparisons =
            vec![Comparison::exact("x", &wide(&bytes), &wide(&x)), Comparison::exact("sums", &found, &sums)];
        Ok(Outcome { comparisons, ..Outcome::default() })
    }
}

/// Machines whose numbers of cores, clocks, networks and caches differ. In the third, lines are replaced and words recalled.
fn machines() -> Vec<Machine> {
    let with = |machine: &str, systems: &[&str], sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load_with(machine, systems, &sets).unwrap_or_else(|error| panic!("{error}"))
    };
    let beside = ["denovo", OWNING_CORES];
    let small = ["l1d.sets=1", "l1d.ways=2", "llc.sets=1", "llc.ways=2", "gpu.channels=1"];
    vec![
        with("gtx480", &beside, &[]),
        with("gtx480", &beside, &["gpu.sms=3", "cpu.cores=4", "cpu.clock_mhz=450", "network.columns=3"]),
        with("gtx480", &beside, &[&["gpu.sms=4", "cpu.cores=5"], &small[..]].concat()),
        with("stash-apu", &[], &["gpu.sms=1", "cpu.cores=15"]),
        with("stash-apu", &["stash"], &["gpu.sms=5", "cpu.cores=3", "l1d.ways=1", "l1d.mshr_entries=1"]),
    ]
}

fn programs() -> [Box<dyn HostProgram>; 2] {
    [Box::new(Bytes { threads: 11, rounds: 3 }), Box::new(PingPong { threads: 11, rounds: 2 })]
}

/// Cycles and instructions of each phase.
fn phases(result: &RunResult) -> Vec<(u64, u64)> {
    result.phases.iter().map(|phase| (phase.cycles, phase.instructions)).collect()
}

#[test]
fn kernels_and_phases_exchange_what_they_own() {
    let mut recalls = 0;
    for machine in machines() {
        for program in programs() {
            let result = verified(&machine, program.as_ref(), How::CHECKED, machine.name());
            assert!(result.statistics.iter().all(|group| group.broken.is_none()), "{}", program.name());
            assert!(result.phases.iter().all(|phase| !phase.functional && phase.cycles > 1000));
            let count = |group: &str, name: &str| {
                result.counter(group, name).unwrap_or_else(|| panic!("no counter {group}.{name}"))
            };
            // What SMs own cores take, and the other way round.
            for owner in ["denovo", "cpu.denovo"] {
                let ways = ["supplied_words", "yielded_words", "returned_words"];
                let moved: u64 = ways.iter().map(|way| count(owner, way)).sum();
                assert!(moved > 0, "{}, {owner}", program.name());
            }
            recalls += count("registry", "eviction_recalls");
        }
    }
    assert!(recalls > 0, "no line with registered words is evicted");
}

#[test]
fn threads_and_windows_change_no_number() {
    for machine in machines() {
        let program = Bytes { threads: 11, rounds: 2 };
        let one = verified(&machine, &program, How::PLAIN, machine.name());
        for (threads, window) in [(1, Some(1)), (2, None)] {
            let other = verified(&machine, &program, How { threads, window, ..How::PLAIN }, machine.name());
            assert_eq!(one.statistics, other.statistics, "{threads}, {window:?}");
            assert_eq!(one.statistics_hash(), other.statistics_hash());
            assert_eq!(phases(&one), phases(&other));
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for machine in machines() {
        let program = Bytes { threads: 5, rounds: 2 };
        let skipping = run_on(&machine, &program, How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, &program);
        assert_eq!(skipping.launches, launches);
        let memories = |groups: &[Group]| -> Vec<Group> {
            let moved = |group: &&Group| {
                ["l1d", "denovo", "l2", "registry", "partition"].contains(&group.name)
                    || ["cpu", "network"].iter().any(|start| group.name.starts_with(start))
            };
            groups.iter().filter(moved).cloned().collect()
        };
        assert_eq!(memories(&skipping.statistics), memories(&statistics));
    }
}
