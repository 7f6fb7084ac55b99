//! The conventional L2 under the contract, and planted bugs that it must catch.

use crate::baseline::{L2Config, L2Slice};
use serde_json::json;
use strata_engine::Cited;
use strata_memory::doors::{LlcDesign, LlcSite};
use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::{Chosen, PolicyKind};
use strata_memory::prefetch::PrefetchPolicy;
use strata_memory::replacement::ReplacementPolicy;

use super::*;

fn small() -> L2Config {
    let mut config = L2Config::example();
    config.sets.value = 4;
    config.ways.value = 2;
    config.rop_latency_cycles.value = 5;
    config.hit_latency_cycles.value = 3;
    config.mshr_entries.value = 4;
    config.mshr_merges.value = 3;
    config.dram_queue.value = 3;
    config.write_buffer.value = 2;
    config
}

fn holds(config: &L2Config, contract: Contract) {
    let outcome = check_with_skips(&contract, &mut || {
        let site = LlcSite::alone(contract.seed);
        config.build(site).expect("the configuration can be built")
    });
    if let Err(fault) = outcome {
        panic!("{fault}\n{contract:?}\n{config:?}");
    }
}

#[test]
fn the_contract_holds_for_the_l2() {
    for seed in 0..4 {
        for sector_bytes in [32, 128] {
            let mut config = small();
            config.sector_bytes.value = sector_bytes;
            holds(&config, Contract::alone(seed));
            holds(&config, Contract::shared(seed));
            holds(&config, Contract { lines: 5, special: 30, ..Contract::shared(seed) });
        }
    }
}

#[test]
fn the_contract_holds_for_an_l2_in_halves() {
    for (seed, latency) in [(0, 1), (1, 7), (2, 90), (3, 400)] {
        let mut config = small();
        config.far_latency_cycles = Some(Cited::new(latency, "test"));
        config.data_bytes_per_cycle = Some(Cited::new(if seed % 2 == 0 { 32 } else { 64 }, "test"));
        config.prefetch = (seed == 3).then(|| Cited::new(Chosen::named("next-line").unwrap(), "test"));
        holds(&config, Contract::alone(seed));
        holds(&config, Contract::shared(seed));
        holds(&config, Contract { lines: 5, special: 30, willing: 20, ..Contract::shared(seed) });
        config.ways.value = 1;
        holds(&config, Contract { accesses: 300, ..Contract::shared(seed) });
    }
}

#[test]
fn the_contract_holds_for_narrow_and_wide_l2s() {
    let mut narrow = small();
    narrow.sets.value = 1;
    narrow.ways.value = 1;
    narrow.request_queue.value = 1;
    narrow.reply_queue.value = 1;
    narrow.mshr_entries.value = 1;
    narrow.mshr_merges.value = 1;
    narrow.dram_queue.value = 2;
    narrow.write_buffer.value = 1;
    narrow.atomic_cycles.value = 4;
    holds(&narrow, Contract { accesses: 300, ..Contract::alone(1) });
    holds(&narrow, Contract { accesses: 300, ..Contract::shared(1) });
    let mut wide = L2Config::example();
    wide.replacement.value = Chosen::named("random").unwrap();
    holds(&wide, Contract { lines: 1500, accesses: 4000, ..Contract::alone(2) });
}

/// That a wait which sleeps is counted like one looked at in every cycle, the contract checks; here every wait occurs.
#[test]
fn requests_wait_for_everything_under_the_contract() {
    let mut waits = [0; 6];
    for seed in 0..4 {
        let mut config = small();
        config.request_queue.value = 2;
        config.reply_queue.value = 1;
        // More than MSHRs, or fewer.
        (config.sets.value, config.ways.value) = if seed % 2 == 0 { (4, 2) } else { (1, 2) };
        let contract = Contract { willing: 20, ..Contract::shared(seed) };
        let outcome = check_with_skips(&contract, &mut || {
            Box::new(L2Slice::new(&config, 0, seed).expect("the configuration can be built"))
        });
        let outcome = outcome.unwrap_or_else(|fault| panic!("{fault}"));
        let names =
            ["refused", "stalled_mshr", "stalled_merge", "stalled_ways", "stalled_dram", "stalled_reply"];
        for (wait, name) in waits.iter_mut().zip(names) {
            let group = &outcome.statistics[0][0];
            *wait += group.get(name).unwrap_or_else(|| panic!("the group {} has {name}", group.name));
        }
    }
    assert!(waits.iter().all(|count| *count > 0), "{waits:?}");
}

/// Every insertion policy in turn.
fn insertion(turn: usize) -> Chosen<dyn InsertionPolicy> {
    let names = <dyn InsertionPolicy>::family().names();
    let policy = match names[turn % names.len()] {
        "by-pc" => json!({ "by-pc": { "pass": [4, 12, 20] } }),
        name => json!(name),
    };
    serde_json::from_value(policy).expect("it is built in")
}

#[test]
fn the_contract_holds_for_every_policy() {
    for (n, replacement) in <dyn ReplacementPolicy>::family().names().into_iter().enumerate() {
        for (m, prefetch) in <dyn PrefetchPolicy>::family().names().into_iter().enumerate() {
            let mut config = small();
            config.replacement.value = Chosen::named(replacement).unwrap();
            config.prefetch = Some(Cited::new(Chosen::named(prefetch).unwrap(), "test"));
            config.insertion = Some(Cited::new(insertion(n + m), "test"));
            config.sector_bytes.value = if n % 2 == 0 { 128 } else { 32 };
            let seed = (4 * n + m) as u64;
            holds(&config, Contract::alone(seed));
            holds(&config, Contract { lines: 9, special: 30, ..Contract::shared(seed) });
        }
    }
}

/// A slice whose answers or requests go wrong.
struct Planted {
    inner: L2Slice,
    bug: Bug,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
enum Bug {
    WholeLineWritten,
    SkippedTooFar,
    AnnouncedLate,
    WriteIgnored,
    PokeIgnored,
    PeekIgnored,
    WriteBackMasked,
    RoomDenied,
    RefusalsUncounted,
    DramRefusalsUncounted,
}

/// A channel that loses the lowest byte of each write.
struct Masked<'a>(&'a mut dyn DramPort);

impl DramPort for Masked<'_> {
    fn offer(&mut self, mut request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        if request.write && request.bytes.count() > 1 {
            request.bytes = ByteMask(request.bytes.0 & (request.bytes.0 - 1));
        }
        self.0.offer(request, now)
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        self.0.completed(now)
    }
}

/// A channel that does not hear of the refusals that a slice counts.
struct Deaf<'a>(&'a mut dyn DramPort);

impl DramPort for Deaf<'_> {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        self.0.offer(request, now)
    }

    fn has_room(&self) -> bool {
        self.0.has_room()
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        self.0.completed(now)
    }
}

impl Planted {
    fn strikes(&mut self) -> bool {
        self.count += 1;
        self.count.is_multiple_of(5)
    }
}

fn later(cycle: Cycle) -> Cycle {
    Cycle(cycle.0.saturating_add(1))
}

impl Llc for Planted {
    fn offer(&mut self, mut request: Packet, now: Cycle) -> Result<(), Packet> {
        if let Body::Write(_) = request.body {
            let bug = self.bug;
            match bug {
                Bug::WholeLineWritten => request.bytes = ByteMask::ALL,
                Bug::WriteIgnored if self.strikes() => request.bytes = ByteMask::range(0, 1),
                _ => {}
            }
        }
        self.inner.offer(request, now)
    }

    fn has_room(&self) -> bool {
        self.inner.has_room() && !matches!(self.bug, Bug::RoomDenied)
    }

    fn count_refusals(&mut self, cycles: u64) {
        if !matches!(self.bug, Bug::RefusalsUncounted) {
            self.inner.count_refusals(cycles);
        }
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        match self.bug {
            Bug::WriteBackMasked => self.inner.tick(&mut Masked(dram), now),
            Bug::DramRefusalsUncounted => self.inner.tick(&mut Deaf(dram), now),
            _ => self.inner.tick(dram, now),
        }
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.inner.outgoing(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.outgoing_bytes(now)
    }

    fn next_outgoing(&self) -> Cycle {
        match self.bug {
            Bug::AnnouncedLate => later(self.inner.next_outgoing()),
            _ => self.inner.next_outgoing(),
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        match self.bug {
            Bug::SkippedTooFar => later(self.inner.next_event(now)),
            _ => self.inner.next_event(now),
        }
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        if !matches!(self.bug, Bug::PeekIgnored) {
            self.inner.peek(line, below);
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        if !matches!(self.bug, Bug::PokeIgnored) {
            self.inner.poke(line, bytes, data);
        }
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<strata_engine::statistics::Group> {
        self.inner.statistics()
    }
}

#[test]
fn every_planted_bug_is_caught() {
    use Bug::*;
    let bugs = [
        WholeLineWritten,
        SkippedTooFar,
        AnnouncedLate,
        WriteIgnored,
        PokeIgnored,
        PeekIgnored,
        WriteBackMasked,
        RoomDenied,
        RefusalsUncounted,
        DramRefusalsUncounted,
    ];
    for bug in bugs {
        let caught = check_with_skips(&Contract::shared(3), &mut || {
            let inner = L2Slice::new(&small(), 0, 1).expect("the configuration can be built");
            Box::new(Planted { inner, bug, count: 0 })
        });
        assert!(caught.is_err(), "{bug:?} was not caught");
    }
}
