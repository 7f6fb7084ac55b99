//! A flat memory behind slices. Packets between an L1D and a slice keep their order and take random delays.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::seed::Stream;
use strata_memory::{Body, Line, NodeId, Packet};

/// Packets in flight in one direction between two nodes.
#[derive(Default)]
pub(super) struct Lane(VecDeque<(Cycle, Packet)>);

impl Lane {
    pub fn push(&mut self, at: Cycle, packet: Packet) {
        let at = self.0.back().map_or(at, |(last, _)| at.max(*last));
        self.0.push_back((at, packet));
    }

    pub fn pop(&mut self, now: Cycle) -> Option<Packet> {
        if self.0.front()?.0 > now {
            return None;
        }
        self.0.pop_front().map(|(_, packet)| packet)
    }
}

pub(super) struct Memory {
    /// The bytes of memory, line by line.
    pub lines: Vec<Line>,
    first_slice: NodeId,
    slices: usize,
    requests: Vec<Lane>,
    replies: Vec<Lane>,
    delay: u64,
    stream: Stream,
    /// Number of unanswered requests of each L1D.
    pub open: Vec<usize>,
}

impl Memory {
    pub fn new(l1ds: usize, slices: usize, lines: u64, delay: u64, seed: u64) -> Memory {
        let mut stream = Stream::new(seed, "contract memory");
        let lanes = || (0..l1ds * slices).map(|_| Lane::default()).collect::<Vec<_>>();
        let lines = (0..lines).map(|_| Line(std::array::from_fn(|_| stream.next() as u8))).collect();
        Memory {
            lines,
            first_slice: NodeId::from(l1ds),
            slices,
            requests: lanes(),
            replies: lanes(),
            delay,
            stream,
            open: vec![0; l1ds],
        }
    }

    pub fn send(&mut self, request: Packet, now: Cycle) {
        let slice = request.destination.index() - self.first_slice.index();
        let at = now + 1 + self.stream.below(self.delay);
        self.open[request.source.index()] += 1;
        self.requests[request.source.index() * self.slices + slice].push(at, request);
    }

    /// Performs the requests that have arrived.
    pub fn tick(&mut self, now: Cycle) {
        for lane in 0..self.requests.len() {
            while let Some(mut request) = self.requests[lane].pop(now) {
                perform(&mut request, &mut self.lines, &mut self.stream);
                let at = now + 1 + self.stream.below(self.delay);
                self.replies[lane].push(at, request.into_reply());
            }
        }
    }

    /// Takes the next reply for an L1D.
    pub fn reply(&mut self, l1d: usize, now: Cycle) -> Option<Packet> {
        let lanes = &mut self.replies[l1d * self.slices..][..self.slices];
        let reply = lanes.iter_mut().find_map(|lane| lane.pop(now))?;
        self.open[l1d] -= 1;
        Some(reply)
    }
}

fn perform(request: &mut Packet, lines: &mut [Line], stream: &mut Stream) {
    // What lies behind the lines that are accessed may be prefetched.
    let mut behind = Line::ZERO;
    let line = lines.get_mut(request.line.0 as usize).unwrap_or(&mut behind);
    match &mut request.body {
        Body::Read(tray) => {
            // Bytes that were not requested are filled with garbage: no design may use them.
            tray.0.fill(stream.next() as u8);
            tray.merge(request.bytes, line);
        }
        Body::Write(tray) => line.merge(request.bytes, tray),
        Body::Atomic(batch) => batch.perform(line),
        Body::Prefetch => {}
        other => panic!("an L1D sends requests only, not {other:?}"),
    }
}
