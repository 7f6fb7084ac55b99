//! Stash storage: words, two state bits a word, and what each chunk needs for its writeback (4.1.1, 4.2, 4.4).

use crate::denovo::State;

/// What the two bits of a word say. DeNovo has three states; the fourth code says that a registered word is to be written
/// back before its place is used by another mapping, so that no chunk needs a writeback bit (4.4). `Unread` needs a bit of its own,
/// which the paper does not have (reading 12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bits {
    /// Nothing is here.
    #[default]
    Invalid,
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
    /// The state to the protocol.
    pub const fn state(self) -> State {
        match self {
            Bits::Invalid => State::Invalid,
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
