//! DeNovo with words that a stash may own: the coherence protocol of the Stash paper (Komuravelli, Sinclair, Alsop, Huzaifa,
//! Kotsifakou, Srivastava, S. Adve, V. Adve, "Stash: Have Your Scratchpad and Cache It Too", ISCA 2015, section 4.3), as
//! tables. DeNovo itself: Choi et al., PACT 2011, in its form with tags by line and states by word, without regions.
//!
//! | paper | file |
//! |---|---|
//! | 4.3, three states; "Stores", "Self-invalidations" | `word.rs` |
//! | 4.3, the LLC as registry | `registry.rs` |
//! | 4.3, feature 3 and "Stores": what a slot of the LLC's data array says; "Remote requests" | `strata_memory::ownership` |
//!
//! A private memory is an L1 cache, or one mapping of a stash. It keeps a state for every word that it holds, and in its
//! MSHRs and its writeback buffer what it has under way. The registry keeps a slot for every word of a line in the L2: the
//! word's data, or its owner. Both tables are about a single word; a message about a line's words is one message for each of
//! them.
//!
//! Programs have no data races: in a phase, which ends with a synchronisation of all cores, one private memory alone touches
//! a word that is written. (4.3: cache and stash of a core do not conflict within a kernel.) The network delivers what one
//! private memory or the registry sends to another in the order sent.
//!
//! Readings, where the paper is silent:
//!
//! 1. A private memory ends its phase when the data of its reads and the grants of its registrations have come; writebacks
//!    may still be under way. Then it self-invalidates.
//! 2. A slot names 64 nodes and 64 stash-map entries: node in bits 0 to 5, bit 6 for a stash, map index in bits 7 to 12.
//! 3. "No transient states": a word's state changes at once when its core stores to it, and other memories are answered at
//!    once whatever is under way. Its own core waits: a word has one thing under way at a time, and a load or store that
//!    needs another waits for it. A line or chunk with a read or a registration under way is not replaced.
//! 4. The registry does not answer a registration of a word that another memory owns. It forwards it, and the former
//!    owner, which may be asked anything until then, gives the word up and grants it. (If the registry granted at once, the
//!    former owner could read its old word in the next phase.)
//! 5. Evicting an L2 line recalls its registered words. Their owners keep no copy: a recall may come
//!    after the owner has self-invalidated, and the copy would last into the next phase. Requests that come
//!    meanwhile, or while the line is fetched, are put off at the registry in order of arrival; nobody is told to retry.
//! 6. A writeback stays in its memory's buffer until the registry has answered, and the buffer answers what is
//!    forwarded meanwhile. A recall that meets a writeback gets no other answer. The registry drops writebacks of former
//!    owners, and answers them.
//! 7. The registry sends along the data that it has of the other words that the request has named: a cache names the rest of its
//!    line, which may be half of a line of the L2, a stash what its mapping has of that. An owner sends nothing
//!    along: its answer may come after the requester has written the other word and lost it to a recall. A word that comes
//!    along is taken if it is invalid with nothing under way.
//! 8. A store of a part of a word registers the word and asks for the rest at once (`RegisterRead`): registry or former
//!    owner answer with the data. Until they come, what is asked of the new owner is set aside there. So programs may write different bytes
//!    of a word from different cores, as GPU programs do, though footnote 5 has bytes of a word accessed by one CU at a time.
//! 9. What was written under a non-coherent mapping is invalid to the protocol. Making the mapping coherent is a store to each
//!    of these words; making it non-coherent writes registered words back and keeps them as copies. At a
//!    synchronisation such words are dropped.
//!
//! 10. Strong operations (atomics, and loads and stores that programs want performed for all: volatile and the like) are performed at the
//!     registry (4.3: "typically resolved at the shared cache"), on words that have no owner: the registry recalls
//!     the words that have one first, and requests to the line wait meanwhile. The requester drops its own
//!     copy of the words, or writes them back, before.
//! 11. Requests travel in a network of their own, where they may have to wait. What the registry says travels in a second, and what owners
//!     say of their words (data, grants, writebacks) in a third; these are always taken. Messages in different networks overtake each
//!     other.
//! 12. A strong operation leaves only when no read or registration of its line is under way: the answer to an earlier read might bring
//!     an old word along.
//! 13. An L1 cache's registrations wait for others of their line, as in DeNovo with write combining (Choi et al.): until their time is up, the
//!     table is full, or an access or a flush has to wait. To the protocol they are under way from the store on.
//!
//! A model checker (`tests/`) visits every state that programs of any length can reach, with a line of two words, an L2 that
//! may evict it at any time, and three networks: one that keeps all messages in order, one that keeps those from one sender to
//! one receiver in order, and the three networks of reading 11. It enforces that programs have no races with phases: when all cores have
//! come to the end of a phase, the next begins with any choice of a writer, or none, for each word; or all write parts of the word and
//! work on it at the registry. Values have no bound either: a copy is fresh or stale.
//! It checks that a word never has two owners, that a load returns the last value in the order of phases, that a store of a part and a
//! strong operation lose nothing that others wrote, that nobody waits when nothing is on its way, and that in every quiet state a
//! final read would find the last value, and registry and owners agree. With races, values are not checked, the rest is. A network
//! without any order is found out.
//!
//! Reachable states, all visited:
//!
//! | private memories | words | in order | pairs in order | three networks |
//! |---|---|---|---|---|
//! | two caches | 2 | 258,958 | 431,750 | 898,264 |
//! | a cache and a stash | 2 | 1,442,782 | 2,572,450 | |
//! | three caches | 1 | 15,207 | 35,086 | 35,983 |
//! | two caches, and a stash beside one | 1 | 69,912 | 167,066 | 171,118 |
//! | a cache, and two mappings of a stash | 1 | 318,160 | 791,128 | 808,872 |
//! | two caches, parts and strong operations | 1 | 5,024 | 5,496 | 7,126 |
//! | a cache and a stash, parts and strong operations | 1 | 11,982 | 15,750 | 18,082 |
//! | three caches, parts and strong operations | 1 | | | 274,314 |
//! | two caches, with races | 1 | 5,704 | 7,382 | 7,742 |
//! | a cache and a stash, with races | 1 | 25,628 | 33,978 | 35,346 |
//! | two caches, parts, strong operations and races | 1 | 28,472 | 27,744 | 40,212 |

mod combiner;
pub mod l1d;
pub mod l2;
mod registry;
#[cfg(test)]
mod tests;
mod word;
mod words;

pub use strata_memory::ownership::{MAPS, Message, NODES, Owner, Place};

pub use combiner::Combiner;
pub use registry::{
    Action as RegistryAction, Event as RegistryEvent, Line, Slot, recall, transition as registry_transition,
};
pub use word::{Action, Event, Flight, State, Step, transition};
