//! A read-only cache: the instruction cache and the constant cache of an SM.

mod config;

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine};

use crate::address::LineAddress;
use crate::doors::Refusal;
use crate::line::{ByteMask, Line, Tray};
use crate::mshr::{MshrFile, MshrId};
use crate::packet::{Body, Client, NodeId, Packet};
use crate::parameters::ParameterError;
use crate::slice_map::SliceMap;
use crate::tags::{FrameId, TagArray};

pub use config::{ReadOnlyConfig, ReadOnlyStatistics};

/// What a look-up found.
#[derive(Debug)]
pub enum Lookup<'a> {
    /// The line is here.
    Hit {
        /// From when on its bytes may be used.
        ready: Cycle,
        /// Its bytes.
        line: &'a Line,
    },
    /// The line is on its way; its [`Fill`] names the waiter.
    Pending,
    /// Nothing has changed; ask again in a later cycle.
    Refused(Refusal),
}

/// A line that came.
#[derive(Debug)]
pub struct Fill<'a> {
    /// The line.
    pub line: LineAddress,
    /// Bit n: waiter n asked for it.
    pub waiters: u64,
    /// Its bytes, which may be used at once.
    pub data: &'a Line,
}

/// A read-only cache. Those who ask are named by a number below 64, such as a warp slot.
pub struct ReadOnlyCache {
    client: Client,
    node: NodeId,
    slices: SliceMap,
    accesses_per_cycle: usize,
    hit_latency: u64,
    tags: TagArray,
    data: Vec<Line>,
    mshrs: MshrFile<(), Fetch>,
    trays: Vec<Tray>,
    outgoing: DelayLine<Packet>,
    cycle: Cycle,
    used: usize,
    statistics: ReadOnlyStatistics,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fetch {
    frame: FrameId,
    waiters: u64,
    /// Everything was dropped since the request left: the line is not kept.
    stale: bool,
}

impl ReadOnlyCache {
    /// An empty cache for `client` at network node `node`. `seed` serves random replacement.
    ///
    /// # Errors
    /// When the configuration cannot be built.
    pub fn new(
        config: &ReadOnlyConfig,
        client: Client,
        node: NodeId,
        slices: SliceMap,
        seed: u64,
    ) -> Result<ReadOnlyCache, ParameterError> {
        config.check()?;
        let stream = Stream::new(seed, &format!("{client:?} cache {}", node.0));
        Ok(ReadOnlyCache {
            client,
            node,
            slices,
            accesses_per_cycle: *config.accesses_per_cycle,
            hit_latency: *config.hit_latency_cycles,
            tags: TagArray::new(config.geometry(), stream),
            data: vec![Line::ZERO; *config.sets * *config.ways],
            mshrs: MshrFile::new(*config.mshr_entries, 1),
            trays: (0..*config.mshr_entries).map(|_| Box::new(Line::ZERO)).collect(),
            outgoing: DelayLine::new(*config.miss_queue),
            cycle: Cycle::ZERO,
            used: 0,
            statistics: ReadOnlyStatistics::default(),
        })
    }

    /// Looks a line up for `waiter` (below 64) and sends for it when it is not here.
    #[inline]
    pub fn lookup(&mut self, line: LineAddress, waiter: u8, now: Cycle) -> Lookup<'_> {
        if self.cycle != now {
            (self.cycle, self.used) = (now, 0);
        }
        if self.used == self.accesses_per_cycle {
            return self.refuse(Refusal::Port);
        }
        let Some(frame) = self.tags.find(line) else { return self.miss(line, waiter, now) };
        if let Some(mshr) = self.tags.pinned(frame) {
            return self.merge(mshr, waiter);
        }
        self.used += 1;
        self.statistics.accesses += 1;
        self.statistics.hits += 1;
        self.tags.used(frame);
        Lookup::Hit { ready: now + self.hit_latency, line: &self.data[frame.index()] }
    }

    fn merge(&mut self, mshr: MshrId, waiter: u8) -> Lookup<'_> {
        if self.mshrs.state(mshr).stale {
            return self.refuse(Refusal::Mshr);
        }
        self.used += 1;
        let waiters = &mut self.mshrs.state_mut(mshr).waiters;
        if *waiters >> waiter & 1 == 0 {
            *waiters |= 1 << waiter;
            self.statistics.accesses += 1;
            self.statistics.merges += 1;
        }
        Lookup::Pending
    }

    fn miss(&mut self, line: LineAddress, waiter: u8, now: Cycle) -> Lookup<'_> {
        if self.mshrs.is_full() {
            return self.refuse(Refusal::Mshr);
        }
        if self.outgoing.is_full() {
            return self.refuse(Refusal::Network);
        }
        let Some(frame) = self.tags.victim(line) else { return self.refuse(Refusal::Ways) };
        self.statistics.evictions += u64::from(self.tags.line(frame).is_some());
        self.tags.install(frame, line);
        let mshr = self.mshrs.allocate(line).expect("a free MSHR was checked");
        *self.mshrs.state_mut(mshr) = Fetch { frame, waiters: 1 << waiter, stale: false };
        self.tags.pin(frame, mshr);
        let tray = self.trays.pop().expect("each MSHR has its tray");
        let packet = Packet {
            line,
            bytes: ByteMask::ALL,
            source: self.node,
            destination: self.slices.node_of(line),
            client: self.client,
            tag: u32::from(mshr.0),
            body: Body::Read(tray),
        };
        self.used += 1;
        self.statistics.accesses += 1;
        self.statistics.misses += 1;
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        self.outgoing.push(now.next(), packet).expect("room in the queue to the network was checked");
        Lookup::Pending
    }

    fn refuse(&mut self, cause: Refusal) -> Lookup<'_> {
        match cause {
            Refusal::Port => self.statistics.refused_port += 1,
            Refusal::Mshr => self.statistics.refused_mshr += 1,
            Refusal::Ways => self.statistics.refused_ways += 1,
            Refusal::Network => self.statistics.refused_network += 1,
            cause => unreachable!("a read-only cache does not refuse for {cause:?}"),
        }
        Lookup::Refused(cause)
    }

    /// Takes a reply from the network.
    pub fn accept(&mut self, reply: Packet, _now: Cycle) -> Fill<'_> {
        self.statistics.bytes_in += u64::from(reply.wire_bytes());
        self.statistics.fills += 1;
        let Body::ReadReply(tray) = reply.body else {
            unreachable!("a read-only cache sends reads only, and never asked for {:?}", reply.body)
        };
        let mshr = MshrId(reply.tag as u16);
        let Fetch { frame, waiters, stale } = *self.mshrs.state(mshr);
        self.mshrs.release(mshr);
        self.tags.unpin(frame);
        self.data[frame.index()].0 = tray.0;
        if stale {
            self.tags.invalidate(frame);
        } else {
            self.tags.add_valid(frame, ByteMask::ALL);
        }
        self.trays.push(tray);
        Fill { line: reply.line, waiters, data: &self.data[frame.index()] }
    }

    /// Drops all lines: memory may have been written since, as between kernels. A line on its way still
    /// serves those who wait for it, and is not kept.
    pub fn invalidate(&mut self) {
        self.statistics.invalidations += 1;
        for frame in (0..self.tags.frames()).map(FrameId::from) {
            if let Some(mshr) = self.tags.pinned(frame) {
                self.mshrs.state_mut(mshr).stale = true;
            }
            self.tags.invalidate(frame);
        }
    }

    /// The next packet for the network. It has left when this returns it.
    #[inline]
    pub fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.outgoing.pop(now)
    }

    /// Whether [`ReadOnlyCache::outgoing`] would return a packet, and its size in bytes.
    #[inline]
    pub fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.outgoing.front(now).map(Packet::wire_bytes)
    }

    /// Requests sent whose replies are still to come.
    #[inline]
    pub fn outstanding(&self) -> usize {
        self.mshrs.len()
    }

    /// Earliest cycle from `now` on at which an outgoing packet could be due without a new look-up.
    #[inline]
    pub fn next_event(&self, now: Cycle) -> Cycle {
        self.outgoing.next_ready().max(now)
    }

    /// A sentence for each thing it waits for.
    pub fn waits(&self, report: &mut Vec<String>) {
        let (client, node) = (self.client, self.node.0);
        for (mshr, line) in self.mshrs.iter() {
            let waiters = self.mshrs.state(mshr).waiters;
            report.push(format!("{client:?} cache {node}: waiters {waiters:#x} wait for line {line}"));
        }
    }

    /// What it counted, under the name of its kind.
    pub fn statistics(&self) -> Group {
        let name = match self.client {
            Client::Constant => "constant_cache",
            Client::Instruction => "instruction_cache",
            Client::L1d => "read_only_cache",
        };
        Group { name, ..self.statistics.report() }
    }
}

#[cfg(test)]
mod tests;
