//! A CTA's mappings and temporary words: which operations and accesses it may do, and what they must find.

use strata_engine::seed::Stream;

use super::text::{Kind, result, stored};
use super::tile::{Operation, Tile};
use super::world::{Step, Use, World};

/// Words of a chunk.
const CHUNK: u32 = 16;
/// Mappings that a CTA may add.
const MAPS: usize = 4;

/// What a CTA may do with a word of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    /// Nothing.
    Nothing,
    /// Write it under a non-coherent mapping, and read that.
    Hide,
    /// Read it.
    Read,
    /// Read and write it.
    Write,
}

/// A mapping, and what its CTA sees through it.
struct Map {
    name: u32,
    tile: Tile,
    base: u32,
    is_coherent: bool,
    /// Whether what is written under the non-coherent mapping may be published.
    publishes: bool,
    words: Vec<u32>,
    may: Vec<May>,
    /// Words copied, and whether they were written, under a non-coherent mapping.
    hidden: Vec<Option<(u32, bool)>>,
}

impl Map {
    fn chunks(&self) -> std::ops::Range<u32> {
        chunks(self.base, self.words.len())
    }

    fn may_load(&self, word: usize) -> bool {
        let is_global = matches!(self.may[word], May::Read | May::Write);
        is_global || !self.is_coherent && self.hidden[word].is_some()
    }

    fn may_store(&self, word: usize) -> bool {
        match self.may[word] {
            May::Write => true,
            May::Nothing => false,
            May::Hide | May::Read => !self.is_coherent && !self.publishes,
        }
    }

    fn load(&mut self, word: usize, world: &World) -> u32 {
        let global = world.word(self.words[word]);
        if self.is_coherent { global } else { self.hidden[word].get_or_insert((global, false)).0 }
    }

    fn store(&mut self, word: usize, value: u32, world: &mut World) {
        if self.is_coherent {
            world.set_word(self.words[word], value);
        } else {
            self.hidden[word] = Some((value, true));
        }
    }

    /// Whether everything that was written may be seen by others.
    fn can_publish(&self) -> bool {
        let is_written = |hidden: &Option<(u32, bool)>| hidden.is_some_and(|(_, written)| written);
        self.hidden.iter().zip(&self.may).all(|(hidden, may)| !is_written(hidden) || *may == May::Write)
    }
}

fn chunks(base: u32, words: usize) -> std::ops::Range<u32> {
    base / CHUNK..(base + words as u32).div_ceil(CHUNK)
}

/// Where a thread may access shared memory in a round: words side by side.
#[derive(Clone, Copy, Debug)]
struct Item {
    map: Option<usize>,
    first: u32,
    log: u32,
}

/// Tiles that programs have mapped: by which CTA, and where.
pub type History = Vec<(u32, Tile, u32)>;

/// A CTA.
pub struct Cta {
    number: u32,
    maps: Vec<Map>,
    /// First and end of the words for mappings,
    mapped: (u32, u32),
    /// and of those without.
    plain: (u32, u32),
    temporary: Vec<Option<u32>>,
    /// The largest distance in a tile.
    extent: u32,
}

impl Cta {
    /// A CTA with so many words of shared memory.
    pub fn new(number: u32, shared: u32, extent: u32, stream: &mut Stream) -> Cta {
        let plain = CHUNK * (1 + stream.below(4) as u32);
        let (mapped, plain) = if stream.below(2) == 0 {
            ((plain, shared), (0, plain))
        } else {
            ((0, shared - plain), (shared - plain, shared))
        };
        let temporary = vec![None; (plain.1 - plain.0) as usize];
        Cta { number, maps: Vec::new(), mapped, plain, temporary, extent }
    }

    /// The next operation on a tile, if there is one.
    pub fn operation(
        &mut self,
        world: &mut World,
        history: &mut History,
        names: &mut u32,
        stream: &mut Stream,
    ) -> Option<Operation> {
        if self.maps.is_empty() || self.maps.len() < MAPS && stream.below(2) == 0 {
            return self.map(None, world, history, names, stream);
        }
        let chosen = stream.below(self.maps.len() as u64) as usize;
        if stream.below(2) == 0 {
            return self.map(Some(chosen), world, history, names, stream);
        }
        let map = &self.maps[chosen];
        // The same mode, now and then.
        let is_coherent = if stream.below(6) == 0 { map.is_coherent } else { !map.is_coherent };
        if is_coherent && !map.is_coherent && (!map.can_publish() || self.overlaps(&map.words, Some(chosen)))
        {
            return None;
        }
        let map = &mut self.maps[chosen];
        if is_coherent && !map.is_coherent {
            for (word, hidden) in map.words.iter().zip(&map.hidden) {
                if let Some((value, true)) = hidden {
                    world.set_word(*word, *value);
                }
            }
        }
        if is_coherent != map.is_coherent {
            map.hidden.fill(None);
            map.publishes = stream.below(2) == 0;
        }
        map.is_coherent = is_coherent;
        Some(Operation { changes: Some(chosen as u32), base: map.base, tile: map.tile, is_coherent })
    }

    /// Whether words are in another coherent mapping.
    fn overlaps(&self, words: &[u32], but: Option<usize>) -> bool {
        let others = self.maps.iter().enumerate();
        let mut others = others.filter(|(index, other)| Some(*index) != but && other.is_coherent);
        others.any(|(_, other)| other.words.iter().any(|word| words.contains(word)))
    }

    /// A place for a tile among the other mappings.
    fn place(
        &self,
        history: &History,
        replaced: Option<usize>,
        array: u32,
        stream: &mut Stream,
    ) -> Option<(Tile, u32)> {
        let (first, end) = self.mapped;
        for _ in 0..6 {
            let before = match stream.below(10) {
                0..6 => {
                    let own: Vec<_> = history.iter().filter(|(cta, ..)| *cta == self.number).collect();
                    own.get(stream.below(own.len() as u64) as usize).copied()
                }
                6 | 7 => history.get(stream.below(history.len() as u64) as usize),
                _ => None,
            };
            let (tile, base) = match before {
                Some((_, tile, base)) => (*tile, (stream.below(4) > 0).then_some(*base)),
                None => (Tile::random(stream, (end - first).min(256), array, self.extent), None),
            };
            let words = tile.words().len();
            let base =
                base.unwrap_or_else(|| first + CHUNK * stream.below(u64::from((end - first) / CHUNK)) as u32);
            let mine = chunks(base, words);
            let is_free = |(index, other): (usize, &Map)| {
                let its = other.chunks();
                Some(index) == replaced || mine.end <= its.start || its.end <= mine.start
            };
            if base >= first && mine.end * CHUNK <= end && self.maps.iter().enumerate().all(is_free) {
                return Some((tile, base));
            }
        }
        None
    }

    /// Adds a mapping, or gives one other addresses.
    fn map(
        &mut self,
        replaced: Option<usize>,
        world: &mut World,
        history: &mut History,
        names: &mut u32,
        stream: &mut Stream,
    ) -> Option<Operation> {
        let (tile, base) = self.place(history, replaced, world.uses.len() as u32, stream)?;
        if let Some(old) = replaced.map(|index| &self.maps[index])
            && (old.tile, old.base) == (tile, base)
        {
            return None;
        }
        let words = tile.words();
        let is_coherent = stream.below(3) > 0 && !self.overlaps(&words, replaced);
        if let Some(old) = replaced.map(|index| &self.maps[index]) {
            for (word, may) in old.words.iter().zip(&old.may) {
                if *may == May::Write {
                    debug_assert_eq!(world.uses[*word as usize], Use::Taken(old.name));
                    world.uses[*word as usize] = Use::Released(self.number);
                }
            }
        }
        *names += 1;
        let name = *names;
        let publishes = stream.below(2) == 0;
        let writes = if is_coherent || publishes { 2 + stream.below(8) } else { stream.below(4) };
        let may = words.iter().map(|word| {
            let place = &mut world.uses[*word as usize];
            match *place {
                Use::Released(cta) if cta == self.number => {
                    *place = Use::Taken(name);
                    May::Write
                }
                Use::Free => match stream.below(10) {
                    choice if choice < writes => {
                        *place = Use::Taken(name);
                        May::Write
                    }
                    9 => May::Hide,
                    _ => {
                        *place = Use::Read;
                        May::Read
                    }
                },
                Use::Read => May::Read,
                _ => May::Hide,
            }
        });
        let may: Vec<May> =
            may.map(|may| if is_coherent && may == May::Hide { May::Nothing } else { may }).collect();
        let hidden = vec![None; words.len()];
        let map = Map { name, tile, base, is_coherent, publishes, words, may, hidden };
        history.push((self.number, tile, base));
        match replaced {
            Some(index) => self.maps[index] = map,
            None => self.maps.push(map),
        }
        Some(Operation { changes: replaced.map(|index| index as u32), base, tile, is_coherent })
    }

    /// What each thread may access in a round: no word is of two threads.
    fn items(&self, threads: u32, stream: &mut Stream) -> Vec<Vec<Item>> {
        let mut items = vec![Vec::new(); threads as usize];
        let mut deal = |map: Option<usize>, words: u32, stream: &mut Stream| {
            let mut first = 0;
            while first < words {
                let log = (stream.below(3) as u32).min((first | 4).trailing_zeros());
                let log = (0..=log).rev().find(|log| first + (1 << log) <= words).expect("one word fits");
                items[stream.below(u64::from(threads)) as usize].push(Item { map, first, log });
                first += 1 << log;
            }
        };
        for (index, map) in self.maps.iter().enumerate() {
            deal(Some(index), map.words.len() as u32, stream);
        }
        deal(None, self.temporary.len() as u32, stream);
        items
    }

    /// The accesses of each thread to shared memory in a round: step by step, where it has none, nothing.
    pub fn round(
        &mut self,
        threads: u32,
        steps: u32,
        world: &mut World,
        stream: &mut Stream,
    ) -> Vec<Vec<Step>> {
        let items = self.items(threads, stream);
        let mut taken = vec![vec![Step::NOTHING; threads as usize]; steps as usize];
        let share = 3 + stream.below(7);
        for (thread, items) in items.iter().enumerate().filter(|(_, items)| !items.is_empty()) {
            for row in &mut taken {
                if stream.below(10) < share {
                    let item = items[stream.below(items.len() as u64) as usize];
                    row[thread] = self.access(item, world, stream);
                }
            }
        }
        taken
    }

    fn access(&mut self, item: Item, world: &mut World, stream: &mut Stream) -> Step {
        let value = stream.next() as u32;
        let wants_store = stream.below(2) == 0;
        let (first, count) = (item.first as usize, 1 << item.log);
        let words = first..first + count;
        let values = stored(value);
        let Some(index) = item.map else {
            let at = 4 * (self.plain.0 + item.first);
            let all: Option<Vec<u32>> = self.temporary[words.clone()].iter().copied().collect();
            return match all {
                Some(found) if !wants_store => load(at, item.log, &found),
                _ => {
                    for (word, value) in words.zip(values) {
                        self.temporary[word] = Some(value);
                    }
                    Step { at, kind: Kind::SharedStore(item.log + 2), value, expected: None }
                }
            };
        };
        let map = &mut self.maps[index];
        let at = ((index as u32 + 1) << 28) | (4 * (map.base + item.first));
        if wants_store && words.clone().all(|word| map.may_store(word)) {
            words.zip(values).for_each(|(word, value)| map.store(word, value, world));
            return Step { at, kind: Kind::SharedStore(item.log + 2), value, expected: None };
        }
        if words.clone().all(|word| map.may_load(word)) {
            let found: Vec<u32> = words.map(|word| map.load(word, world)).collect();
            return load(at, item.log, &found);
        }
        // One of the words, if it may be accessed at all.
        let one = first + stream.below(count as u64) as usize;
        let at = ((index as u32 + 1) << 28) | (4 * (map.base + one as u32));
        if map.may_load(one) && !(wants_store && map.may_store(one)) {
            let found = map.load(one, world);
            load(at, 0, &[found])
        } else if map.may_store(one) {
            map.store(one, value, world);
            Step { at, kind: Kind::SharedStore(2), value, expected: None }
        } else {
            Step::NOTHING
        }
    }
}

fn load(at: u32, log: u32, found: &[u32]) -> Step {
    let mut words = [0; 4];
    words[..found.len()].copy_from_slice(found);
    Step { at, kind: Kind::SharedLoad(log + 2), value: 0, expected: Some(result(words)) }
}
