//! Golden cycles and bytes of the engine, by hand.

use std::collections::VecDeque;

use strata_engine::{Cited, Cycle};
use strata_memory::doors::{
    Design, LaneAccess, LaneCause, Scratchpad, ScratchpadAction, ScratchpadRequest, TileAction,
};
use strata_memory::tile::Mapping;
use strata_memory::{Line, LineAddress};

use super::{Blocks, DmaConfig, Engine};

/// A memory of 64 lines that answers after a fixed time; byte n of it is n % 251.
struct Bench {
    engine: Engine,
    sram: Vec<u8>,
    memory: Vec<u8>,
    latency: u64,
    flights: VecDeque<(Cycle, LaneAccess)>,
    now: Cycle,
    /// Cycle, first byte and number of bytes of each access.
    log: Vec<(u64, usize, u32)>,
}

impl Bench {
    fn new(accesses: usize, latency: u64) -> Bench {
        Bench {
            engine: Engine::new(accesses, 128, Blocks::Core),
            sram: vec![0xaa; 2048],
            memory: (0..8192).map(|at| (at % 251) as u8).collect(),
            latency,
            flights: VecDeque::new(),
            now: Cycle(0),
            log: Vec::new(),
        }
    }

    fn line(&self, line: LineAddress) -> std::ops::Range<usize> {
        line.base().0 as usize..line.base().0 as usize + 128
    }

    /// A cycle as the load/store unit has it. Returns whether a request is complete.
    fn cycle(&mut self) -> bool {
        while self.flights.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, mut access) = self.flights.pop_front().expect("it is there");
            let range = self.line(access.line);
            if access.writes {
                let mut line = Line(self.memory[range.clone()].try_into().expect("a line"));
                line.merge(access.bytes, &access.tray);
                self.memory[range].copy_from_slice(&line.0);
            } else {
                let line = Line(self.memory[range].try_into().expect("a line"));
                *access.tray = Line([0xee; 128]);
                access.tray.merge(access.bytes, &line);
            }
            self.engine.performed(access.token, access.tray, self.now);
        }
        self.engine.tick(&mut self.sram, self.now);
        let done = self.engine.completed(self.now).is_some();
        if let Some(access) = self.engine.access(self.now) {
            let first = access.line.base().0 as usize + access.bytes.0.trailing_zeros() as usize;
            self.log.push((self.now.0, first, access.bytes.count()));
            self.flights.push_back((self.now + self.latency, access));
        }
        self.now += 1;
        done
    }

    /// Copies a tile; returns the cycle in which that is complete. With `skips`, ticks only when it says.
    fn copy(&mut self, action: TileAction, mapping: Mapping, skips: bool) -> u64 {
        let action = ScratchpadAction::Tile(action, mapping);
        let request = Box::new(ScratchpadRequest { action, ..ScratchpadRequest::EMPTY });
        assert!(self.engine.has_room());
        self.engine.offer(request, self.now).expect("it can be copied");
        assert!(!self.engine.has_room() && !self.engine.is_idle());
        self.now += 1;
        while self.now < Cycle(10_000) {
            if skips {
                let answer = self.flights.front().map_or(Cycle::NEVER, |(at, _)| *at);
                self.now = self.engine.next_event(self.now).min(answer).max(self.now);
            }
            if self.cycle() {
                assert!(self.engine.is_idle());
                return self.now.0 - 1;
            }
        }
        panic!("the copy does not end");
    }
}

/// Two rows of three objects of 64 bytes, whose fields have 8.
fn tile() -> Mapping {
    Mapping {
        stash_base: 16,
        global_base: 120,
        field_size: 8,
        object_size: 64,
        row_size: 3,
        stride_size: 1024,
        num_strides: 2,
        is_coherent: false,
    }
}

/// Global addresses of the tile's fields: 120 and 184, 248 (its line ends at 256), then 1144, 1208, 1272.
const FIELDS: [usize; 6] = [120, 184, 248, 1144, 1208, 1272];

#[test]
fn a_load_takes_a_cycle_a_line_and_the_latency() {
    let mut bench = Bench::new(8, 10);
    // Taken in 0. Accesses: 120 in 1; 184 and 248 share line 128 to 255 in 2; likewise the second row in 3 and 4. The last
    // comes back and passes the banks in 14; the copy is complete in 15.
    assert_eq!(bench.copy(TileAction::Load, tile(), false), 15);
    assert_eq!(bench.log, [(1, 120, 8), (2, 184, 16), (3, 1144, 8), (4, 1208, 16)]);
    for (n, field) in FIELDS.into_iter().enumerate() {
        assert_eq!(bench.sram[16 + 8 * n..24 + 8 * n], bench.memory[field..field + 8]);
    }
    assert!(
        bench.sram[..16].iter().chain(&bench.sram[64..]).all(|byte| *byte == 0xaa),
        "nothing else changes"
    );
    let statistics = &bench.engine.statistics()[0];
    assert_eq!(format!("{statistics:?}"), format!("{:?}", bench.engine.statistics()[0]));
}

#[test]
fn few_accesses_under_way_make_it_wait() {
    let mut bench = Bench::new(2, 10);
    // The first comes back in 11 and passes the banks; the third goes then, and the fourth in 12. It is back in 22.
    assert_eq!(bench.copy(TileAction::Load, tile(), false), 23);
    assert_eq!(bench.log, [(1, 120, 8), (2, 184, 16), (11, 1144, 8), (12, 1208, 16)]);
}

#[test]
fn a_store_writes_the_tile_and_nothing_else() {
    let mut bench = Bench::new(8, 10);
    let before = bench.memory.clone();
    bench.sram[16..64].iter_mut().enumerate().for_each(|(n, byte)| *byte = n as u8 + 100);
    assert_eq!(bench.copy(TileAction::Store, tile(), false), 15);
    let mut expected = before;
    for (n, field) in FIELDS.into_iter().enumerate() {
        for byte in 0..8 {
            expected[field + byte] = (8 * n + byte) as u8 + 100;
        }
    }
    assert!(bench.memory == expected);
}

#[test]
fn skipping_equals_ticking() {
    for (accesses, latency) in [(1, 1), (2, 7), (3, 40), (16, 3)] {
        let run = |skips: bool| {
            let mut bench = Bench::new(accesses, latency);
            let loaded = bench.copy(TileAction::Load, tile(), skips);
            let stored = bench.copy(TileAction::Store, Mapping { global_base: 2048, ..tile() }, skips);
            (loaded, stored, bench.log, bench.sram, bench.memory, format!("{:?}", bench.engine.statistics()))
        };
        assert!(run(true) == run(false), "{accesses} accesses, latency {latency}");
    }
}

#[test]
fn copies_of_two_warps_overlap_where_a_copy_blocks_its_warp_alone() {
    let mut bench = Bench::new(8, 10);
    bench.engine = Engine::new(8, 128, Blocks::Warp);
    let request = |global_base, stash_base, warp| {
        let action = ScratchpadAction::Tile(TileAction::Load, Mapping { global_base, stash_base, ..tile() });
        let cause = LaneCause { pc: 0, warp };
        Box::new(ScratchpadRequest { action, cause, ..ScratchpadRequest::EMPTY })
    };
    bench.engine.offer(request(120, 16, 0), Cycle(0)).expect("it can be copied");
    bench.now += 1;
    assert!(bench.engine.has_room(), "another copy is under way, but no pass");
    bench.engine.offer(request(4216, 128, 1), Cycle(1)).expect("it can be copied");
    let (mut done, mut closed) = (Vec::new(), Vec::new());
    while !bench.engine.is_idle() {
        let now = bench.now.0;
        if bench.cycle() {
            done.push(now);
        }
        if !bench.engine.has_room() {
            closed.push(now);
        }
    }
    // Accesses of the first in 1 to 4, of the second in 5 to 8; each is back and passes the banks ten cycles later.
    assert_eq!(bench.log.iter().map(|(at, ..)| *at).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(done, [15, 19]);
    assert_eq!(closed, (11..=18).collect::<Vec<_>>(), "in these cycles the banks are the engine's");
    for (n, field) in FIELDS.into_iter().enumerate() {
        assert_eq!(bench.sram[16 + 8 * n..24 + 8 * n], bench.memory[field..field + 8]);
        assert_eq!(bench.sram[128 + 8 * n..136 + 8 * n], bench.memory[field + 4096..field + 4104]);
    }
}

#[test]
fn mappings_and_mapped_addresses_are_refused() {
    let mut engine = Engine::new(4, 128, Blocks::Core);
    let add = ScratchpadAction::Tile(TileAction::AddMap, tile());
    let request = ScratchpadRequest { action: add, ..ScratchpadRequest::EMPTY };
    let wrong = engine.offer(Box::new(request), Cycle(0)).expect_err("it maps nothing");
    assert_eq!(wrong.why, "a DMA engine copies tiles and maps none; a mapping takes a stash");
    let mut request =
        ScratchpadRequest { action: ScratchpadAction::Load, lanes: 6, ..ScratchpadRequest::EMPTY };
    request.maps[2] = 4;
    let wrong = engine.offer(Box::new(request), Cycle(0)).expect_err("there is no mapping");
    assert_eq!((wrong.lane, wrong.request.lanes), (2, 6));
    assert!(wrong.why.contains("found mapping 3"), "{}", wrong.why);
    assert!(engine.has_room() && engine.is_idle());
}

#[test]
fn parameters_are_checked() {
    let of = |accesses, line_bytes| {
        let [accesses, line_bytes] = [accesses, line_bytes].map(|value| Cited::new(value, "test"));
        DmaConfig { accesses, line_bytes, blocks: None }.check()
    };
    assert!(of(1, 64).is_ok() && of(1024, 128).is_ok());
    let error = of(1, 32).expect_err("no cache has such lines").to_string();
    assert_eq!(error, "line_bytes: must be 64 or 128, found 32");
    for accesses in [0, 1025] {
        let error = of(accesses, 128).expect_err("it is out of range").to_string();
        assert!(
            error.contains("accesses") && error.contains(&format!("1 to 1024, found {accesses}")),
            "{error}"
        );
    }
}
