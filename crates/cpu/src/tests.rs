//! A core in front of a memory that answers every request after a fixed time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use strata_designs::baseline::SramL1dConfig;
use strata_engine::statistics::Group;
use strata_engine::{Cited, Cycle, Inlet, Island, Outlet, Window, link};
use strata_memory::doors::{L1dDesign, L1dSite};
use strata_memory::{Address, Body, Line, LineAddress, NodeId, Packet, SliceMap};
use strata_ptx::back::Options;
use strata_ptx::load::load;
use strata_ptx::texture::Headers;
use strata_sm::launch::{FaultKind, Launch};

use crate::{Core, CoreId, CoreModel, CoreParts, CpuConfig};

/// Cycles on a link.
const HOP: u64 = 4;
/// Cycles from a request's arrival to its reply.
const ANSWER: u64 = 20;
/// Where the program's buffer begins, and its size.
const BUFFER: (u64, u64) = (0x1_0000, 0x1000);
/// Where the module's variable lies.
const VARIABLE: u64 = 0x2_0000;

fn config(cores: u16, store_buffer: u32, address_latency: u32) -> CpuConfig {
    CpuConfig::new(cores, 1000, CoreModel::InOrder, store_buffer, address_latency)
}

/// The L1D: hits in a cycle.
fn l1d() -> SramL1dConfig {
    SramL1dConfig { hit_latency_cycles: Cited::new(1, "a test"), ..SramL1dConfig::example() }
}

/// A core and the memory behind its links.
struct Bench {
    core: Core,
    requests: Inlet<Packet>,
    replies: Outlet<Packet>,
    answers: VecDeque<(u64, Packet)>,
    lines: BTreeMap<LineAddress, Line>,
    now: u64,
}

impl Bench {
    fn new(id: u16, config: &CpuConfig) -> Bench {
        let ((requests, at_memory), (replies, at_core)) = (link(HOP, 64), link(HOP, 64));
        let slices = SliceMap::new(1, 256, NodeId(1)).expect("one slice");
        let site = L1dSite { node: NodeId(0), slices, seed: 1, held_loads: 0 };
        let l1d = l1d().build(site).expect("the L1D can be built");
        let parts =
            CoreParts { id: CoreId(id), flit_bytes: 32, l1d, requests, replies: at_core, owners: None };
        let core = Core::new(config, parts).expect("the core can be built");
        let (answers, lines) = (VecDeque::new(), BTreeMap::new());
        Bench { core, requests: at_memory, replies, answers, lines, now: 0 }
    }

    fn word(&mut self, address: u64) -> &mut [u8] {
        let at = Address(address);
        &mut self.lines.entry(at.line()).or_insert(Line::ZERO).0[at.offset()..at.offset() + 4]
    }

    fn read(&mut self, address: u64) -> u32 {
        u32::from_le_bytes(self.word(address).try_into().expect("a word"))
    }

    fn write(&mut self, address: u64, value: u32) {
        self.word(address).copy_from_slice(&value.to_le_bytes());
    }

    /// Serves a request, as a reply.
    fn serve(&mut self, mut packet: Packet) -> Packet {
        let line = self.lines.entry(packet.line).or_insert(Line::ZERO);
        match &mut packet.body {
            Body::Read(tray) => tray.merge(packet.bytes, line),
            Body::Write(tray) => line.merge(packet.bytes, tray),
            Body::Atomic(batch) => batch.perform(line),
            other => panic!("{other:?} is not a request"),
        }
        packet.into_reply()
    }

    fn memory(&mut self, now: Cycle) {
        while let Some(packet) = self.requests.receive(now) {
            self.requests.release(packet.wire_bytes().div_ceil(32), now);
            let reply = self.serve(packet);
            self.answers.push_back((now.0 + ANSWER, reply));
        }
        while self.answers.front().is_some_and(|(at, _)| *at <= now.0) {
            let (_, reply) = self.answers.pop_front().expect("it was seen");
            let flits = reply.wire_bytes().div_ceil(32);
            self.replies.send(reply, flits, now).expect("the link has room");
        }
    }

    /// Runs a phase of `threads` threads to its end; `every_cycle` ticks the core in all cycles.
    fn run(&mut self, text: &str, threads: u32, every_cycle: bool) {
        let now = Cycle(self.now);
        self.core.begin(launch(text, threads), now);
        for _ in 0..100_000 {
            let (now, window) = (Cycle(self.now), Window(self.now));
            self.core.collect(window);
            self.requests.collect(window);
            self.replies.collect(window);
            if every_cycle || self.core.next_event(now) <= now {
                self.core.tick(now);
            }
            self.memory(now);
            self.core.flush(window);
            self.requests.flush(window);
            self.replies.flush(window);
            self.now += 1;
            if self.core.is_idle() || self.core.failed() {
                return;
            }
        }
        let mut report = Vec::new();
        self.core.waits(&mut report);
        panic!("the phase goes on: {report:?}");
    }

    fn count(&self, group: &str, name: &str) -> u64 {
        let groups = self.core.statistics();
        let group: &Group = groups.iter().find(|found| found.name == group).expect("it is counted");
        group.get(name).expect("it is counted")
    }
}

/// Threads of the kernel of a text, with the buffer as its only argument.
fn launch(text: &str, threads: u32) -> Arc<Launch> {
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n{text}");
    let module = load("test.ptx", &text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let kernel = Arc::new(module.kernels.into_iter().next().expect("the text has a kernel"));
    let params = BUFFER.0.to_le_bytes().to_vec();
    Arc::new(Launch {
        constants: kernel.constant_rows(&params, &[VARIABLE]),
        kernel,
        params,
        params_at: Address(0x8000),
        code_at: Address(0),
        code_version: 0,
        grid: [threads, 1, 1],
        block: [1; 3],
        cluster: None,
        dynamic_shared: 0,
        local_at: Address(0x4_0000),
        allocations: vec![(BUFFER.0, BUFFER.0 + BUFFER.1), (VARIABLE, VARIABLE + 64)],
        registers: None,
        headers: Arc::new(Headers::default()),
        number: 0,
        micro: strata_sm::micro::MicroCode::default(),
    })
}

/// A kernel whose body has the buffer's address in `%d0` and the thread's number in `%r0`.
fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 buffer) {{\n.reg .b32 %r<10>; .reg .b64 %d<6>; .reg .pred %p;\n\
         ld.param.u64 %d0, [buffer];\nmov.u32 %r0, %ctaid.x;\n{body}\nret;\n}}\n"
    )
}

#[test]
fn a_miss_and_a_hit_take_what_the_crate_says() {
    let body = "mov.u32 %r1, %clock;\nld.global.u64 %d1, [%d0+256];\nadd.s64 %d2, %d0, %d1;\nmov.u32 %r2, %clock;\n\
                ld.global.u64 %d3, [%d2+256];\nadd.s64 %d4, %d2, %d3;\nmov.u32 %r3, %clock;\n\
                st.global.u32 [%d4], %r1;\nst.global.u32 [%d4+4], %r2;\nst.global.u32 [%d4+8], %r3;";
    for address_latency in [1, 4] {
        let mut bench = Bench::new(0, &config(1, 8, address_latency));
        bench.run(&kernel(body), 1, false);
        let [first, missed, hit] = [0, 4, 8].map(|at| u64::from(bench.read(BUFFER.0 + at)));
        let (a, l1d) = (u64::from(address_latency), l1d());
        // The load issues a cycle after the clock. Address, tags, link, memory, link; the reply is written into the array in
        // the cycle it comes, the access is served in the next one; then the addition issues, and a cycle later the clock.
        let miss = a + *l1d.tag_latency_cycles + HOP + ANSWER + HOP + 1 + *l1d.fill_latency_cycles;
        assert_eq!(missed - first, 1 + miss + 1);
        assert_eq!(hit - missed, 1 + a + 1 + 1);
    }
}

#[test]
fn a_core_takes_every_nth_thread_and_leaves_its_writes_in_memory() {
    let body = "mul.wide.u32 %d1, %r0, 4;\nadd.s64 %d1, %d0, %d1;\nadd.u32 %r1, %r0, 100;\n\
                mov.u32 %r2, %smid;\nmad.lo.u32 %r1, %r2, 1000, %r1;\nst.global.u32 [%d1], %r1;";
    for (id, threads) in [(0, &[0, 3, 6][..]), (1, &[1, 4]), (2, &[2, 5])] {
        let mut bench = Bench::new(id, &config(3, 2, 1));
        bench.run(&kernel(body), 7, false);
        for thread in 0..7 {
            let expected = if threads.contains(&thread) { 100 + thread + 1000 * u32::from(id) } else { 0 };
            assert_eq!(bench.read(BUFFER.0 + 4 * u64::from(thread)), expected, "core {id}, thread {thread}");
        }
        assert_eq!(bench.count("cpu", "threads"), threads.len() as u64);
        assert_eq!(bench.core.ended_at().map(|at| at.0 + 1), Some(bench.now));
    }
    let mut bench = Bench::new(2, &config(3, 2, 1));
    bench.core.begin(launch(&kernel(body), 2), Cycle(0));
    assert!(bench.core.is_idle() && bench.core.ended_at().is_none(), "there is no third thread");
}

#[test]
fn what_the_memory_was_given_between_phases_is_seen() {
    let body = "ld.global.u32 %r1, [%d0];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%d0+4], %r1;";
    let mut bench = Bench::new(0, &config(1, 8, 1));
    for value in [5, 9] {
        bench.write(BUFFER.0, value);
        bench.run(&kernel(body), 1, false);
        assert_eq!(bench.read(BUFFER.0 + 4), value + 1);
    }
}

#[test]
fn constants_are_loaded_through_the_l1d() {
    let text = format!(
        ".const .align 4 .b32 table[4];\n{}",
        kernel(
            "mov.u64 %d1, table;\nmul.wide.u32 %d2, %r0, 4;\nadd.s64 %d1, %d1, %d2;\nld.const.u32 %r1, [%d1];\n\
             add.s64 %d2, %d0, %d2;\nst.global.u32 [%d2], %r1;"
        )
    );
    let mut bench = Bench::new(0, &config(1, 8, 1));
    for n in 0..4 {
        bench.write(VARIABLE + 4 * n, 70 + n as u32);
    }
    bench.run(&text, 4, false);
    assert_eq!([0, 1, 2, 3].map(|n| bench.read(BUFFER.0 + 4 * n)), [70, 71, 72, 73]);
    assert_eq!((bench.count("lsu", "constant_instructions"), bench.count("lsu", "constant_lines")), (4, 0));
    assert_eq!((bench.count("l1d", "accesses"), bench.count("lsu", "accesses")), (8, 8));
}

#[test]
fn skipping_is_ticking_and_every_cycle_is_accounted_for() {
    let body = "mov.u32 %r1, 0;\nNEXT:\nmul.wide.u32 %d1, %r1, 132;\nadd.s64 %d1, %d0, %d1;\n\
                ld.global.u32 %r2, [%d1];\nadd.u32 %r2, %r2, %r0;\nst.global.u32 [%d1+4], %r2;\nst.global.u32 [%d1+256], %r2;\n\
                red.global.add.u32 [%d0], 1;\natom.global.add.u32 %r3, [%d0+8], %r2;\nmembar.gl;\nnanosleep.u32 30;\n\
                add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p, %r1, 12;\n@%p bra NEXT;";
    for config in [config(1, 8, 1), config(1, 1, 3)] {
        let mut benches = [false, true].map(|every_cycle| {
            let mut bench = Bench::new(0, &config);
            bench.run(&kernel(body), 3, every_cycle);
            bench
        });
        let [skipped, ticked] = &mut benches;
        assert_eq!(skipped.core.statistics(), ticked.core.statistics());
        assert_eq!((skipped.now, &skipped.lines), (ticked.now, &ticked.lines));
        assert_eq!(skipped.read(BUFFER.0), 36, "three threads of twelve rounds");
        assert!(skipped.core.statistics().iter().all(|group| group.broken.is_none()));
        // From the first cycle to the one before the flush was seen.
        assert_eq!(skipped.count("cpu", "cycles") + 1, skipped.now);
        for stall in ["stall_memory", "stall_fence", "stall_sleep", "stall_flush"] {
            assert!(skipped.count("cpu", stall) > 0, "{stall}");
        }
        assert_eq!(skipped.count("cpu", "stall_store") > 0, *config.store_buffer == 1);
    }
}

#[test]
fn a_fault_stops_the_core_with_its_place() {
    let mut bench = Bench::new(0, &config(1, 8, 1));
    bench.run(&kernel("st.global.u32 [%d0+4096], %r0;"), 1, false);
    let (_, fault) = bench.core.fault().expect("the store is out of bounds");
    assert_eq!((fault.kernel.as_str(), fault.line, fault.cta), ("k", 8, [0; 3]));
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { address: 0x1_1000, bytes: 4, .. }), "{fault}");
    assert_eq!(bench.core.next_event(Cycle(bench.now)), Cycle::NEVER);
}

#[test]
fn numbers_out_of_range_are_named() {
    for (config, what) in [
        (config(0, 8, 1), "cores: found 0, expected 1 to 1024"),
        (config(1, 0, 1), "store_buffer: found 0, expected 1 to 256"),
        (config(1, 8, 0), "address_latency_cycles: found 0, expected 1 to 1024"),
    ] {
        assert_eq!(config.check(), Err(what.to_owned()));
    }
}
