//! Random programs without races: kernels of a few thread blocks with mappings in all modes, and a CPU that reads and writes
//! between them. Every load, and everything that the CPU reads, is compared with an oracle that keeps words.

use std::collections::HashMap;

use super::super::{Access, Mapping, Refusal, StashConfig};
use super::world::{Random, World};
use super::{pages, physical, place};

/// Bytes of memory that a mapping may lie in: mappings of different regions share nothing.
const REGION: u64 = 1 << 14;
/// Regions.
const REGIONS: u64 = 24;
/// The region that thread blocks share and nobody writes.
const SHARED: u64 = REGIONS;
/// Thread blocks at a time, each with a part of the stash.
const CTAS: u64 = 4;

/// A mapping, and what its thread block sees through it.
struct Map {
    index: u8,
    mapping: Mapping,
    /// Addresses of its words, in the order of the stash.
    addresses: Vec<u64>,
    /// Words written while it is non-coherent.
    local: HashMap<u64, u32>,
    is_shared: bool,
}

/// A thread block.
struct Cta {
    slot: u8,
    maps: Vec<Map>,
    /// Operations left.
    left: u64,
    /// What it does next, until that is taken.
    next: Option<Operation>,
    /// The words that its access under way must find.
    expected: Option<Vec<(usize, u32)>>,
    /// Words without a mapping, behind those with.
    temporary: HashMap<u32, u32>,
}

#[allow(clippy::large_enum_variant, reason = "a few at a time")]
enum Operation {
    Add(Mapping),
    Change(usize, Mapping),
    Access(Option<usize>, Box<Access>),
}

struct Episode {
    world: World,
    random: Random,
    /// What each word of virtual memory holds; its physical address, if nobody has written it.
    memory: HashMap<u64, u32>,
    /// Regions that no mapping of this kernel has.
    free: Vec<u64>,
    /// Mappings of each region that there were.
    earlier: HashMap<u64, Mapping>,
    token: u32,
}

fn addresses(mapping: &Mapping) -> Vec<u64> {
    let mut addresses = Vec::new();
    for row in 0..mapping.num_strides {
        for object in 0..mapping.row_size {
            for word in 0..mapping.field_size / 4 {
                let offset = row * mapping.stride_size + object * mapping.object_size + 4 * word;
                addresses.push(mapping.global_base + offset);
            }
        }
    }
    addresses
}

impl Episode {
    fn value(&self, address: u64) -> u32 {
        self.memory.get(&address).copied().unwrap_or(physical(address) as u32)
    }

    /// A mapping of a region: the one that there was before, or another.
    fn mapping(&mut self, region: u64, stash_base: u64) -> Mapping {
        let random = &mut self.random;
        let is_coherent = region == SHARED || random.below(4) > 0;
        let again = random.below(3) > 0 || region == SHARED;
        if let Some(earlier) = self.earlier.get(&region).filter(|_| again) {
            return Mapping { stash_base, is_coherent, ..*earlier };
        }
        let field_size = 4 * (1 + random.below(3));
        let object_size = field_size + 4 * random.below(5);
        let (row_size, num_strides) = (1 + random.below(12), 1 + random.below(5));
        let stride_size = object_size * row_size + 4 * random.below(100);
        let global_base = region * REGION + 4 * random.below(200);
        let mapping = Mapping {
            stash_base,
            global_base,
            field_size,
            object_size,
            row_size,
            stride_size,
            num_strides,
            is_coherent,
        };
        self.earlier.insert(region, mapping);
        mapping
    }

    fn operation(&mut self, cta: &Cta) -> Operation {
        let base = u64::from(cta.slot) * 4096;
        let choice = self.random.below(20);
        if cta.maps.is_empty() || choice == 0 && cta.maps.len() < 4 {
            let stash_base = base + 768 * cta.maps.len() as u64;
            let region = if self.random.below(6) == 0 { SHARED } else { self.free.pop().unwrap_or(SHARED) };
            return Operation::Add(self.mapping(region, stash_base));
        }
        let chosen = self.random.below(cta.maps.len() as u64) as usize;
        let old = &cta.maps[chosen];
        if choice == 1 && !old.is_shared {
            let mapping = old.mapping;
            if self.random.below(2) == 0 {
                return Operation::Change(chosen, Mapping { is_coherent: !mapping.is_coherent, ..mapping });
            }
            if let Some(region) = self.free.pop() {
                return Operation::Change(chosen, self.mapping(region, mapping.stash_base));
            }
        }
        self.access(cta, if choice == 2 { None } else { Some(chosen) })
    }

    fn access(&mut self, cta: &Cta, map: Option<usize>) -> Operation {
        self.token += 1;
        let (first, words, index, writes) = match map {
            Some(map) => {
                let map = &cta.maps[map];
                (map.mapping.stash_base, map.addresses.len() as u64, Some(map.index), !map.is_shared)
            }
            None => (u64::from(cta.slot) * 4096 + 3072, 256, None, true),
        };
        let lanes = self.random.below(1 << 32) as u32 & self.random.below(1 << 32) as u32 | 1;
        let start = self.random.below(words);
        let step = 1 + self.random.below(3);
        let is_store = writes && self.random.below(2) == 0;
        let mut access = Access {
            token: self.token,
            cta: cta.slot,
            map: index,
            is_store,
            lanes: 0,
            addresses: [0; 32],
            words: [0; 32],
        };
        for lane in (0..32).filter(|lane| lanes & 1 << lane != 0) {
            let word = start + step * lane as u64;
            if word < words || lane == 0 {
                access.lanes |= 1 << lane;
                access.addresses[lane] = (first + 4 * (word % words)) as u32;
                access.words[lane] = self.random.below(1 << 32) as u32;
            }
        }
        Operation::Access(map, Box::new(access))
    }

    /// Tries what a thread block does next.
    fn step(&mut self, cta: &mut Cta) {
        let operation = match cta.next.take() {
            Some(operation) => operation,
            None => self.operation(cta),
        };
        let now = self.world.now;
        let stash = &mut self.world.stash;
        let taken = match &operation {
            Operation::Add(mapping) => match stash.add_map(cta.slot, mapping, &pages, &place(), now) {
                Ok(index) => {
                    let (mapping, addresses) = (*mapping, addresses(mapping));
                    let is_shared = mapping.global_base / REGION == SHARED;
                    cta.maps.push(Map { index, mapping, addresses, local: HashMap::new(), is_shared });
                    true
                }
                Err(Refusal::Busy) => false,
                Err(Refusal::Wrong(error)) => panic!("{error}"),
            },
            Operation::Change(map, mapping) => {
                let index = cta.maps[*map].index;
                match stash.change_map((cta.slot, index), mapping, &pages, &place(), now) {
                    Ok(()) => {
                        self.changed(&mut cta.maps[*map], *mapping);
                        true
                    }
                    Err(Refusal::Busy) => false,
                    Err(Refusal::Wrong(error)) => panic!("{error}"),
                }
            }
            Operation::Access(map, access) => match stash.offer(access, now) {
                Ok(()) => {
                    self.accessed(cta, *map, access);
                    true
                }
                Err(Refusal::Busy) => false,
                Err(Refusal::Wrong(why)) => panic!("{why}"),
            },
        };
        if taken {
            cta.left -= 1;
        } else {
            cta.next = Some(operation);
        }
    }

    fn changed(&mut self, map: &mut Map, mapping: Mapping) {
        let is_same = map.mapping == Mapping { is_coherent: map.mapping.is_coherent, ..mapping };
        let local = std::mem::take(&mut map.local);
        if is_same && mapping.is_coherent {
            self.memory.extend(local);
        }
        (map.addresses, map.mapping) = (addresses(&mapping), mapping);
    }

    fn accessed(&mut self, cta: &mut Cta, map: Option<usize>, access: &Access) {
        let mut expected = Vec::new();
        for lane in (0..32).filter(|lane| access.lanes & 1 << lane != 0) {
            let (address, word) = (access.addresses[lane], access.words[lane]);
            let Some(map) = map.map(|map| &mut cta.maps[map]) else {
                if access.is_store {
                    cta.temporary.insert(address, word);
                } else if let Some(word) = cta.temporary.get(&address) {
                    expected.push((lane, *word));
                }
                continue;
            };
            let global = map.addresses[(u64::from(address) - map.mapping.stash_base) as usize / 4];
            match (access.is_store, map.mapping.is_coherent) {
                (true, true) => {
                    self.memory.insert(global, word);
                }
                (true, false) => {
                    map.local.insert(global, word);
                }
                (false, _) => {
                    let value = map.local.get(&global).copied().unwrap_or_else(|| self.value(global));
                    expected.push((lane, value));
                }
            }
        }
        cta.expected = Some(expected);
    }

    /// Thread blocks run until all have ended, then the kernel ends.
    fn kernel(&mut self, seed: u64) {
        self.free = (0..REGIONS).collect();
        for n in (1..self.free.len()).rev() {
            let other = self.random.below(n as u64 + 1) as usize;
            self.free.swap(n, other);
        }
        let begin = |slot: u64, left| Cta {
            slot: slot as u8,
            maps: Vec::new(),
            left,
            next: None,
            expected: None,
            temporary: HashMap::new(),
        };
        let mut ctas: Vec<Cta> = (0..CTAS).map(|slot| begin(slot, 5 + self.random.below(60))).collect();
        let mut more = self.random.below(4);
        for _ in 0..100_000 {
            if let Some(access) = self.world.tick() {
                let cta = ctas.iter_mut().find(|cta| cta.slot == access.cta).expect("its thread block runs");
                for (lane, word) in cta.expected.take().expect("its access is under way") {
                    assert_eq!(access.words[lane], word, "seed {seed}, access {}, lane {lane}", access.token);
                }
            }
            for cta in ctas.iter_mut().filter(|cta| cta.left > 0 && cta.expected.is_none()) {
                self.step(cta);
            }
            let over = ctas.iter().position(|cta| cta.left == 0 && cta.expected.is_none());
            if let Some(over) = over {
                let slot = ctas.swap_remove(over).slot;
                self.world.stash.cta_end(slot);
                if more > 0 {
                    more -= 1;
                    ctas.push(begin(slot.into(), 5 + self.random.below(60)));
                }
            }
            self.world.stash.audit();
            if ctas.is_empty() && self.world.stash.synchronise() {
                return;
            }
        }
        panic!("seed {seed}: the kernel does not end");
    }

    /// The CPU reads and writes words that mappings have had.
    fn host(&mut self, accesses: u64, seed: u64) {
        let mut words: Vec<u64> = self.earlier.values().flat_map(addresses).collect();
        words.sort_unstable();
        for _ in 0..accesses {
            let address = words[self.random.below(words.len() as u64) as usize];
            if self.random.below(3) == 0 && address / REGION != SHARED {
                let value = self.random.below(1 << 32) as u32;
                self.world.write(physical(address), value);
                self.memory.insert(address, value);
            } else {
                let expected = self.value(address);
                assert_eq!(self.world.read(physical(address)), expected, "seed {seed}, {address:#x}");
            }
        }
    }
}

fn episode(seed: u64, config: &StashConfig) -> super::super::StashStatistics {
    let mut world = World::new(config, seed);
    world.recalls = if seed.is_multiple_of(2) { 10 } else { 0 };
    let mut episode = Episode {
        world,
        random: Random(seed ^ 0x5eed),
        memory: HashMap::new(),
        free: Vec::new(),
        earlier: HashMap::new(),
        token: 0,
    };
    for _ in 0..6 {
        episode.kernel(seed);
        episode.host(30, seed);
    }
    let mut words: Vec<u64> = episode.memory.keys().copied().collect();
    words.sort_unstable();
    for address in words {
        let expected = episode.value(address);
        assert_eq!(episode.world.read(physical(address)), expected, "seed {seed}, at the end: {address:#x}");
    }
    *episode.world.stash.statistics()
}

/// The paper's stash, or one with few entries, so that they are replaced; with words that come along, or without.
fn config(seed: u64) -> StashConfig {
    let cited = |value| strata_engine::Cited::new(value, "test");
    let takes_along = strata_engine::Cited::new(seed & 1 == 0, "test");
    let paper = StashConfig { takes_along, ..StashConfig::paper() };
    if seed & 2 == 0 {
        paper
    } else {
        StashConfig { ctas: cited(4), map_entries: cited(17), vp_entries: cited(34), ..paper }
    }
}

#[test]
fn programs_without_races_find_their_words() {
    let (mut copies, mut remote, mut stalls, mut changes) = (0, 0, 0, 0);
    for seed in 0..40 {
        let statistics = episode(seed, &config(seed));
        copies += statistics.copies;
        remote += statistics.remote_requests;
        stalls += statistics.map_stalls;
        changes += statistics.maps_changed;
    }
    println!("copies {copies}, remote {remote}, stalls {stalls}, changes {changes}");
    assert!(copies > 100 && remote > 1000 && stalls > 100 && changes > 100);
}

/// `cargo test --release -p strata-designs --lib stash -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn campaign() {
    for seed in 0..5000 {
        episode(seed, &config(seed));
    }
}
