//! DeNovo's registry: what it keeps beside a slice, and its place in the slice.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::cache::{FrameId, Store};
use strata_memory::ownership::bytes_of;
use strata_memory::{ByteMask, NodeId, Packet};

use super::lookup::{MOST_PACKETS, Step};
use super::{DenovoL2, RegistryStatistics};
use crate::chassis::llc::{Protocol, Stall};

/// What a registry keeps. A frame's bytes are data or the names of owners.
pub struct Registry {
    /// Its node, as requests name it.
    pub(super) node: NodeId,
    /// By frame, the words that are names.
    pub(super) owned: Vec<u32>,
    /// What owners have said and is not taken up. The bound is what they can have under way.
    pub(super) said: VecDeque<Packet>,
    /// The frame that the next request needs, whose registered words are recalled.
    pub(super) evicting: Option<FrameId>,
    /// Whether each packet for the network is a further one ([`Llc::further`](strata_memory::doors::Llc::further)), in their order.
    pub(super) leaving: VecDeque<bool>,
    /// Those of them that have left.
    further: u64,
    pub(super) statistics: RegistryStatistics,
}

impl Registry {
    /// A registry of a slice of some frames, which names no owner.
    pub fn new(frames: usize) -> Registry {
        Registry {
            node: NodeId(0),
            owned: vec![0; frames],
            said: VecDeque::new(),
            evicting: None,
            leaving: VecDeque::new(),
            further: 0,
            statistics: RegistryStatistics::default(),
        }
    }
}

impl Protocol for Registry {
    /// Words that are recalled for a strong operation.
    type Rest = u32;
    type Route = Step;
    const PACKETS: usize = MOST_PACKETS;

    fn route(slice: &mut DenovoL2, now: Cycle) -> Result<Step, Stall> {
        slice.plan(now)
    }

    fn take(slice: &mut DenovoL2, request: Packet, step: Step, now: Cycle) {
        slice.go(request, step, now);
    }

    fn replay(slice: &mut DenovoL2, now: Cycle) {
        slice.serve_first(now);
    }

    fn acknowledge(slice: &mut DenovoL2, answer: Packet, at: Cycle) {
        slice.say(answer, false, at);
    }

    fn accept(slice: &mut DenovoL2, packet: Packet) {
        slice.protocol.said.push_back(packet);
    }

    fn take_up(slice: &mut DenovoL2, now: Cycle) {
        slice.take_said(now);
    }

    fn has_more(&self) -> bool {
        !self.said.is_empty()
    }

    fn count_own(&mut self, cycles: u64) {
        self.statistics.stalled_recall += cycles;
    }

    fn plain(slice: &DenovoL2, frame: FrameId) -> ByteMask {
        slice.cache.frames().valid(frame) & !bytes_of(slice.protocol.owned[frame.index()])
    }

    fn left(&mut self) {
        let is_further = self.leaving.pop_front().expect("each packet for the network is noted");
        self.further += u64::from(is_further);
    }

    fn further(&self) -> u64 {
        self.further
    }

    fn waits(slice: &DenovoL2, report: &mut Vec<String>) {
        let recalls = slice.cache.mshrs.iter().map(|(mshr, _)| slice.cache.mshrs.state(mshr));
        let recalls = recalls.map(|fetch| (fetch.frame, fetch.rest));
        let evicting = slice.protocol.evicting.map(|frame| (frame, u32::MAX));
        for (frame, words) in recalls.chain(evicting) {
            let line = slice.cache.store.frames().line(frame).map_or(0, |line| line.0);
            for (owner, words) in slice.owners(frame, words) {
                report.push(format!(
                    "L2 slice {}: words {words:#x} of its line {line} are recalled from {owner}",
                    slice.number
                ));
            }
        }
        if !slice.protocol.said.is_empty() {
            let count = slice.protocol.said.len();
            report.push(format!("L2 slice {}: {count} packets of owners wait for their turn", slice.number));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}
