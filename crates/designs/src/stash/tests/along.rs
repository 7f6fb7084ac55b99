//! Words that come along with others, and copies that stay: to programs they are not there until a load takes them (reading 12).

use strata_engine::Cycle;

use super::super::{Mapping, Packet, Receiver, Refusal, Stash, StashConfig};
use super::world::World;
use super::{array, of_lane_0, pages, physical, place};
use crate::denovo::{Message, Owner, Place};

/// Words 0 to 31 of memory at a place of the stash.
fn line(stash_base: u64, is_coherent: bool) -> Mapping {
    Mapping { is_coherent, ..array(stash_base, 0, 32) }
}

fn add(world: &mut World, mapping: Mapping) -> u8 {
    let index = world.stash.add_map(0, &mapping, &pages, &place(), world.now).expect("it can be added");
    rest(world);
    index
}

fn change(world: &mut World, index: u8, mapping: Mapping) {
    let changed = world.stash.change_map((0, index), &mapping, &pages, &place(), world.now);
    changed.expect("it can be changed");
    rest(world);
}

/// Until nothing is under way.
fn rest(world: &mut World) {
    world.stash.send_registrations();
    for _ in 0..1000 {
        if world.is_quiet() {
            return;
        }
        assert!(world.tick().is_none(), "no access is under way");
    }
    panic!("the stash does not come to rest");
}

/// Lane 0's access to a byte of the stash, until it is done; what it loads.
fn access(world: &mut World, map: u8, address: u32, store: Option<u32>) -> u32 {
    let access = of_lane_0(1, Some(map), address, store);
    for _ in 0..1000 {
        match world.stash.offer(&access, world.now) {
            Ok(()) => break,
            Err(Refusal::Busy) => assert!(world.tick().is_none(), "no access is under way"),
            Err(Refusal::Wrong(why)) => panic!("{why}"),
        }
    }
    for _ in 0..1000 {
        if let Some(access) = world.tick() {
            rest(world);
            return access.words[0];
        }
    }
    panic!("the access is not done");
}

#[test]
fn a_word_that_came_along_goes_when_another_mapping_writes_it() {
    let mut world = World::new(&StashConfig::paper(), 1);
    let (reader, writer) = (add(&mut world, line(0, false)), add(&mut world, line(1024, true)));
    access(&mut world, reader, 8, None);
    let reads = world.stash.statistics().reads;
    assert_eq!(access(&mut world, reader, 20, None), physical(20) as u32);
    assert_eq!(world.stash.statistics().reads, reads, "it came along");
    for address in [16, 20] {
        access(&mut world, writer, 1024 + address, Some(90 + address));
    }
    assert_eq!(access(&mut world, reader, 16, None), 106);
    // What a load has taken is the non-coherent mapping's own.
    assert_eq!(access(&mut world, reader, 20, None), physical(20) as u32);
}

#[test]
fn a_word_that_came_along_is_not_copied_once_it_is_old() {
    let mut world = World::new(&StashConfig::paper(), 1);
    let (first, writer) = (add(&mut world, line(0, false)), add(&mut world, line(1024, true)));
    access(&mut world, first, 8, None);
    access(&mut world, writer, 1024 + 16, Some(99));
    change(&mut world, writer, array(1024, 0x2000, 32));
    let second = add(&mut world, line(2048, false));
    // What nobody has written is copied.
    assert_eq!(access(&mut world, second, 2048 + 12, None), physical(12) as u32);
    assert_eq!(access(&mut world, second, 2048 + 16, None), 99);
    assert_eq!(world.stash.statistics().copies, 1);
}

#[test]
fn a_word_on_its_way_does_not_come_along_once_another_mapping_has_written_it() {
    let owner = Owner { node: 1, place: Place::Stash { map: 0 } };
    let mut stash = Stash::new(&StashConfig::paper(), 1);
    for mapping in [line(0, true), line(1024, true)] {
        stash.add_map(0, &mapping, &pages, &place(), Cycle(0)).expect("it can be added");
    }
    stash.offer(&of_lane_0(1, Some(0), 8, None), Cycle(0)).expect("nothing is in its way");
    let read = stash.outgoing(Cycle(11)).expect("the read");
    assert_eq!((read.message, read.words, read.along), (Message::Read, 0b100, !0b100));
    stash.offer(&of_lane_0(2, Some(1), 1024 + 16, Some(99)), Cycle(20)).expect("nothing is in its way");
    let (to, message) = (Receiver::Memory(owner), Message::Data);
    stash.accept(&Packet { message, to, data: [77; 32], ..read }, Cycle(30));
    while stash.completed(Cycle(40)).is_some() {}
    for (token, address, is_here) in [(3, 12, true), (4, 16, false)] {
        stash.offer(&of_lane_0(token, Some(0), address, None), Cycle(50)).expect("nothing is in its way");
        assert_eq!(stash.completed(Cycle(51)).is_some(), is_here, "address {address}");
    }
    let requests =
        std::iter::from_fn(|| stash.outgoing(Cycle(61))).map(|packet| (packet.message, packet.words));
    assert!(requests.eq([(Message::Register, 1 << 4), (Message::Read, 1 << 4)]));
}

/// What an older mapping has written is written back when a non-coherent one takes its place, and stays.
#[test]
fn copies_that_stay_go_when_another_mapping_writes_them() {
    for changes in [true, false] {
        let mut world = World::new(&StashConfig::paper(), 1);
        let older = add(&mut world, line(0, true));
        for address in [16, 20] {
            access(&mut world, older, address, Some(90 + address));
        }
        world.stash.cta_end(0);
        rest(&mut world);
        let reader = add(&mut world, line(0, changes));
        if changes {
            change(&mut world, reader, line(0, false));
        }
        assert_eq!(world.stash.statistics().words_written_back, 2);
        let writer = add(&mut world, line(1024, true));
        access(&mut world, writer, 1024 + 16, Some(5));
        let reads = world.stash.statistics().reads;
        assert_eq!(access(&mut world, reader, 20, None), 110);
        assert_eq!(world.stash.statistics().reads, reads, "the copy has stayed");
        assert_eq!(access(&mut world, reader, 16, None), 5, "changes: {changes}");
    }
}
