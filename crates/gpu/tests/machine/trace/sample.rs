//! Traces of every N-th request: how many there are, which, and that they are those of the whole trace.

use std::collections::{BTreeMap, BTreeSet};

use strata_gpu::device::TimedDevice;
use strata_gpu::machine::Machine;
use strata_gpu::run;
use strata_gpu::trace::{SAMPLED_REQUESTS, SAMPLED_WARPS, TraceOptions};
use strata_gpu::{Progress, RunRequest};
use strata_workloads::{Arg, Device, Shape};

use super::read::{Read, Slice};
use super::{EVERYTHING, test_size, traced, traced_kernel};
use crate::support::gtx480;

/// Each lane loads a word of a line of its own, so a warp makes 32 accesses, and each sends a packet.
const SPREAD: &str = "
.visible .entry k(.param .u64 at) {
.reg .u64 %p<3>; .reg .u32 %r<5>;
ld.param.u64 %p0, [at];
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %ntid.x;
mov.u32 %r2, %tid.x;
mad.lo.u32 %r3, %r0, %r1, %r2;
mul.wide.u32 %p1, %r3, 128;
add.u64 %p2, %p0, %p1;
ld.global.u32 %r4, [%p2];
ret;
}
";

/// Accesses of an SM: one warp for each, in one CTA.
const ACCESSES: usize = 32;
/// SMs that run programs.
const SMS: usize = 15;

fn spread(device: &mut TimedDevice<'_>) {
    let ctas = SMS as u32;
    let buffer = device.alloc("lines", (SMS * ACCESSES * 128) as u64).unwrap();
    device.launch("k", Shape::new([ctas, 1, 1], [ACCESSES as u32, 1, 1]), &[Arg::Ptr(buffer)]).unwrap();
}

/// One thread loads words of three lines: of one, of another, and of that again. The last load waits for the packet of the one before.
const AGAIN: &str = "
.visible .entry k(.param .u64 at) {
.reg .u64 %p; .reg .u32 %r<3>;
ld.param.u64 %p, [at];
ld.global.u32 %r0, [%p];
ld.global.u32 %r1, [%p+512];
ld.global.u32 %r2, [%p+520];
ret;
}
";

fn again(device: &mut TimedDevice<'_>) {
    let buffer = device.alloc("lines", 1024).unwrap();
    device.launch("k", Shape::new([1, 1, 1], [1, 1, 1]), &[Arg::Ptr(buffer)]).unwrap();
}

fn every(sample: u64) -> TraceOptions {
    TraceOptions { sample, ..EVERYTHING }
}

/// What a slice says, but for the row in which it found room.
type What<'a> = (&'a str, &'a str, &'a str, u64, u64, Option<u64>);

fn what(slice: &Slice) -> What<'_> {
    (&slice.process, &slice.category, &slice.name, slice.from, slice.to, slice.flow)
}

fn of<'a>(read: &'a Read, category: &str) -> Vec<&'a Slice> {
    read.slices.iter().filter(|slice| slice.category == category).collect()
}

/// By SM, its accesses as their stages, in the order in which its L1D takes them.
fn accesses(read: &Read) -> BTreeMap<&str, Vec<Vec<What<'_>>>> {
    let mut rows: BTreeMap<u64, Vec<&Slice>> = BTreeMap::new();
    for stage in of(read, "stage") {
        rows.entry(stage.track).or_default().push(stage);
    }
    let mut accesses: BTreeMap<&str, Vec<Vec<What<'_>>>> = BTreeMap::new();
    for access in of(read, "access") {
        let is_in = |stage: &&&Slice| access.from <= stage.from && stage.to <= access.to;
        let stages = rows[&access.track].iter().filter(is_in).map(|stage| what(stage)).collect();
        accesses.entry(&access.process).or_default().push(stages);
    }
    for of_sm in accesses.values_mut() {
        // The L1D takes an access as its first stage ends.
        of_sm.sort_by_key(|stages| stages[0].4);
    }
    accesses
}

/// By flow, all slices that belong to it.
fn flows(read: &Read) -> BTreeMap<u64, Vec<What<'_>>> {
    let mut flows: BTreeMap<u64, Vec<What<'_>>> = BTreeMap::new();
    for slice in &read.slices {
        if let Some(flow) = slice.flow {
            flows.entry(flow).or_default().push(what(slice));
        }
    }
    flows.values_mut().for_each(|slices| slices.sort_unstable());
    flows
}

#[test]
fn of_32_requests_every_nth_has_its_whole_flow() {
    let machine = gtx480(&[]);
    let (whole, _) = traced_kernel(&machine, SPREAD, &EVERYTHING, spread);
    let (all, all_flows) = (accesses(&whole), flows(&whole));
    assert_eq!(all.values().map(Vec::len).collect::<Vec<_>>(), [ACCESSES; SMS]);
    assert_eq!(all_flows.len(), SMS * ACCESSES, "each access sends a packet");
    for n in [2, 5, 7, 31, 32, 33, 1_000_000] {
        let (read, _) = traced_kernel(&machine, SPREAD, &every(n), spread);
        let expected = ACCESSES.div_ceil(n as usize);
        let (sampled, sampled_flows) = (accesses(&read), flows(&read));
        for (sm, accesses) in &all {
            let chosen: Vec<_> = accesses.iter().step_by(n as usize).collect();
            assert_eq!(chosen.len(), expected);
            assert_eq!(sampled[sm].iter().collect::<Vec<_>>(), chosen, "{n}: {sm}");
        }
        assert_eq!(sampled_flows.len(), SMS * expected, "{n}");
        for (flow, slices) in &sampled_flows {
            assert_eq!(slices, &all_flows[flow], "{n}: flow {flow}");
            let categories: Vec<&str> = slices.iter().map(|slice| slice.1).collect();
            assert_eq!(categories.iter().filter(|name| **name == "stage").count(), 2, "{categories:?}");
            for once in ["request", "llc", "dram", "reply"] {
                assert_eq!(categories.iter().filter(|name| **name == once).count(), 1, "{n}: {once}");
            }
        }
        assert_eq!(read.counters, whole.counters, "{n}: counters are of all requests");
        assert_eq!(of(&read, "instruction").len(), of(&whole, "instruction").len(), "{n}: all warps");
    }
}

#[test]
fn an_access_that_waits_for_anothers_packet_has_the_flow_of_it() {
    let machine = gtx480(&[]);
    let (whole, _) = traced_kernel(&machine, AGAIN, &EVERYTHING, again);
    let names = |read: &Read| -> Vec<String> {
        let accesses = accesses(read).into_values().flatten();
        accesses.map(|stages| stages[1].2.to_owned()).collect()
    };
    assert_eq!(names(&whole), ["L1D miss", "L1D miss", "MSHR merged"]);
    let (read, _) = traced_kernel(&machine, AGAIN, &every(2), again);
    assert_eq!(names(&read), ["L1D miss", "MSHR merged"], "the first and the third");
    let (all, sampled) = (flows(&whole), flows(&read));
    assert_eq!((all.len(), sampled.len()), (2, 2), "both packets are waited for");
    // Of the second packet, what belongs to the access that sent it is left out: its miss and its fill.
    let lengths = |flows: &BTreeMap<u64, Vec<What<'_>>>| flows.values().map(Vec::len).collect::<Vec<_>>();
    assert_eq!((lengths(&all), lengths(&sampled)), (vec![6, 7], vec![6, 5]));
}

#[test]
fn a_sample_is_part_of_the_whole_and_the_same_on_any_number_of_threads() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let program = test_size("bfs");
    let options = TraceOptions { sample: 16, sample_warps: 8, ..EVERYTHING };
    let (result, trace) = traced(&machine, program.as_ref(), &options, 1).unwrap();
    let mut progress = |_: &Progress| {};
    let plain = run(RunRequest::plain(program.as_ref(), &machine, &mut progress, &mut |_| ())).unwrap();
    assert_eq!(result.statistics, plain.statistics);
    assert_eq!(result.statistics_hash(), plain.statistics_hash());
    let (bytes, all) =
        (trace.unwrap(), traced(&machine, program.as_ref(), &EVERYTHING, 1).unwrap().1.unwrap());
    assert!(bytes == traced(&machine, program.as_ref(), &options, 2).unwrap().1.unwrap(), "two threads");
    let (read, whole) = (Read::new(&bytes), Read::new(&all));
    assert_eq!(
        read.metadata,
        [(SAMPLED_REQUESTS.to_owned(), 16), (SAMPLED_WARPS.to_owned(), 8)],
        "it says that it is a sample"
    );
    assert_eq!(whole.metadata, []);
    assert_eq!(read.counters, whole.counters);
    // Requests: every 16th of an SM, over all launches.
    let (sampled, accesses) = (accesses(&read), accesses(&whole));
    for (sm, accesses) in &accesses {
        assert_eq!(sampled[sm].len(), accesses.len().div_ceil(16), "{sm}");
    }
    // Warps: rows of every 8th slot are as they were, and others are not there.
    let every_8th =
        |slice: &&&Slice| slice.row.strip_prefix("warp ").unwrap().parse::<u32>().unwrap().is_multiple_of(8);
    for category in ["instruction", "wait"] {
        let expected = of(&whole, category);
        let expected: Vec<_> =
            expected.iter().filter(every_8th).map(|slice| (&slice.row, what(slice))).collect();
        let found: Vec<_> = of(&read, category).iter().map(|slice| (&slice.row, what(slice))).collect();
        assert!(!found.is_empty() && found == expected, "{category}");
    }
    let known: BTreeSet<What<'_>> = whole.slices.iter().map(what).collect();
    assert_eq!(read.slices.iter().find(|slice| !known.contains(&what(slice))), None);
    assert!(5 * bytes.len() < all.len(), "{} of {} bytes", bytes.len(), all.len());
}

#[test]
fn a_sample_is_of_at_least_every_request() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    for (options, what) in [(every(0), "request"), (TraceOptions { sample_warps: 0, ..EVERYTHING }, "warp")] {
        let error = traced(&machine, test_size("saxpy").as_ref(), &options, 1).unwrap_err().to_string();
        assert_eq!(error, format!("trace: a trace of every 0th {what}: expected at least 1"));
    }
}
