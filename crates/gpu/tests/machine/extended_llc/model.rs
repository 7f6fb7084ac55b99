//! What a set of the extended LLC is said to do, in plain words: the model that the kernel is held against.

use strata_gpu::extended_llc::{atomic_kind, result};
use strata_memory::atomic::{AtomicOp, AtomicType, apply};

/// The bytes of a block.
pub type Bytes = [u8; 128];

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Read,
    /// The bytes whose bit is set.
    Write(u128),
    Insert {
        dirty: bool,
    },
    /// The words whose bit is set.
    Atomic(AtomicOp, AtomicType, u32),
    Flush,
}

/// A request to a set.
#[derive(Clone, Debug)]
pub struct Request {
    pub action: Action,
    /// Block of the buffer.
    pub block: usize,
    pub payload: Bytes,
    pub swap: Bytes,
}

/// What comes back: the result, and the payload where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub result: u32,
    pub payload: Option<Bytes>,
}

/// A block in a set.
struct Held {
    block: usize,
    bytes: Bytes,
    dirty: bool,
}

/// A set: its blocks, the one used last behind all others.
pub struct Set {
    ways: usize,
    held: Vec<Held>,
    /// Whether the L1D keeps it: memory is as if there were no set, and hits cannot be told.
    through: bool,
}

impl Set {
    /// An empty set of so many blocks.
    pub fn new(ways: usize) -> Set {
        Set { ways, held: Vec::new(), through: false }
    }

    /// A set that the L1D keeps.
    pub fn through() -> Set {
        Set { ways: 1, held: Vec::new(), through: true }
    }

    /// Serves a request over a memory of blocks.
    pub fn serve(&mut self, request: &Request, memory: &mut [Bytes]) -> Answer {
        let done = |result| Answer { result, payload: None };
        match request.action {
            Action::Flush => {
                self.flush(memory);
                return done(result::HIT);
            }
            Action::Atomic(op, ty, _) if atomic_kind(op, ty).is_none() => {
                // The block is there afterwards all the same.
                self.bring(request.block, None, memory);
                return done(result::REFUSED);
            }
            // Clean bytes are memory's own; the L1D loads them itself.
            Action::Insert { dirty: false } if self.through => return done(result::HIT),
            _ => {}
        }
        let inserted = matches!(request.action, Action::Insert { .. }).then_some(request.payload);
        let was_there = self.bring(request.block, inserted, memory);
        let held = self.held.last_mut().expect("the block was brought");
        let payload = match request.action {
            Action::Read => Some(held.bytes),
            Action::Write(enables) => {
                for (at, byte) in request.payload.iter().enumerate().filter(|(at, _)| enables >> at & 1 == 1)
                {
                    held.bytes[at] = *byte;
                }
                held.dirty = true;
                None
            }
            Action::Insert { dirty } => {
                held.bytes = request.payload;
                held.dirty |= dirty;
                None
            }
            Action::Atomic(op, ty, words) => {
                let old = held.bytes;
                change(&mut held.bytes, request, (op, ty), words);
                held.dirty = true;
                Some(old)
            }
            Action::Flush => unreachable!("served above"),
        };
        if self.through {
            self.flush(memory);
            self.held.clear();
        }
        let result = if was_there || self.through { result::HIT } else { result::MISSED };
        Answer { result, payload }
    }

    /// Makes a block the one used last, from memory unless its bytes are given; whether it was there.
    fn bring(&mut self, block: usize, bytes: Option<Bytes>, memory: &mut [Bytes]) -> bool {
        if let Some(at) = self.held.iter().position(|held| held.block == block) {
            let held = self.held.remove(at);
            self.held.push(held);
            return true;
        }
        if self.held.len() == self.ways {
            let victim = self.held.remove(0);
            if victim.dirty {
                memory[victim.block] = victim.bytes;
            }
        }
        self.held.push(Held { block, bytes: bytes.unwrap_or(memory[block]), dirty: false });
        false
    }

    fn flush(&mut self, memory: &mut [Bytes]) {
        for held in self.held.iter_mut().filter(|held| held.dirty) {
            memory[held.block] = held.bytes;
            held.dirty = false;
        }
    }
}

/// An atomic on some words of a block.
fn change(bytes: &mut Bytes, request: &Request, (op, ty): (AtomicOp, AtomicType), words: u32) {
    let size = ty.bytes();
    let value = |bytes: &Bytes, at: usize| {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(&bytes[at..at + size]);
        u64::from_le_bytes(wide)
    };
    for at in (0..128).step_by(size).filter(|at| words >> (at / 4) & 1 == 1) {
        let (a, b) = (value(&request.payload, at), value(&request.swap, at));
        let new = apply(op, ty, value(bytes, at), a, b);
        bytes[at..at + size].copy_from_slice(&new.to_le_bytes()[..size]);
    }
}
