//! A miss and a hit in the extended LLC, cycle by cycle, computed by hand.
//!
//! Arrivals take 4 cycles and replies 2 ([`small`](super::small)). The test is the network, the warp and DRAM.

use strata_engine::Cycle;
use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType};
use strata_memory::doors::{DramPort, DramRequest, Llc};
use strata_memory::window::{self, RESULT_WORD, operation, result};
use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};

use super::{HELPER, controller, published, small};
use crate::morpheus::Insertions;
use crate::morpheus::separator::{Part, Separator};

const SM: NodeId = NodeId(0);
const SLICE: NodeId = NodeId(1);

/// DRAM full of nines that takes six cycles.
#[derive(Default)]
struct Dram(Vec<(Cycle, DramRequest)>);

impl DramPort for Dram {
    fn offer(&mut self, mut request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        request.tray.0.fill(9);
        self.0.push((now + 6, request));
        Ok(())
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        let place = self.0.iter().position(|(ready, _)| *ready <= now)?;
        Some(self.0.remove(place).1)
    }
}

struct Bench {
    controller: Box<dyn Llc>,
    dram: Dram,
    now: u64,
    /// Cycle, destination and tag of each reply, and the highest byte of the first word that it brings.
    replies: Vec<(u64, NodeId, u32, Option<u8>)>,
}

impl Bench {
    fn new(controller: Box<dyn Llc>) -> Bench {
        Bench { controller, dram: Dram::default(), now: 0, replies: Vec::new() }
    }

    /// Simulates the cycles before `until`.
    fn run(&mut self, until: u64) {
        for cycle in self.now..until {
            self.controller.tick(&mut self.dram, Cycle(cycle));
            while let Some(reply) = self.controller.outgoing(Cycle(cycle)) {
                let byte = if let Body::ReadReply(tray) = &reply.body { Some(tray.0[3]) } else { None };
                self.replies.push((cycle, reply.destination, reply.tag, byte));
            }
        }
        self.now = until;
    }

    /// Offers a packet in a cycle.
    fn offer(&mut self, at: u64, source: NodeId, tag: u32, line: LineAddress, body: Body) {
        let bytes = if line == window::line_of(0, 0) && matches!(body, Body::Write(_)) {
            ByteMask::range(4 * RESULT_WORD, 4)
        } else {
            ByteMask::ALL
        };
        self.offer_bytes(at, (source, tag), line, bytes, body);
    }

    /// The same of some bytes of a line.
    fn offer_bytes(
        &mut self,
        at: u64,
        (source, tag): (NodeId, u32),
        line: LineAddress,
        bytes: ByteMask,
        body: Body,
    ) {
        self.run(at);
        let packet = Packet::new(Contents {
            line,
            bytes,
            source,
            destination: SLICE,
            client: Client::L1d,
            tag,
            origin: Origin::default(),
            level: Level::default(),
            body,
        });
        self.controller.offer(packet, Cycle(at)).expect("a controller is never full");
    }

    fn counts<const N: usize>(&self, names: [&str; N]) -> [u64; N] {
        let groups = self.controller.statistics();
        let morpheus = groups.iter().find(|group| group.name == "morpheus").expect("it has counters");
        names.map(|name| morpheus.get(name).expect("it is counted"))
    }

    fn result(&mut self, at: u64, tag: u32, result: u32) {
        let mut line = Line::ZERO;
        line.0[4 * RESULT_WORD] = result as u8;
        self.offer(at, HELPER, tag, window::line_of(0, 0), Body::Write(Box::new(line)));
    }
}

/// A line of the extended LLC, beside 8 conventional lines and one set of 2.
fn extended_line() -> LineAddress {
    extended_lines(2).next().expect("two of ten lines")
}

/// The lines of the extended LLC, beside 8 conventional lines and one set.
fn extended_lines(ways: u64) -> impl Iterator<Item = LineAddress> {
    let separator = Separator::new(8, ways);
    (0..).map(LineAddress).filter(move |line| matches!(separator.part(*line), Part::Extended(_)))
}

fn empty() -> Body {
    Body::Read(Box::new(Line::ZERO))
}

#[test]
fn a_miss_and_a_hit() {
    let line = extended_line();
    let mut bench = Bench::new(Box::new(controller(&small(), 1, SLICE)));
    let (row, payload) = (window::line_of(0, 0), window::line_of(0, 1));
    // The warp asks for work, and waits.
    bench.offer(0, HELPER, 1, row, empty());
    bench.run(10);
    assert_eq!((bench.controller.next_event(Cycle(10)), bench.controller.withheld()), (Cycle::NEVER, 1));
    // A read arrives in 14, is predicted a miss and goes to DRAM, which answers in 20: so does the controller, 2 cycles
    // later, and the warp gets its work, an insertion (operation 1), at the same time.
    bench.offer(10, SM, 2, line, empty());
    bench.run(30);
    // The warp loads the block and stores the result.
    bench.offer(30, HELPER, 3, payload, empty());
    bench.result(40, 4, result::MISSED);
    bench.offer(41, HELPER, 5, row, empty());
    // The read of the block that is now there goes to the warp in 64, which stores block and result. The result arrives in
    // 75, and the answer leaves with its acknowledgement.
    bench.offer(60, SM, 6, line, empty());
    bench.offer(70, HELPER, 7, payload, Body::Write(Box::new(Line([7; 128]))));
    bench.result(71, 8, result::HIT);
    bench.run(100);
    let expected = [
        (22, SM, 2, Some(9)),
        (22, HELPER, 1, Some((operation::INSERT << 3) as u8)),
        (36, HELPER, 3, Some(9)),
        (46, HELPER, 4, None),
        (66, HELPER, 5, Some((operation::READ << 3) as u8)),
        (76, HELPER, 7, None),
        (77, HELPER, 8, None),
        (77, SM, 6, Some(7)),
    ];
    assert_eq!(bench.replies, expected);
    let counts = ["predicted_misses", "predicted_hits", "true_hits", "wrong_bytes", "service_cycles"];
    // The block came back with other bytes than it was given, which the controller sees. The warp had its operations from 20
    // to 44 and from 64 to 75.
    assert_eq!(bench.counts(counts), [1, 1, 1, 1, 24 + 11]);
}

/// A warp asks for payloads ahead: the reply is withheld until an operation has one. It answers a read by one store, and a miss by
/// saying so.
#[test]
fn a_payload_asked_for_ahead_an_answer_at_once_and_a_block_that_is_absent() {
    let line = extended_line();
    let mut bench = Bench::new(Box::new(controller(&small(), 1, SLICE)));
    let [row, payload, answer] = [0, 1, 3].map(|within| window::line_of(0, within));
    bench.offer(0, HELPER, 1, payload, empty());
    bench.offer(1, HELPER, 2, row, empty());
    bench.run(10);
    assert_eq!((bench.controller.next_event(Cycle(10)), bench.controller.withheld()), (Cycle::NEVER, 2));
    // As above, a miss is answered in 22; operation and payload go to the warp one after the other.
    bench.offer(10, SM, 3, line, empty());
    bench.result(40, 4, result::MISSED);
    bench.offer(41, HELPER, 5, payload, empty());
    bench.offer(42, HELPER, 6, row, empty());
    // A read goes to the warp in 64. Its answer arrives in 74; the payload stays withheld.
    bench.offer(60, SM, 7, line, empty());
    bench.offer(70, HELPER, 8, answer, Body::Write(Box::new(Line([9; 128]))));
    bench.offer(71, HELPER, 9, row, empty());
    // The next read, in 104, finds no block: the controller hears it in 114, has it from DRAM in 120, and inserts it again.
    bench.offer(100, SM, 10, line, empty());
    bench.result(110, 11, result::ABSENT);
    bench.offer(111, HELPER, 12, row, empty());
    bench.run(200);
    let (insert, read) = (Some((operation::INSERT << 3) as u8), Some((operation::READ << 3) as u8));
    let expected = [
        (22, SM, 3, Some(9)),
        (22, HELPER, 2, insert),
        (22, HELPER, 1, Some(9)),
        (46, HELPER, 4, None),
        (66, HELPER, 6, read),
        (76, HELPER, 8, None),
        (76, SM, 7, Some(9)),
        (106, HELPER, 9, read),
        (116, HELPER, 11, None),
        (122, SM, 10, Some(9)),
        (122, HELPER, 12, insert),
        (122, HELPER, 5, Some(9)),
    ];
    assert_eq!(bench.replies, expected);
    let counts = ["true_hits", "false_hits", "late_fetches", "insertions", "payload_loads", "wrong_bytes"];
    assert_eq!(bench.counts(counts), [1, 1, 1, 2, 2, 0]);
}

/// The warp has two operations for five reads: those that come while it is given the block, or while it reads it, are answered with
/// the same bytes.
#[test]
fn reads_behind_an_insertion_and_behind_a_read_are_answered_with_them() {
    let line = extended_line();
    let mut bench = Bench::new(Box::new(controller(&small(), 1, SLICE)));
    let (row, payload) = (window::line_of(0, 0), window::line_of(0, 1));
    bench.offer(0, HELPER, 1, row, empty());
    bench.offer(10, SM, 2, line, empty());
    // Arrives in 34, while the warp has the insertion.
    bench.offer(30, SM, 3, line, empty());
    bench.result(40, 4, result::MISSED);
    bench.offer(41, HELPER, 5, row, empty());
    // The first of three goes to the warp in 64, the others wait for its result, which arrives in 75.
    bench.offer(60, SM, 6, line, empty());
    bench.offer(61, SM, 7, line, empty());
    bench.offer(62, SM, 8, line, empty());
    bench.offer(70, HELPER, 9, payload, Body::Write(Box::new(Line([7; 128]))));
    bench.result(71, 10, result::HIT);
    bench.run(100);
    let of_program: Vec<_> = bench.replies.iter().filter(|reply| reply.1 == SM).copied().collect();
    let expected = [
        (22, SM, 2, Some(9)),
        (36, SM, 3, Some(9)),
        (77, SM, 6, Some(7)),
        (77, SM, 7, Some(7)),
        (77, SM, 8, Some(7)),
    ];
    assert_eq!(of_program, expected);
    assert_eq!(bench.counts(["requests", "merged", "operations"]), [5, 3, 2]);
}

/// While the warp is busy, a second write of a line and a read of it need no operation beside the first write's.
#[test]
fn writes_behind_an_insertion_that_waits_go_along_with_it() {
    let mut lines = extended_lines(2);
    let (line, other) = (lines.next().expect("a line"), lines.next().expect("another"));
    let mut bench = Bench::new(Box::new(controller(&small(), 1, SLICE)));
    let (row, payload) = (window::line_of(0, 0), window::line_of(0, 1));
    let write = |byte| Body::Write(Box::new(Line([byte; 128])));
    bench.offer(0, HELPER, 1, row, empty());
    // From 20 on, the warp has an insertion. What comes for the other line is answered 6 cycles after it was sent.
    bench.offer(10, SM, 2, line, empty());
    bench.offer(30, SM, 3, other, write(1));
    bench.offer(31, SM, 4, other, write(2));
    bench.offer(32, SM, 5, other, empty());
    bench.result(40, 6, result::MISSED);
    bench.offer(41, HELPER, 7, row, empty());
    bench.offer(60, HELPER, 8, payload, empty());
    bench.run(100);
    let has = |reply| assert!(bench.replies.contains(&reply), "{:?}", bench.replies);
    has((36, SM, 3, None));
    has((37, SM, 4, None));
    has((38, SM, 5, Some(2)));
    has((66, HELPER, 8, Some(2)));
    assert_eq!(bench.counts(["requests", "merged", "operations"]), [4, 2, 2]);
}

/// Sets of published costs: 20 cycles each, and 100 between two.
#[test]
fn sets_of_published_costs_take_their_time() {
    let line = extended_line();
    let mut bench = Bench::new(Box::new(published(&small(), 1, SLICE)));
    // As above, the miss is answered in 22. The set gets the block in 20, and takes the next request in 120.
    bench.offer(10, SM, 1, line, empty());
    // This one arrives in 64, has its turn in 120 and its result in 140.
    bench.offer(60, SM, 2, line, empty());
    // Arrives in 204 and has its turn in 220; arrives in 404, at once.
    bench.offer(200, SM, 3, line, empty());
    bench.offer(400, SM, 4, line, empty());
    bench.run(500);
    let expected =
        [(22, SM, 1, Some(9)), (142, SM, 2, Some(9)), (242, SM, 3, Some(9)), (426, SM, 4, Some(9))];
    assert_eq!(bench.replies, expected);
}

/// An atomic that kernels do not have takes two operations, and its block leaves a set of one block between them.
#[test]
fn sets_of_published_costs_keep_an_atomic_whose_block_leaves() {
    let mut config = small();
    config.ways.value = 1;
    config.insertions.value = Insertions::InTurn;
    let mut lines = extended_lines(1);
    let (line, other) = (lines.next().expect("a line"), lines.next().expect("another"));
    let mut bench = Bench::new(Box::new(published(&config, 1, SLICE)));
    bench.offer(0, SM, 1, line, empty());
    // The other block comes from DRAM while the set has the first half of the atomic, and takes the block's place.
    bench.offer(200, SM, 2, other, empty());
    let mut batch = AtomicBatch::empty(AtomicOp::Add, AtomicType::F64);
    (batch.count, batch.a[0]) = (1, 1.0_f64.to_bits());
    bench.offer(201, SM, 3, line, Body::Atomic(Box::new(batch)));
    bench.run(600);
    bench.offer(600, SM, 4, line, empty());
    bench.run(700);
    // Nines as a double are nothing beside the one that was added, and the low half of one is zero.
    let read = bench.replies.iter().find(|(_, _, tag, _)| *tag == 4);
    assert_eq!(read.map(|(_, _, _, byte)| *byte), Some(Some(0)));
    let counts = ["predicted_misses", "insertions", "read_operations", "write_operations", "wrong_bytes"];
    // The atomic reads its block and writes it; the last read finds it.
    assert_eq!(bench.counts(counts), [2, 2, 2, 1, 0]);
}

/// Half of a block that the set does not have, written in 10 and answered in 16, which waits 100 cycles for the rest.
fn half_a_block() -> (Bench, LineAddress) {
    let mut config = small();
    config.gather_cycles.value = 100;
    let mut bench = Bench::new(Box::new(controller(&config, 1, SLICE)));
    let line = extended_line();
    bench.offer(0, HELPER, 1, window::line_of(0, 0), empty());
    let half = Body::Write(Box::new(Line([3; 128])));
    bench.offer_bytes(10, (SM, 2), line, ByteMask::range(0, 64), half);
    bench.run(30);
    assert_eq!(bench.replies, [(16, SM, 2, None)]);
    assert_eq!(bench.controller.next_event(Cycle(30)), Cycle(114));
    (bench, line)
}

const INSERT_DIRTY: Option<u8> = Some((operation::INSERT_DIRTY << 3) as u8);

/// The other half arrives in 34, and the whole block goes to the warp.
#[test]
fn a_block_that_two_writes_make_whole_is_not_fetched() {
    let (mut bench, line) = half_a_block();
    let half = Body::Write(Box::new(Line([4; 128])));
    bench.offer_bytes(30, (SM, 3), line, ByteMask::range(64, 64), half);
    bench.run(200);
    assert_eq!(bench.replies[1..], [(36, SM, 3, None), (36, HELPER, 1, INSERT_DIRTY)]);
    let counts = ["predicted_misses", "gathered", "made_whole", "merged", "fetches", "dram_read_bytes"];
    assert_eq!(bench.counts(counts), [1, 1, 1, 1, 0, 0]);
}

/// One read of what was written is answered from it; one of more, which arrives in 44, has the block fetched until 50.
#[test]
fn a_read_of_more_than_was_written_ends_the_wait() {
    let (mut bench, line) = half_a_block();
    bench.offer_bytes(30, (SM, 3), line, ByteMask::range(0, 32), empty());
    bench.offer(40, SM, 4, line, empty());
    bench.run(200);
    let expected = [(36, SM, 3, Some(3)), (52, SM, 4, Some(3)), (52, HELPER, 1, INSERT_DIRTY)];
    assert_eq!(bench.replies[1..], expected);
    assert_eq!(bench.counts(["gathered", "made_whole", "merged", "fetches"]), [1, 0, 2, 1]);
}

/// Its bytes go to memory in 114, and the warp has nothing to do.
#[test]
fn a_block_that_stays_half_goes_to_memory() {
    let (mut bench, _) = half_a_block();
    bench.run(114);
    assert!(bench.dram.0.is_empty() && !bench.controller.is_settled());
    bench.run(115);
    let half = ByteMask::range(0, 64);
    let written = |(_, request): &(Cycle, DramRequest)| (request.write, request.bytes);
    assert_eq!(bench.dram.0.iter().map(written).collect::<Vec<_>>(), [(true, half)]);
    bench.run(200);
    assert_eq!((bench.replies.len(), bench.controller.is_settled()), (1, true));
    let counts = ["gathered", "made_whole", "written_past", "fetches", "dram_written_bytes"];
    assert_eq!(bench.counts(counts), [1, 0, 1, 0, 64]);
}

/// A block in a set of published costs, and three atomics on it that arrive one after the other.
fn three_atomics(ty: AtomicType, operand: u64) -> Bench {
    let line = extended_line();
    let mut bench = Bench::new(Box::new(published(&small(), 1, SLICE)));
    bench.offer(0, SM, 1, line, empty());
    let mut batch = AtomicBatch::empty(AtomicOp::Add, ty);
    (batch.count, batch.a[0]) = (1, operand);
    for number in 0..3 {
        let batch = Body::Atomic(Box::new(batch.clone()));
        bench.offer(200 + number, SM, 2 + number as u32, line, batch);
    }
    bench.run(600);
    bench.offer(600, SM, 5, line, empty());
    bench.run(800);
    bench
}

/// The set has the first one from 204 to 224, and takes the next operation in 304: it performs the other two together.
#[test]
fn atomics_that_wait_share_an_operation() {
    let bench = three_atomics(AtomicType::U32, 1 << 24);
    let answers: Vec<(u64, u32)> = bench
        .replies
        .iter()
        .filter(|reply| (2..5).contains(&reply.2))
        .map(|reply| (reply.0, reply.2))
        .collect();
    assert_eq!(answers, [(226, 2), (326, 3), (326, 4)]);
    assert_eq!(bench.replies.last(), Some(&(626, SM, 5, Some(12))));
    let counts = ["atomics", "atomic_operations", "merged", "wrong_bytes"];
    assert_eq!(bench.counts(counts), [3, 2, 1, 0]);
}

/// Of sums that warps do not have, the controller performs all three on the block that it has read, and writes it once.
#[test]
fn atomics_that_the_controller_performs_share_two_operations() {
    let bench = three_atomics(AtomicType::F64, 1.0_f64.to_bits());
    // Nines as a double are nothing beside three, whose first half is zero.
    assert_eq!(bench.replies.last().map(|reply| (reply.2, reply.3)), Some((5, Some(0))));
    let counts = ["atomics", "read_operations", "write_operations", "merged", "wrong_bytes"];
    assert_eq!(bench.counts(counts), [3, 2, 1, 2, 0]);
}
