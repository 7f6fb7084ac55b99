//! What strong accesses take from a place, and leave there, of what their threads know.

use super::clock::Thread;
use super::cta::Cta;
use super::knowledge::is_wide;
use super::shadow::{Cell, Mores};
use super::view::Now;
use crate::isa::Space;

fn thread_of(now: &Now<'_>, cta: u32) -> Thread {
    Thread { cta, warp: now.access.by.warp, lane: now.entry.lanes.trailing_zeros() }
}

/// A strong read takes what the last strong write left.
pub(super) fn acquire(now: &Now<'_>, cta: &mut Cta, cell: &Cell, mores: &mut Mores) {
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
pub(super) fn release(now: &Now<'_>, cta: &Cta, cell: &mut Cell, mores: &mut Mores) {
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
