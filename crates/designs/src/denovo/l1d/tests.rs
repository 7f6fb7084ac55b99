//! Golden cycles of a DeNovo L1D, worked by hand.

use strata_engine::{Cited, Cycle};
use strata_memory::doors::{Access, Action, Design, L1d, L1dDesign, Policy, Refusal};
use strata_memory::ownership::{Letter, Message, Owner, bytes_of};
use strata_memory::{
    Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet, SliceMap,
};

use super::*;

/// The registry's node, and another L1D's.
const REGISTRY: NodeId = NodeId(2);
const OTHER: Owner = Owner::cache(1);

/// An L1D at node 0 whose neighbours are played by hand. A hit takes a cycle, a request leaves a cycle after its access, a fill takes
/// a cycle, an answer to others two.
struct Bench {
    l1d: DenovoL1d,
    now: Cycle,
    requests: Vec<(u64, Packet)>,
    answers: Vec<(u64, Packet)>,
    /// Cycle, token and byte 4 of what was completed.
    done: Vec<(u64, u32, u8)>,
}

impl Bench {
    fn new() -> Bench {
        Bench::of(&DenovoL1dConfig::example())
    }

    fn of(config: &DenovoL1dConfig) -> Bench {
        let slices = SliceMap::new(1, 256, REGISTRY).expect("one slice");
        let l1d = DenovoL1d::new(config, NodeId(0), slices, 1).expect("its numbers can be");
        let (requests, answers, done) = (Vec::new(), Vec::new(), Vec::new());
        Bench { l1d, now: Cycle::ZERO, requests, answers, done }
    }

    fn offer(&mut self, token: u32, bytes: ByteMask, action: Action, policy: Policy) {
        let line = LineAddress(7);
        let access = Access { line, bytes, action, policy, token, pc: 0, warp: 0, leads: true };
        self.l1d.offer(access, self.now).expect("there is room");
    }

    fn load(&mut self, token: u32, bytes: ByteMask) {
        self.offer(token, bytes, Action::Load(Box::new(Line::ZERO)), Policy::Cached);
    }

    fn store(&mut self, token: u32, bytes: ByteMask, value: u8) {
        self.offer(token, bytes, Action::Store(Box::new(Line([value; 128]))), Policy::Cached);
    }

    /// Simulates the cycles before `until`: tick, then everything that is due leaves.
    fn run_to(&mut self, until: u64) {
        while self.now.0 < until {
            self.l1d.tick(self.now);
            while let Some(packet) = self.l1d.outgoing(self.now) {
                self.requests.push((self.now.0, packet));
            }
            while let Some(packet) = self.l1d.answer(self.now) {
                self.answers.push((self.now.0, packet));
            }
            while let Some(completion) = self.l1d.completed(self.now) {
                let (Action::Load(tray) | Action::Store(tray)) = &completion.action else {
                    panic!("no atomics were sent")
                };
                self.done.push((self.now.0, completion.token, tray.0[4]));
            }
            self.now = self.now.next();
        }
    }

    /// A packet arrives at `self.now`, with data full of `value` if it carries data, or with an empty tray for an answer.
    fn hear(&mut self, from: NodeId, message: Message, words: u32, asked: u32, value: Option<u8>) {
        let requester =
            if message.carries_data() || message == Message::Granted { Owner::cache(0) } else { OTHER };
        let tray = value.map(|value| Box::new(Line([value; 128])));
        let letter = Letter { message, place: requester.place, requester };
        self.l1d.accept(
            Packet::new(Contents {
                line: LineAddress(7),
                bytes: bytes_of(words),
                source: from,
                destination: NodeId(0),
                client: Client::L1d,
                tag: asked,
                origin: Origin::default(),
                level: Level::default(),
                body: Body::Owned(letter, tray),
            }),
            self.now,
        );
    }

    fn coherence(&self, name: &str) -> u64 {
        self.l1d.statistics()[1].get(name).expect("it is counted")
    }
}

/// Message, words, destination and, if it has data, byte 4 of a packet.
fn said((at, packet): &(u64, Packet)) -> (u64, Message, ByteMask, NodeId, Option<u8>) {
    let Body::Owned(letter, tray) = &packet.body else { panic!("{packet:?} is not a letter") };
    let data = tray.as_ref().filter(|_| letter.message.carries_data());
    (*at, letter.message, packet.bytes, packet.destination, data.map(|tray| tray.0[4]))
}

const WORD: ByteMask = ByteMask::range(4, 4);

#[test]
fn a_load_comes_back_two_cycles_after_its_data() {
    let mut bench = Bench::new();
    bench.load(1, WORD);
    bench.run_to(20);
    assert_eq!(
        bench.requests.iter().map(said).collect::<Vec<_>>(),
        [(1, Message::Read, WORD, REGISTRY, None)]
    );
    assert_eq!(bench.requests[0].1.wire_bytes(), 8, "a header");
    // Words 0 to 3 come; only word 1 was asked for. Taken up in cycle 20, the load is performed in 21 and done in 22.
    bench.hear(REGISTRY, Message::Data, 0b1111, 0b0010, Some(5));
    bench.run_to(30);
    assert_eq!(bench.done, [(22, 1, 5)]);
    // Word 2 came along: a hit takes a cycle. Word 4 did not.
    bench.load(2, ByteMask::range(8, 4));
    bench.run_to(40);
    assert_eq!(bench.done.last(), Some(&(31, 2, 5)));
    bench.load(3, ByteMask::range(16, 4));
    bench.run_to(45);
    assert_eq!(bench.requests.len(), 2);
}

#[test]
fn a_store_is_done_at_once_and_a_flush_waits_for_its_grant() {
    let mut bench = Bench::new();
    bench.store(1, WORD, 9);
    bench.run_to(3);
    assert_eq!(bench.done, [(1, 1, 9)]);
    assert_eq!(said(&bench.requests[0]), (1, Message::Register, WORD, REGISTRY, None));
    bench.l1d.begin_flush(true, bench.now);
    bench.run_to(10);
    assert!(!bench.l1d.is_flushed(), "others do not know of the store");
    bench.hear(NodeId(1), Message::Granted, 0b10, 0, None);
    // Taken up in cycle 10; the line has nothing under way any more in cycle 11, and the flush ends.
    bench.run_to(11);
    assert!(!bench.l1d.is_flushed());
    bench.run_to(12);
    assert!(bench.l1d.is_flushed());
    assert_eq!((bench.coherence("kept_words"), bench.coherence("invalidated_words")), (1, 0));
    // The word is still here.
    bench.load(2, WORD);
    bench.run_to(20);
    assert_eq!((bench.done.last(), bench.requests.len()), (Some(&(13, 2, 9)), 1));
}

#[test]
fn an_owner_answers_others_in_two_cycles() {
    let mut bench = Bench::new();
    bench.store(1, WORD, 9);
    bench.run_to(5);
    bench.hear(REGISTRY, Message::Granted, 0b10, 0, None);
    bench.run_to(10);
    bench.hear(REGISTRY, Message::ForwardRead, 0b10, 0, Some(0));
    bench.run_to(20);
    assert_eq!(said(&bench.answers[0]), (12, Message::Data, WORD, NodeId(1), Some(9)));
    // It is still the owner, until another has written the word.
    bench.hear(REGISTRY, Message::ForwardRegister, 0b10, 0, None);
    bench.run_to(30);
    assert_eq!(said(&bench.answers[1]), (22, Message::Granted, WORD, NodeId(1), None));
    bench.load(2, WORD);
    bench.run_to(35);
    assert_eq!(said(&bench.requests[1]), (31, Message::Read, WORD, REGISTRY, None));
}

#[test]
fn a_recalled_word_goes_back_to_the_registry() {
    let mut bench = Bench::new();
    bench.store(1, WORD, 9);
    bench.run_to(5);
    bench.hear(REGISTRY, Message::Granted, 0b10, 0, None);
    bench.hear(REGISTRY, Message::Recall, 0b10, 0, Some(0));
    // One packet is taken up a cycle: the recall in cycle 6.
    bench.run_to(20);
    assert_eq!(said(&bench.answers[0]), (8, Message::Return, WORD, REGISTRY, Some(9)));
    assert_eq!(bench.coherence("returned_words"), 1);
}

#[test]
fn a_part_of_a_word_waits_for_its_rest_and_others_for_the_word() {
    let mut bench = Bench::new();
    let half = ByteMask::range(4, 2);
    bench.store(1, half, 9);
    bench.run_to(5);
    assert_eq!(bench.done, [(1, 1, 9)], "the store itself does not wait");
    assert_eq!(said(&bench.requests[0]), (1, Message::RegisterRead, WORD, REGISTRY, None));
    // The registry names this L1D already when another asks.
    bench.hear(REGISTRY, Message::ForwardRead, 0b10, 0, Some(0));
    bench.run_to(10);
    assert_eq!((bench.answers.len(), bench.coherence("set_aside")), (0, 1));
    bench.hear(NodeId(1), Message::Data, 0b10, 0b10, Some(4));
    bench.run_to(20);
    // Data in cycle 10, what was set aside in cycle 11, the answer two later.
    assert_eq!(said(&bench.answers[0]), (13, Message::Data, WORD, NodeId(1), Some(9)));
    let Body::Owned(_, Some(tray)) = &bench.answers[0].1.body else { panic!("it has data") };
    assert_eq!(tray.0[4..8], [9, 9, 4, 4]);
}

#[test]
fn parameters_out_of_bounds_are_refused_by_name() {
    let refusal = |change: fn(&mut DenovoL1dConfig)| {
        let mut config = DenovoL1dConfig::example();
        change(&mut config);
        config.check().expect_err("it is refused").to_string()
    };
    assert_eq!(refusal(|config| config.miss_queue.value = 1), "miss_queue: must be 2 to 4096, found 1");
    assert_eq!(refusal(|config| config.write_buffer.value = 0), "write_buffer: must be 1 to 4096, found 0");
    assert!(refusal(|config| config.ways.value = 65).contains("ways"));
    let slices = SliceMap::new(1, 256, NodeId(80)).expect("one slice");
    let site = strata_memory::doors::L1dSite { node: NodeId(64), slices, seed: 1, held_loads: 0 };
    let error = DenovoL1dConfig::example().build(site).err().expect("a slot has no name for it");
    assert_eq!(error.to_string(), "node: found node 64, expected one below 64");
}

/// Eight banks take lines 0 to 7 in one cycle; line 8 has the bank of line 0.
#[test]
fn banks_take_an_access_each() {
    let config = DenovoL1dConfig::example();
    let mut bench = Bench::of(&config);
    assert_eq!(bench.l1d.accesses_per_cycle(), 8);
    let offer = |bench: &mut Bench, line: u64, now| {
        let (line, action) = (LineAddress(line), Action::Store(Box::new(Line::ZERO)));
        let access = Access {
            line,
            bytes: ByteMask::ALL,
            action,
            policy: Policy::Cached,
            token: 0,
            pc: 0,
            warp: 0,
            leads: true,
        };
        bench.l1d.offer(access, now).map_err(|(_, why)| why)
    };
    for now in [Cycle(0), Cycle(5)] {
        bench.run_to(now.0);
        for line in 0..8 {
            assert_eq!(offer(&mut bench, line, now), Ok(()), "line {line}");
        }
        assert_eq!(offer(&mut bench, 8, now), Err(Refusal::Bank));
    }
    assert_eq!(bench.l1d.statistics()[0].get("refused_bank"), Some(2));
    let odd = DenovoL1dConfig { banks: Cited::new(3, "test"), ..DenovoL1dConfig::example() };
    let error = odd.check().expect_err("three banks");
    assert_eq!(error.to_string(), "banks: must be a power of two up to 64, found 3");
}

/// Words of both halves of a line that the registry recalls at once are answered by each half.
#[test]
fn halves_of_a_line_are_lines_of_their_own() {
    let config = DenovoL1dConfig { line_bytes: Cited::new(64, "test"), ..DenovoL1dConfig::example() };
    let mut bench = Bench::of(&config);
    bench.store(1, WORD, 5);
    bench.store(2, ByteMask::range(68, 4), 6);
    bench.run_to(10);
    let registered: Vec<_> = bench.requests.iter().map(|(_, packet)| packet.bytes).collect();
    assert_eq!(registered, [WORD, ByteMask::range(68, 4)]);
    let both = 1 << 1 | 1 << 17;
    bench.hear(REGISTRY, Message::Granted, 1 << 1, 0, None);
    bench.hear(REGISTRY, Message::Granted, 1 << 17, 0, None);
    bench.run_to(20);
    bench.hear(REGISTRY, Message::Recall, both, 0, Some(0));
    bench.run_to(30);
    let returned: Vec<_> = bench.answers.iter().map(said).collect();
    // Byte 4 of the second answer is of the other half, which is not here.
    assert_eq!(returned[0], (22, Message::Return, WORD, REGISTRY, Some(5)));
    assert_eq!((returned[1].1, returned[1].2), (Message::Return, ByteMask::range(68, 4)));
    let Body::Owned(_, Some(tray)) = &bench.answers[1].1.body else { panic!("a word comes back in a tray") };
    assert_eq!(tray.0[68], 6);
    // A miss in one half lets the rest of that half come along.
    bench.load(3, ByteMask::range(72, 4));
    bench.run_to(40);
    let read = &bench.requests.last().expect("it asks").1;
    assert_eq!((read.bytes, read.tag), (ByteMask::range(72, 4), 0xffff_0000 & !(1 << 18)));
    assert_eq!(config.capacity_bytes(), 16 << 10, "32 sets of 8 lines of 64 bytes");
}

#[test]
fn a_refusal_that_sleeps_is_counted_like_one_in_every_cycle() {
    let run = |sleeps: bool| {
        let config = DenovoL1dConfig { mshr_entries: Cited::new(1, "test"), ..DenovoL1dConfig::example() };
        let mut bench = Bench::of(&config);
        bench.load(1, WORD);
        let (action, policy) = (Action::Load(Box::new(Line::ZERO)), Policy::Cached);
        let access = Access {
            line: LineAddress(8),
            bytes: WORD,
            action,
            policy,
            token: 2,
            pc: 0,
            warp: 0,
            leads: true,
        };
        let (mut held, mut changes, mut offers) = (Some(access), None, 0);
        while bench.now.0 < 40 {
            let now = bench.now;
            if now.0 == 20 {
                bench.hear(REGISTRY, Message::Data, 0b10, 0b10, Some(5));
            }
            if sleeps && held.is_some() && changes == Some(bench.l1d.changes(Refusal::Mshr, now)) {
                bench.l1d.count_refusals(Refusal::Mshr, 1);
            } else if let Some(access) = held.take() {
                offers += 1;
                if let Err((access, why)) = bench.l1d.offer(access, now) {
                    assert_eq!(why, Refusal::Mshr);
                    (held, changes) = (Some(access), Some(bench.l1d.changes(why, now)));
                }
            }
            bench.run_to(now.0 + 1);
        }
        let asked: Vec<_> = bench.requests.iter().map(|(at, packet)| (*at, packet.line.0)).collect();
        (bench.l1d.statistics()[0].get("refused_mshr"), asked, offers)
    };
    let (slept, retried) = (run(true), run(false));
    // The data are taken up in cycle 20 and the MSHR is freed in cycle 21.
    let expected = (Some(22), vec![(1, 7), (23, 8)]);
    assert_eq!((slept.0, slept.1), expected);
    assert_eq!((retried.0, retried.1), expected);
    // After the request has left, and when the data have come.
    assert!(slept.2 < 8, "{} offers, {} in every cycle", slept.2, retried.2);
}
