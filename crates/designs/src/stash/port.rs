//! What goes in and out of a stash.

use strata_warp::{LaneMask, WARP_LANES};

use super::error::{MappingError, Why};
use crate::denovo::{Message, Owner};

/// Words of a line of memory.
pub const LINE_WORDS: u64 = 32;

/// An access of a warp's lanes, a word each.
#[derive(Clone, Debug)]
pub struct Access {
    /// The core's name for it.
    pub token: u32,
    /// The CTA's slot on the CU.
    pub cta: u8,
    /// Index into the CTA's row of the map index table; `None` in the modes without a mapping.
    pub map: Option<u8>,
    /// Whether it stores.
    pub is_store: bool,
    /// The lanes.
    pub lanes: LaneMask,
    /// Addresses in the stash in bytes, by lane; multiples of 4.
    pub addresses: [u32; WARP_LANES],
    /// Words to store, or loaded, by lane.
    pub words: [u32; WARP_LANES],
}

/// Why something is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal<E> {
    /// It waits for something under way: offer it again later. What it waits for has begun.
    Busy,
    /// It can never be.
    Wrong(E),
}

/// Why an access is not taken.
pub type AccessRefusal = Refusal<Why>;
/// Why a mapping is not taken.
pub type MappingRefusal = Refusal<MappingError>;

/// Who receives a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// The line's bank of the L2.
    Registry,
    /// A private memory.
    Memory(Owner),
}

/// A message about words of a line of physical memory.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What it says.
    pub message: Message,
    /// Who receives it.
    pub to: Receiver,
    /// The private memory that it is about: to the registry the sender, to an owner that owner, in replies the requester.
    pub owner: Owner,
    /// Who asked first. The same as `owner` except in what is forwarded.
    pub requester: Owner,
    /// Number of the line.
    pub line: u64,
    /// Its words.
    pub words: u32,
    /// Other words of the line: in a read those that would be taken along, in data those that came along.
    pub along: u32,
    /// Data of both, if the message carries data.
    pub data: [u32; LINE_WORDS as usize],
}

impl Packet {
    /// Physical addresses of the words, and their data.
    pub fn each(&self) -> impl Iterator<Item = (u64, u32)> + use<> {
        self.each_of(self.words)
    }

    /// Physical addresses of the words along, and their data.
    pub fn each_along(&self) -> impl Iterator<Item = (u64, u32)> + use<> {
        self.each_of(self.along)
    }

    fn each_of(&self, words: u32) -> impl Iterator<Item = (u64, u32)> + use<> {
        let (line, data) = (self.line, self.data);
        (0..LINE_WORDS)
            .filter(move |word| words & 1 << word != 0)
            .map(move |word| ((line * LINE_WORDS + word) * 4, data[word as usize]))
    }
}

/// Physical pages of virtual ones.
pub trait Pages {
    /// The physical page; `None` if the virtual page is not mapped.
    fn physical(&self, virtual_page: u64) -> Option<u64>;
}

impl<F: Fn(u64) -> Option<u64>> Pages for F {
    fn physical(&self, virtual_page: u64) -> Option<u64> {
        self(virtual_page)
    }
}
