//! The races that were found, by pairs of places.

use std::collections::HashMap;

use super::site::{Site, Sites};
use crate::isa::Space;

/// Accesses at two places that race: no order is between them, and they are not both atomic or strong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The accesses that came first in this run, and the thread of the first race.
    pub earlier: Racer,
    /// Those that came later.
    pub later: Racer,
    /// Whether both only share a half-word, of which each writes a byte: no race of the program.
    pub half_word: bool,
    /// Accesses at either place that raced with an earlier one at the other.
    pub count: u64,
    /// Of these, stores that wrote what an earlier store had written.
    pub same_value: u64,
    /// The launch of the first race, from 0.
    pub launch: u64,
    /// [`Space::Global`] or [`Space::Shared`].
    pub space: Space,
    /// Where the later access of the first race begins.
    pub address: u64,
}

impl Race {
    /// Whether both accesses write.
    pub fn both_write(&self) -> bool {
        self.earlier.writes && self.later.writes
    }

    /// Whether all races are of stores that write the same.
    pub fn same_value_only(&self) -> bool {
        self.count > 0 && self.same_value == self.count
    }
}

/// A place that accesses memory, and a thread that was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Racer {
    /// The kernel.
    pub kernel: String,
    /// The text that the line is in, when the kernel is linked from several.
    pub text: Option<String>,
    /// Line in the PTX text.
    pub line: u32,
    /// A word for what it does: `read`, `strong write`, `atomic`.
    pub access: &'static str,
    /// Whether it writes.
    pub writes: bool,
    /// Bytes of a thread's access.
    pub bytes: usize,
    /// The CTA.
    pub cta: [u32; 3],
    /// The thread in its CTA.
    pub thread: [u32; 3],
}

impl Racer {
    fn new(site: &Site, (cta, thread): ([u32; 3], [u32; 3])) -> Self {
        let Site { kernel, text, line, class, bytes } = site.clone();
        let (access, writes) = (class.name(), class.writes);
        Racer { kernel, text, line, access, writes, bytes, cta, thread }
    }
}

/// One access that races with an earlier one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub earlier_site: u32,
    pub later_site: u32,
    pub earlier: ([u32; 3], [u32; 3]),
    pub later: ([u32; 3], [u32; 3]),
    pub half_word: bool,
    pub same_value: bool,
    pub launch: u64,
    pub space: Space,
    pub address: u64,
}

/// All races, in the order of their first.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub races: Vec<Race>,
    places: HashMap<(u32, u32, bool), usize>,
}

impl Found {
    pub fn add(&mut self, hit: &Hit, sites: &Sites) {
        let (low, high) = (hit.earlier_site.min(hit.later_site), hit.earlier_site.max(hit.later_site));
        let races = &mut self.races;
        let place = *self.places.entry((low, high, hit.half_word)).or_insert_with(|| {
            races.push(Race {
                earlier: Racer::new(sites.at(hit.earlier_site), hit.earlier),
                later: Racer::new(sites.at(hit.later_site), hit.later),
                half_word: hit.half_word,
                count: 0,
                same_value: 0,
                launch: hit.launch,
                space: hit.space,
                address: hit.address,
            });
            races.len() - 1
        });
        self.races[place].count += 1;
        self.races[place].same_value += u64::from(hit.same_value);
    }
}
