//! Watches launches, and reports what their accesses race with.

use super::super::LaunchConfig;
use super::super::observer::{Access, AccessKind, BarrierArrival, Issuer, Observer};
use super::clock::{Thread, Time};
use super::cta::Cta;
use super::found::{Found, Hit, Race};
use super::notes::{acquire, release};
use super::shadow::{Entry, LATER, Shadow};
use super::site::Sites;
use super::view::{Conflict, Now, View};
use crate::isa::{Op, Ordering, Space};
use crate::lanes::{LaneMask, Row, WARP_LANES, lanes_of};
use crate::program::Kernel;

/// Finds data races in the launches that it watches.
#[derive(Debug, Default)]
pub struct RaceCheck {
    sites: Sites,
    found: Found,
    global: Shadow,
    shape: Shape,
    /// The CTAs that run, by number.
    ctas: Vec<Option<Box<Cta>>>,
    /// Shadows of shared memories that no CTA has.
    spare: Vec<Shadow>,
    /// The latest time of all CTAs so far.
    latest: Time,
    launches: u64,
    hits: Vec<Conflict>,
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    threads: u32,
    /// Warps of a CTA.
    warps: u32,
}

impl Shape {
    /// The indices of a CTA and of its thread.
    fn indices(&self, thread: Thread) -> ([u32; 3], [u32; 3]) {
        let split = |number: u32, [x, y, _]: [u32; 3]| [number % x, number / x % y, number / x / y];
        let number = thread.warp * WARP_LANES as u32 + thread.lane;
        (split(thread.cta, self.grid), split(number, self.block))
    }
}

impl RaceCheck {
    /// The races so far, in the order of their first.
    pub fn races(&self) -> &[Race] {
        &self.found.races
    }

    /// The launches so far, the one that runs included.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    fn cta(&mut self, number: u64) -> &mut Cta {
        self.ctas[number as usize].as_mut().expect("a CTA runs from its beginning to its end")
    }

    fn retire(&mut self, mut cta: Cta) {
        self.latest = self.latest.max(cta.time);
        cta.shared.since = cta.time + 1;
        self.spare.push(cta.shared);
    }
}

impl Observer for RaceCheck {
    fn begins(&mut self, kernel: &Kernel, config: &LaunchConfig) {
        // A launch that failed leaves CTAs behind.
        for cta in std::mem::take(&mut self.ctas).into_iter().flatten() {
            self.retire(*cta);
        }
        let threads: u32 = config.block.iter().product();
        let warps = threads.div_ceil(WARP_LANES as u32);
        self.shape = Shape { grid: config.grid, block: config.block, threads, warps };
        self.sites.begin(kernel);
        self.latest += 1;
        self.global.since = self.latest;
        self.launches += 1;
    }

    fn cta_begins(&mut self, number: u64) {
        let mut shared = self.spare.pop().unwrap_or_default();
        shared.since = shared.since.max(self.global.since);
        let place = number as usize;
        if place >= self.ctas.len() {
            self.ctas.resize_with(place + 1, || None);
        }
        // A warp has a number of 32 bits; as many CTAs as would not fit run for years.
        self.ctas[place] = Some(Box::new(Cta::new(number as u32, self.shape.threads, shared)));
    }

    fn cta_ends(&mut self, number: u64) {
        if let Some(cta) = self.ctas[number as usize].take() {
            self.retire(*cta);
        }
    }

    fn orders(&mut self, by: &Issuer<'_>, lanes: LaneMask) {
        let cta = self.cta(by.cta);
        match by.instruction.op {
            Op::Fence { ordering, scope } => {
                let both = (ordering != Ordering::Release, ordering != Ordering::Acquire);
                let knowledge = &mut cta.warps[by.warp as usize];
                lanes_of(lanes).for_each(|lane| knowledge.fence(lane, scope, both, cta.time));
                cta.time += 1;
            }
            Op::CopyCommit => cta.commit(by.warp, lanes),
            Op::CopyWait { pending } => cta.wait(by.warp, lanes, pending),
            _ => {}
        }
    }

    fn warp_syncs(&mut self, by: &Issuer<'_>, lanes: LaneMask, members: &Row) {
        self.cta(by.cta).warp_sync(by.warp, lanes, members);
    }

    fn arrives(&mut self, by: &Issuer<'_>, arrival: &BarrierArrival) {
        self.cta(by.cta).arrive(by.warp, arrival);
    }

    fn opens(&mut self, cta: u64, barrier: u32, warps: u64) {
        self.cta(cta).open(barrier, warps);
    }

    fn access(&mut self, access: &Access<'_>) {
        // Other memories are a thread's own, or nobody writes them.
        let constant = matches!(access.by.instruction.op, Op::Load(mode) if mode.space == Space::Const);
        if constant || !matches!(access.space, Space::Global | Space::Shared) {
            return;
        }
        let place = access.by.cta as usize;
        let mut cta = self.ctas[place].take().expect("a CTA runs from its beginning to its end");
        self.check(access, &mut cta);
        self.ctas[place] = Some(cta);
    }
}

impl RaceCheck {
    fn check(&mut self, access: &Access<'_>, cta: &mut Cta) {
        let Access { by, kind, lanes, addresses, bytes, .. } = *access;
        let number = self.sites.number(&by, kind, bytes);
        let class = *self.sites.class(number);
        if matches!(by.instruction.op, Op::CopyArrive { .. }) {
            cta.wait(by.warp, lanes, None);
        }
        let warp = cta.number * self.shape.warps + by.warp;
        let site = if class.later { number | LATER } else { number };
        let entry = Entry { warp, lanes, time: cta.time, site };
        let first = lanes.trailing_zeros() as usize;
        let same = lanes_of(lanes).all(|lane| addresses[lane] == addresses[first]);
        if kind == AccessKind::Load && class.strong.is_none() && same {
            self.one(&Now { access, class, entry, address: addresses[first] }, cta);
        } else {
            for lane in lanes_of(lanes) {
                let entry = Entry { lanes: 1 << lane, ..entry };
                self.one(&Now { access, class, entry, address: addresses[lane] }, cta);
            }
        }
        if class.releases {
            cta.time += 1;
        }
    }

    /// An access to one address.
    fn one(&mut self, now: &Now<'_>, cta: &mut Cta) {
        let Now { access, class, address, .. } = *now;
        let mut shared = std::mem::take(&mut cta.shared);
        let shadow = if access.space == Space::Shared { &mut shared } else { &mut self.global };
        let (cells, size, mores) = shadow.cells(address, access.bytes, class.element);
        if class.strong.is_some() && class.observes {
            acquire(now, cta, &cells[0], mores);
        }
        let mut view = View { now, cta, sites: &self.sites, warps: self.shape.warps, hits: &mut self.hits };
        for (n, cell) in cells.iter_mut().enumerate() {
            view.conflicts(cell, mores, n * size..((n + 1) * size).min(access.bytes));
            view.enter(cell, mores);
        }
        if class.strong.is_some() && class.writes {
            release(now, cta, &mut cells[0], mores);
        }
        if class.writes && class.strong.is_none() && access.bytes == 1 {
            let neighbour = shadow.neighbour(address);
            let mut view =
                View { now, cta, sites: &self.sites, warps: self.shape.warps, hits: &mut self.hits };
            view.half_word(neighbour);
        }
        cta.shared = shared;
        if !self.hits.is_empty() {
            self.report(now, cta.number);
        }
    }

    /// Adds what was found of one access, each place once.
    #[cold]
    fn report(&mut self, now: &Now<'_>, cta: u32) {
        let hits = std::mem::take(&mut self.hits);
        let Now { access, entry, address, .. } = *now;
        for (n, hit) in hits.iter().enumerate() {
            let key = |hit: &Conflict| (hit.site, hit.lane, hit.half_word);
            let alike = |other: &&Conflict| key(other) == key(hit);
            if hits[..n].iter().any(|other| alike(&other)) {
                continue;
            }
            let hit = Hit {
                earlier_site: hit.site,
                later_site: entry.site & !LATER,
                earlier: self.shape.indices(hit.thread),
                later: self.shape.indices(Thread { cta, warp: access.by.warp, lane: hit.lane }),
                half_word: hit.half_word,
                same_value: hits.iter().filter(alike).all(|other| other.same_value),
                launch: self.launches - 1,
                space: access.space,
                address,
            };
            self.found.add(&hit, &self.sites);
        }
        self.hits = hits;
        self.hits.clear();
    }
}
