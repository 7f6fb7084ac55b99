//! The contract of scratchpads, and its harness.
//!
//! CTAs without races map tiles, change their mappings, load and store under them, access bytes without a mapping, copy tiles, and end;
//! each has a region of global memory to itself until then, and reads one that nobody writes through private copies. Regions are used
//! again by later CTAs, so a part that keeps words finds them again under other mappings. Words that no running CTA has are recalled, and
//! read by a CPU. A design is asked for what it can do: mappings, copies, or neither.
//!
//! The harness checks that every load returns the oracle's words; that each request comes back once, and only one that was taken;
//! that what is taken makes progress, whatever the network withholds; that bytes without a mapping stay as they are, but
//! for copies; that `next_event` is never too late (`skip`); that a kernel ends; that global memory is right once every word is recalled; and
//! that the laws of the statistics hold.

mod below;
mod ctas;
#[cfg(test)]
mod planted;

use std::collections::HashMap;

use strata_engine::Cycle;
use strata_engine::hash::Fnv;
use strata_engine::seed::Stream;
use strata_memory::SliceMap;
use strata_memory::doors::{
    Scratchpad, ScratchpadAction, ScratchpadRequest, ScratchpadSite, TileAction, Wrong,
};
use strata_memory::tile::WORD;
use strata_warp::{Row, lanes_of};

use super::{Outcome, PATIENCE, lawful, with_skips};
use below::{Below, REGISTRY, SM};
use ctas::{Cta, Map, tile};

/// Makes a part for a site.
pub type Make<'a> = dyn FnMut(ScratchpadSite) -> Box<dyn Scratchpad> + 'a;

/// Number of the first global word.
const BASE: u64 = 1 << 20;
/// Words of a region.
const REGION: u64 = 256;
/// Regions that CTAs own by turns; one more is only read.
const REGIONS: u64 = 12;
/// Bytes that a mapping has room for in the scratchpad.
const PLACE: u64 = 512;
/// Mappings of a CTA at most; behind their places are bytes without a mapping.
const MAPS: usize = 3;

/// The workload of a check.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Seed of all random choices.
    pub seed: u64,
    /// Bytes of the scratchpad: at least 2 KiB for each CTA.
    pub bytes: u32,
    /// CTAs that run at a time.
    pub ctas: u8,
    /// Kernels, one after the other.
    pub kernels: u32,
    /// CTAs of each.
    pub grid: u32,
    /// Longest random time of a packet or an access, in cycles.
    pub delay: u64,
    /// Percent of cycles in which a request is offered, and in which the network takes a packet.
    pub willing: u64,
    /// Whether only the cycles that `next_event` names are ticked.
    pub skip: bool,
}

impl Contract {
    /// Many CTAs with short lives.
    pub fn dense(seed: u64) -> Contract {
        Contract { seed, bytes: 16384, ctas: 8, kernels: 3, grid: 60, delay: 30, willing: 80, skip: false }
    }

    /// Few at a time, which often wait.
    pub fn wide(seed: u64) -> Contract {
        Contract { ctas: 2, grid: 30, delay: 150, willing: 30, ..Contract::dense(seed) }
    }
}

/// Runs the harness once.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    Bench::new(*contract, make).run()
}

/// Runs the harness twice, once ticking every cycle and once skipping idle cycles, and compares the outcomes.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check_with_skips(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    with_skips(|skip| check(&Contract { skip, ..*contract }, make))
}

/// What a request must bring.
struct Expected {
    cta: u8,
    /// By word and lane, of a load.
    words: Option<Vec<Row>>,
    /// A copy of a tile.
    copy: Option<(TileAction, Map)>,
}

struct Bench {
    contract: Contract,
    part: Box<dyn Scratchpad>,
    below: Below,
    /// What global memory must have, and the bytes of the banks.
    oracle: Vec<u32>,
    sram: Vec<u8>,
    expected_sram: Vec<u8>,
    ctas: Vec<Option<Cta>>,
    free: Vec<u64>,
    under_way: HashMap<u32, Expected>,
    /// Words that the CPU reads: their values.
    asked: HashMap<u64, u32>,
    /// Words that are recalled.
    recalled: Vec<u64>,
    stream: Stream,
    now: Cycle,
    moved: Cycle,
    tokens: u32,
    hash: Fnv,
    can_map: bool,
    can_copy: bool,
}

impl Bench {
    fn new(contract: Contract, make: &mut Make<'_>) -> Bench {
        let mut stream = Stream::new(contract.seed, "scratchpad contract");
        let words: Vec<u32> = (0..(REGIONS + 1) * REGION).map(|_| stream.next() as u32).collect();
        let site = ScratchpadSite {
            node: SM,
            slices: SliceMap::new(1, 256, REGISTRY).expect("one slice"),
            bytes: contract.bytes,
            ctas: contract.ctas.into(),
        };
        let sram: Vec<u8> = (0..contract.bytes).map(|_| stream.next() as u8).collect();
        // What a part can do is found out on one that is thrown away.
        let can = |part: &mut Box<dyn Scratchpad>, action| {
            let mapping = Map::new(tile(&mut Stream::new(1, "probe"), 0, BASE, 1, false)).mapping;
            let request = ScratchpadRequest {
                action: ScratchpadAction::Tile(action, mapping),
                ..ScratchpadRequest::EMPTY
            };
            part.offer(Box::new(request), Cycle::ZERO).is_ok()
        };
        let can_map = can(&mut make(site), TileAction::AddMap);
        let can_copy = can(&mut make(site), TileAction::Load);
        Bench {
            contract,
            part: make(site),
            below: Below::new(BASE, words.clone(), contract.delay, contract.seed),
            oracle: words,
            expected_sram: sram.clone(),
            sram,
            ctas: (0..contract.ctas).map(|_| None).collect(),
            free: (0..REGIONS).collect(),
            under_way: HashMap::new(),
            asked: HashMap::new(),
            recalled: Vec::new(),
            stream,
            now: Cycle::ZERO,
            moved: Cycle::ZERO,
            tokens: 0,
            hash: Fnv::default(),
            can_map,
            can_copy,
        }
    }

    fn run(mut self) -> Result<Outcome, String> {
        for _ in 0..self.contract.kernels {
            let mut left = self.contract.grid;
            while left > 0 || self.ctas.iter().any(Option::is_some) {
                self.begin(&mut left);
                self.cycle(true)?;
            }
            while !self.part.end_kernel(self.now) {
                self.cycle(false)?;
            }
            if !self.part.is_idle() {
                return Err("the kernel has ended, and something is under way".to_owned());
            }
        }
        self.settle()?;
        let statistics = self.part.statistics();
        lawful(&statistics)?;
        Ok(Outcome { cycles: self.now.0, hash: self.hash.finish(), statistics: vec![statistics] })
    }

    /// Recalls every word and compares memory.
    fn settle(&mut self) -> Result<(), String> {
        while !(self.recalled.is_empty() && self.below.is_quiet()) {
            self.cycle(false)?;
        }
        for place in 0..self.oracle.len() {
            self.below.recall(place, self.now);
        }
        while !(self.below.is_quiet() && self.part.is_idle() && self.below.owners.iter().all(Option::is_none))
        {
            self.cycle(false)?;
        }
        if let Some(word) = (0..self.oracle.len()).find(|word| self.oracle[*word] != self.below.words[*word])
        {
            let (found, expected) = (self.below.words[word], self.oracle[word]);
            return Err(format!("global word {word} is {found:#x} in the end, expected {expected:#x}"));
        }
        self.check_sram()
    }

    fn check_sram(&self) -> Result<(), String> {
        let differs = (0..self.sram.len()).find(|byte| self.sram[*byte] != self.expected_sram[*byte]);
        differs.map_or(Ok(()), |byte| Err(format!("byte {byte} of the banks has changed, or was not copied")))
    }

    /// Starts a CTA in a free slot.
    fn begin(&mut self, left: &mut u32) {
        let slot = self.ctas.iter().position(Option::is_none);
        if let (Some(slot), true) = (slot, *left > 0 && !self.free.is_empty() && self.stream.below(4) == 0) {
            *left -= 1;
            let region = self.free.swap_remove(self.stream.below(self.free.len() as u64) as usize);
            let requests = 5 + self.stream.below(25);
            self.ctas[slot] = Some(Cta { region, maps: Vec::new(), open: 0, left: requests, waits: false });
        }
    }

    fn is_willing(&mut self) -> bool {
        self.stream.below(100) < self.contract.willing
    }

    fn is_due(&self) -> bool {
        !self.contract.skip || self.part.next_event(self.now) <= self.now
    }

    fn cycle(&mut self, offers: bool) -> Result<(), String> {
        let now = self.now;
        while let Some(packet) = self.below.packet(now) {
            self.part.accept(packet, now);
            self.moved = now;
        }
        while let Some(access) = self.below.performed(now)? {
            self.part.performed(access.token, access.tray, now);
            self.moved = now;
        }
        if self.is_due() {
            self.part.tick(&mut self.sram, now);
            while let Some(request) = self.part.completed(now) {
                self.complete(*request)?;
            }
            if let Some(access) = self.part.access(now) {
                self.hash.write(&access.line.0.to_le_bytes());
                self.below.access(access, now);
            }
        }
        let (offer, takes, says) = (self.is_willing(), self.is_willing(), self.is_willing());
        if offers && offer && self.part.has_room() {
            self.offer()?;
        }
        if takes
            && self.is_due()
            && let Some(bytes) = self.part.outgoing_bytes(now)
        {
            let packet = self.part.outgoing(now).ok_or("a packet has a size and is not there")?;
            self.leave(packet, bytes)?;
        }
        if says
            && self.is_due()
            && let Some(bytes) = self.part.answer_bytes(now)
        {
            let packet = self.part.answer(now).ok_or("a packet has a size and is not there")?;
            self.leave(packet, bytes)?;
        }
        self.meddle(offers)?;
        self.now = now.next();
        if self.now > self.moved + PATIENCE {
            let mut report = Vec::new();
            self.part.waits(&mut report);
            return Err(format!("no progress in {PATIENCE} cycles: {report:?}"));
        }
        Ok(())
    }

    fn leave(&mut self, packet: strata_memory::Packet, bytes: u32) -> Result<(), String> {
        if packet.wire_bytes() != bytes {
            return Err(format!("a packet of {} bytes was announced with {bytes}", packet.wire_bytes()));
        }
        self.hash.write(&self.now.0.to_le_bytes());
        self.hash.write(&packet.bytes.0.to_le_bytes());
        self.moved = self.now;
        self.below.take(packet, self.now)
    }

    /// Others want words that no running CTA has, and get them.
    fn meddle(&mut self, asks: bool) -> Result<(), String> {
        let region = self.stream.below(REGIONS);
        let place = region * REGION + self.stream.below(REGION);
        let what = self.stream.below(8);
        // A word must stay where it is until the answer has come: its region has no CTA till then.
        if asks && what < 2 && self.free.contains(&region) && self.below.owners[place as usize].is_some() {
            self.free.retain(|free| *free != region);
            if what == 0 {
                self.asked.insert(place, self.oracle[place as usize]);
                self.below.read(place as usize, self.now);
            } else {
                self.recalled.push(place);
                self.below.recall(place as usize, self.now);
            }
        }
        if !self.recalled.is_empty() && self.below.is_quiet() {
            let back = |place: &u64| self.below.owners[*place as usize].is_none();
            let (back, rest) = std::mem::take(&mut self.recalled).into_iter().partition(back);
            self.recalled = rest;
            let regions: Vec<u64> = back;
            self.free.extend(regions.into_iter().map(|place| place / REGION));
        }
        for (place, value) in std::mem::take(&mut self.below.read) {
            match self.asked.remove(&place) {
                Some(expected) if expected == value => self.free.push(place / REGION),
                other => return Err(format!("the CPU reads {value:#x} of word {place}, expected {other:?}")),
            }
        }
        Ok(())
    }

    /// Makes the next request of some CTA.
    fn offer(&mut self) -> Result<(), String> {
        let slot = self.stream.below(self.ctas.len() as u64) as usize;
        let Some(mut cta) = self.ctas[slot].take() else { return Ok(()) };
        if cta.waits {
            self.ctas[slot] = Some(cta);
            return Ok(());
        }
        if cta.left == 0 {
            if cta.open > 0 {
                self.ctas[slot] = Some(cta);
            } else {
                self.part.end_cta(slot as u8, self.now);
                self.free.push(cta.region);
            }
            return Ok(());
        }
        cta.left -= 1;
        let (request, expected) = self.request(slot as u8, &mut cta);
        cta.open += 1;
        // The rest of a CTA waits at a barrier for the warp that copies.
        cta.waits = expected.copy.is_some() && !self.part.blocks_core();
        self.ctas[slot] = Some(cta);
        self.hash.write(&self.now.0.to_le_bytes());
        self.under_way.insert(request.token, expected);
        self.moved = self.now;
        self.part
            .offer(Box::new(request), self.now)
            .map_err(|Wrong { why, .. }| format!("a request that can be is refused: {why}"))
    }

    /// A random request, and what it must bring.
    fn request(&mut self, slot: u8, cta: &mut Cta) -> (ScratchpadRequest, Expected) {
        self.tokens += 1;
        let token = self.tokens;
        let mut request = ScratchpadRequest { token, cta: slot, ..ScratchpadRequest::EMPTY };
        let mut expected = Expected { cta: slot, words: None, copy: None };
        let base = u64::from(slot) * u64::from(self.contract.bytes) / u64::from(self.contract.ctas);
        let what = self.stream.below(10);
        if self.can_map && (cta.maps.is_empty() || what == 0 && cta.maps.len() < MAPS) {
            let mapping = self.mapping(cta.maps.len(), base, cta.region);
            request.action = ScratchpadAction::Tile(TileAction::AddMap, mapping);
            cta.maps.push(Map::new(mapping));
        } else if self.can_map && what == 1 {
            let index = self.stream.below(cta.maps.len() as u64) as usize;
            let mapping = self.changed(cta, index, base);
            request.action = ScratchpadAction::Tile(TileAction::ChangeMap { index: index as u32 }, mapping);
        } else if self.can_copy && what < 3 && cta.open == 0 {
            let map = Map::new(self.mapping(0, base, cta.region));
            let action = if self.stream.below(2) == 0 { TileAction::Load } else { TileAction::Store };
            request.action = ScratchpadAction::Tile(action, map.mapping);
            expected.copy = Some((action, map));
        } else if what < 4 || !self.can_map {
            let place = cta.maps.len() + self.stream.below((MAPS + 1 - cta.maps.len()) as u64) as usize;
            self.plain(base + place as u64 * PLACE, &mut request);
        } else {
            self.mapped(cta, &mut request, &mut expected);
        }
        (request, expected)
    }

    /// A tile for the place of a CTA's mapping: of the region's part that belongs to it, or of what is only read.
    fn mapping(&mut self, index: usize, base: u64, region: u64) -> strata_memory::tile::Mapping {
        let is_coherent = self.stream.below(3) > 0;
        let part = REGION / MAPS as u64;
        let own = BASE + region * REGION + index as u64 * part;
        let from = if is_coherent || self.can_copy { own } else { BASE + REGIONS * REGION };
        tile(&mut self.stream, base + index as u64 * PLACE, from, part - 8, is_coherent)
    }

    /// Another tile for a mapping, or another mode for the same one.
    fn changed(&mut self, cta: &mut Cta, index: usize, base: u64) -> strata_memory::tile::Mapping {
        let map = &mut cta.maps[index];
        if map.mapping.is_coherent && self.stream.below(2) == 0 {
            map.mapping.is_coherent = false;
        } else if !map.mapping.is_coherent && map.global(0) < BASE + REGIONS * REGION {
            map.mapping.is_coherent = true;
            for (word, value) in std::mem::take(&mut map.private) {
                self.oracle[(map.global(word) - BASE) as usize] = value;
            }
        } else {
            let mapping = self.mapping(index, base, cta.region);
            cta.maps[index] = Map::new(mapping);
        }
        cta.maps[index].mapping
    }

    /// Bytes from `from` on, which no mapping has.
    fn plain(&mut self, from: u64, request: &mut ScratchpadRequest) {
        (request.action, request.width) = (ScratchpadAction::Plain, 1 << self.stream.below(5));
        request.lanes = 1 + self.stream.below(u64::from(u32::MAX)) as u32;
        for lane in lanes_of(request.lanes) {
            let width = u64::from(request.width);
            request.addresses[lane] = (from + self.stream.below(256 / width) * width) as u32;
        }
    }

    /// A load or a store of words under one mapping, or under several.
    fn mapped(&mut self, cta: &mut Cta, request: &mut ScratchpadRequest, expected: &mut Expected) {
        let is_store = self.stream.below(2) == 0;
        request.action = if is_store { ScratchpadAction::Store } else { ScratchpadAction::Load };
        let words = 1_u64 << self.stream.below(3);
        request.width = 4 * words as u8;
        let mut rows = vec![Row::ZERO; words as usize];
        let lanes = self.stream.next() as u32;
        for lane in lanes_of(lanes) {
            let index = self.stream.below(cta.maps.len() as u64) as usize;
            let map = &mut cta.maps[index];
            let Some(last) = map.words().checked_sub(words) else { continue };
            let first = self.stream.below(last / words + 1) * words;
            request.lanes |= 1 << lane;
            request.maps[lane] = index as u8 + 1;
            request.addresses[lane] = (map.mapping.stash_base + first * WORD) as u32;
            for word in 0..words {
                let global = map.global(first + word);
                let own = &mut self.oracle[(global - BASE) as usize];
                if is_store {
                    let value = self.stream.next() as u32;
                    request.words[word as usize].0[lane] = value;
                    if map.mapping.is_coherent {
                        *own = value
                    } else {
                        _ = map.private.insert(first + word, value)
                    }
                } else {
                    rows[word as usize].0[lane] = *map.private.get(&(first + word)).unwrap_or(own);
                }
            }
        }
        if request.lanes == 0 {
            return self.plain(cta.maps[0].mapping.stash_base + MAPS as u64 * PLACE, request);
        }
        expected.words = (!is_store).then_some(rows);
    }

    fn complete(&mut self, request: ScratchpadRequest) -> Result<(), String> {
        self.moved = self.now;
        self.hash.write(&self.now.0.to_le_bytes());
        self.hash.write(&request.token.to_le_bytes());
        let Some(Expected { cta, words, copy }) = self.under_way.remove(&request.token) else {
            return Err(format!("request {} comes back, which is not under way", request.token));
        };
        let cta =
            self.ctas[usize::from(cta)].as_mut().ok_or("a request of a CTA that has ended comes back")?;
        cta.open -= 1;
        cta.waits = false;
        for (word, row) in words.iter().flatten().enumerate() {
            for lane in lanes_of(request.lanes) {
                let (found, expected) = (request.words[word].0[lane], row.0[lane]);
                if found != expected {
                    return Err(format!(
                        "lane {lane} of request {} loads {found:#x}, expected {expected:#x}",
                        request.token
                    ));
                }
            }
        }
        let Some((action, map)) = copy else { return Ok(()) };
        for word in 0..map.words() {
            let own = &mut self.oracle[(map.global(word) - BASE) as usize];
            let bytes =
                &mut self.expected_sram[(map.mapping.stash_base + word * WORD) as usize..][..WORD as usize];
            if action == TileAction::Load {
                bytes.copy_from_slice(&own.to_le_bytes());
            } else {
                *own = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            }
        }
        // What others are still copying may be there in part.
        if self.under_way.values().any(|expected| expected.copy.is_some()) {
            Ok(())
        } else {
            self.check_sram()
        }
    }
}
