//! A program that prefetches by every instruction, on machines of every design: its results are right, no number depends on
//! threads, windows or skipped cycles, and what becomes of its wishes is counted.

use strata_engine::statistics::Group;
use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_workloads::{Arg, Comparison, Device, DeviceError, HostProgram, Module, Outcome, Shape};

use crate::support::{How, module, ticked, verified};

const THREADS: u32 = 8 * 64;
const ROWS: u32 = 12;
/// Where a row begins in its buffer: neighbouring warps share the line between them.
const FIRST: u32 = 5;

/// Each thread adds up its column of a table, and changes it; it wishes for what lies rows ahead in the L1D, further ahead in the
/// L2, and for a word of its local memory. The last wishes are beyond the table.
#[derive(Debug)]
struct Ahead(String);

impl Ahead {
    fn new() -> Ahead {
        let row = 4 * THREADS;
        Ahead(module(&format!(
            ".visible .entry ahead(.param .u64 table, .param .u64 sums) {{
.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
.local .align 8 .b8 mine[16];
ld.param.u64 %rd0, [table]; ld.param.u64 %rd1, [sums];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 64, %r0;
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;
st.local.u32 [mine+8], %r0;
setp.eq.u32 %p1, %r0, 0;
mov.u32 %r2, 0; mov.u32 %r3, 0;
LOOP:
prefetch.global.L1 [%rd3+{ahead}];
prefetch.global.L2 [%rd3+{further}];
prefetchu.L1 [%rd3+{row}];
prefetch.local.L1 [mine+8];
applypriority.global.L2::evict_normal [%rd3], 128;
@%p1 cp.async.bulk.prefetch.L2.global [%rd3+{furthest}], 2048;
ld.global.u32 %r4, [%rd3+{at}];
ld.local.u32 %r5, [mine+8];
add.u32 %r6, %r4, %r5; add.u32 %r3, %r3, %r6;
mad.lo.u32 %r4, %r4, 3, %r2;
st.global.u32 [%rd3+{at}], %r4;
add.u64 %rd3, %rd3, {row};
add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, {ROWS};
@%p0 bra LOOP;
st.global.u32 [%rd1], %r3;
ret;
}}",
            at = 4 * FIRST,
            ahead = 2 * row + 4 * FIRST,
            further = 4 * row + 4 * FIRST,
            furthest = 5 * row,
        )))
    }
}

impl HostProgram for Ahead {
    fn name(&self) -> &str {
        "ahead"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "ahead.ptx", text: &self.0 }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut words: Vec<u32> =
            (0..THREADS * ROWS + FIRST).map(|word| word.wrapping_mul(2_654_435_761)).collect();
        let table = device.alloc("table", 4 * words.len() as u64)?;
        let sums = device.alloc("sums", 4 * u64::from(THREADS))?;
        device.upload(table, &bytes(&words))?;
        let mut expected = Vec::new();
        for launch in 0..2 {
            device.launch("ahead", Shape::new([8, 1, 1], [64, 1, 1]), &[Arg::Ptr(table), Arg::Ptr(sums)])?;
            expected = vec![0_u32; THREADS as usize];
            for row in 0..ROWS {
                for thread in 0..THREADS {
                    let word = &mut words[(FIRST + row * THREADS + thread) as usize];
                    let sum = &mut expected[thread as usize];
                    *sum = sum.wrapping_add(*word).wrapping_add(thread);
                    *word = word.wrapping_mul(3).wrapping_add(row);
                }
            }
            // The host changes what may have been prefetched.
            words[700] = words[700].wrapping_add(launch + 1);
            device.upload(table.offset(4 * 700), &words[700].to_le_bytes())?;
        }
        let mut read = |at, count: usize| -> Result<Vec<u32>, DeviceError> {
            let mut found = vec![0; 4 * count];
            device.download(at, &mut found)?;
            let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            Ok(found.chunks_exact(4).map(word).collect())
        };
        let comparisons = vec![
            Comparison::exact("sums", &read(sums, expected.len())?, &expected),
            Comparison::exact("table", &read(table, words.len())?, &words),
        ];
        Ok(Outcome { comparisons, ..Outcome::default() })
    }
}

fn machine(systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = ["gpu.sms=3"].iter().chain(sets).map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", systems, &sets).unwrap_or_else(|error| panic!("{systems:?}: {error}"))
}

fn machines() -> Vec<(&'static str, Machine)> {
    let sectors =
        ["l1d.sram.sector_bytes=32", "l1d.sram.allocate=on-fill", "l1d.sram.write_miss_policy=fetch"];
    let through = ["l1d.sram.write_policy=write-through", "lsu.queue=2", "l1d.sram.miss_queue=2"];
    let policies = ["l1d.prefetch=stream", "llc.prefetch=next-line", "l1d.sram.sets=2"];
    let starved = ["l1d.sram.mshr_entries=2", "llc.conventional.mshr_entries=2", "network.buffer_flits=20"];
    vec![
        ("plain", machine(&[], &[])),
        ("sectors, allocated on fill", machine(&[], &sectors)),
        ("written through", machine(&[], &through)),
        ("beside policies", machine(&[], &policies)),
        ("starved", machine(&[], &starved)),
        ("FUSE", machine(&["dy-fuse"], &[])),
        ("DeNovo", machine(&["denovo"], &[])),
        ("tiny caches", machine(&["tc-32x64"], &[])),
        ("a mesh", machine(&["mesh"], &[])),
    ]
}

/// A counter of a group, of those of that name.
fn count(groups: &[Group], group: &str, name: &str) -> u64 {
    groups.iter().find(|known| known.name == group).and_then(|group| group.get(name)).unwrap_or(0)
}

fn check(what: &str, result: &RunResult) {
    let count = |group, name| count(&result.statistics, group, name);
    for group in &result.statistics {
        assert_eq!(group.broken, None, "{what}: {}", group.name);
    }
    let hints = count("lsu", "hints");
    assert!(hints > 1000 && count("lsu", "hints_nowhere") > 1000, "{what}: {hints}");
    match what {
        "DeNovo" => assert_eq!(count("lsu", "hints_ignored"), hints),
        "FUSE" => {
            let ignored = count("lsu", "hints_ignored");
            assert!(ignored > 0 && count("l2_hints", "issued") > 0, "{what}");
            assert_eq!(count("l2_hints", "wishes"), hints - ignored, "{what}");
        }
        _ => {
            assert_eq!(count("lsu", "hints_ignored"), 0, "{what}");
            assert_eq!(count("l1d_hints", "wishes") + count("l2_hints", "wishes"), hints, "{what}");
            let dropped = count("lsu", "hints_dropped");
            assert_eq!(count("l1d_hints", "dropped"), dropped, "{what}");
            assert_eq!(what == "starved", 3 * dropped > hints, "{what}: {dropped} of {hints}");
            assert!(count("l1d_hints", "issued") > 0 && count("l2_hints", "issued") > 0, "{what}");
        }
    }
}

#[test]
fn results_are_right_and_wishes_add_up() {
    for (what, machine) in machines() {
        check(what, &verified(&machine, &Ahead::new(), How::CHECKED, what));
    }
}

#[test]
fn threads_and_windows_change_no_number() {
    for (what, machine) in machines() {
        let one = verified(&machine, &Ahead::new(), How::PLAIN, what);
        for (threads, window) in [(1, Some(1)), (3, None)] {
            let other = verified(&machine, &Ahead::new(), How { threads, window, ..How::PLAIN }, what);
            assert_eq!(one.statistics, other.statistics, "{what}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (what, machine) in machines() {
        let skipping = verified(&machine, &Ahead::new(), How::PLAIN, what);
        let (launches, statistics) = ticked(&machine, &Ahead::new());
        assert_eq!(skipping.launches, launches, "{what}");
        for group in ["lsu", "l1d", "l1d_hints", "l2", "l2_hints", "dram"] {
            let of = |groups: &[Group]| {
                groups.iter().find(|known| known.name == group).map(|group| format!("{group:?}"))
            };
            assert_eq!(of(&skipping.statistics), of(&statistics), "{what}");
        }
    }
}
