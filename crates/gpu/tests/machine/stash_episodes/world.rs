//! What every byte of the array holds, and who may touch it in a phase: programs have no races, so a plain array predicts what
//! all of them read.

use strata_engine::seed::Stream;

use super::text::{Flavour, Kind, result, stored};

/// Who touches a word in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Nobody so far.
    Free,
    /// Caches, by slots that are cut out of it.
    Cached,
    /// Anybody reads it.
    Read,
    /// A mapping, by its name.
    Taken(u32),
    /// A mapping of this CTA had it, which has been changed since: another of the CTA's may take it.
    Released(u32),
}

/// A step of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Byte of the array, or address in shared memory.
    pub at: u32,
    pub kind: Kind,
    pub value: u32,
    /// What it must find.
    pub expected: Option<u32>,
}

impl Step {
    pub const NOTHING: Step = Step { at: 0, kind: Kind::Nothing, value: 0, expected: None };
}

/// The array and its uses in the phase that is being planned.
pub struct World {
    pub x: Vec<u8>,
    pub uses: Vec<Use>,
}

impl World {
    pub fn word(&self, word: u32) -> u32 {
        let at = 4 * word as usize;
        u32::from_le_bytes(self.x[at..at + 4].try_into().expect("four bytes"))
    }

    pub fn set_word(&mut self, word: u32, value: u32) {
        self.x[4 * word as usize..][..4].copy_from_slice(&value.to_le_bytes());
    }
}

/// Aligned bytes that caches access.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    at: u32,
    log: u32,
}

/// The slots of a phase.
pub struct Slots {
    /// By CTA, or thread of a host phase: what it alone may touch.
    pub own: Vec<Vec<Slot>>,
    /// What all may read.
    read: Vec<Slot>,
    /// Words to which all may add.
    counters: Vec<Slot>,
}

impl Slots {
    /// Cuts what tiles have left into slots.
    pub fn cut(world: &mut World, agents: u32, stream: &mut Stream) -> Slots {
        let mut slots =
            Slots { own: vec![Vec::new(); agents as usize], read: Vec::new(), counters: Vec::new() };
        let end = world.x.len() as u32;
        let owners = 1 + stream.below(9);
        let mut at = 0;
        while at < end {
            let log = [2, 2, 2, 3, 4, 0, 1][stream.below(7) as usize].min((at | 16).trailing_zeros());
            // Not beyond the end, and not over words of different uses.
            let log = (0..=log)
                .rev()
                .find(|log| World::is_alike(world, at, 1 << log))
                .expect("a byte is one of a word");
            let slot = Slot { at, log };
            at += 1 << log;
            match world.uses[slot.at as usize / 4] {
                Use::Read => slots.read.push(slot),
                Use::Free | Use::Cached => match stream.below(12) {
                    choice if choice < owners => {
                        slots.own[stream.below(u64::from(agents)) as usize].push(slot);
                    }
                    11 if log == 2 => slots.counters.push(slot),
                    9.. => {}
                    _ => slots.read.push(slot),
                },
                Use::Taken(_) | Use::Released(_) => {}
            }
        }
        slots
    }

    /// A step of a thread that has these slots for itself now.
    pub fn step(&self, world: &mut World, own: &[Slot], stream: &mut Stream) -> Step {
        let flavour = [Flavour::Volatile, Flavour::PastL1, Flavour::Weak, Flavour::Weak, Flavour::Weak];
        let flavour = flavour[stream.below(5) as usize];
        let value = stream.next() as u32;
        let pick = |slots: &[Slot], stream: &mut Stream| {
            let place = stream.below(slots.len() as u64) as usize;
            slots.get(place).copied()
        };
        match stream.below(20) {
            0 if stream.below(3) == 0 => Step { kind: Kind::Fence, ..Step::NOTHING },
            1 | 2 => match pick(&self.counters, stream) {
                Some(Slot { at, .. }) => {
                    world.set_word(at / 4, world.word(at / 4).wrapping_add(value));
                    Step { at, kind: Kind::Reduce, value, expected: None }
                }
                None => Step::NOTHING,
            },
            3..=6 => match pick(&self.read, stream) {
                Some(slot) => slot.load(world, flavour),
                None => Step::NOTHING,
            },
            _ => match pick(own, stream) {
                None => Step::NOTHING,
                Some(Slot { at, log: 2 }) if stream.below(8) == 0 => {
                    let before = world.word(at / 4);
                    world.set_word(at / 4, before.wrapping_add(value));
                    Step { at, kind: Kind::Atomic, value, expected: Some(before) }
                }
                Some(slot) if stream.below(5) < 2 => slot.load(world, flavour),
                Some(slot) => slot.store(world, flavour, value),
            },
        }
    }
}

impl World {
    fn is_alike(&self, at: u32, bytes: u32) -> bool {
        let words = at as usize / 4..(at + bytes).div_ceil(4) as usize;
        words.end <= self.uses.len()
            && self.uses[words.clone()].iter().all(|other| *other == self.uses[words.start])
    }
}

impl Slot {
    fn load(self, world: &World, flavour: Flavour) -> Step {
        let bytes = &world.x[self.at as usize..][..1 << self.log];
        let mut words = [0; 4];
        for (place, byte) in bytes.iter().enumerate() {
            words[place / 4] |= u32::from(*byte) << (place % 4 * 8);
        }
        Step { at: self.at, kind: Kind::Load(flavour, self.log), value: 0, expected: Some(result(words)) }
    }

    fn store(self, world: &mut World, flavour: Flavour, value: u32) -> Step {
        let bytes = stored(value).map(u32::to_le_bytes).concat();
        let width = 1 << self.log;
        world.x[self.at as usize..][..width].copy_from_slice(&bytes[..width]);
        Step { at: self.at, kind: Kind::Store(flavour, self.log), value, expected: None }
    }
}
