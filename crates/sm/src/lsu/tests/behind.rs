//! Cycles of mapped accesses and of copies, by hand: address generation 3, shared memory 5, L1D 20, write-back 2; a stash's hit 1
//! and its translation 10.

use strata_designs::dma::{Blocks, Engine};
use strata_designs::stash::{StashConfig, StashScratchpad};
use strata_memory::doors::{Scratchpad, ScratchpadSite};
use strata_memory::ownership::{Letter, Message, Owner, Place};
use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, SliceMap};
use strata_ptx::isa::{MAPPED, TileOp};

use super::*;

/// Where tests map: the SM's shared memory from here on is the CTA's.
const GLOBAL: u64 = BASE + 0x400;

fn bench(part: Box<dyn Scratchpad>) -> Bench {
    let mut bench = Bench::new(&config());
    bench.lsu = bench.lsu.with_scratchpad(Some(part));
    bench
}

fn stash() -> Bench {
    let site = ScratchpadSite {
        node: NodeId(0),
        slices: SliceMap::new(1, 256, NodeId(1)).expect("one slice"),
        bytes: 16384,
        ctas: 8,
    };
    // Registrations leave with the store that asks for them, not with the others of their line.
    let mut config = StashConfig::paper();
    config.combine_cycles.value = 0;
    bench(Box::new(StashScratchpad::new(&config, site)))
}

/// An array of `words` words from [`GLOBAL`] on, at the beginning of the CTA's shared memory.
fn tile(words: u64) -> Sources {
    Sources::at(|_| 0)
        .with(1, |_| GLOBAL)
        .with(2, |_| 4)
        .with(3, |_| 4)
        .with(4, move |_| words)
        .with(5, |_| 0)
        .with(6, |_| 1)
        .with(7, |_| 1)
}

/// Runs until a cycle.
fn until(bench: &mut Bench, cycle: u64) {
    while bench.now < Cycle(cycle) {
        bench.cycle();
    }
}

/// What the registry says about words of the line of [`GLOBAL`], every word of which is `value`.
fn says(message: Message, bytes: ByteMask, value: u32) -> Packet {
    let (place, line) = (Place::Stash { map: 0 }, LineAddress(GLOBAL / 128));
    let mut tray = Box::new(Line::ZERO);
    tray.0.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&value.to_le_bytes()));
    let letter = Letter { message, place, requester: Owner { node: 0, place } };
    let (source, destination, client) = (NodeId(1), NodeId(0), Client::Scratchpad);
    Packet::new(Contents {
        line,
        bytes,
        source,
        destination,
        client,
        tag: u32::MAX,
        origin: Origin::default(),
        level: Level::default(),
        body: Body::Owned(letter, Some(tray)),
    })
}

fn mapped(bench: &mut Bench, warp: u8, op: fn(MemoryMode) -> Op) {
    let sources = Sources::at(|lane| MAPPED + 4 * lane).with(1, |lane| 1000 + lane);
    bench.issue(warp, op(mode(Space::Shared, Ty::U32, 1)), &sources);
}

#[test]
fn a_miss_waits_for_the_registry_and_a_hit_for_the_banks() {
    let mut bench = stash();
    bench.issue(0, Op::Tile(TileOp::AddMap), &tile(32));
    bench.cycle();
    mapped(&mut bench, 1, Op::Load);
    // The mapping is added in 3, and known to be in 4. The load's pass is in 4; its request leaves in 4 + 1 + 10.
    until(&mut bench, 15);
    assert_eq!(bench.finished, ["6: warp 0 pc 40"]);
    let part = bench.lsu.client().expect("it is there");
    assert!(part.outgoing_bytes(Cycle(14)).is_none());
    let request = part.outgoing(Cycle(15)).expect("the read");
    assert_eq!((request.line.0, request.bytes), (GLOBAL / 128, ByteMask::ALL));
    // Data come in 30: taken in 30, the load is complete a hit later, and written back in 33.
    until(&mut bench, 30);
    bench.lsu.accept(says(Message::Data, ByteMask::ALL, 77), bench.now);
    until(&mut bench, 40);
    assert_eq!(bench.finished[1..], ["33: warp 1 pc 41"]);
    assert_eq!(bench.rows, [Row([77; 32])]);
    // A hit takes what shared memory takes: 3 + 5 + 2.
    mapped(&mut bench, 2, Op::Load);
    bench.cycle();
    // So does a store, which is registered later.
    mapped(&mut bench, 3, Op::Store);
    until(&mut bench, 60);
    assert_eq!(bench.finished[2..], ["50: warp 2 pc 42", "51: warp 3 pc 43"]);
    let part = bench.lsu.client().expect("it is there");
    let register = part.outgoing(Cycle(44 + 11)).expect("the registration");
    assert!(matches!(&register.body, Body::Owned(letter, _) if letter.message == Message::Register));
    assert!(!bench.lsu.is_idle(), "the registration is not granted");
    bench.lsu.accept(says(Message::Granted, ByteMask::ALL, 0), bench.now);
    bench.cycle();
    assert!(bench.lsu.is_idle());
    mapped(&mut bench, 4, Op::Load);
    until(&mut bench, 80);
    assert_eq!(bench.rows, [Row(std::array::from_fn(|lane| 1000 + lane as u32))]);
}

#[test]
fn bank_conflicts_of_mapped_words_are_those_of_shared_memory() {
    let mut bench = stash();
    bench.issue(0, Op::Tile(TileOp::AddMap), &tile(256));
    until(&mut bench, 10);
    // Every eighth word: eight of the 32 words share a bank. Words 0 to 248 of eight lines.
    let sources = Sources::at(|lane| MAPPED + 32 * lane).with(1, |lane| lane);
    bench.issue(1, Op::Store(mode(Space::Shared, Ty::U32, 1)), &sources);
    until(&mut bench, 40);
    assert_eq!(bench.finished[1..], ["27: warp 1 pc 41"], "10 + 3, 8 passes, 5 - 1, 2");
    assert_eq!(bench.lsu.statistics().shared_passes, 8);
}

#[test]
fn a_copy_blocks_memory_instructions_until_it_is_done() {
    let mut bench = bench(Box::new(Engine::new(8, 128, Blocks::Core)));
    bench.issue(0, Op::Tile(TileOp::DmaLoad), &tile(48));
    assert!(!bench.lsu.can_accept(), "from the cycle on in which it is issued");
    // Taken in 3; the first line is asked for in 4 and the rest of the words in 5, which come in 25. They pass the banks then, the
    // copy is complete in 26 and its instruction written back in 28.
    until(&mut bench, 26);
    assert!(!bench.lsu.can_accept());
    bench.cycle();
    assert!(bench.lsu.can_accept());
    until(&mut bench, 30);
    assert_eq!(bench.l1d.log, ["4: load 0x400 128 bytes bypass", "5: load 0x480 64 bytes bypass"]);
    assert_eq!(bench.finished, ["28: warp 0 pc 40"]);
    let sources = Sources::at(|lane| 4 * lane);
    bench.issue(1, Op::Load(mode(Space::Shared, Ty::U32, 1)), &sources);
    bench.drain();
    let memory = &bench.l1d.memory.0[0x400..];
    let expected = |lane: usize| u32::from_le_bytes(memory[4 * lane..4 * lane + 4].try_into().expect("four"));
    assert_eq!(bench.rows, [Row(std::array::from_fn(expected))]);
}

#[test]
fn a_copy_that_blocks_its_warp_lets_others_go_on() {
    let mut bench = bench(Box::new(Engine::new(8, 128, Blocks::Warp)));
    bench.issue(3, Op::Tile(TileOp::DmaLoad), &tile(48));
    assert!(bench.lsu.can_accept());
    assert_eq!(bench.lsu.waiting_copies(), 1 << 3);
    let sources = Sources::at(|lane| 0x800 + 4 * lane);
    bench.issue(1, Op::Load(mode(Space::Shared, Ty::U32, 1)), &sources);
    // Complete in 26, as above.
    until(&mut bench, 26);
    assert_eq!((bench.lsu.waiting_copies(), bench.finished.len()), (1 << 3, 1));
    bench.cycle();
    assert_eq!(bench.lsu.waiting_copies(), 0);
    bench.drain();
    assert_eq!(bench.finished.last().map(String::as_str), Some("28: warp 3 pc 43"));
}
