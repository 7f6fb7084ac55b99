//! The state of the machine that is checked: private memories, the L2, memory and messages on their way.

use super::super::Message;
use super::super::Owner;
use super::super::registry::Line;
use super::super::word::{Flight, State};

/// Words of the one line.
pub const WORDS: usize = 2;
/// Most private memories.
pub const UNITS: usize = 3;
/// Messages that a memory can have set aside: one of each other memory and word, or a recall.
pub const ASIDE: usize = 4;
/// The writer of a word, parts of which everybody may write, or on which everybody may work at the registry.
pub const ALL: u8 = UNITS as u8;
/// The registry's number among those who send messages; private memories have the numbers below.
pub const REGISTRY: u8 = UNITS as u8;

/// What a copy of a word is worth. A store makes its own copy fresh and all others stale, so that programs of any length
/// have finitely many states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// There is no copy here.
    #[default]
    None,
    /// Somebody has written the word since.
    Stale,
    /// The last value written, in the order of phases.
    Fresh,
    /// Not the word's value but its owner (a planted bug sends it).
    Name,
}

/// A word of a private memory's storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Copy {
    /// State.
    pub state: State,
    /// What it is worth.
    pub value: Value,
    /// Written under a non-coherent mapping: to the protocol it is invalid.
    pub local: bool,
}

/// A private memory: a cache, or one mapping of a stash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The storage.
    pub slots: [Copy; WORDS],
    /// What is under way, by word.
    pub flights: [Flight; WORDS],
    /// The writeback buffer, by word.
    pub buffers: [Value; WORDS],
    /// The mapping: slot 0 has word 1 and slot 1 has word 0.
    pub swapped: bool,
    /// The mapping is non-coherent.
    pub local: bool,
    /// Strong operations that are not answered, by word.
    pub performing: [bool; WORDS],
    /// Messages set aside until data come, in order of arrival: their words and senders.
    pub aside: [Option<Letter>; ASIDE],
    /// The core has come to the end of its phase.
    pub arrived: bool,
}

impl Unit {
    /// The slot of a word, and the word of a slot.
    pub fn slot(&self, word: usize) -> usize {
        word ^ usize::from(self.swapped)
    }

    /// The word's copy.
    pub fn copy(&mut self, word: usize) -> &mut Copy {
        let slot = self.slot(word);
        &mut self.slots[slot]
    }

    /// The word's state, as the protocol sees it.
    pub fn state(&self, word: usize) -> State {
        self.slots[self.slot(word)].state
    }
}

/// A slot of the L2's data array, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bits {
    /// Data.
    Data(Value),
    /// An encoded owner.
    Owner(u32),
}

/// A message about one word, on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter {
    /// Who sent it.
    pub from: u8,
    /// Who receives it.
    pub to: u8,
    /// What it says.
    pub message: Message,
    /// The word.
    pub word: u8,
    /// The private memory that asked first.
    pub requester: u8,
    /// The word's data.
    pub value: Value,
    /// The line's other word, if it came along.
    pub extra: Value,
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// Private memories.
    pub units: [Unit; UNITS],
    /// The L2's line.
    pub line: Line,
    /// Its slots.
    pub slots: [Bits; WORDS],
    /// The word that is recalled for a strong operation.
    pub recalled: u8,
    /// Requests that the L2 has put off, in order of arrival.
    pub deferred: Vec<Letter>,
    /// Memory below the L2.
    pub memory: [Value; WORDS],
    /// Messages on their way, in the order that the network keeps.
    pub mail: Vec<Letter>,
    /// Who may write a word in this phase, and then alone may read it; if nobody, all may read.
    pub writers: [Option<u8>; WORDS],
    /// What went wrong.
    pub fault: Option<Fault>,
}

/// What can go wrong in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A load returns something else than the last value.
    WrongValue,
    /// A private memory receives what its table has no line for.
    PrivateMemory(State, Flight, Message),
    /// The registry receives what its table has no line for.
    Registry(Line, Message),
    /// The registry names an owner that there is not.
    NoSuchOwner,
    /// More messages are set aside than there can be.
    TooManyAside,
}

impl World {
    /// The beginning: nothing is cached.
    pub fn new() -> World {
        World {
            units: [Unit::default(); UNITS],
            line: Line::Absent,
            slots: [Bits::Data(Value::None); WORDS],
            recalled: 0,
            deferred: Vec::new(),
            memory: [Value::Fresh; WORDS],
            mail: Vec::new(),
            writers: [None; WORDS],
            fault: None,
        }
    }

    /// A word has been written: every copy is stale.
    pub fn written(&mut self, word: usize) {
        let age = |value: &mut Value| {
            if *value == Value::Fresh {
                *value = Value::Stale;
            }
        };
        for unit in &mut self.units {
            let copy = unit.copy(word);
            if !copy.local {
                age(&mut copy.value);
            }
            age(&mut unit.buffers[word]);
        }
        if let Bits::Data(value) = &mut self.slots[word] {
            age(value);
        }
        age(&mut self.memory[word]);
        for letter in self.mail.iter_mut().chain(&mut self.deferred) {
            age(if usize::from(letter.word) == word { &mut letter.value } else { &mut letter.extra });
        }
    }

    /// Whether a memory has something under way.
    pub fn is_in_flight(&self) -> bool {
        self.units
            .iter()
            .any(|unit| unit.flights != [Flight::None; WORDS] || unit.performing != [false; WORDS])
    }

    /// Whether nothing moves.
    pub fn is_quiet(&self) -> bool {
        let settled = matches!(self.line, Line::Absent | Line::Present);
        settled && self.mail.is_empty() && self.deferred.is_empty() && !self.is_in_flight()
    }

    /// The owner that a slot names, in a line that is here.
    pub fn owner(&self, word: usize) -> Option<Owner> {
        match (self.line, self.slots[word]) {
            (Line::Present | Line::Evicting | Line::Recalling, Bits::Owner(bits)) => Owner::decode(bits),
            _ => None,
        }
    }
}
