//! A second level of read-only cache, which serves the first level's requests as the network would.

use std::collections::{BTreeSet, VecDeque};

use strata_engine::statistics::Group;
use strata_engine::{Cycle, Slab};

use super::{ReadOnly, ReadOnlyCache};
use crate::address::LineAddress;
use crate::client::Client;
use crate::doors::Refusal;
use crate::packet::{Body, Packet};

/// A read-only cache behind others: takes the packets that they would send to the network, and turns each into its
/// reply once the line is here.
pub struct SecondLevel {
    cache: ReadOnlyCache,
    /// Packets of the first level that have not been looked up, oldest first.
    queue: VecDeque<Packet>,
    /// Packets that wait for their line; a look-up's token is a place here.
    waiting: Slab<Packet>,
    /// Lines that only the instruction cache has asked for.
    code: BTreeSet<LineAddress>,
    /// Whether the oldest packet was refused, and nothing has changed that could let it pass.
    is_blocked: bool,
}

impl SecondLevel {
    /// An empty second level for at most `requests` requests of the first at a time.
    pub fn new(cache: ReadOnlyCache, requests: usize) -> SecondLevel {
        let (queue, waiting) = (VecDeque::with_capacity(requests), Slab::new(requests));
        SecondLevel { cache, queue, waiting, code: BTreeSet::new(), is_blocked: false }
    }

    /// Takes a request of the first level, to be looked up from the next cycle on.
    pub fn request(&mut self, packet: Packet) {
        self.queue.push_back(packet);
    }

    /// Looks up what has been requested. Call it before the first level sends this cycle's requests.
    pub fn tick(&mut self, now: Cycle) {
        while !self.is_blocked
            && let Some(packet) = self.queue.pop_front()
        {
            let line = packet.line;
            if packet.client == Client::Instruction {
                self.code.insert(line);
            } else {
                self.code.remove(&line);
            }
            let token =
                self.waiting.insert(packet).expect("there is room for all that the first level may request");
            if let Err(why) = self.cache.try_request(line, token, now) {
                self.queue.push_front(self.waiting.remove(token));
                // The port is free again in the next cycle; all else waits for a reply, or for room to the network.
                self.is_blocked = why != Refusal::Port;
                return;
            }
        }
    }

    /// The next reply to the first level.
    pub fn reply(&mut self, now: Cycle) -> Option<Packet> {
        let (token, line) = self.cache.arrived(now)?;
        let mut packet = self.waiting.remove(token);
        match &mut packet.body {
            Body::Read(tray) => tray.0 = line.0,
            body => unreachable!("the first level sends reads only, not {body:?}"),
        }
        Some(packet.into_reply())
    }

    /// Takes a reply from the network. It cannot be refused.
    pub fn accept(&mut self, reply: Packet, now: Cycle) {
        self.is_blocked = false;
        self.cache.accept(reply, now);
    }

    /// Takes the next packet for the network. Call it only when the network can accept the packet.
    pub fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.is_blocked = false;
        self.cache.outgoing(now)
    }

    /// Wire size in bytes of the packet that [`SecondLevel::outgoing`] would return; `None` if it would return none.
    pub fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.cache.outgoing_bytes(now)
    }

    /// Drops lines between launches, since the host may have written to memory: all but those of code and, when
    /// that has changed too, those as well. A line being fetched still serves the requests that wait for it.
    pub fn invalidate(&mut self, is_new_code: bool) {
        if is_new_code {
            self.code.clear();
        }
        self.cache.invalidate_if(|line| !self.code.contains(&line));
    }

    /// Earliest cycle, not before `now`, at which it could do work, assuming that no request or reply arrives meanwhile.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let may_look_up = !self.queue.is_empty() && !self.is_blocked;
        if may_look_up { now } else { self.cache.next_event(now) }
    }

    /// Appends to `report` one sentence for each thing that it waits for.
    pub fn waits(&self, report: &mut Vec<String>) {
        self.cache.waits(report);
    }

    /// Its counters.
    pub fn statistics(&self) -> Vec<Group> {
        self.cache.statistics()
    }
}
