//! The stash behind the door of the scratchpad: instructions of up to eight words a lane become accesses of a word a lane, and
//! what they say to the registry becomes packets. Where the machine has none, the stash has one of its own.

mod design;
mod letters;
mod own_registry;
mod pieces;

use std::collections::VecDeque;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Slab};
use strata_memory::doors::{
    LaneAccess, Scratchpad, ScratchpadAction, ScratchpadRequest, ScratchpadSite, TileAction, Wrong,
};
use strata_memory::tile::Mapping;
use strata_memory::{ByteMask, HEADER_BYTES, Line, LineAddress, Packet, Tray};

use super::config::StashConfig;
use super::error::{Place, Why};
use super::port::{Packet as StashPacket, Refusal};
use super::unit::Stash;
use super::waits::Wait;
use crate::denovo::Flight;
use letters::Letters;
use own_registry::OwnRegistry;
use pieces::{Piece, numbers, piece, token, word_of};

/// Requests under way at most: more than a load/store unit has instructions in flight.
const REQUESTS: usize = 1 << 14;

/// Lines named in a report; a stash with more leaves room for what others say.
const REPORTED: usize = 8;

/// A request that the stash has begun.
#[derive(Debug)]
struct UnderWay {
    request: Box<ScratchpadRequest>,
    /// Pieces that are not complete, and one more until all have been offered.
    open: u32,
}

/// The request that waits for something under way, and with it all that come after.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Its place among those under way.
    slot: u32,
    /// The number of the piece that the stash refused; 0 of an operation on a tile.
    piece: usize,
}

/// Who knows whose words are whose.
#[derive(Debug)]
enum Registry {
    /// The machine's L2.
    Machine(Letters),
    /// The stash.
    Own(Box<OwnRegistry>),
}

/// A stash behind the banks of an SM's shared memory.
#[derive(Debug)]
pub struct StashScratchpad {
    stash: Stash,
    registry: Registry,
    under_way: Slab<UnderWay>,
    waiting: Option<Waiting>,
    /// What the waiting request waits for may have come.
    retry: bool,
    done: VecDeque<(Cycle, Box<ScratchpadRequest>)>,
}

impl StashScratchpad {
    /// An empty stash. The parameters must have been checked.
    pub fn new(config: &StashConfig, site: ScratchpadSite) -> StashScratchpad {
        let registry = match config.own_registry() {
            Some(accesses) => Registry::Own(Box::new(OwnRegistry::new(accesses as usize))),
            None => Registry::Machine(Letters::new(site.node, site.slices)),
        };
        StashScratchpad {
            stash: Stash::new(config, site.node.0 as u8),
            registry,
            under_way: Slab::new(REQUESTS),
            waiting: None,
            retry: false,
            done: VecDeque::new(),
        }
    }

    /// Why an access or a copy can never be performed, and the lane at fault.
    fn find_wrong(&self, request: &ScratchpadRequest) -> Option<(usize, Why)> {
        if let ScratchpadAction::Tile(..) = request.action {
            return Some((0, Why::NoEngine));
        }
        let mut pieces = numbers(request).filter_map(|number| piece(request, number));
        pieces.find_map(|Piece { access, .. }| self.stash.check(&access).err())
    }

    /// Adds or changes a mapping. An error says why it cannot be, or nothing if it has to wait.
    fn map(&mut self, cta: u8, action: TileAction, mapping: &Mapping, now: Cycle) -> Result<(), Option<Why>> {
        // The SM names the place.
        let place = Place { kernel: String::new(), line: 0 };
        // Virtual addresses are the physical ones, and the load/store unit has looked for the tile in memory.
        let pages = |page: u64| Some(page);
        let done = match action {
            TileAction::ChangeMap { index } => {
                let Ok(index) = u8::try_from(index) else {
                    let maps = self.stash.maps_of(cta);
                    return Err(Some(Why::NoSuchMap { index: index as usize, maps }));
                };
                self.stash.change_map((cta, index), mapping, &pages, &place, now)
            }
            _ => self.stash.add_map(cta, mapping, &pages, &place, now).map(|_| ()),
        };
        done.map_err(|refusal| match refusal {
            Refusal::Busy => None,
            Refusal::Wrong(error) => Some(error.why),
        })
    }

    /// Offers the pieces of a request from one on.
    fn offer_pieces(&mut self, Waiting { slot, piece: first }: Waiting, now: Cycle) {
        let numbers = numbers(&self.under_way.get(slot).request);
        for number in first..numbers.end {
            let Some(Piece { word, mut access }) = piece(&self.under_way.get(slot).request, number) else {
                continue;
            };
            access.token = token(slot, word);
            match self.stash.offer(&access, now) {
                Ok(()) => self.under_way.get_mut(slot).open += 1,
                Err(Refusal::Busy) => {
                    self.waiting = Some(Waiting { slot, piece: number });
                    return;
                }
                Err(Refusal::Wrong(why)) => unreachable!("it was checked when it was offered: {why}"),
            }
        }
        self.waiting = None;
        self.close(slot, now);
    }

    /// A part of a request is complete.
    fn close(&mut self, slot: u32, at: Cycle) {
        let under_way = self.under_way.get_mut(slot);
        under_way.open -= 1;
        if under_way.open == 0 {
            let UnderWay { request, .. } = self.under_way.remove(slot);
            self.done.push_back((at, request));
        }
    }

    /// Tries the request that waits once more.
    fn go_on(&mut self, now: Cycle) {
        let Some(waiting) = self.waiting.filter(|_| std::mem::take(&mut self.retry)) else { return };
        let UnderWay { request, .. } = self.under_way.get(waiting.slot);
        let ScratchpadAction::Tile(action, mapping) = request.action else {
            return self.offer_pieces(waiting, now);
        };
        let cta = request.cta;
        match self.map(cta, action, &mapping, now) {
            Ok(()) => {
                self.waiting = None;
                self.close(waiting.slot, now);
            }
            Err(None) => {}
            Err(Some(why)) => unreachable!("it was checked when it was offered: {why}"),
        }
    }
}

impl Scratchpad for StashScratchpad {
    fn has_room(&self) -> bool {
        self.waiting.is_none() && !self.under_way.is_full()
    }

    fn offer(&mut self, request: Box<ScratchpadRequest>, now: Cycle) -> Result<(), Wrong> {
        // A mapping that can be now is added by the check itself.
        let added = match request.action {
            ScratchpadAction::Tile(action, mapping) if !action.copies() => {
                match self.map(request.cta, action, &mapping, now) {
                    Err(Some(why)) => return Err(Wrong { request, lane: 0, why: why.to_string() }),
                    found => Some(found.is_ok()),
                }
            }
            _ => {
                if let Some((lane, why)) = self.find_wrong(&request) {
                    return Err(Wrong { request, lane, why: why.to_string() });
                }
                None
            }
        };
        let slot =
            self.under_way.insert(UnderWay { request, open: 1 }).expect("it is offered while there is room");
        self.retry = false;
        match added {
            Some(true) => self.close(slot, now),
            Some(false) => self.waiting = Some(Waiting { slot, piece: 0 }),
            None => self.offer_pieces(Waiting { slot, piece: 0 }, now),
        }
        Ok(())
    }

    fn tick(&mut self, _: &mut [u8], now: Cycle) {
        self.go_on(now);
        if let Registry::Own(own) = &mut self.registry {
            self.retry |= own.serve(&mut self.stash, now);
        }
        while let Some(access) = self.stash.completed(now) {
            let (slot, word) = word_of(access.token);
            let request = &mut self.under_way.get_mut(slot).request;
            if !access.is_store && access.map.is_some() {
                let row = &mut request.words[word].0;
                for lane in (0..row.len()).filter(|lane| access.lanes >> lane & 1 == 1) {
                    row[lane] = access.words[lane];
                }
            }
            self.close(slot, now);
        }
    }

    fn completed(&mut self, now: Cycle) -> Option<Box<ScratchpadRequest>> {
        let ready = self.done.front().is_some_and(|(at, _)| *at <= now);
        if ready { self.done.pop_front().map(|(_, request)| request) } else { None }
    }

    fn access(&mut self, _: Cycle) -> Option<LaneAccess> {
        match &mut self.registry {
            Registry::Machine(_) => None,
            Registry::Own(own) => own.access(),
        }
    }

    fn performed(&mut self, token: u32, tray: Tray, now: Cycle) {
        let Registry::Own(own) = &mut self.registry else { unreachable!("the machine's L2 is sent packets") };
        own.performed(&mut self.stash, token, tray, now);
        self.retry = true;
    }

    fn accept(&mut self, packet: Packet, now: Cycle) {
        let Registry::Machine(letters) = &mut self.registry else {
            unreachable!("the network was sent nothing")
        };
        let packet = letters.read(packet);
        self.stash.accept(&packet, now);
        self.retry = true;
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let Registry::Machine(letters) = &mut self.registry else { return None };
        Some(letters.write(&self.stash.outgoing(now)?))
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        let Registry::Machine(_) = &self.registry else { return None };
        self.stash.next_outgoing(now).as_ref().map(wire_bytes)
    }

    fn answer(&mut self, now: Cycle) -> Option<Packet> {
        let Registry::Machine(letters) = &mut self.registry else { return None };
        Some(letters.write(&self.stash.answer(now)?))
    }

    fn answer_bytes(&self, now: Cycle) -> Option<u32> {
        let Registry::Machine(_) = &self.registry else { return None };
        self.stash.next_answer(now).map(wire_bytes)
    }

    fn peek(&mut self, line: LineAddress, below: &mut Line) {
        self.stash.each_owned(line.0, |word, value| {
            below.0[4 * word as usize..][..4].copy_from_slice(&value.to_le_bytes());
        });
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.stash.each_owned(line.0, |word, value| {
            let mut own = value.to_le_bytes();
            for (n, own) in own.iter_mut().enumerate() {
                let at = 4 * word as usize + n;
                if bytes.0 >> at & 1 == 1 {
                    *own = data.0[at];
                }
            }
            *value = u32::from_le_bytes(own);
        });
    }

    fn end_cta(&mut self, cta: u8, _: Cycle) {
        self.stash.cta_end(cta);
        self.retry = true;
    }

    fn end_kernel(&mut self, now: Cycle) -> bool {
        self.stash.send_registrations();
        if let Registry::Own(_) = self.registry {
            self.stash.write_back_all(now);
        }
        self.is_idle() && self.stash.synchronise()
    }

    fn is_idle(&self) -> bool {
        self.under_way.is_empty()
            && self.done.is_empty()
            && !self.stash.is_missing()
            && self.stash.writing_back() == 0
            && self.stash.next_event(Cycle::ZERO) == Cycle::NEVER
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.waiting.is_some() && self.retry {
            return now;
        }
        if let Registry::Own(own) = &self.registry
            && own.has_access()
        {
            return now;
        }
        let done = self.done.front().map_or(Cycle::NEVER, |(at, _)| (*at).max(now));
        done.min(self.stash.next_event(now))
    }

    fn waits(&self, report: &mut Vec<String>) {
        if let Some(Waiting { slot, piece }) = self.waiting {
            let ScratchpadRequest { cause, cta, action, .. } = &*self.under_way.get(slot).request;
            report.push(format!(
                "the stash refuses piece {piece} of an instruction of warp {} (CTA slot {cta}, {action:?}) until what is under way \
                 in its chunks is answered",
                cause.warp
            ));
        }
        let waits = self.stash.waits();
        let more = waits.len().saturating_sub(REPORTED);
        for Wait { line, map, flight, words } in waits.into_iter().take(REPORTED) {
            let what = match flight {
                Flight::WriteBack => "the acknowledgement of their writeback",
                Flight::Read => "their data",
                _ => "their registration",
            };
            let line = LineAddress(line);
            let whom = match &self.registry {
                Registry::Machine(letters) => {
                    format!("the L2 at node {} or an owner", letters.home_of(line).0)
                }
                Registry::Own(_) => "memory".to_owned(),
            };
            report.push(format!(
                "the stash: words {words:#x} of line {line} under stash-map entry {map} wait for {what} from {whom}"
            ));
        }
        if more > 0 {
            report.push(format!("the stash: words of {more} more lines wait"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.stash.statistics().report()]
    }
}

/// Size of a packet in the network, in bytes.
fn wire_bytes(packet: &StashPacket) -> u32 {
    HEADER_BYTES + if packet.message.carries_data() { 4 * packet.words.count_ones() } else { 0 }
}
