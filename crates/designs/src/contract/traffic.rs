//! Random accesses without races, and the values that they must return.

use strata_engine::seed::Stream;
use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType};
use strata_memory::doors::{Access, Action, Policy};
use strata_memory::{ByteMask, Line, LineAddress};

use super::Contract;

/// Who may access the bytes of a line in an episode.
#[derive(Clone, Default)]
struct Owners {
    /// Bytes that each L1D reads and writes.
    own: Vec<ByteMask>,
    /// Bytes that everybody reads.
    read_only: ByteMask,
    /// Bytes that everybody adds to.
    counters: ByteMask,
}

pub(super) struct Traffic {
    contract: Contract,
    stream: Stream,
    owners: Vec<Owners>,
    /// The line that each L1D used last: half of its accesses stay there.
    last: Vec<u64>,
}

impl Traffic {
    pub fn new(contract: Contract) -> Traffic {
        let stream = Stream::new(contract.seed, "contract traffic");
        let mut traffic = Traffic { contract, stream, owners: Vec::new(), last: vec![0; contract.l1ds] };
        traffic.new_episode();
        traffic
    }

    /// Assigns the bytes to new owners.
    pub fn new_episode(&mut self) {
        let l1ds = self.contract.l1ds;
        self.owners = (0..self.contract.lines)
            .map(|_| {
                let mut owners = Owners { own: vec![ByteMask::NONE; l1ds], ..Owners::default() };
                let mut start = 0;
                while start < 128 {
                    // Words are the unit of counters; everything else is shared byte by byte.
                    let word = ByteMask::range(start, 4);
                    match self.stream.below(10) {
                        _ if l1ds == 1 => owners.own[0] |= word,
                        0 => owners.counters |= word,
                        1 | 2 => owners.read_only |= word,
                        3..=5 => owners.own[self.stream.below(l1ds as u64) as usize] |= word,
                        _ => (start..start + 4).for_each(|byte| {
                            owners.own[self.stream.below(l1ds as u64) as usize] |= ByteMask::range(byte, 1);
                        }),
                    }
                    start += 4;
                }
                owners
            })
            .collect();
    }

    /// The bytes of a line that only `l1d` writes.
    pub fn own(&self, l1d: usize, line: usize) -> ByteMask {
        self.owners[line].own[l1d]
    }

    /// Whether the old values of an atomic are known: nobody else adds there.
    pub fn is_exact(&self) -> bool {
        self.contract.l1ds == 1
    }

    /// The next access of an L1D.
    pub fn next(&mut self, l1d: usize, token: u32) -> Access {
        if self.stream.below(2) == 0 {
            self.last[l1d] = self.stream.below(self.contract.lines);
        }
        let line = self.last[l1d];
        let policy =
            if self.stream.below(100) < self.contract.special { Policy::Bypass } else { Policy::Cached };
        let piece = self.piece();
        let owners = &self.owners[line as usize];
        let own = owners.own[l1d] & piece;
        let counters = if self.contract.l1ds == 1 { piece } else { owners.counters & piece };
        let atomic = self.stream.below(100) < self.contract.special;
        let store = self.stream.below(100) < 45;
        let (bytes, action) = if atomic && !counters.is_empty() {
            let (bytes, batch) = self.batch(counters);
            (bytes, Action::Atomic(Box::new(batch)))
        } else if store && !own.is_empty() {
            let tray = Line(std::array::from_fn(|_| self.stream.next() as u8));
            (self.some(own), Action::Store(Box::new(tray)))
        } else {
            let readable = own | owners.read_only & piece;
            if readable.is_empty() {
                return self.next(l1d, token);
            }
            (self.some(readable), Action::Load(Box::new(Line([0xcd; 128]))))
        };
        let (pc, warp) = (self.stream.below(8) as u32 * 4, self.stream.below(48) as u8);
        Access { line: LineAddress(line), bytes, action, policy, token, pc, warp, leads: true }
    }

    /// Where in its line an access lies.
    fn piece(&mut self) -> ByteMask {
        let bytes = self.contract.access_bytes;
        let pieces = 128 / bytes;
        let piece = if pieces == 1 { 0 } else { self.stream.below(pieces as u64) as usize };
        ByteMask::range(piece * bytes, bytes)
    }

    /// Some bytes of a set that is not empty: all, a piece, or a scatter.
    fn some(&mut self, set: ByteMask) -> ByteMask {
        for _ in 0..16 {
            let start = self.stream.below(32) as usize * 4;
            let some = match self.stream.below(4) {
                0 => set,
                1 => set & ByteMask::range(start, 4),
                2 => set & ByteMask::range(start, 32.min(128 - start)),
                _ => set & ByteMask(u128::from(self.stream.next()) << 64 | u128::from(self.stream.next())),
            };
            if !some.is_empty() {
                return some;
            }
        }
        set
    }

    fn batch(&mut self, words: ByteMask) -> (ByteMask, AtomicBatch) {
        let op = if self.is_exact() && self.stream.below(3) == 0 { AtomicOp::Exch } else { AtomicOp::Add };
        let mut batch = AtomicBatch::empty(op, AtomicType::U32);
        batch.returns = self.stream.below(2) == 0;
        let mut bytes = ByteMask::NONE;
        let count = 1 + self.stream.below(6);
        while u64::from(batch.count) < count {
            let at = self.stream.below(32) as usize * 4;
            if words.covers(ByteMask::range(at, 4)) {
                let entry = usize::from(batch.count);
                batch.lane[entry] = entry as u8;
                batch.offset[entry] = at as u8;
                batch.a[entry] = self.stream.next() & 0xffff;
                batch.count += 1;
                bytes |= ByteMask::range(at, 4);
            }
        }
        (bytes, batch)
    }
}
