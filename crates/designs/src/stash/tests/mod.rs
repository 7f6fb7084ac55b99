//! Tests of the stash.

mod along;
mod cycles;
mod episodes;
mod mappings;
mod own_registry;
mod parameters;
mod translation;
mod world;

use super::{Access, Mapping, Place};

/// Where tests ask for mappings.
fn place() -> Place {
    Place { kernel: "test".to_owned(), line: 7 }
}

/// Physical pages: a permutation of the first 1024.
fn pages(page: u64) -> Option<u64> {
    (page < 1024).then_some((page * 77 + 13) % 1024)
}

/// The physical address of a virtual one.
fn physical(address: u64) -> u64 {
    pages(address / 4096).expect("the address is in memory") * 4096 + address % 4096
}

/// `words` words at `stash_base` from `global_base` on.
fn array(stash_base: u64, global_base: u64, words: u64) -> Mapping {
    Mapping {
        stash_base,
        global_base,
        field_size: 4,
        object_size: 4,
        row_size: words,
        stride_size: 0,
        num_strides: 1,
        is_coherent: true,
    }
}

/// An access of lane 0 alone.
fn of_lane_0(token: u32, map: Option<u8>, address: u32, store: Option<u32>) -> Access {
    let (mut addresses, mut words) = ([0; 32], [0; 32]);
    (addresses[0], words[0]) = (address, store.unwrap_or(0));
    Access { token, cta: 0, map, is_store: store.is_some(), lanes: 1, addresses, words }
}
