//! The engine: copies in the order in which they were asked for, line by line.

use std::collections::VecDeque;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Slab};
use strata_memory::doors::{
    LaneAccess, LaneCause, Scratchpad, ScratchpadAction, ScratchpadRequest, TileAction, Wrong,
};
use strata_memory::tile::{Tile, WORD};
use strata_memory::{Address, ByteMask, LINE_BYTES, LineAddress, Tray, Trays};

use super::blocks::Blocks;
use super::statistics::DmaStatistics;

/// The words of an access: they follow each other in the tile, and lie in one line.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Number of its copy.
    copy: u64,
    /// Offset of the first in the tile, in bytes of the scratchpad.
    offset: u64,
    /// Bytes of the scratchpad.
    bytes: u64,
}

/// A copy under way.
#[derive(Debug)]
struct Copy {
    /// How many there were before.
    number: u64,
    request: Box<ScratchpadRequest>,
    tile: Tile,
    global_base: u64,
    /// First byte in the scratchpad.
    base: u64,
    /// Copies to the scratchpad.
    is_load: bool,
    /// Offset of the next word that no access was made for.
    next: u64,
    /// Accesses made that have not passed the banks.
    open: u32,
}

impl Copy {
    fn address(&self, offset: u64) -> Address {
        Address(self.global_base + self.tile.global_offset(offset))
    }

    /// Whether no access is left to make.
    fn is_made(&self) -> bool {
        self.next == self.tile.stash_bytes()
    }

    /// Where the bytes of a piece lie in its line: for each word, its offset in the tile and its first byte.
    fn words(&self, piece: Piece) -> impl Iterator<Item = (usize, usize)> + '_ {
        (piece.offset..piece.offset + piece.bytes).step_by(WORD as usize).map(|offset| {
            let byte = self.address(offset).0 as usize % LINE_BYTES;
            ((self.base + offset) as usize, byte)
        })
    }

    /// The next piece, if one is left, in a line of `line_bytes`.
    fn next_piece(&self, line_bytes: u64) -> Option<(LineAddress, Piece)> {
        let end = self.tile.stash_bytes();
        if self.next == end {
            return None;
        }
        let first = self.address(self.next);
        let mut bytes = WORD;
        while self.next + bytes < end
            && self.address(self.next + bytes).0 / line_bytes == first.0 / line_bytes
        {
            bytes += WORD;
        }
        Some((first.line(), Piece { copy: self.number, offset: self.next, bytes }))
    }
}

/// A DMA engine.
#[derive(Debug)]
pub struct Engine {
    /// Bytes of a line of the L1D.
    line_bytes: u64,
    blocks: Blocks,
    /// Under way, oldest first.
    copies: Vec<Copy>,
    /// Copies begun.
    begun: u64,
    /// Since when a copy has been under way.
    since: Cycle,
    /// Whether it has used the banks in its last cycle.
    passed: bool,
    /// Accesses under way, by token.
    pieces: Slab<Piece>,
    trays: Trays,
    /// Accesses that have come back and have yet to pass the banks.
    back: VecDeque<(u32, Tray)>,
    /// The next access, made in this cycle.
    ready: Option<LaneAccess>,
    /// No access is made before this cycle.
    from: Cycle,
    done: VecDeque<(Cycle, Box<ScratchpadRequest>)>,
    statistics: DmaStatistics,
}

impl Engine {
    /// An idle engine with at most `accesses` accesses under way, each to a line of `line_bytes`.
    pub fn new(accesses: usize, line_bytes: u64, blocks: Blocks) -> Engine {
        Engine {
            line_bytes,
            blocks,
            copies: Vec::new(),
            begun: 0,
            since: Cycle::ZERO,
            passed: false,
            pieces: Slab::new(accesses),
            trays: Trays::new(accesses),
            back: VecDeque::with_capacity(accesses),
            ready: None,
            from: Cycle::ZERO,
            done: VecDeque::new(),
            statistics: DmaStatistics::default(),
        }
    }

    /// Takes what has come back through the banks: one access a cycle.
    fn land(&mut self, sram: &mut [u8]) {
        let Some((token, tray)) = self.back.pop_front() else { return };
        let piece = self.pieces.remove(token);
        let copy = self.copies.iter_mut().find(|copy| copy.number == piece.copy);
        let copy = copy.expect("an access belongs to a copy under way");
        copy.open -= 1;
        if copy.is_load {
            for (to, from) in copy.words(piece) {
                sram[to..to + WORD as usize].copy_from_slice(&tray.0[from..from + WORD as usize]);
            }
            self.statistics.passes += 1;
            self.passed = true;
        }
        self.trays.put(tray);
    }

    /// Makes the next access.
    fn make(&mut self, sram: &[u8]) {
        if self.ready.is_some() || self.pieces.is_full() {
            return;
        }
        let Some(copy) = self.copies.iter_mut().find(|copy| !copy.is_made()) else { return };
        let Some((line, piece)) = copy.next_piece(self.line_bytes) else { return };
        copy.next += piece.bytes;
        copy.open += 1;
        let mut tray = self.trays.take();
        let mut bytes = ByteMask::NONE;
        for (at, byte) in copy.words(piece) {
            bytes |= ByteMask::range(byte, WORD as usize);
            if !copy.is_load {
                tray.0[byte..byte + WORD as usize].copy_from_slice(&sram[at..at + WORD as usize]);
            }
        }
        self.statistics.accesses += 1;
        self.statistics.words += piece.bytes / WORD;
        self.statistics.passes += u64::from(!copy.is_load);
        self.passed |= !copy.is_load;
        let token = self.pieces.insert(piece).expect("there is room for the access");
        let LaneCause { pc, warp } = copy.request.cause;
        let cause = LaneCause { pc, warp };
        self.ready = Some(LaneAccess { token, cause, line, bytes, writes: !copy.is_load, tray });
    }

    /// Ends the copies of which nothing is left.
    fn end(&mut self, now: Cycle) {
        let mut place = 0;
        while let Some(copy) = self.copies.get(place) {
            if !copy.is_made() || copy.open > 0 {
                place += 1;
                continue;
            }
            let Copy { request, .. } = self.copies.remove(place);
            self.done.push_back((now.next(), request));
            if self.copies.is_empty() {
                self.statistics.busy_cycles += now.next().since(self.since);
            }
        }
    }
}

impl Scratchpad for Engine {
    fn has_room(&self) -> bool {
        match self.blocks {
            Blocks::Core => self.copies.is_empty(),
            Blocks::Warp => !self.passed,
        }
    }

    fn blocks_core(&self) -> bool {
        self.blocks == Blocks::Core
    }

    fn offer(&mut self, request: Box<ScratchpadRequest>, now: Cycle) -> Result<(), Wrong> {
        let (action, mapping) = match request.action {
            ScratchpadAction::Tile(action, mapping) if action.copies() => (action, mapping),
            ScratchpadAction::Tile(..) => {
                let why = "a DMA engine copies tiles and maps none; a mapping takes a stash".to_owned();
                return Err(Wrong { request, lane: 0, why });
            }
            _ => {
                if let Some(lane) =
                    (0..32).find(|lane| request.lanes >> lane & 1 == 1 && request.maps[*lane] != 0)
                {
                    let why = format!(
                        "expected an address without a mapping on a machine without a stash, found mapping {}",
                        request.maps[lane] - 1
                    );
                    return Err(Wrong { request, lane, why });
                }
                self.done.push_back((now, request));
                return Ok(());
            }
        };
        let tile = match Tile::new(&mapping) {
            Ok(tile) => tile,
            Err(error) => return Err(Wrong { request, lane: 0, why: error.to_string() }),
        };
        let is_load = action == TileAction::Load;
        *if is_load { &mut self.statistics.loads } else { &mut self.statistics.stores } += 1;
        let (global_base, base) = (mapping.global_base, mapping.stash_base);
        if self.copies.is_empty() {
            (self.since, self.from) = (now, now.next());
        }
        let number = self.begun;
        self.begun += 1;
        self.copies.push(Copy { number, request, tile, global_base, base, is_load, next: 0, open: 0 });
        Ok(())
    }

    fn tick(&mut self, sram: &mut [u8], now: Cycle) {
        self.passed = false;
        self.land(sram);
        if self.from <= now {
            self.make(sram);
        }
        self.end(now);
    }

    fn completed(&mut self, now: Cycle) -> Option<Box<ScratchpadRequest>> {
        let ready = self.done.front().is_some_and(|(at, _)| *at <= now);
        if ready { self.done.pop_front().map(|(_, request)| request) } else { None }
    }

    fn access(&mut self, _: Cycle) -> Option<LaneAccess> {
        self.ready.take()
    }

    fn performed(&mut self, token: u32, tray: Tray, _: Cycle) {
        self.back.push_back((token, tray));
    }

    fn end_cta(&mut self, _: u8, _: Cycle) {}

    fn end_kernel(&mut self, _: Cycle) -> bool {
        self.is_idle()
    }

    fn is_idle(&self) -> bool {
        self.copies.is_empty() && self.done.is_empty()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let done = self.done.front().map_or(Cycle::NEVER, |(at, _)| (*at).max(now));
        let over = |copy: &Copy| copy.is_made() && copy.open == 0;
        if self.passed && self.blocks == Blocks::Warp
            || self.ready.is_some()
            || !self.back.is_empty()
            || self.copies.iter().any(over)
        {
            return now;
        }
        let makes = !self.pieces.is_full() && self.copies.iter().any(|copy| !copy.is_made());
        if makes { self.from.max(now).min(done) } else { done }
    }

    fn waits(&self, report: &mut Vec<String>) {
        for copy in &self.copies {
            let name = if copy.is_load { "dma_load" } else { "dma_store" };
            report.push(format!(
                "the DMA engine copies for warp {} ({name}): {} of {} bytes asked for, {} accesses under way",
                copy.request.cause.warp,
                copy.next,
                copy.tile.stash_bytes(),
                copy.open
            ));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}
