//! Registers that are read where nothing has written them: what they hold is undefined (PTX ISA, "Register State
//! Space").

use std::collections::VecDeque;

use super::body::{Body, copy, definitions};
use super::cfg::{BlockId, Cfg};
use super::occurrences::{Kind, Occurrence, Occurrences, Region, mark};
use super::simplify::needed;
use crate::ir::{Function, VReg};
use crate::isa::Ty;
use crate::program::Undefined;

/// Finds the reads of a function's named registers that a path reaches without a write: for each register the first in the
/// text, or the first certain one if there is any.
///
/// Two kinds are left out. A result that nobody needs has no effect, whatever it was computed from. A plain copy of
/// an undefined register is no fault yet: compilers write them where paths meet. Its destination counts as unwritten; a
/// certain read of that is reported as the copy's.
pub fn find(function: &Function, body: &Body) -> Vec<Undefined> {
    let cfg = Cfg::new(body);
    let mut search = Search::new(body, &cfg);
    let reads = search.reads(&function.names);
    let mut found: Vec<Undefined> = reads
        .into_iter()
        .filter_map(|read| {
            // A copy may go to a register of the front end's own, which has no name.
            let name = function.names.binary_search_by_key(&read.register, |(register, _)| *register);
            let register = function.names[name.ok()?].1.clone();
            Some(Undefined { register, line: body.code[read.at as usize].line, always: read.always })
        })
        .collect();
    found.sort_by(|a, b| (&a.register, !a.always, a.line).cmp(&(&b.register, !b.always, b.line)));
    found.dedup_by(|next, first| next.register == first.register);
    found.sort_by_key(|read| read.line);
    found
}

/// Copies of undefined registers that are followed, and how far back: each is looked for at every read.
const MOST_COPIES: usize = 256;
const MOST_BACK: usize = 16;

/// Guarded writes that are remembered, the last ones.
const MOST_GUARDS: usize = 8;

/// Uncertain reads that are looked at twice: each takes time that grows with the kernel.
const MOST_FIRST: usize = 256;

/// A read without a value, by instruction.
#[derive(Clone, Copy, Debug)]
struct Read {
    register: VReg,
    at: u32,
    always: bool,
}

/// A copy of a register without a value.
#[derive(Clone, Debug)]
struct UndefinedCopy {
    read: Read,
    to: VReg,
}

/// The search through one body, register by register.
struct Search<'a> {
    body: &'a Body,
    cfg: &'a Cfg,
    occurrences: Occurrences,
    region: Region<'a>,
    reached: Vec<bool>,
    needed: Vec<bool>,
    /// For each predicate, the instructions that write it.
    predicates: Vec<Vec<u32>>,
    /// Whether the kernel has more live values than are followed; the compilation refuses it.
    is_too_large: bool,
    /// Copies of undefined values: they write nothing.
    copies: Vec<UndefinedCopy>,
    /// For each instruction, whether it is one of them.
    is_copy: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(body: &'a Body, cfg: &'a Cfg) -> Search<'a> {
        let mut reached = vec![false; cfg.blocks.len()];
        cfg.order.iter().for_each(|block| reached[block.index()] = true);
        Search {
            body,
            cfg,
            occurrences: Occurrences::new(body),
            region: Region::new(cfg),
            reached,
            needed: needed(body),
            predicates: predicate_writes(body),
            is_too_large: false,
            copies: Vec::new(),
            is_copy: vec![false; body.code.len()],
        }
    }

    fn reads(&mut self, names: &[(VReg, String)]) -> Vec<Read> {
        let mut found: Vec<Read> = Vec::new();
        let mut is_searched = vec![false; self.body.registers.len()];
        let mut work: Vec<VReg> = names.iter().map(|(register, _)| *register).collect();
        while let Some(register) = work.pop().filter(|_| !self.is_too_large) {
            if std::mem::replace(&mut is_searched[register.0 as usize], true) {
                found.retain(|other| other.register != register);
            }
            for read in self.of(register) {
                let copied = copy(self.body, &self.body.code[read.at as usize]).filter(|_| read.always);
                let Some((to, _)) = copied else {
                    found.push(read);
                    continue;
                };
                if self.copies.len() < MOST_COPIES
                    && !std::mem::replace(&mut self.is_copy[read.at as usize], true)
                {
                    self.copies.push(UndefinedCopy { read, to });
                    if !work.contains(&to) {
                        work.push(to);
                    }
                }
            }
        }
        for read in found.iter_mut().filter(|read| !read.always).take(MOST_FIRST) {
            read.always = self.is_first(*read);
        }
        for read in found.iter_mut().filter(|read| read.always) {
            *read = self.origin(*read);
        }
        found
    }

    /// The copy by which a register came to have no value, if that is how.
    fn origin(&self, mut read: Read) -> Read {
        for _ in 0..MOST_BACK {
            match self.copies.iter().find(|copy| copy.to == read.register) {
                Some(copy) => read = copy.read,
                None => break,
            }
        }
        read
    }

    /// Whether no write comes before a read when a lane is there for the first time, as when a loop adds to a sum that
    /// nothing has set.
    fn is_first(&mut self, read: Read) -> bool {
        let home = self.cfg.block_of[read.at as usize];
        let occurrences = self.occurrences.of(read.register.0 as usize);
        let mut writes = vec![false; self.cfg.blocks.len()];
        for occurrence in occurrences.iter().filter(|occurrence| occurrence.kind != Kind::Read) {
            let block = self.cfg.block_of[occurrence.at as usize];
            if block != home {
                writes[block.index()] = true;
            } else if occurrence.at < read.at {
                return false;
            }
        }
        // Blocks that a lane may pass before it is there, and of these the ones from which it may come.
        let ahead = self.flood(&[BlockId(0)], home, |block| &self.cfg.block(block).successors);
        let before = &self.cfg.block(home).predecessors;
        let back = self.flood(before, home, |block| &self.cfg.block(block).predecessors);
        let may_come = ahead.iter().zip(back).map(|(ahead, back)| *ahead && back);
        !may_come.zip(writes).any(|(comes, writes)| comes && writes)
    }

    /// The blocks that those of `from` reach without passing `wall`.
    fn flood(&self, from: &[BlockId], wall: BlockId, next: impl Fn(BlockId) -> &'a [BlockId]) -> Vec<bool> {
        let mut seen = vec![false; self.cfg.blocks.len()];
        let mut work = Vec::new();
        let mut reach = |block: BlockId, work: &mut Vec<BlockId>| {
            if block != wall && !std::mem::replace(&mut seen[block.index()], true) {
                work.push(block);
            }
        };
        from.iter().for_each(|block| reach(*block, &mut work));
        while let Some(block) = work.pop() {
            next(block).iter().for_each(|other| reach(*other, &mut work));
        }
        seen
    }

    /// The reads of one register that a path reaches without a write.
    fn of(&mut self, register: VReg) -> Vec<Read> {
        let all = self.occurrences.of(register.0 as usize);
        let is_copy =
            |occurrence: &Occurrence| occurrence.kind != Kind::Read && self.is_copy[occurrence.at as usize];
        let occurrences: Vec<Occurrence> =
            all.iter().copied().filter(|occurrence| !is_copy(occurrence)).collect();
        if self.is_local(&occurrences) {
            return Vec::new();
        }
        self.is_too_large = self.region.turn_to(&occurrences).is_err();
        if self.is_too_large {
            return Vec::new();
        }
        self.enter_without_value();
        let mut found = Vec::new();
        let (mut within, mut is_written, mut is_open) = (None, false, false);
        let mut guards = Guards::default();
        for occurrence in &occurrences {
            let block = self.cfg.block_of[occurrence.at as usize];
            if within != Some(block) {
                within = Some(block);
                is_written = self.region.has(block, mark::ENTERS);
                is_open = self.region.has(block, mark::LIVE_IN);
                guards = Guards::default();
            }
            match occurrence.kind {
                Kind::Write => (is_written, is_open) = (true, false),
                Kind::Merge => {
                    is_written = true;
                    guards.write(self.body, occurrence.at);
                }
                Kind::Read if !is_open || !self.needed[occurrence.at as usize] => {}
                Kind::Read if guards.cover(self.body, &self.predicates, occurrence.at) => {}
                Kind::Read => found.push(Read { register, at: occurrence.at, always: !is_written }),
            }
        }
        found
    }

    /// Whether a register's first occurrence writes it, in the block of all others.
    fn is_local(&self, occurrences: &[Occurrence]) -> bool {
        let (Some(first), Some(last)) = (occurrences.first(), occurrences.last()) else { return true };
        first.kind == Kind::Write
            && self.cfg.block_of[first.at as usize] == self.cfg.block_of[last.at as usize]
    }

    /// Marks the blocks that a path from the entry reaches without an unguarded write and where the value may be wanted.
    fn enter_without_value(&mut self) {
        let entry = BlockId(0);
        let mut work = Vec::new();
        if self.region.has(entry, mark::WANTED) && self.region.set(entry, mark::LIVE_IN) {
            work.push(entry);
        }
        while let Some(block) = work.pop() {
            if self.region.has(block, mark::OVERWRITES) {
                continue;
            }
            for &after in &self.cfg.block(block).successors {
                if self.reached[after.index()]
                    && self.region.has(after, mark::WANTED)
                    && self.region.set(after, mark::LIVE_IN)
                {
                    work.push(after);
                }
            }
        }
    }
}

/// For each predicate, the instructions that write it, ascending; nothing for other registers.
fn predicate_writes(body: &Body) -> Vec<Vec<u32>> {
    let mut writes = vec![Vec::new(); body.registers.len()];
    for (at, inst) in body.code.iter().enumerate() {
        for reg in definitions(inst).filter(|reg| body.ty(*reg) == Ty::Pred) {
            writes[reg.0 as usize].push(at as u32);
        }
    }
    writes
}

/// The last guards under which a block has written the register at hand.
#[derive(Debug, Default)]
struct Guards(VecDeque<(u32, VReg, bool)>);

impl Guards {
    /// The instruction writes under its guard.
    fn write(&mut self, body: &Body, at: u32) {
        if let Some((guard, negated)) = body.code[at as usize].guard {
            self.0.truncate(MOST_GUARDS - 1);
            self.0.push_front((at, guard, negated));
        }
    }

    /// Whether a value is there in all lanes that an instruction lets through: it was written under the same guard,
    /// or under both senses of another.
    fn cover(&self, body: &Body, predicates: &[Vec<u32>], at: u32) -> bool {
        let is_kept = |from: u32, guard: VReg| {
            let writes = &predicates[guard.0 as usize];
            writes.get(writes.partition_point(|write| *write < from)).is_none_or(|write| *write >= at)
        };
        let own = body.code[at as usize].guard;
        self.0.iter().any(|&(from, guard, negated)| {
            is_kept(from, guard)
                && (own == Some((guard, negated))
                    || self.0.iter().any(|&(other, same, sense)| {
                        same == guard && sense != negated && is_kept(other, guard)
                    }))
        })
    }
}
