//! How full queues and MSHRs are: known by hand, over all cycles of a launch, and the same however a run is made.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::{Gpu, Makers};
use strata_gpu::machine::Machine;
use strata_gpu::queues::Queues;
use strata_gpu::results::{Breakdown, By, RunResult};
use strata_gpu::{RunRequest, run};
use strata_memory::address::Address;
use strata_workloads::{Arg, Device, Module, Shape, Size, find};

use crate::support::{PLAIN, four_clocks, gtx480, module};
use crate::trace;

/// What was counted of one kind of queue.
fn counted(breakdown: &Breakdown, queue: &str, path: &str) -> u64 {
    let part = breakdown.parts.iter().position(|part| part.name == queue);
    let part = part.unwrap_or_else(|| panic!("no {queue}"));
    breakdown.counter(path)[part].unwrap_or_else(|| panic!("{queue} have no {path}"))
}

/// Each queue is watched in every cycle of every launch, of its own clock.
pub fn all_cycles_are_counted(breakdown: &Breakdown, machine: &Machine, result: &RunResult, what: &str) {
    let file = machine.file();
    let cycles: u64 = result.launches.iter().map(|launch| launch.cycles).sum();
    let sms = file.gpu.compute_sms().len() as u64;
    // Where SMs in cache mode never come to rest, the machine looks every thousand cycles whether a launch is over.
    let looks = if file.gpu.helper_sms().is_empty() { 0 } else { 1000 * result.launches.len() as u64 };
    for queue in ["LSU queues", "L1D MSHRs", "L1D requests", "SM to network"] {
        let all = counted(breakdown, queue, "queue.cycles");
        let expected = sms * cycles..=sms * (cycles + looks);
        assert!(expected.contains(&all), "{what}: {queue}: {all} of {expected:?} cycles");
    }
    let channels = u64::from(*file.gpu.channels);
    let slices = channels * u64::from(*file.gpu.slices_per_channel);
    for (queue, count, clock) in [
        ("LLC MSHRs", slices, file.clocks.l2()),
        ("DRAM queues", channels, file.clocks.l2()),
        ("network to LLC", slices, file.clocks.network()),
        ("LLC to network", slices, file.clocks.l2()),
        ("network to SM", sms, file.clocks.network()),
    ] {
        let each = counted(breakdown, queue, "queue.cycles") / count;
        // Where a launch begins between two cycles of this clock, it has one less or more.
        let launches = result.launches.len() as u64 + 1 + clock.local(Cycle(looks));
        let all = clock.local(Cycle(cycles));
        assert!(each.abs_diff(all) <= launches, "{what}: {queue}: {each} of {all} cycles");
    }
}

/// How full queues are while a program runs.
fn queues(machine: &Machine, text: &str, host: impl FnOnce(&mut TimedDevice<'_>)) -> Breakdown {
    queues_and_counters(machine, text, host).0
}

/// The same, with the machine's counters.
fn queues_and_counters(
    machine: &Machine,
    text: &str,
    host: impl FnOnce(&mut TimedDevice<'_>),
) -> (Breakdown, Vec<Group>) {
    let (queues, makers) = Queues::new(machine, Makers::default()).unwrap();
    let gpu = Gpu::with(machine, PLAIN, makers).unwrap();
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut device =
        TimedDevice::on(gpu, machine, Module { name: "queues.ptx", text }, &mut progress).unwrap();
    device.gpu().break_down(&[By::Queue]);
    device.gpu().watch_queues(queues);
    host(&mut device);
    let groups = device.statistics();
    (device.gpu().breakdowns()[0].clone(), groups)
}

#[test]
fn a_load_at_a_time_has_one_mshr_for_as_long_as_it_is_on_its_way() {
    for machine in [gtx480(&[]), four_clocks(&[])] {
        let found = queues(&machine, &module(trace::CHASE), trace::follow_chain);
        assert_eq!(counted(&found, "L1D MSHRs", "queue.most"), 1);
        assert_eq!(counted(&found, "LSU queues", "queue.most"), 1);
        // The trace knows it from packets.
        let (read, _) = trace::chase(&machine);
        let loads = read.slices.iter().filter(|slice| ["L1D miss", "MSHR"].contains(&slice.name.as_str()));
        let way: u64 = loads.map(|slice| slice.to - slice.from).sum();
        // It is free after the cycle in which the answer has come.
        let way = way + 4;
        assert_eq!(counted(&found, "L1D MSHRs", "queue.entry_cycles"), way);
        assert_eq!(counted(&found, "L1D MSHRs", "in_use.below_01"), way);
    }
}

#[test]
fn credits_of_a_chase_are_away_for_the_way_there_and_back() {
    let machine = gtx480(&[]);
    let (found, groups) = queues_and_counters(&machine, &module(trace::CHASE), trace::follow_chain);
    let of = |group: &str, counter: &str| {
        let group = groups.iter().find(|found| found.name == group).unwrap();
        group.get(counter).unwrap()
    };
    let hop = 24;
    // Requests are of one flit, and nothing is in their way.
    let requests = of("network.request", "packets_in");
    assert_eq!(of("network.request", "flits"), requests);
    for way in ["SM to network", "network to LLC"] {
        assert_eq!(counted(&found, way, "queue.entry_cycles"), 2 * hop * requests, "{way}");
    }
    // Replies of a line are of four flits: they are sent as of the last, and the network gives room back when it has moved the last.
    let (replies, flits) = (of("network.reply", "packets_in"), of("network.reply", "flits"));
    let lines = (flits - replies) / 3;
    assert!(lines > 4 && 3 * lines + replies == flits, "{lines} of {replies} replies are lines");
    let moving = 4 * 3 * lines;
    assert_eq!(counted(&found, "LLC to network", "queue.entry_cycles"), 2 * hop * flits + moving);
    assert_eq!(counted(&found, "network to SM", "queue.entry_cycles"), 2 * hop * flits);
    assert_eq!(counted(&found, "network to SM", "queue.most"), 4);
}

#[test]
fn credits_that_are_too_few_are_all_in_use() {
    // Sixteen flits have room for four lines, on a way of 48 cycles.
    let machine = gtx480(&["network.buffer_flits=16"]);
    let found = of_lines(&machine, |_| true);
    assert_eq!(counted(&found, "network to SM", "queue.most"), 16);
    assert!(counted(&of_lines(&gtx480(&[]), |_| true), "network to SM", "queue.most") > 32);
}

/// Each lane loads a line of its own, from a list.
const LISTED: &str = ".visible .entry k(.param .u64 data, .param .u64 lines) {\n\
    .reg .b64 %a, %b;\n.reg .b32 %t, %v;\n\
    mov.u32 %t, %tid.x;\nld.param.u64 %a, [lines];\nmad.wide.u32 %a, %t, 4, %a;\nld.global.u32 %v, [%a];\n\
    ld.param.u64 %b, [data];\nmad.wide.u32 %b, %v, 128, %b;\nld.global.u32 %v, [%b];\nst.global.u32 [%b], %v;\nret;\n}\n";

/// The queues while 64 lanes load 64 lines of those that are taken.
fn of_lines(machine: &Machine, is_taken: impl Fn(u16) -> bool) -> Breakdown {
    let map = machine.file().address_map().unwrap();
    queues(machine, &module(LISTED), |device| {
        let data = device.alloc("data", 1 << 20).unwrap();
        let lines = device.alloc("lines", 256).unwrap();
        let taken = |line: &u32| {
            let home = map.home(Address(data.0 + u64::from(*line) * 128).line());
            is_taken(map.channel_of(home.slice).0)
        };
        let list: Vec<u8> = (0..8192).filter(taken).take(64).flat_map(u32::to_le_bytes).collect();
        device.upload(lines, &list).unwrap();
        device.launch("k", Shape::new([1, 1, 1], [64, 1, 1]), &[Arg::Ptr(data), Arg::Ptr(lines)]).unwrap();
    })
}

#[test]
fn mshrs_that_are_too_few_are_full() {
    let [few, enough] = ["4", "128"].map(|entries| {
        let entries = format!("l1d.mshr_entries={entries}");
        of_lines(&gtx480(&[entries.as_str()]), |_| true)
    });
    let [of_few, of_enough] = [&few, &enough].map(|found| counted(found, "L1D MSHRs", "queue.most"));
    assert!(of_few == 4 && of_enough > 32, "{of_few}, {of_enough}");
    // They are full for as long as 64 lines take, four at a time: but for the first and the last.
    let full = counted(&few, "L1D MSHRs", "in_use.below_03");
    let in_use = counted(&few, "L1D MSHRs", "queue.cycles") - counted(&few, "L1D MSHRs", "in_use.below_00");
    assert!(full * 10 > in_use * 6, "{full} of {in_use} cycles");
    // What waits for an MSHR, waits in the load/store unit.
    let queued = |found| counted(found, "LSU queues", "queue.entry_cycles");
    assert!(queued(&few) > 2 * queued(&enough), "{} and {}", queued(&few), queued(&enough));
}

#[test]
fn the_channel_to_blame_has_the_only_queue() {
    let machine = gtx480(&[]);
    let channels = u64::from(*machine.file().gpu.channels);
    let [one, all] = [of_lines(&machine, |channel| channel == 3), of_lines(&machine, |_| true)];
    let most = |found| counted(found, "DRAM queues", "queue.most");
    assert!(most(&one) > 3 * most(&all), "{} and {}", most(&one), most(&all));
    // Others serve code, parameters and the list only.
    let [cycles, idle] = ["queue.cycles", "in_use.below_00"].map(|path| counted(&one, "DRAM queues", path));
    assert!(idle < cycles && idle * channels * 10 > cycles * (channels - 1) * 8, "{idle} of {cycles}");
}

#[test]
fn they_are_the_same_however_a_run_is_made() {
    for (machine, workload) in [(gtx480(&[]), "bfs"), (four_clocks(&[]), "atax")] {
        let program = find(workload).unwrap().program(Size::Test).unwrap();
        let run_with = |by: &[By], threads, window| {
            let mut progress = |_: &strata_gpu::Progress| {};
            let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
            let plain = RunRequest::plain(program.as_ref(), &machine, &mut progress, &mut so_far);
            run(RunRequest { by, threads, window, ..plain }).unwrap()
        };
        let one = run_with(&[By::Queue], 1, None);
        all_cycles_are_counted(&one.breakdowns[0], &machine, &one, workload);
        for (threads, window) in [(1, Some(1)), (2, None), (2, Some(3))] {
            let other = run_with(&[By::Queue, By::Line], threads, window);
            let queues = other.breakdowns.iter().find(|breakdown| breakdown.by == By::Queue);
            assert_eq!(queues, Some(&one.breakdowns[0]), "{workload}: {threads} threads, {window:?}");
        }
        let plain = run_with(&[], 1, None);
        assert_eq!(plain.statistics_hash(), one.statistics_hash(), "{workload}: to look changes nothing");
    }
}
