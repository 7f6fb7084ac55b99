//! An SM's part of address translation: its TLBs, and the packets that wait for their page.

use std::collections::VecDeque;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Doorbell, Inlet, Outlet, Window};

use super::tlb::Tlb;
use super::{FirstTlbStatistics, Page, PageReply, PageRequest, SecondTlbStatistics, TranslationConfig};
use crate::mshr::{MshrFile, MshrId};
use crate::node::NodeId;
use crate::packet::Packet;
use crate::touch::Origin;
use crate::window;

/// The links between an SM and its GMMU; credits are requests and replies.
pub struct MmuLinks {
    /// To the GMMU.
    pub requests: Outlet<PageRequest>,
    /// From the GMMU.
    pub replies: Inlet<PageReply>,
}

/// The second level and the misses of the first that are looked up there, each with the cycle in which it is done.
struct Second {
    tlb: Tlb,
    latency: u64,
    looking: VecDeque<(Cycle, MshrId)>,
    statistics: SecondTlbStatistics,
}

/// The memory management unit of an SM, between its L1D and the network. Packets for one page keep their order.
///
/// One packet is looked up in a cycle, and none while more than the latency of a hit lets pass wait to leave. A packet that cannot
/// wait for its page, since too many do, keeps the L1D's next ones from being looked up.
pub struct Mmu {
    page_shift: u32,
    first: Tlb,
    hit_latency: u64,
    second: Option<Second>,
    /// By page that has been asked for: its packets, each with the cycle from which it waits.
    misses: MshrFile<(Cycle, Packet), ()>,
    /// Packets that wait for pages, and how many may.
    waiting: u16,
    queue: u16,
    /// A packet that could not be looked up, and since when.
    held: Option<(Cycle, Packet)>,
    /// Translated packets, each with the cycle from which it can leave.
    translated: VecDeque<(Cycle, Packet)>,
    /// The cycle after that of the last look-up.
    port_free: Cycle,
    links: MmuLinks,
    statistics: FirstTlbStatistics,
}

impl Mmu {
    /// The unit of the SM at `node`. `seed` starts its streams of random replacement.
    pub fn new(config: &TranslationConfig, node: NodeId, links: MmuLinks, seed: u64) -> Mmu {
        let first = &config.l1_tlb;
        let (misses, queue, hit_latency) = (*first.mshr_entries, *first.queue, *first.hit_latency_cycles);
        let second = config.l2_tlb.as_ref().map(|second| Second {
            tlb: Tlb::new(second.geometry(), node, (seed, "L2 TLB")),
            latency: *second.hit_latency_cycles,
            looking: VecDeque::with_capacity(misses),
            statistics: SecondTlbStatistics::default(),
        });
        Mmu {
            page_shift: config.page_shift(),
            first: Tlb::new(first.geometry(), node, (seed, "L1 TLB")),
            hit_latency,
            second,
            misses: MshrFile::new(misses, queue),
            waiting: 0,
            queue,
            held: None,
            translated: VecDeque::with_capacity(usize::from(queue) + hit_latency as usize + 2),
            port_free: Cycle::ZERO,
            links,
            statistics: FirstTlbStatistics::default(),
        }
    }

    /// Takes the pages that have come, and looks for others in the second level. Call it before this cycle's look-up.
    pub fn tick(&mut self, now: Cycle) {
        while let Some(PageReply { mshr }) = self.links.replies.receive(now) {
            self.links.replies.release(1, now);
            if let Some(second) = &mut self.second {
                let origin = self.misses.front(mshr).map_or(Origin::default(), |(_, packet)| packet.origin);
                second.statistics.fills += 1;
                second.statistics.evictions +=
                    u64::from(second.tlb.fill(Page(self.misses.line(mshr).0), origin));
            }
            self.fill(mshr, now);
        }
        while let Some(mshr) = self.second.as_mut().and_then(|second| second.done(now)) {
            self.look_in_second(mshr, now);
        }
    }

    /// Whether a packet can be looked up in this cycle.
    #[inline]
    pub fn can_look_up(&self, now: Cycle) -> bool {
        self.held.is_none() && self.translated.len() as u64 <= self.hit_latency && self.port_free <= now
    }

    /// Looks a packet of the L1D up. Call it only when [`Mmu::can_look_up`].
    pub fn look_up(&mut self, packet: Packet, now: Cycle) {
        self.port_free = now.next();
        // No memory and no page stands behind a row of the window.
        if window::holds(packet.line) {
            self.translated.push_back((now, packet));
        } else if let Some(packet) = self.try_look_up(packet, now) {
            self.held = Some((now, packet));
        }
    }

    /// Looks a packet up, or returns it if it would have to wait and cannot.
    fn try_look_up(&mut self, packet: Packet, now: Cycle) -> Option<Packet> {
        let (page, origin) = (Page::of(packet.line, self.page_shift), packet.origin);
        if self.first.look_up(page, origin) {
            self.statistics.accesses += 1;
            self.statistics.hits += 1;
            self.translated.push_back((now + self.hit_latency, packet));
            return None;
        }
        if self.waiting == self.queue {
            return Some(packet);
        }
        if let Some(mshr) = self.misses.find(page.key()) {
            self.statistics.merges += 1;
            self.misses.push(mshr, (now, packet)).expect("a page's MSHR has room for all packets that wait");
        } else if self.misses.is_full() {
            return Some(packet);
        } else {
            self.statistics.misses += 1;
            let mshr = self.misses.begin(page.key(), (), (now, packet));
            match &mut self.second {
                Some(second) => second.looking.push_back((now + second.latency, mshr)),
                None => self.ask(mshr, now),
            }
        }
        self.statistics.accesses += 1;
        self.waiting += 1;
        None
    }

    /// Looks for the page of a miss in the second level.
    fn look_in_second(&mut self, mshr: MshrId, now: Cycle) {
        let Some(second) = &mut self.second else { return };
        let origin = self.misses.front(mshr).map_or(Origin::default(), |(_, packet)| packet.origin);
        second.statistics.accesses += 1;
        if second.tlb.look_up(Page(self.misses.line(mshr).0), origin) {
            second.statistics.hits += 1;
            self.fill(mshr, now);
        } else {
            second.statistics.misses += 1;
            self.ask(mshr, now);
        }
    }

    /// Asks the GMMU for the page of a miss.
    fn ask(&mut self, mshr: MshrId, now: Cycle) {
        let request = PageRequest { page: Page(self.misses.line(mshr).0), mshr };
        self.links.requests.send(request, 1, now).expect("there is credit for as many requests as MSHRs");
    }

    /// Takes a page into the first level, and lets its packets pass.
    fn fill(&mut self, mshr: MshrId, now: Cycle) {
        let page = Page(self.misses.line(mshr).0);
        let mut origin = None;
        while let Some((since, packet)) = self.misses.pop(mshr) {
            self.statistics.wait_cycles += now.since(since);
            self.waiting -= 1;
            origin.get_or_insert(packet.origin);
            self.translated.push_back((now, packet));
        }
        self.misses.release(mshr);
        self.statistics.fills += 1;
        self.statistics.evictions += u64::from(self.first.fill(page, origin.unwrap_or_default()));
        if let Some((since, packet)) = self.held.take() {
            match self.try_look_up(packet, now) {
                Some(packet) => self.held = Some((since, packet)),
                None => self.statistics.stalled_cycles += now.since(since),
            }
        }
    }

    /// Takes the next packet for the network.
    pub fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.outgoing_bytes(now)?;
        self.translated.pop_front().map(|(_, packet)| packet)
    }

    /// Wire size in bytes of the packet that [`Mmu::outgoing`] would return; `None` if it would return none.
    #[inline]
    pub fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.translated.front().filter(|(at, _)| *at <= now).map(|(_, packet)| packet.wire_bytes())
    }

    /// Arrival of the next page, as far as the last window knew.
    #[inline]
    pub fn arrival(&self) -> Cycle {
        self.links.replies.next_arrival()
    }

    /// Earliest cycle, not before `now`, at which it could do work, assuming that no packet is looked up meanwhile.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let leaves = self.translated.front().map_or(Cycle::NEVER, |(at, _)| *at);
        let looks = self.second.as_ref().map_or(Cycle::NEVER, Second::next);
        leaves.min(looks).min(self.arrival()).max(now)
    }

    /// As [`strata_engine::Island::hang`].
    pub fn hang(&self, bell: &Doorbell) {
        self.links.requests.hang(bell);
        self.links.replies.hang(bell);
    }

    /// As [`strata_engine::Island::collect`].
    pub fn collect(&mut self, window: Window) {
        self.links.requests.collect(window);
        self.links.replies.collect(window);
    }

    /// As [`strata_engine::Island::flush`].
    pub fn flush(&mut self, window: Window) -> Cycle {
        self.links.requests.flush(window).min(self.links.replies.flush(window))
    }

    /// Appends to `report` one sentence for each thing that it waits for.
    pub fn waits(&self, report: &mut Vec<String>) {
        if self.waiting > 0 {
            report.push(format!("the MMU: {} packets wait for their page", self.waiting));
        }
        if let Some((since, packet)) = &self.held {
            report.push(format!(
                "the MMU: the packet for line {} has waited for room since cycle {since}",
                packet.line
            ));
        }
    }

    /// Its counters.
    pub fn statistics(&self) -> Vec<Group> {
        let second = self.second.as_ref().map(|second| second.statistics.report());
        std::iter::once(self.statistics.report()).chain(second).collect()
    }
}

impl Second {
    /// The next miss whose look-up is done.
    fn done(&mut self, now: Cycle) -> Option<MshrId> {
        self.looking.front().filter(|(at, _)| *at <= now)?;
        self.looking.pop_front().map(|(_, mshr)| mshr)
    }

    /// The cycle in which the next look-up is done.
    fn next(&self) -> Cycle {
        self.looking.front().map_or(Cycle::NEVER, |(at, _)| *at)
    }
}
