//! What an access races with, and what is remembered of it.

use std::ops::Range;

use super::super::observer::Access;
use super::clock::{Thread, Time};
use super::cta::Cta;
use super::knowledge::is_wide;
use super::shadow::{Cell, Entry, LATER, More, Mores, Strong};
use super::site::{Class, Sites};
use crate::isa::Space;
use crate::lanes::lanes_of;

/// Entries that are looked at for whether a new one makes them superfluous.
const TIDIED: usize = 64;

/// An access of one lane, or of several to the same address.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    pub access: &'a Access<'a>,
    pub class: Class,
    pub entry: Entry,
    pub address: u64,
}

/// An earlier access that conflicts with the one at hand, which does not know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub site: u32,
    pub thread: Thread,
    /// The lane of the access at hand.
    pub lane: u32,
    pub half_word: bool,
    /// Whether both are stores of the same value.
    pub same_value: bool,
}

/// An access and what its threads know.
pub(super) struct View<'a> {
    pub now: &'a Now<'a>,
    pub cta: &'a Cta,
    pub sites: &'a Sites,
    /// Warps of a CTA.
    pub warps: u32,
    pub hits: &'a mut Vec<Conflict>,
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
    fn hold_against(&mut self, entry: &Entry, bytes: &Range<usize>) {
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
    fn conflict(&mut self, entry: &Entry, thread: Thread, lane: u32, bytes: &Range<usize>) {
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
    fn writes_the_same(&self, earlier: Thread, entry: &Entry, bytes: &Range<usize>) -> bool {
        let Now { access, address, .. } = *self.now;
        let Some(written) = access.written else { return false };
        let (lane, other) = (self.now.entry.lanes.trailing_zeros() as usize, earlier.lane as usize);
        // What a lower lane writes in this instruction is not in memory yet.
        let together = entry.warp == self.now.entry.warp
            && other < lane
            && access.lanes >> other & 1 == 1
            && access.addresses[other] == address;
        bytes.clone().all(|byte| {
            let before = if together { Some(written.after(other, byte)) } else { written.before(lane, byte) };
            before == Some(written.after(lane, byte))
        })
    }

    /// Finds what the access races with in a cell, which holds some of its bytes.
    #[inline]
    pub fn conflicts(&mut self, cell: &Cell, mores: &mut Mores, bytes: Range<usize>) {
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
    fn hold_against_strong(&mut self, strong: &[Strong], bytes: &Range<usize>) {
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
    pub fn enter(&self, cell: &mut Cell, mores: &mut Mores) {
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
    pub fn half_word(&mut self, neighbour: Option<Entry>) {
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
