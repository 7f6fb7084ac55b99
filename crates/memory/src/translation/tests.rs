//! Worked examples, checked to the cycle: SMs, their GMMU, and a memory that answers every read after ten cycles.

use std::collections::VecDeque;

use strata_engine::statistics::Group;
use strata_engine::{Cited, Cycle, Inlet, Island, Outlet, Window, link};

use super::*;
use crate::level::Level;
use crate::line::{ByteMask, Line};
use crate::node::NodeId;
use crate::packet::{Body, Contents, Packet};
use crate::replacement;
use crate::slice_map::SliceMap;
use crate::tags::SetIndex;
use crate::touch::Origin;
use crate::{Client, window};

/// Cycles of a link to or from the network, and of the memory behind it.
const NETWORK: u64 = 5;
const MEMORY: u64 = 10;

fn number<T>(value: T) -> Cited<T> {
    Cited::new(value, "ASSUMED: a test")
}

/// Pages of 4 KiB, which are 32 lines. The first level has two pages and two MSHRs, the second four pages and takes 9 cycles. The GMMU
/// is 4 cycles away, takes 2, and has one walker for tables of two levels.
fn config() -> TranslationConfig {
    let (index, lru) = (number(SetIndex::Bits), number(replacement::lru()));
    TranslationConfig {
        page_bytes: number(4096),
        l1_tlb: FirstTlbConfig {
            sets: number(1),
            ways: number(2),
            set_index: index.clone(),
            replacement: lru.clone(),
            hit_latency_cycles: number(0),
            mshr_entries: number(2),
            queue: number(3),
        },
        l2_tlb: Some(SecondTlbConfig {
            sets: number(1),
            ways: number(4),
            set_index: index.clone(),
            replacement: lru.clone(),
            hit_latency_cycles: number(9),
        }),
        gmmu: GmmuConfig {
            units: None,
            link_latency_cycles: number(4),
            sets: number(1),
            ways: number(8),
            set_index: index,
            replacement: lru,
            hit_latency_cycles: number(2),
            walkers: number(1),
            levels: number(2),
        },
    }
}

/// SMs with packets to send, a GMMU, and memory.
struct World {
    sms: Vec<(Mmu, VecDeque<(u64, LineAddress)>)>,
    gmmu: Gmmu,
    requests: Inlet<Packet>,
    replies: Outlet<Packet>,
    memory: VecDeque<(Cycle, Packet)>,
    /// Lines of page tables that were read, with the cycle in which the read reached memory.
    reads: Vec<(u64, LineAddress)>,
    /// Packets that left: cycle, SM, line.
    left: Vec<(u64, usize, u64)>,
    every_cycle: bool,
    now: u64,
}

const MEMORY_BYTES: u64 = 16 << 20;

impl World {
    fn new(config: &TranslationConfig, sms: usize) -> World {
        config.check(sms as u16).unwrap();
        let (latency, room) = (*config.gmmu.link_latency_cycles, *config.l1_tlb.mshr_entries as u32);
        let (mmus, of_sms) = (0..sms)
            .map(|sm| {
                let ((requests, arrivals), (answers, replies)) = (link(latency, room), link(latency, room));
                let mmu = Mmu::new(config, NodeId::from(sm), MmuLinks { requests, replies }, 1);
                ((mmu, VecDeque::new()), SmLinks { requests: arrivals, replies: answers })
            })
            .unzip();
        let ((reads, requests), (replies, arrivals)) = (link(NETWORK, 8), link(NETWORK, 8));
        let site = GmmuSite {
            node: NodeId::from(sms),
            slices: SliceMap::new(1, 256, NodeId::from(sms + 1)).unwrap(),
            flit_bytes: 64,
            table: PageTable::new(config, MEMORY_BYTES),
            seed: 1,
            requests: reads,
            replies: arrivals,
        };
        World {
            sms: mmus,
            gmmu: Gmmu::new(config, site, of_sms),
            requests,
            replies,
            memory: VecDeque::new(),
            reads: Vec::new(),
            left: Vec::new(),
            every_cycle: true,
            now: 0,
        }
    }

    /// Has an SM's L1D offer the first line of a page, plus `line`, from a cycle on.
    fn offer(&mut self, sm: usize, cycle: u64, page: u64, line: u64) {
        self.sms[sm].1.push_back((cycle, LineAddress(32 * page + line)));
    }

    /// Runs until every packet has left. Returns when each did.
    fn run(&mut self) -> Vec<(u64, usize, u64)> {
        let busy = |world: &World| {
            world.sms.iter().any(|(mmu, offers)| {
                !offers.is_empty() || mmu.next_event(Cycle(0)) != Cycle::NEVER || {
                    let mut waits = Vec::new();
                    mmu.waits(&mut waits);
                    !waits.is_empty()
                }
            })
        };
        while busy(self) {
            self.step();
            assert!(self.now < 10_000, "a packet never leaves");
        }
        std::mem::take(&mut self.left)
    }

    fn step(&mut self) {
        let (now, window) = (Cycle(self.now), Window(self.now));
        self.gmmu.collect(window);
        self.requests.collect(window);
        self.replies.collect(window);
        for (sm, (mmu, offers)) in self.sms.iter_mut().enumerate() {
            mmu.collect(window);
            if self.every_cycle || mmu.next_event(now) == now {
                mmu.tick(now);
            }
            if mmu.can_look_up(now)
                && let Some((_, line)) = offers.pop_front_if(|(from, _)| *from <= self.now)
            {
                mmu.look_up(packet(line), now);
            }
            if let Some(packet) = mmu.outgoing(now) {
                self.left.push((self.now, sm, packet.line.0));
            }
            mmu.flush(window);
        }
        if self.every_cycle || self.gmmu.next_event(now) == now {
            self.gmmu.tick(now);
        }
        while let Some(packet) = self.requests.receive(now) {
            self.requests.release(1, now);
            self.reads.push((self.now, packet.line));
            self.memory.push_back((now + MEMORY, packet));
        }
        while let Some((_, packet)) = self.memory.pop_front_if(|(at, _)| *at <= now) {
            self.replies.send(packet.into_reply(), 1, now).unwrap();
        }
        self.gmmu.flush(window);
        self.requests.flush(window);
        self.replies.flush(window);
        self.now += 1;
    }

    fn statistics(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = self.sms.iter().flat_map(|(mmu, _)| mmu.statistics()).collect();
        groups.push(self.gmmu.statistics());
        assert!(groups.iter().all(|group| group.broken.is_none()), "{groups:?}");
        groups
    }

    /// Counters of the last group with this name.
    fn counts<const N: usize>(&self, group: &str, names: [&str; N]) -> [u64; N] {
        let groups = self.statistics();
        let found = groups.iter().rev().find(|found| found.name == group).expect("a group");
        names.map(|name| found.get(name).expect("a counter"))
    }
}

fn packet(line: LineAddress) -> Packet {
    Packet::new(Contents {
        line,
        bytes: ByteMask::ALL,
        source: NodeId(0),
        destination: NodeId(9),
        client: Client::L1d,
        tag: 0,
        origin: Origin::default(),
        level: Level::default(),
        body: Body::Read(Box::new(Line::ZERO)),
    })
}

#[test]
fn a_walk_takes_its_reads_one_after_the_other_and_then_pages_hit() {
    let mut world = World::new(&config(), 1);
    // Second level: 9. To the GMMU: 4. Its look-up: 2, so the walk begins in 15. Each of its two reads takes 5 + 10 + 5, so it
    // ends in 55; the page is in the SM 4 later.
    world.offer(0, 0, 0, 3);
    assert_eq!(world.run(), [(59, 0, 3)]);
    // 4,096 pages of 8-byte entries lie behind 8 of the level above: 32 KiB and a line at the end of memory.
    let first = (MEMORY_BYTES - (32 << 10) - 128) / 128;
    assert_eq!(world.reads, [(20, LineAddress(first + 256)), (40, LineAddress(first))]);
    // A hit leaves in the cycle in which it comes.
    world.offer(0, 60, 0, 4);
    assert_eq!(world.run(), [(60, 0, 4)]);
    assert_eq!(
        world.counts("l1_tlb", ["accesses", "hits", "misses", "fills", "wait_cycles"]),
        [2, 1, 1, 1, 59]
    );
    assert_eq!(world.counts("l2_tlb", ["accesses", "hits", "misses", "fills"]), [1, 0, 1, 1]);
    assert_eq!(world.counts("gmmu", ["misses", "walks", "walk_reads", "walk_cycles"]), [1, 1, 2, 40]);
}

#[test]
fn a_page_that_the_first_level_evicts_comes_from_the_second() {
    let mut world = World::new(&config(), 1);
    for page in 0..3 {
        world.offer(0, 0, page, 0);
        world.run();
    }
    // Pages 1 and 2 are in the first level. Page 0 evicts page 1, 9 cycles later.
    let start = world.now;
    for (after, page) in [(0, 2), (1, 0), (20, 1), (40, 0)] {
        world.offer(0, start + after, page, 0);
    }
    let left = world.run().into_iter().map(|(cycle, _, line)| (cycle - start, line / 32));
    // Page 1 then evicts page 2, so page 0 is still there.
    assert_eq!(left.collect::<Vec<_>>(), [(0, 2), (10, 0), (29, 1), (40, 0)]);
    assert_eq!(world.counts("l1_tlb", ["hits", "misses", "evictions"]), [2, 5, 3]);
    assert_eq!(world.counts("l2_tlb", ["hits", "misses", "evictions"]), [2, 3, 0]);
}

#[test]
fn packets_for_one_page_wait_together_and_leave_in_order() {
    let mut world = World::new(&config(), 1);
    for line in 0..3 {
        world.offer(0, 0, 0, line);
    }
    // One packet is looked up in a cycle, one leaves in a cycle.
    assert_eq!(world.run(), [(59, 0, 0), (60, 0, 1), (61, 0, 2)]);
    // 59 + 58 + 57 cycles from their look-ups to the page.
    assert_eq!(world.counts("l1_tlb", ["misses", "merges", "wait_cycles", "stalled_cycles"]), [1, 2, 174, 0]);
    assert_eq!(world.counts("gmmu", ["accesses", "walks"]), [1, 1]);
}

#[test]
fn a_packet_without_room_to_wait_holds_the_next_ones_back() {
    let mut world = World::new(&config(), 1);
    for line in 0..4 {
        world.offer(0, 0, 0, line);
    }
    // Page 1 could be asked for in cycle 4; but three packets wait, and the fourth is held from 3 until 59. Page 1 is looked up once
    // all four have left, in 63. Its walk ends in 63 + 55.
    world.offer(0, 4, 1, 0);
    let left = [(59, 0, 0), (60, 0, 1), (61, 0, 2), (62, 0, 3), (122, 0, 32)];
    assert_eq!(world.run(), left);
    assert_eq!(world.counts("l1_tlb", ["hits", "misses", "merges", "stalled_cycles"]), [1, 2, 2, 56]);
    // Three pages for two MSHRs: the third waits for the first one's, from 202 on.
    world.now = 200;
    for page in [2, 3, 4] {
        world.offer(0, 200, page, 0);
    }
    // The walker serves one page after the other: 259, 299. Page 4 is looked up in 259, and its walk could begin in 274, but
    // begins when that for page 3 ends in 295: it ends in 335.
    assert_eq!(world.run(), [(259, 0, 64), (299, 0, 96), (339, 0, 128)]);
    assert_eq!(world.counts("l1_tlb", ["stalled_cycles"]), [56 + 57]);
    // Page 3 waited from 216 to 255, page 4 from 274 to 295.
    assert_eq!(world.counts("gmmu", ["walker_wait_cycles", "walk_cycles"]), [39 + 21, 200]);
}

#[test]
fn sms_share_walks_and_what_they_bring() {
    let mut world = World::new(&config(), 2);
    world.offer(0, 0, 0, 0);
    world.offer(1, 3, 0, 1);
    // The second request finds the walk of the first, which ends in 55.
    assert_eq!(world.run(), [(59, 0, 0), (59, 1, 1)]);
    assert_eq!(world.counts("gmmu", ["misses", "merges", "walks", "walk_reads"]), [1, 1, 1, 2]);
    // SM 1 asks for a page that SM 0 has brought: 9 + 4 + 2 + 4.
    let start = world.now;
    world.offer(0, start, 5, 0);
    world.run();
    let start = world.now;
    world.offer(1, start, 5, 0);
    assert_eq!(world.run(), [(start + 19, 1, 160)]);
    // Two requests that come together are looked up one after the other, in turn.
    let start = world.now;
    world.offer(0, start, 6, 0);
    world.offer(1, start, 7, 0);
    assert_eq!(world.run(), [(start + 59, 0, 192), (start + 99, 1, 224)]);
}

#[test]
fn without_a_second_level_the_gmmu_is_asked_at_once() {
    let mut world = World::new(&TranslationConfig { l2_tlb: None, ..config() }, 1);
    world.offer(0, 0, 0, 0);
    assert_eq!(world.run(), [(50, 0, 0)]);
    assert!(world.statistics().iter().all(|group| group.name != "l2_tlb"));
}

#[test]
fn a_hit_may_take_time_and_rows_of_the_window_are_not_translated() {
    let mut config = config();
    config.l1_tlb.hit_latency_cycles = number(2);
    let mut world = World::new(&config, 1);
    world.sms[0].1.push_back((0, window::line_of(3, 1)));
    assert_eq!(world.run(), [(0, 0, window::line_of(3, 1).0)]);
    let start = world.now;
    world.offer(0, start, 0, 0);
    world.run();
    // Hits follow each other in each cycle, two cycles later.
    let start = world.now;
    for line in 0..4 {
        world.offer(0, start, 0, line);
    }
    assert_eq!(world.run().iter().map(|(cycle, ..)| cycle - start).collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert_eq!(world.counts("l1_tlb", ["accesses"]), [5]);
}

#[test]
fn skipping_is_ticking() {
    let [skipping, ticking] = [false, true].map(|every_cycle| {
        let mut world = World::new(&config(), 3);
        world.every_cycle = every_cycle;
        let mut draw = 1_u64;
        for n in 0..300 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (sm, page, gap) = ((draw >> 33) as usize % 3, draw >> 40 & 15, draw >> 50 & 7);
            world.offer(sm, n * gap, page, n % 32);
        }
        (world.run(), world.statistics())
    });
    assert_eq!(skipping, ticking);
    assert_eq!(skipping.0.len(), 300);
}

#[test]
fn what_cannot_be_built_is_named() {
    let refused = |change: fn(&mut TranslationConfig), sms: u16, expected: &str| {
        let mut config = config();
        change(&mut config);
        assert_eq!(config.check(sms).unwrap_err(), expected);
    };
    refused(
        |c| c.page_bytes = number(5000),
        1,
        "page_bytes: found 5000, expected a power of two from 4096 to 2^30",
    );
    refused(|c| c.l1_tlb.ways = number(0), 1, "l1_tlb.ways: must be 1 to 64, found 0");
    refused(|c| c.l1_tlb.queue = number(0), 1, "l1_tlb.queue: found 0, expected 1 to 4096");
    refused(|c| c.gmmu.levels = number(7), 1, "gmmu.levels: found 7, expected 1 to 6");
    refused(|c| c.gmmu.units = Some(number(5)), 4, "gmmu.units: found 5, expected 1 to 4");
    refused(
        |c| c.l1_tlb.mshr_entries = number(4096),
        100,
        "l1_tlb.mshr_entries: found 4096, expected at most 655 for 100 SMs of a GMMU",
    );
}

#[test]
fn a_walk_reads_the_sector_of_its_entry() {
    let table = PageTable::new(&config(), MEMORY_BYTES);
    let first = (MEMORY_BYTES - (32 << 10) - 128) / 128;
    assert_eq!(table.bytes(), (32 << 10) + 128);
    // Entry 6 has bytes 48 to 55; entry 4095 of the first level is the last of it, and has entry 7 of the second above.
    assert_eq!(table.entry(Page(6), 0), (LineAddress(first), ByteMask::range(32, 32)));
    assert_eq!(table.entry(Page(4095), 0), (LineAddress(first + 255), ByteMask::range(96, 32)));
    assert_eq!(table.entry(Page(4095), 1), (LineAddress(first + 256), ByteMask::range(32, 32)));
}
