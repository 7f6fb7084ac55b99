//! The SM's read-only caches, instructions and constants, as the SM sees them.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::read_only::{Lookup, ReadOnlyCache};
use strata_memory::{Line, LineAddress, Packet};

use crate::fetch::InstructionCache;
use crate::lsu::ConstantCache;

/// A read-only cache, whatever its organisation.
pub trait ReadOnly: Send {
    /// Asks for a line; `token` comes back with it. False when it cannot take the request now.
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool;

    /// Takes the next line that has arrived, with the token of its request.
    fn arrived(&mut self, now: Cycle) -> Option<(u32, &Line)>;

    /// Takes a reply from the network. Always accepted.
    fn accept(&mut self, reply: Packet, now: Cycle);

    /// The next packet for the network. It has left when this returns it.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Whether [`ReadOnly::outgoing`] would return a packet, and its size in bytes.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Between launches: drops every line, because the host may have written.
    fn invalidate(&mut self);

    /// Earliest cycle from `now` on at which it could do anything without a new request or reply.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// A sentence for each thing it waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

/// The shared design of a read-only cache behind this door: it remembers who asked, because any number of
/// requests can wait for one line, and keeps the bytes until they are due.
pub struct CachedLines {
    cache: ReadOnlyCache,
    /// Requests whose line is on its way.
    pending: Vec<(LineAddress, u32)>,
    /// Requests whose line is here, from when on it may be used.
    here: VecDeque<(Cycle, u32)>,
    /// Their lines; none when nobody looks at the bytes.
    lines: VecDeque<Line>,
    keeps_bytes: bool,
    /// The line that was taken last.
    taken: Line,
}

impl CachedLines {
    /// A cache whose bytes are used, with nobody waiting.
    pub fn new(cache: ReadOnlyCache) -> Self {
        CachedLines {
            cache,
            pending: Vec::with_capacity(64),
            here: VecDeque::with_capacity(64),
            lines: VecDeque::with_capacity(64),
            keeps_bytes: true,
            taken: Line::ZERO,
        }
    }

    /// A cache that only says when lines are there: decoded instructions need no bytes.
    pub fn without_bytes(cache: ReadOnlyCache) -> Self {
        CachedLines { keeps_bytes: false, ..CachedLines::new(cache) }
    }
}

impl ReadOnly for CachedLines {
    #[inline]
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        // One waiter for all: who they are is remembered here.
        match self.cache.lookup(line, 0, now) {
            Lookup::Hit { ready, line } => {
                self.here.push_back((ready, token));
                if self.keeps_bytes {
                    self.lines.push_back(line.clone());
                }
            }
            Lookup::Pending => self.pending.push((line, token)),
            Lookup::Refused(_) => return false,
        }
        true
    }

    #[inline]
    fn arrived(&mut self, now: Cycle) -> Option<(u32, &Line)> {
        if self.here.front()?.0 > now {
            return None;
        }
        let (_, token) = self.here.pop_front()?;
        if self.keeps_bytes {
            self.taken = self.lines.pop_front().expect("each request that is here has its line");
        }
        Some((token, &self.taken))
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        let fill = self.cache.accept(reply, now);
        // Due now, so before every hit that is not: hits stand in the order of their cycles. The last to ask
        // is put in first, and so comes out last.
        for index in (0..self.pending.len()).rev() {
            let (line, token) = self.pending[index];
            if line != fill.line {
                continue;
            }
            self.pending.remove(index);
            self.here.push_front((now, token));
            if self.keeps_bytes {
                self.lines.push_front(fill.data.clone());
            }
        }
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.cache.outgoing(now)
    }

    #[inline]
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.cache.outgoing_bytes(now)
    }

    fn invalidate(&mut self) {
        self.cache.invalidate();
    }

    #[inline]
    fn next_event(&self, now: Cycle) -> Cycle {
        let due = self.here.front().map_or(Cycle::NEVER, |(due, _)| *due);
        self.cache.next_event(now).min(due.max(now))
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.cache.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.cache.statistics()]
    }
}

/// A read-only cache in the role of one of the two.
pub(crate) struct Port<'a>(pub(crate) &'a mut dyn ReadOnly);

impl InstructionCache for Port<'_> {
    #[inline]
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        self.0.request(line, token, now)
    }

    #[inline]
    fn arrived(&mut self, now: Cycle) -> Option<u32> {
        self.0.arrived(now).map(|(token, _)| token)
    }
}

impl ConstantCache for Port<'_> {
    #[inline]
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        self.0.request(line, token, now)
    }

    #[inline]
    fn arrived(&mut self, now: Cycle, take: &mut impl FnMut(u32, &Line)) -> bool {
        match self.0.arrived(now) {
            Some((token, line)) => {
                take(token, line);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::Cited;
    use strata_memory::read_only::ReadOnlyConfig;
    use strata_memory::replacement::ReplacementPolicy;
    use strata_memory::slice_map::SliceMap;
    use strata_memory::tags::SetIndex;
    use strata_memory::{Body, Client, NodeId};

    use super::*;

    fn cache() -> CachedLines {
        fn cited<T>(value: T) -> Cited<T> {
            Cited::new(value, "test")
        }
        let config = ReadOnlyConfig {
            sets: cited(4),
            ways: cited(1),
            set_index: cited(SetIndex::Bits),
            replacement: cited(ReplacementPolicy::Lru),
            accesses_per_cycle: cited(1),
            hit_latency_cycles: cited(3),
            mshr_entries: cited(2),
            miss_queue: cited(2),
        };
        let slices = SliceMap::new(1, 256, NodeId(1)).unwrap();
        CachedLines::new(ReadOnlyCache::new(&config, Client::Constant, NodeId(0), slices, 1).unwrap())
    }

    #[test]
    fn a_line_serves_everyone_who_asked_for_it_in_order() {
        let mut cache = cache();
        let line = LineAddress(6);
        assert!(cache.request(line, 1000, Cycle(0)));
        assert!(!cache.request(line, 7, Cycle(0)), "one look-up a cycle");
        assert!(cache.request(line, 7, Cycle(1)));
        assert!(cache.arrived(Cycle(5)).is_none());
        let mut request = cache.outgoing(Cycle(5)).unwrap();
        assert!(cache.outgoing(Cycle(5)).is_none(), "one request for both");
        let Body::Read(tray) = &mut request.body else { panic!("a read") };
        tray.0.fill(9);
        cache.accept(request.into_reply(), Cycle(8));
        assert_eq!(cache.next_event(Cycle(8)), Cycle(8));
        let tokens = [(); 2].map(|()| cache.arrived(Cycle(8)).map(|(token, line)| (token, line.0[0])));
        assert_eq!(tokens, [Some((1000, 9)), Some((7, 9))]);
        // A hit comes after its latency and not before.
        assert!(cache.request(line, 5, Cycle(10)));
        assert_eq!(cache.next_event(Cycle(11)), Cycle(13));
        assert!(cache.arrived(Cycle(12)).is_none());
        assert_eq!(cache.arrived(Cycle(13)).map(|(token, _)| token), Some(5));
        assert_eq!(cache.next_event(Cycle(14)), Cycle::NEVER);
    }
}
