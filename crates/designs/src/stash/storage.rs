//! Stash storage: words, the state of each, and what each chunk needs for its writeback (4.1.1, 4.2, 4.4).

use crate::denovo::State;

/// The state of a word. DeNovo has three; a fourth says that a registered word is to be written back before its place is used by
/// another mapping, so that no chunk needs a writeback bit (4.4). These are the paper's two bits. Words that come along (reading 12)
/// bring two more states, and so a third bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bits {
    /// Nothing is here.
    #[default]
    Invalid,
    /// Nothing is here yet: the word shall come along with another that was asked for.
    Expected,
    /// A copy.
    Valid,
    /// A copy that no load has taken yet.
    Unread,
    /// The only copy; under a non-coherent mapping, a word written.
    Registered,
    /// Registered, by a mapping whose thread block has ended.
    Leaving,
}

impl Bits {
    /// How many bits tell the states apart.
    pub const fn width(takes_along: bool) -> u64 {
        if takes_along { 3 } else { 2 }
    }

    /// The state to the protocol.
    pub const fn state(self) -> State {
        match self {
            Bits::Invalid | Bits::Expected => State::Invalid,
            Bits::Valid | Bits::Unread => State::Valid,
            Bits::Registered | Bits::Leaving => State::Registered,
        }
    }
}

/// What is kept for a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The stash-map entry under which its words were registered; six bits.
    pub map: u8,
    /// Whether `map` is that of the running thread block.
    pub dirty: bool,
}

/// The arrays.
#[derive(Debug)]
pub struct Storage {
    /// Data.
    pub words: Vec<u32>,
    /// State bits, by word.
    pub bits: Vec<Bits>,
    /// By chunk.
    pub chunks: Vec<Chunk>,
    /// Words of a chunk.
    pub chunk_words: usize,
}

impl Storage {
    /// An empty stash.
    pub fn new(words: usize, chunk_words: usize) -> Storage {
        Storage {
            words: vec![0; words],
            bits: vec![Bits::Invalid; words],
            chunks: vec![Chunk::default(); words / chunk_words],
            chunk_words,
        }
    }

    /// The words of a chunk.
    pub fn of_chunk(&self, chunk: usize) -> std::ops::Range<usize> {
        chunk * self.chunk_words..(chunk + 1) * self.chunk_words
    }

    /// The chunk's writeback bit: some word of it is leaving.
    pub fn is_leaving(&self, chunk: usize) -> bool {
        self.bits[self.of_chunk(chunk)].contains(&Bits::Leaving)
    }
}
