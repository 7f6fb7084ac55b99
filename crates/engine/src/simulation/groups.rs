//! Which islands of a window are taken, and which have been simulated.
//!
//! Islands stand in groups, each of one thread. A group's marks are a bit for each island, so that a thread learns in one
//! look what another has done: a line of the host's caches comes from another core once a group, not once an island.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::order::Order;

/// Most islands of a group.
const MOST: usize = 32;

/// Marks on the islands of a group in the windows of one parity. In a line of the host's caches of its own.
#[repr(align(64))]
struct Marks(AtomicU64);

impl Marks {
    /// Marks on all islands in a window.
    fn all(window: u64) -> Marks {
        Marks(AtomicU64::new(stamp(window) | u64::from(u32::MAX)))
    }

    /// The islands marked in a window. All are if a later one has begun: only one that all have simulated is followed by
    /// the next but one.
    #[inline]
    fn of(word: u64, window: u64) -> u32 {
        match (word >> 32) as u32 as i32 {
            stamp if stamp == window as u32 as i32 => word as u32,
            stamp if stamp.wrapping_sub(window as u32 as i32) < 0 => 0,
            _ => u32::MAX,
        }
    }

    #[inline]
    fn get(&self, window: u64) -> u32 {
        Marks::of(self.0.load(Ordering::Acquire), window)
    }

    /// Marks islands. Returns whether none of them was marked before; otherwise, nothing has changed.
    #[inline]
    fn add(&self, window: u64, islands: u32) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let marked = Marks::of(word, window);
            if marked & islands != 0 {
                return false;
            }
            let next = stamp(window) | u64::from(marked | islands);
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
    }
}

/// The upper half of a word says which window it is about: nobody clears it for the next.
fn stamp(window: u64) -> u64 {
    window << 32
}

/// Some islands of one thread.
struct Group {
    islands: Vec<usize>,
    /// By parity of the window.
    taken: [Marks; 2],
    finished: [Marks; 2],
}

/// All islands, in groups.
#[derive(Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// The number of each thread's first group, and last the number of groups.
    firsts: Vec<usize>,
    /// By island: who must have simulated a window before it can simulate the next, as groups and islands in them.
    awaited: Vec<Vec<(usize, u32)>>,
}

impl Groups {
    /// Groups the islands for a run on `threads` threads that begins with this window.
    pub fn new(order: &Order, threads: usize, window: u64) -> Groups {
        let (mut groups, mut firsts) = (Vec::new(), vec![0]);
        let mut place = vec![(0, 0); order.len()];
        for thread in 0..threads {
            let islands: Vec<usize> = order.own(thread, threads).collect();
            for some in islands.chunks(MOST) {
                for (bit, island) in some.iter().enumerate() {
                    place[*island] = (groups.len(), bit);
                }
                groups.push(Group::new(some.to_vec(), window));
            }
            firsts.push(groups.len());
        }
        let awaited = (0..order.len())
            .map(|island| {
                let mut masks = vec![0; groups.len()];
                for neighbour in order.awaited(island) {
                    let (group, bit) = place[*neighbour];
                    masks[group] |= 1 << bit;
                }
                masks.into_iter().enumerate().filter(|(_, mask)| *mask != 0).collect()
            })
            .collect();
        Groups { groups, firsts, awaited }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// The groups in the order in which a thread takes from them: its own first.
    pub fn turns(&self, thread: usize) -> impl Iterator<Item = usize> {
        let own = self.firsts[thread];
        (own..self.groups.len()).chain(0..own)
    }

    /// The islands of a group, by the number of their bit.
    #[inline]
    pub fn islands(&self, group: usize) -> &[usize] {
        &self.groups[group].islands
    }

    /// The islands, by group, that must have simulated a window before this one can simulate the next.
    #[inline]
    pub fn awaited(&self, island: usize) -> &[(usize, u32)] {
        &self.awaited[island]
    }

    /// The islands of a group that no thread has taken in a window.
    #[inline]
    pub fn untaken(&self, group: usize, window: u64) -> u32 {
        let Group { islands, taken, .. } = &self.groups[group];
        !taken[side(window)].get(window) & u32::MAX >> (MOST - islands.len())
    }

    /// Takes islands of a group. Returns false if another thread has one of them; then none is taken.
    #[inline]
    pub fn take(&self, group: usize, window: u64, islands: u32) -> bool {
        self.groups[group].taken[side(window)].add(window, islands)
    }

    /// The islands of a group that have simulated a window; what they did can be seen.
    #[inline]
    pub fn finished(&self, group: usize, window: u64) -> u32 {
        self.groups[group].finished[side(window)].get(window)
    }

    /// Tells all threads that islands of a group have simulated a window.
    #[inline]
    pub fn finish(&self, group: usize, window: u64, islands: u32) {
        let is_first = self.groups[group].finished[side(window)].add(window, islands);
        debug_assert!(is_first, "an island simulates a window once");
    }
}

impl Group {
    /// No island has been taken in the window, and all have simulated the one before.
    fn new(islands: Vec<usize>, window: u64) -> Group {
        let marks = || {
            let mut marks = [Marks::all(window.wrapping_sub(2)), Marks::all(window.wrapping_sub(1))];
            marks.rotate_left(side(window));
            marks
        };
        Group { islands, taken: marks(), finished: marks() }
    }
}

fn side(window: u64) -> usize {
    (window & 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hubs, and 98 islands that have a link with each.
    fn star() -> Order {
        let leaves = (2..100).map(|_| vec![0, 1]);
        let hub = || (2..100).collect::<Vec<_>>();
        Order::new([hub(), hub()].into_iter().chain(leaves).collect())
    }

    #[test]
    fn every_island_is_in_a_group_of_one_thread() {
        for threads in [1, 2, 3, 64] {
            let groups = Groups::new(&star(), threads, 7);
            let mut all: Vec<usize> =
                groups.turns(0).flat_map(|group| groups.islands(group).to_vec()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..100).collect::<Vec<_>>());
            for thread in 0..threads {
                let turns: Vec<usize> = groups.turns(thread).collect();
                assert_eq!(turns.len(), groups.len());
                let own = star().own(thread, threads).next();
                assert_eq!(own, groups.islands(turns[0]).first().copied(), "its own come first");
            }
        }
    }

    #[test]
    fn an_island_is_taken_once_a_window_and_then_finished() {
        for first in [0, 1, u64::from(u32::MAX)] {
            let groups = Groups::new(&star(), 2, first);
            let all = |group: usize| u32::MAX >> (MOST - groups.islands(group).len());
            assert_eq!(groups.finished(0, first.wrapping_sub(1)), u32::MAX, "nothing is waited for");
            for window in first..first + 5 {
                for group in 0..groups.len() {
                    assert_eq!(groups.untaken(group, window), all(group));
                    assert!(groups.take(group, window, 0b101));
                    assert!(!groups.take(group, window, 0b110), "one of them is taken");
                    assert_eq!(groups.untaken(group, window), all(group) & !0b101);
                    assert_eq!(groups.finished(group, window), 0);
                    groups.finish(group, window, 0b101);
                    assert_eq!(groups.finished(group, window), 0b101);
                    assert!(groups.take(group, window, all(group) & !0b101));
                    groups.finish(group, window, all(group) & !0b101);
                }
            }
            assert_eq!(groups.untaken(0, first), 0, "a window long past");
        }
    }

    #[test]
    fn a_hub_waits_for_all_and_a_leaf_for_the_hubs_and_itself() {
        let groups = Groups::new(&star(), 2, 0);
        let count =
            |island: usize| groups.awaited(island).iter().map(|(_, mask)| mask.count_ones()).sum::<u32>();
        assert_eq!((count(0), count(1), count(50)), (99, 99, 3));
    }
}
