//! Watches launches, and holds every access against what is remembered of its memory.

use super::super::LaunchConfig;
use super::super::observer::{Access, AccessKind, BarrierArrival, Issuer, Observer};
use super::clock::{Thread, Time};
use super::cta::Cta;
use super::found::{Found, Hit, Race};
use super::knowledge::is_wide;
use super::shadow::{Cell, Entry, LATER, More, Mores, Shadow, Strong};
use super::site::{Class, Sites};
use crate::isa::{Op, Ordering, Space};
use crate::lanes::{LaneMask, Row, WARP_LANES, lanes_of};
use crate::program::Kernel;

/// Entries that are looked at for whether a new one makes them superfluous.
const TIDIED: usize = 64;

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
    /// Of a CTA.
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

/// An earlier access that conflicts with the one at hand, which does not know it.
#[derive(Clone, Copy, Debug)]
struct Conflict {
    site: u32,
    thread: Thread,
    /// The lane of the access at hand.
    lane: u32,
    half_word: bool,
    /// Whether both are stores of the same value.
    same_value: bool,
}

/// An access of one lane, or of several to the same address.
#[derive(Clone, Copy)]
struct Now<'a> {
    access: &'a Access<'a>,
    class: Class,
    entry: Entry,
    address: u64,
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
        let threads = config.block.iter().product();
        let warps = threads_to_warps(threads);
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

fn threads_to_warps(threads: u32) -> u32 {
    threads.div_ceil(WARP_LANES as u32)
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

fn thread_of(now: &Now<'_>, cta: u32) -> Thread {
    Thread { cta, warp: now.access.by.warp, lane: now.entry.lanes.trailing_zeros() }
}

/// A strong read takes what the last strong write left.
fn acquire(now: &Now<'_>, cta: &mut Cta, cell: &Cell, mores: &mut Mores) {
    let Some(more) = mores.get(cell) else { return };
    let Some(scope) = now.class.strong else { return };
    let thread = thread_of(now, cta.number);
    let knowledge = &mut cta.warps[thread.warp as usize];
    let acquires = now.class.acquires;
    if acquires && let Some(earlier) = more.seen.as_ref().and_then(|seen| seen.get(&thread)) {
        knowledge.read(thread, acquires, &earlier.seen(cta.number, scope));
    }
    let wide = is_wide(scope) || now.access.space == Space::Shared;
    let seen = more.note.seen(cta.number, scope);
    if !seen.is_empty() && more.chain.is_seen(cta.number, now.class.element, wide) {
        knowledge.read(thread, acquires, &seen);
        if !acquires {
            more.seen.get_or_insert_default().entry(thread).or_default().join(seen);
        }
    }
}

/// A strong write leaves what the thread's fences hand on.
fn release(now: &Now<'_>, cta: &Cta, cell: &mut Cell, mores: &mut Mores) {
    let Some(scope) = now.class.strong else { return };
    let thread = thread_of(now, cta.number);
    let mut note = cta.warps[thread.warp as usize].write(thread, scope, now.class.releases, cta.time);
    if now.class.releases {
        mores.make(cell).released.get_or_insert_default().insert(thread, note.clone());
    } else if let Some(more) = mores.get(cell)
        && let Some(earlier) = more.released.as_ref().and_then(|released| released.get(&thread))
    {
        note.join(earlier.seen(cta.number, scope));
    }
    let more = mores.make(cell);
    if more.chain.goes_on {
        more.note.join(note);
    } else {
        more.note = note;
    }
}

/// An access and what its threads know.
struct View<'a> {
    now: &'a Now<'a>,
    cta: &'a Cta,
    sites: &'a Sites,
    /// Warps of a CTA.
    warps: u32,
    hits: &'a mut Vec<Conflict>,
}

impl View<'_> {
    /// Whether a warp, by its number in the launch, is of this CTA; its number there.
    fn own_warp(&self, warp: u32) -> Option<u32> {
        let place = warp.wrapping_sub(self.cta.number * self.warps);
        (place < self.warps).then_some(place)
    }

    /// Whether every thread of this access knows every thread of an entry, as far as is seen at a glance.
    #[inline]
    fn is_known(&self, entry: &Entry) -> bool {
        let by = self.now.access.by;
        let knowledge = &self.cta.warps[by.warp as usize];
        let mine = self.now.entry.lanes;
        let self_same = entry.warp == self.now.entry.warp && entry.lanes == mine && mine.is_power_of_two();
        let known = || entry.time <= knowledge.all && self.own_warp(entry.warp).is_some();
        entry.site & LATER == 0 && (self_same || known())
    }

    /// A thread of an entry that a lane does not know.
    fn unknown_to(&self, me: usize, entry: &Entry) -> Option<Thread> {
        let by = self.now.access.by;
        let (cta, warp) = (entry.warp / self.warps, entry.warp % self.warps);
        let clock = self.cta.warps[by.warp as usize].clock(me);
        let later = entry.site & LATER != 0;
        if !later && entry.time <= clock.of_warp(cta, warp) {
            return None;
        }
        let unknown = |lane: &u32| {
            let begun = entry.time;
            let made = if later { self.cta.made(warp, *lane, begun) } else { Some(begun) };
            let own = entry.warp == self.now.entry.warp && *lane as usize == me;
            let knows = |made: Time| own || made <= clock.of(Thread { cta, warp, lane: *lane });
            !made.is_some_and(knows)
        };
        let lane = lanes_of(entry.lanes).map(|lane| lane as u32).find(unknown)?;
        Some(Thread { cta, warp, lane })
    }

    /// Notes an entry if nothing orders it before this access and they conflict.
    #[inline]
    fn hold_against(&mut self, entry: &Entry, bytes: &std::ops::Range<usize>) {
        if self.is_known(entry) {
            return;
        }
        for lane in lanes_of(self.now.entry.lanes) {
            if let Some(thread) = self.unknown_to(lane, entry) {
                self.conflict(entry, thread, lane as u32, bytes);
            }
        }
    }

    #[cold]
    fn conflict(&mut self, entry: &Entry, thread: Thread, lane: u32, bytes: &std::ops::Range<usize>) {
        let site = entry.site & !LATER;
        let other = self.sites.class(site);
        if !self.now.class.conflicts(other, thread.cta == self.cta.number) {
            return;
        }
        let both_store = !other.reads && other.writes && !self.now.class.reads && entry.site & LATER == 0;
        let same_value = both_store && self.writes_the_same(thread, entry, bytes);
        self.hits.push(Conflict { site, thread, lane, half_word: false, same_value });
    }

    /// Whether this store leaves bytes as an earlier one left them.
    fn writes_the_same(&self, earlier: Thread, entry: &Entry, bytes: &std::ops::Range<usize>) -> bool {
        let Now { access, address, .. } = *self.now;
        let Some(written) = access.written else { return false };
        let (lane, other) = (self.now.entry.lanes.trailing_zeros() as usize, earlier.lane as usize);
        // What a lower lane writes in this instruction is not in memory yet.
        let together = entry.warp == self.now.entry.warp
            && other < lane
            && access.lanes >> other & 1 == 1
            && access.addresses[other] == address;
        bytes.clone().all(|byte| {
            let old = if together { Some(written.new(other, byte)) } else { written.old(lane, byte) };
            old == Some(written.new(lane, byte))
        })
    }

    /// Finds what the access races with in a cell, which holds some of its bytes.
    #[inline]
    fn conflicts(&mut self, cell: &Cell, mores: &mut Mores, bytes: std::ops::Range<usize>) {
        let class = self.now.class;
        if cell.write.lanes != 0 {
            self.hold_against(&cell.write, &bytes);
        }
        if class.writes && cell.read.lanes != 0 {
            self.hold_against(&cell.read, &bytes);
        }
        let Some(more) = mores.get(cell) else { return };
        if class.writes {
            more.reads.iter().for_each(|entry| self.hold_against(entry, &bytes));
        }
        let apart = class.strong.is_some() && more.element == class.element && self.holds_everyone();
        if !apart {
            self.hold_against_strong(&more.strong, &bytes);
        }
    }

    /// As [`View::hold_against`], of strong accesses. A write that was seen by one that happens before this access happens
    /// before it, too.
    fn hold_against_strong(&mut self, strong: &[Strong], bytes: &std::ops::Range<usize>) {
        let mut seen: Option<(usize, Vec<(u32, u32)>)> = None;
        for one in strong {
            if self.is_known(&one.entry) {
                continue;
            }
            let writes = self.sites.class(one.entry.site).writes;
            for lane in lanes_of(self.now.entry.lanes) {
                let Some(thread) = self.unknown_to(lane, &one.entry) else { continue };
                if seen.as_ref().is_none_or(|(of, _)| *of != lane) {
                    seen = Some((lane, self.seen_by(lane, strong)));
                }
                let was_seen = |(_, seen): &(usize, Vec<(u32, u32)>)| {
                    seen.iter().any(|(from, upto)| (*from..=*upto).contains(&one.upto))
                };
                if !(writes && seen.as_ref().is_some_and(was_seen)) {
                    self.conflict(&one.entry, thread, lane as u32, bytes);
                }
            }
        }
    }

    /// The writes, as ranges of numbers, that were seen by strong accesses that a lane knows.
    fn seen_by(&self, lane: usize, strong: &[Strong]) -> Vec<(u32, u32)> {
        let mut seen: Vec<(u32, u32)> = Vec::new();
        for by in strong.iter().filter(|by| by.saw_something()) {
            if self.unknown_to(lane, &by.entry).is_none() {
                match seen.iter_mut().find(|(from, _)| *from == by.from) {
                    Some((_, upto)) => *upto = by.upto.max(*upto),
                    None => seen.push((by.from, by.upto)),
                }
            }
        }
        seen
    }

    /// Whether the access's scope holds all threads that could access the memory.
    fn holds_everyone(&self) -> bool {
        self.now.access.space == Space::Shared || self.now.class.strong.is_some_and(is_wide)
    }

    /// Remembers the access.
    #[inline]
    fn enter(&self, cell: &mut Cell, mores: &mut Mores) {
        let Now { class, entry, .. } = *self.now;
        if class.strong.is_some() {
            self.enter_strong(mores.make(cell));
        } else if class.writes {
            mores.clear(cell);
            cell.write = entry;
        } else {
            self.enter_read(cell, mores);
        }
    }

    fn enter_strong(&self, more: &mut More) {
        let Now { class, entry, .. } = *self.now;
        let element = if self.holds_everyone() { class.element } else { 0 };
        more.element = if more.strong.is_empty() || more.element == element { element } else { 0 };
        let (cta, wide) = (self.cta.number, self.holds_everyone());
        let sees = class.observes && more.chain.is_seen(cta, class.element, wide);
        if class.writes {
            more.writes += 1;
            more.chain.write(more.writes, cta, class.element, wide, class.reads);
        }
        let from = if sees { more.chain.first } else { Strong::SAW_NOTHING };
        let now = Strong { entry, from, upto: more.writes };
        // Who knows an earlier access need not know this one: what only the earlier one tells is kept. Of shared memory it is
        // told by the CTA's barriers, too.
        let tells = |one: &Strong| {
            let again = (one.entry.warp, one.entry.time) == (entry.warp, entry.time);
            one.saw_something() && !again && self.now.access.space != Space::Shared
        };
        self.tidy(
            &mut more.strong,
            |one| &one.entry,
            |one| one.from == from && !tells(one) && self.sites.class(one.entry.site) == &class,
        );
        match more.strong.last_mut().filter(|_| !sees) {
            Some(last)
                if last.from == from
                    && (last.entry.warp, last.entry.time, last.entry.site)
                        == (entry.warp, entry.time, entry.site) =>
            {
                last.entry.lanes |= entry.lanes;
                last.upto = now.upto;
            }
            _ => more.strong.push(now),
        }
    }

    fn enter_read(&self, cell: &mut Cell, mores: &mut Mores) {
        let (now, last) = (self.now.entry, &mut cell.read);
        let same_time = (last.warp, last.time) == (now.warp, now.time) && last.lanes != 0;
        if same_time && last.lanes & now.lanes == now.lanes {
            return;
        }
        if same_time && last.site == now.site {
            last.lanes |= now.lanes;
            return;
        }
        let last = std::mem::replace(last, now);
        if last.lanes != 0 && !self.is_superfluous(&last) {
            let reads = &mut mores.make(cell).reads;
            self.tidy(reads, |entry| entry, |_| true);
            reads.push(last);
        }
    }

    /// Whether whatever races with an entry races with this access, if they conflict with the same.
    fn is_superfluous(&self, entry: &Entry) -> bool {
        let by = self.now.access.by;
        let own = entry.warp == self.now.entry.warp && entry.lanes & !self.now.entry.lanes == 0;
        let known = || entry.time <= self.cta.warps[by.warp as usize].all;
        own || self.own_warp(entry.warp).is_some() && known()
    }

    /// Forgets entries of this CTA, the latest, that are superfluous.
    fn tidy<T>(
        &self,
        list: &mut Vec<T>,
        entry: impl Fn(&T) -> &Entry,
        conflicts_with_the_same: impl Fn(&T) -> bool,
    ) {
        let end = list.len().saturating_sub(TIDIED);
        for place in (end..list.len()).rev() {
            let one = &list[place];
            if self.own_warp(entry(one).warp).is_none() {
                return;
            }
            if self.is_superfluous(entry(one)) && conflicts_with_the_same(one) {
                list.swap_remove(place);
            }
        }
    }

    /// Notes a weak write to the other byte of the half-word, if nothing orders it before this one.
    fn half_word(&mut self, neighbour: Option<Entry>) {
        let Some(entry) = neighbour.filter(|entry| entry.lanes != 0 && !self.is_known(entry)) else { return };
        let (site, lane) = (entry.site & !LATER, self.now.entry.lanes.trailing_zeros());
        // One of several bytes would be of this byte, too.
        if self.sites.at(site).bytes == 1
            && let Some(thread) = self.unknown_to(lane as usize, &entry)
        {
            self.hits.push(Conflict { site, thread, lane, half_word: true, same_value: false });
        }
    }
}
