//! A GPU memory management unit as an island: a TLB that SMs share, and the walkers of page tables.

use std::collections::VecDeque;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Window};

use super::tlb::Tlb;
use super::{GmmuStatistics, Page, PageReply, PageRequest, PageTable, TranslationConfig};
use crate::client::Client;
use crate::level::Level;
use crate::mshr::{MshrFile, MshrId};
use crate::node::NodeId;
use crate::packet::{Body, Contents, Packet};
use crate::packets::Packets;
use crate::slice_map::SliceMap;
use crate::touch::Origin;
use crate::tray::Trays;

/// The links between a GMMU and an SM; credits are requests and replies.
pub struct SmLinks {
    /// From the SM.
    pub requests: Inlet<PageRequest>,
    /// To the SM.
    pub replies: Outlet<PageReply>,
}

/// Where a GMMU stands.
pub struct GmmuSite {
    /// Its node of the network.
    pub node: NodeId,
    /// Which slice owns which line.
    pub slices: SliceMap,
    /// Bytes per flit, the credit unit of the network links.
    pub flit_bytes: u32,
    /// The page tables.
    pub table: PageTable,
    /// Starts the stream of random replacement.
    pub seed: u64,
    /// Link to the request network; credits are flits.
    pub requests: Outlet<Packet>,
    /// Link from the reply network; credits are flits.
    pub replies: Inlet<Packet>,
}

/// A request under way here: the SM, by its place among those served, and what it asked.
#[derive(Clone, Copy)]
struct Asker {
    sm: u16,
    request: PageRequest,
}

/// A walk, or a miss that waits for a walker.
#[derive(Clone, Copy, Default)]
struct Walk {
    /// The level that it reads.
    level: u32,
    /// From when on it has had its walker, or has waited for one.
    since: Cycle,
}

/// A GMMU. Its room for requests is that of its SMs' MSHRs, so it refuses none.
pub struct Gmmu {
    site: GmmuSite,
    sms: Vec<SmLinks>,
    /// The SM whose request is looked up next, if it has one.
    turn: usize,
    tlb: Tlb,
    hit_latency: u64,
    /// Requests that are looked up, each with the cycle in which that is done.
    looking: VecDeque<(Cycle, Asker)>,
    /// By page of a walk, or of a miss that waits for a walker: who has asked.
    walks: MshrFile<Asker, Walk>,
    /// Misses that wait for a walker, oldest first.
    waiting: VecDeque<MshrId>,
    free_walkers: usize,
    /// Walks whose next read waits for the network, oldest first.
    reading: VecDeque<MshrId>,
    packets: Packets,
    trays: Trays,
    statistics: GmmuStatistics,
}

impl Gmmu {
    /// The GMMU of these SMs.
    pub fn new(config: &TranslationConfig, site: GmmuSite, sms: Vec<SmLinks>) -> Gmmu {
        let (walkers, requests) = (*config.gmmu.walkers, sms.len() * *config.l1_tlb.mshr_entries);
        Gmmu {
            tlb: Tlb::new(config.gmmu.geometry(), site.node, (site.seed, "GMMU")),
            hit_latency: *config.gmmu.hit_latency_cycles,
            looking: VecDeque::with_capacity(*config.gmmu.hit_latency_cycles as usize + 1),
            walks: MshrFile::new(requests, requests as u16),
            waiting: VecDeque::with_capacity(requests),
            free_walkers: walkers,
            reading: VecDeque::with_capacity(walkers),
            packets: Packets::default(),
            trays: Trays::new(walkers),
            statistics: GmmuStatistics::default(),
            turn: 0,
            site,
            sms,
        }
    }

    /// Its counters.
    pub fn statistics(&self) -> Group {
        self.statistics.report()
    }

    /// Takes what walks have read. A walk goes on with the next level, or ends.
    fn hear_memory(&mut self, now: Cycle) {
        while let Some(packet) = self.site.replies.receive(now) {
            let bytes = packet.wire_bytes();
            self.site.replies.release(bytes.div_ceil(self.site.flit_bytes), now);
            self.statistics.bytes_in += u64::from(bytes);
            let walk = MshrId(packet.tag as u16);
            match self.packets.open(packet) {
                Body::ReadReply(tray) => self.trays.put(tray),
                body => unreachable!("a read of a page table is answered by its bytes, not by {body:?}"),
            }
            let state = self.walks.state_mut(walk);
            if state.level > 0 {
                state.level -= 1;
                self.reading.push_back(walk);
            } else {
                self.statistics.walks += 1;
                self.statistics.walk_cycles += now.since(state.since);
                self.free_walkers += 1;
                self.end(walk, now);
            }
        }
    }

    /// Takes the page of a walk, and tells those who have asked for it.
    fn end(&mut self, walk: MshrId, now: Cycle) {
        let page = Page(self.walks.line(walk).0);
        self.statistics.evictions += u64::from(self.tlb.fill(page, Origin::default()));
        while let Some(asker) = self.walks.pop(walk) {
            self.reply(asker, now);
        }
        self.walks.release(walk);
    }

    fn reply(&mut self, asker: Asker, now: Cycle) {
        let reply = PageReply { mshr: asker.request.mshr };
        let links = &mut self.sms[usize::from(asker.sm)];
        links.replies.send(reply, 1, now).expect("there is credit for as many replies as the SM's MSHRs");
    }

    /// Answers the requests that have been looked up, or has their pages walked for.
    fn finish_look_ups(&mut self, now: Cycle) {
        while self.looking.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, asker)) = self.looking.pop_front() else { break };
            let page = asker.request.page;
            self.statistics.accesses += 1;
            if self.tlb.look_up(page, Origin::default()) {
                self.statistics.hits += 1;
                self.reply(asker, now);
            } else if let Some(walk) = self.walks.find(page.key()) {
                self.statistics.merges += 1;
                assert!(self.walks.push(walk, asker).is_ok(), "there is room for all requests of the SMs");
            } else {
                self.statistics.misses += 1;
                let level = self.site.table.levels() - 1;
                self.waiting.push_back(self.walks.begin(page.key(), Walk { level, since: now }, asker));
            }
        }
    }

    /// Begins to look the request of one SM up.
    fn begin_look_up(&mut self, now: Cycle) {
        let sms = self.sms.len();
        let turns = (self.turn..sms).chain(0..self.turn);
        let Some(sm) = turns.into_iter().find(|sm| self.sms[*sm].requests.next_arrival() <= now) else {
            return;
        };
        let links = &mut self.sms[sm];
        let request = links.requests.receive(now).expect("a request has arrived");
        links.requests.release(1, now);
        self.looking.push_back((now + self.hit_latency, Asker { sm: sm as u16, request }));
        self.turn = (sm + 1) % sms;
    }

    /// Gives free walkers to those who wait for one.
    fn begin_walks(&mut self, now: Cycle) {
        while self.free_walkers > 0
            && let Some(walk) = self.waiting.pop_front()
        {
            self.free_walkers -= 1;
            let state = self.walks.state_mut(walk);
            self.statistics.walker_wait_cycles += now.since(state.since);
            state.since = now;
            self.reading.push_back(walk);
        }
    }

    /// Sends the read of one walk, if there is credit for it.
    fn read(&mut self, now: Cycle) {
        let Some(walk) = self.reading.front().copied() else { return };
        let page = Page(self.walks.line(walk).0);
        let (line, bytes) = self.site.table.entry(page, self.walks.state(walk).level);
        let packet = self.packets.write(Contents {
            line,
            bytes,
            source: self.site.node,
            destination: self.site.slices.node_of(line),
            client: Client::Gmmu,
            tag: u32::from(walk.0),
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Read(self.trays.take()),
        });
        let size = packet.wire_bytes();
        match self.site.requests.send(packet, size.div_ceil(self.site.flit_bytes), now) {
            Ok(()) => {
                self.reading.pop_front();
                self.statistics.walk_reads += 1;
                self.statistics.bytes_out += u64::from(size);
            }
            Err(packet) => {
                if let Body::Read(tray) = self.packets.open(packet) {
                    self.trays.put(tray);
                }
            }
        }
    }
}

impl Island for Gmmu {
    fn hang(&mut self, bell: &Doorbell) {
        self.site.requests.hang(bell);
        self.site.replies.hang(bell);
        for links in &self.sms {
            links.requests.hang(bell);
            links.replies.hang(bell);
        }
    }

    fn collect(&mut self, window: Window) {
        self.site.requests.collect(window);
        self.site.replies.collect(window);
        for links in &mut self.sms {
            links.requests.collect(window);
            links.replies.collect(window);
        }
    }

    fn tick(&mut self, now: Cycle) {
        self.hear_memory(now);
        self.finish_look_ups(now);
        self.begin_look_up(now);
        self.begin_walks(now);
        self.read(now);
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if !self.reading.is_empty() {
            return now;
        }
        let looks = self.looking.front().map_or(Cycle::NEVER, |(at, _)| *at);
        let arrivals = self.sms.iter().map(|links| links.requests.next_arrival());
        let arrival = arrivals.min().unwrap_or(Cycle::NEVER);
        arrival.min(looks).min(self.site.replies.next_arrival()).max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let network = self.site.requests.flush(window).min(self.site.replies.flush(window));
        self.sms.iter_mut().fold(network, |first, links| {
            first.min(links.requests.flush(window)).min(links.replies.flush(window))
        })
    }

    fn progress(&self) -> u64 {
        self.statistics.accesses + self.statistics.walk_reads + self.statistics.walks
    }

    fn waits(&self, report: &mut Vec<String>) {
        let node = self.site.node.0;
        for (walk, page) in self.walks.iter() {
            let (level, asking) = (self.walks.state(walk).level, self.walks.waiting(walk));
            report.push(format!(
                "GMMU {node}: page {:#x} is walked for, or waits for a walker, at level {level}; {asking} requests wait for it",
                page.0
            ));
        }
    }
}
