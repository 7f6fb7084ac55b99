//! Waits for owners: a slice sleeps through them, and counts what one does that looks again in every cycle.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{DramPort, DramRequest, Llc};
use strata_memory::ownership::{Letter, Message, Owner, Place};
use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};

use super::{DenovoL2, DenovoL2Config};

/// Takes everything, and answers after five cycles.
#[derive(Default)]
struct Dram(VecDeque<(Cycle, DramRequest)>);

impl DramPort for Dram {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        self.0.push_back((now + 5, request));
        Ok(())
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        self.0.pop_front_if(|(ready, _)| *ready <= now).map(|(_, request)| request)
    }
}

struct Bench {
    slice: DenovoL2,
    dram: Dram,
    /// Whether the slice is ticked in every cycle and looks at everything again.
    retries: bool,
    /// Whether the network takes packets.
    takes: bool,
    now: Cycle,
    ticks: u64,
    /// The packets that have left: their cycle, line and destination.
    left: Vec<(u64, u64, u16)>,
}

impl Bench {
    /// A slice with one way, a look-up 4 cycles after a request's arrival, and packets 10 cycles later.
    fn new(retries: bool) -> Bench {
        let mut config = DenovoL2Config::example();
        (config.sets.value, config.ways.value) = (1, 1);
        let slice = DenovoL2::new(&config, 0, 1).expect("the parameters are right");
        let (now, left) = (Cycle::ZERO, Vec::new());
        Bench { slice, dram: Dram::default(), retries, takes: true, now, ticks: 0, left }
    }

    /// What the cache of a node says about the first word of a line.
    fn packet(&self, node: u8, line: u64, message: Message) -> Packet {
        let letter = Letter { message, place: Place::Cache, requester: Owner::cache(node) };
        let tray = (message != Message::Register).then(|| Box::new(Line::ZERO));
        Packet::new(Contents {
            line: LineAddress(line),
            bytes: ByteMask::range(0, 4),
            source: NodeId(node.into()),
            destination: NodeId(2),
            client: Client::L1d,
            tag: 0,
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Owned(letter, tray),
        })
    }

    fn ask(&mut self, node: u8, line: u64, message: Message) {
        let request = self.packet(node, line, message);
        self.slice.offer(request, self.now).expect("there is room");
    }

    fn say(&mut self, node: u8, line: u64, message: Message) {
        self.slice.accept(self.packet(node, line, message), self.now);
    }

    fn run(&mut self, end: u64) {
        while self.now.0 < end {
            let now = self.now;
            if self.retries {
                self.slice.poke(LineAddress(0), ByteMask::NONE, &Line::ZERO);
            }
            let answer = self.dram.0.front().map_or(Cycle::NEVER, |(ready, _)| *ready);
            if self.retries || self.slice.next_event(now).min(answer) <= now {
                self.slice.tick(&mut self.dram, now);
                self.ticks += 1;
            }
            while self.takes
                && let Some(packet) = self.slice.outgoing(now)
            {
                self.left.push((now.0, packet.line.0, packet.destination.0));
            }
            self.now = now.next();
        }
    }

    fn count(&mut self, group: &str, name: &str) -> u64 {
        self.slice.settle(&mut self.dram, self.now);
        let groups = self.slice.statistics();
        let group = groups.iter().find(|found| found.name == group).expect("the slice has the group");
        group.get(name).expect("the group has the counter")
    }

    fn end(mut self) -> (Vec<(u64, u64, u16)>, Vec<Group>, u64) {
        self.slice.settle(&mut self.dram, self.now);
        (self.left, self.slice.statistics(), self.ticks)
    }
}

#[test]
fn a_request_sleeps_until_the_words_are_back_whose_place_it_takes() {
    let run = |retries| {
        let mut bench = Bench::new(retries);
        bench.ask(0, 0, Message::Register);
        bench.run(40);
        bench.ask(1, 1, Message::Read);
        bench.run(100);
        let before = bench.count("registry", "stalled_recall");
        bench.run(140);
        bench.say(0, 0, Message::Return);
        bench.run(200);
        // Looked up at 44. The line leaves at 140, and its place is taken at 141.
        assert_eq!((before, bench.count("registry", "stalled_recall")), (100 - 44, 141 - 44));
        bench.end()
    };
    let (slept, retried) = (run(false), run(true));
    assert_eq!((&slept.0, &slept.1), (&retried.0, &retried.1));
    // The grant, the recall, and the line that DRAM is asked for at 141.
    assert_eq!(slept.0, [(19, 0, 0), (54, 0, 0), (156, 1, 1)]);
    assert!(slept.2 < 15, "{} ticks", slept.2);
}

#[test]
fn what_owners_say_sleeps_until_there_is_room_for_an_answer() {
    let run = |retries| {
        let mut bench = Bench::new(retries);
        bench.takes = false;
        (0..100).for_each(|_| bench.say(0, 0, Message::WriteBack));
        bench.run(200);
        let before = bench.count("registry", "write_backs");
        bench.takes = true;
        bench.run(400);
        assert!(before < 100, "the queue is full");
        assert_eq!(bench.count("registry", "write_backs"), 100);
        bench.end()
    };
    let (slept, retried) = (run(false), run(true));
    assert_eq!((&slept.0, &slept.1), (&retried.0, &retried.1));
    assert_eq!((slept.0.len(), slept.2), (100, 100), "a tick for each");
}
