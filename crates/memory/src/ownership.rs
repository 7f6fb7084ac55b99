//! Messages of coherence protocols in which words have owners: a private memory registers a word that it writes, and a
//! registry in the last-level cache knows who has which. What they do with each message is a design.

use std::fmt;

use crate::client::Client;
use crate::line::ByteMask;

/// What a message says about each of its words. Every one but the requests of a private memory names the memory that asked
/// first, the *requester*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message {
    /// Private memory to registry: send me the word.
    Read,
    /// Private memory to registry: I have written the word, register me. No data.
    Register,
    /// Private memory to registry: I have written a part of the word, register me and send me the rest.
    RegisterRead,
    /// Private memory to registry: the word's data, which I give up or no longer own.
    WriteBack,
    /// Private memory to registry: the word's data, which was recalled.
    Return,
    /// Registry or owner to requester: the word's data.
    Data,
    /// Registry or former owner to requester: you are the only owner.
    Granted,
    /// Registry to private memory: what you wrote back has arrived.
    WrittenBack,
    /// Registry to owner: send the word to the requester.
    ForwardRead,
    /// Registry to owner: the requester has written the word; give it up and tell the requester.
    ForwardRegister,
    /// Registry to owner: the requester has written a part of the word; give it up and send it to the requester.
    ForwardRegisterRead,
    /// Registry to owner: the line is evicted, or somebody works on the word in the registry: return it.
    Recall,
    /// Private memory to registry: perform a strong operation on the word where it lies. In packets, a plain read, write or
    /// atomic.
    Perform,
    /// Registry to private memory: it is performed.
    Performed,
}

impl Message {
    /// Whether it carries data.
    #[inline]
    pub const fn carries_data(self) -> bool {
        matches!(self, Message::WriteBack | Message::Return | Message::Data)
    }

    /// Whether the registry receives it.
    #[inline]
    pub const fn is_to_registry(self) -> bool {
        self.is_request() || matches!(self, Message::WriteBack | Message::Return)
    }

    /// Whether the registry may have to wait before it can do what it says. All others are always taken.
    #[inline]
    pub const fn is_request(self) -> bool {
        matches!(self, Message::Read | Message::Register | Message::RegisterRead | Message::Perform)
    }
}

/// Private memories a node may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The L1 cache.
    Cache,
    /// The stash, and the index of the stash-map entry that maps the word (feature 3 of 4.3).
    Stash {
        /// Index of the stash-map entry, below [`MAPS`].
        map: u8,
    },
}

impl Place {
    /// The client of its node's ports that it is.
    pub const fn client(self) -> Client {
        match self {
            Place::Cache => Client::L1d,
            Place::Stash { .. } => Client::Scratchpad,
        }
    }
}

/// The private memory that holds the only up-to-date copy of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// Node of the mesh, below [`NODES`].
    pub node: u8,
    /// Which of the node's memories.
    pub place: Place,
}

/// Nodes that a slot can name. The paper's mesh has 16 (Table 2).
pub const NODES: u8 = 64;
/// Stash-map entries that a slot can name (Table 2).
pub const MAPS: u8 = 64;

/// The bit of a slot that says that a stash-map index is there (4.3, "Stores").
const STASH: u32 = 1 << 6;

impl Owner {
    /// The L1 cache of a node.
    pub const fn cache(node: u8) -> Owner {
        Owner { node, place: Place::Cache }
    }

    /// The word that stands in the L2's slot instead of data: node in bits 0 to 5, a bit for a stash, map index in bits
    /// 7 to 12 (reading 2).
    pub const fn encode(self) -> u32 {
        let node = self.node as u32;
        match self.place {
            Place::Cache => node,
            Place::Stash { map } => node | STASH | (map as u32) << 7,
        }
    }

    /// The owner that a slot names; `None` if a bit is set that no owner has.
    pub const fn decode(slot: u32) -> Option<Owner> {
        let (node, map) = ((slot & 0x3f) as u8, (slot >> 7) as u8 & 0x3f);
        let place = if slot & STASH != 0 { Place::Stash { map } } else { Place::Cache };
        let owner = Owner { node, place };
        if owner.encode() == slot { Some(owner) } else { None }
    }
}

/// A message of such a protocol in a packet. The packet's `bytes` are the message's words, whole ones; its `tag` has, in
/// [`Message::Data`], the words that were asked for, bit n for word n (the others come along), in [`Message::Read`] the
/// other words that may come along, and means nothing in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// What it says of each word.
    pub message: Message,
    /// Which memory of the node it is about: to the registry the sender's, to an owner the owner's, to a requester the requester's.
    pub place: Place,
    /// Who asked first; in requests the sender.
    pub requester: Owner,
}

/// The words of a line of which a set has bytes: bit n is word n.
#[inline]
pub fn words_of(bytes: ByteMask) -> u32 {
    // Words with a byte have their lowest bit set in the end; those bits are then moved together.
    let any = bytes.0 | bytes.0 >> 1;
    let any = (any | any >> 2) & NIBBLES;
    gather(any)
}

/// The words of a line of which a set has all bytes.
#[inline]
pub fn whole_words_of(bytes: ByteMask) -> u32 {
    let all = bytes.0 & bytes.0 >> 1;
    let all = all & all >> 2 & NIBBLES;
    gather(all)
}

/// The bytes of words.
#[inline]
pub fn bytes_of(words: u32) -> ByteMask {
    ByteMask(u128::from(spread(words as u16)) | u128::from(spread((words >> 16) as u16)) << 64)
}

/// Bit 4n for each n.
const NIBBLES: u128 = u128::MAX / 15;

/// Bit 4n becomes bit n.
fn gather(nibbles: u128) -> u32 {
    let half = |mut bits: u64| {
        bits = (bits | bits >> 3) & 0x0303_0303_0303_0303;
        bits = (bits | bits >> 6) & 0x000f_000f_000f_000f;
        bits = (bits | bits >> 12) & 0x0000_00ff_0000_00ff;
        (bits | bits >> 24) as u32 & 0xffff
    };
    half(nibbles as u64) | half((nibbles >> 64) as u64) << 16
}

/// Bit n becomes bits 4n to 4n + 3.
fn spread(words: u16) -> u64 {
    let mut bits = u64::from(words);
    bits = (bits | bits << 24) & 0x0000_00ff_0000_00ff;
    bits = (bits | bits << 12) & 0x000f_000f_000f_000f;
    bits = (bits | bits << 6) & 0x0303_0303_0303_0303;
    bits = (bits | bits << 3) & 0x1111_1111_1111_1111;
    bits * 15
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Cache => write!(f, "the cache of node {}", self.node),
            Place::Stash { map } => write!(f, "map {map} of the stash of node {}", self.node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_of_a_line() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..2000 {
            bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(round);
            let bytes = ByteMask(u128::from(bits) << 64 | u128::from(bits.rotate_left(23) & bits >> 3));
            let word = |word: usize| ByteMask::range(4 * word, 4);
            let mask = |is: &dyn Fn(usize) -> bool| (0..32).filter(|w| is(*w)).fold(0, |set, w| set | 1 << w);
            assert_eq!(words_of(bytes), mask(&|w| !(bytes & word(w)).is_empty()));
            assert_eq!(whole_words_of(bytes), mask(&|w| bytes.covers(word(w))));
            let words = words_of(bytes);
            let all = (0..32).filter(|w| words >> w & 1 == 1).fold(ByteMask::NONE, |set, w| set | word(w));
            assert_eq!(bytes_of(words), all);
        }
    }

    #[test]
    fn a_slot_names_every_owner_and_nothing_else() {
        let mut slots = Vec::new();
        for node in 0..NODES {
            let stash = (0..MAPS).map(|map| Place::Stash { map });
            for place in stash.chain([Place::Cache]) {
                let owner = Owner { node, place };
                assert_eq!(Owner::decode(owner.encode()), Some(owner));
                slots.push(owner.encode());
            }
        }
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), 64 * 65, "no two owners share a slot");
        assert_eq!(Owner { node: 5, place: Place::Stash { map: 9 } }.encode(), 5 + 64 + 9 * 128);
        assert_eq!(Owner::decode(1 << 13), None, "a bit that no owner has");
        assert_eq!(Owner::decode(1 << 7), None, "a map index without a stash");
    }
}
