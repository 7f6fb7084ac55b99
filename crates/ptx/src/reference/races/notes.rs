//! What strong accesses take from a place, and leave there, of what their threads know.

use super::clock::Thread;
use super::cta::Cta;
use super::knowledge::{Note, is_wide};
use super::shadow::{Cell, Mores};
use super::view::Now;
use crate::isa::Space;

fn thread_of(now: &Now<'_>, cta: u32) -> Thread {
    Thread { cta, warp: now.access.by.warp, lane: now.entry.lanes.trailing_zeros() }
}

/// A strong read takes what the last strong writes left, as far as it sees them.
pub(super) fn acquire(now: &Now<'_>, cta: &mut Cta, cell: &Cell, mores: &mut Mores) {
    let Some(more) = mores.get(cell) else { return };
    let Some(scope) = now.class.strong else { return };
    let thread = thread_of(now, cta.number);
    let knowledge = &mut cta.warps[thread.warp as usize];
    let wide = is_wide(scope) || now.access.space == Space::Shared;
    if !more.note.is_empty() && more.chain.is_seen(cta.number, now.class.element, wide) {
        let note = more.note.for_cta(cta.number);
        knowledge.read(thread, &note);
        more.seen.entry(thread).or_default().join(note);
    }
    if now.class.acquires
        && let Some(note) = more.seen.get(&thread)
    {
        knowledge.acquire(thread, scope, note);
    }
}

/// A strong write leaves what the thread's fences and releases hand on.
pub(super) fn release(now: &Now<'_>, cta: &Cta, cell: &mut Cell, mores: &mut Mores) {
    let thread = thread_of(now, cta.number);
    let releases = now.class.strong.filter(|_| now.class.releases);
    let mut note = cta.warps[thread.warp as usize].write(thread, releases, cta.time);
    let more = mores.make(cell);
    if let Some(scope) = releases {
        let of_itself = Note { wide: note.wide.clone().filter(|_| is_wide(scope)), near: note.near.clone() };
        more.released.entry(thread).or_default().join(of_itself);
    }
    if let Some(earlier) = more.released.get(&thread) {
        note.join(earlier.clone());
    }
    if more.chain.goes_on {
        more.note.join(note);
    } else {
        more.note = note;
    }
}
