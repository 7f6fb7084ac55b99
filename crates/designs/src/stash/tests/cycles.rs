//! Cycles of a hit, a miss, a writeback and a remote request, by hand: a hit takes 1 cycle, a translation 10 (Table 2).

use strata_engine::Cycle;

use super::super::{Packet, Receiver, Stash, StashConfig};
use super::{array, of_lane_0, pages, physical, place};
use crate::denovo::{Message, Owner, Place};

const CPU: Owner = Owner { node: 0, place: Place::Cache };
const MAP_0: Owner = Owner { node: 1, place: Place::Stash { map: 0 } };

/// A stash with words 0 to 31 of memory mapped to its beginning, by CTA 0. Registrations wait for no others.
fn stash() -> Stash {
    let mut config = StashConfig::paper();
    config.combine_cycles.value = 0;
    let mut stash = Stash::new(&config, 1);
    stash.add_map(0, &array(0, 0, 32), &pages, &place(), Cycle(0)).expect("it can be added");
    stash
}

/// A packet to the stash about words of the line of address 0.
fn packet(message: Message, requester: Owner, words: u32, value: u32) -> Packet {
    let line = physical(0) / 128;
    let to = Receiver::Memory(MAP_0);
    Packet { message, to, owner: MAP_0, requester, line, words, along: 0, data: [value; 32] }
}

#[test]
fn a_miss_and_a_hit() {
    let mut stash = stash();
    stash.offer(&of_lane_0(1, Some(0), 8, None), Cycle(100)).expect("nothing is in its way");
    assert_eq!(stash.next_event(Cycle(100)), Cycle(111));
    assert!(stash.outgoing(Cycle(110)).is_none());
    let read = stash.outgoing(Cycle(111)).expect("a hit's time and a translation's later");
    assert_eq!((read.message, read.to, read.owner), (Message::Read, Receiver::Registry, MAP_0));
    assert_eq!((read.line, read.words), (physical(0) / 128, 0b100));
    stash.accept(&packet(Message::Data, MAP_0, 0b100, 77), Cycle(150));
    assert!(stash.completed(Cycle(150)).is_none());
    assert_eq!(stash.completed(Cycle(151)).expect("the load is done").words[0], 77);
    stash.offer(&of_lane_0(2, Some(0), 8, None), Cycle(160)).expect("nothing is in its way");
    assert_eq!(stash.completed(Cycle(161)).expect("a hit takes a cycle").words[0], 77);
    assert_eq!(stash.next_event(Cycle(161)), Cycle::NEVER);
}

/// Fields of 4 bytes, 32 bytes apart: words 0, 8, 16 and 24 of each line. The second is stored to while the first is asked for.
#[test]
fn fields_of_a_line_come_along_where_nothing_is_yet() {
    let fields = super::super::Mapping { object_size: 32, ..array(0, 0, 32) };
    for takes_along in [true, false] {
        let mut config = StashConfig::paper();
        config.takes_along.value = takes_along;
        let mut stash = Stash::new(&config, 1);
        stash.add_map(0, &fields, &pages, &place(), Cycle(0)).expect("it can be added");
        stash.offer(&of_lane_0(1, Some(0), 8, None), Cycle(0)).expect("nothing is in its way");
        let read = stash.outgoing(Cycle(11)).expect("the read");
        assert_eq!((read.words, read.along), (1 << 16, if takes_along { 1 | 1 << 8 | 1 << 24 } else { 0 }));
        stash.offer(&of_lane_0(2, Some(0), 4, Some(5)), Cycle(20)).expect("nothing is in its way");
        // The registry had no data of word 24.
        let along = read.along & !(1 << 24);
        stash.accept(&Packet { along, ..packet(Message::Data, MAP_0, 1 << 16, 77) }, Cycle(50));
        let loads = [(3, 0), (4, 4), (5, 12)].map(|(token, address)| {
            stash.offer(&of_lane_0(token, Some(0), address, None), Cycle(60)).expect("nothing is in its way");
            let done = std::iter::from_fn(|| stash.completed(Cycle(61))).last();
            done.filter(|access| access.token == token).map(|access| access.words[0])
        });
        assert_eq!(loads, [takes_along.then_some(77), Some(5), None], "takes along: {takes_along}");
    }
}

/// What was expected and does not come is asked for once the line's data are here.
#[test]
fn loads_wait_for_words_that_are_expected() {
    let fields = super::super::Mapping { object_size: 32, ..array(0, 0, 32) };
    let mut stash = Stash::new(&StashConfig::paper(), 1);
    stash.add_map(0, &fields, &pages, &place(), Cycle(0)).expect("it can be added");
    for (token, address) in [(1, 8), (2, 0), (3, 12)] {
        stash.offer(&of_lane_0(token, Some(0), address, None), Cycle(0)).expect("nothing is in its way");
    }
    assert_eq!(stash.outgoing(Cycle(11)).expect("the read").words, 1 << 16);
    assert!(stash.outgoing(Cycle(99)).is_none());
    let store = of_lane_0(4, Some(0), 12, Some(5));
    assert!(stash.offer(&store, Cycle(20)).is_err(), "a load of the word comes first");
    stash.accept(&Packet { along: 1, ..packet(Message::Data, MAP_0, 1 << 16, 77) }, Cycle(50));
    let mut done = std::iter::from_fn(|| stash.completed(Cycle(51)));
    assert!(done.by_ref().all(|access| access.words[0] == 77 && access.token < 3));
    let read = stash.outgoing(Cycle(61)).expect("the word is asked for");
    assert_eq!((read.message, read.words, read.along), (Message::Read, 1 << 24, 0));
    stash.accept(&packet(Message::Data, MAP_0, 1 << 24, 78), Cycle(80));
    assert_eq!(stash.completed(Cycle(81)).expect("the load is done").words[0], 78);
    stash.offer(&store, Cycle(90)).expect("nothing is in its way");
}

#[test]
fn words_of_a_line_leave_together() {
    let mut stash = stash();
    let mut load = of_lane_0(1, Some(0), 0, None);
    load.lanes = u32::MAX;
    load.addresses = std::array::from_fn(|lane| 4 * lane as u32);
    stash.offer(&load, Cycle(0)).expect("nothing is in its way");
    assert_eq!(stash.outgoing(Cycle(11)).expect("one request").words, u32::MAX);
    assert!(stash.outgoing(Cycle(99)).is_none());
}

#[test]
fn registrations_of_a_line_leave_together_at_the_end_of_the_thread_block() {
    for ends in [true, false] {
        let mut stash = Stash::new(&StashConfig::paper(), 1);
        stash.add_map(0, &array(0, 0, 64), &pages, &place(), Cycle(0)).expect("it can be added");
        for (n, address) in [0, 128, 8].into_iter().enumerate() {
            let store = of_lane_0(n as u32, Some(0), address, Some(5));
            stash.offer(&store, Cycle(20 * n as u64)).expect("nothing is in its way");
        }
        assert!(stash.outgoing(Cycle(9_999)).is_none());
        while stash.completed(Cycle(9_999)).is_some() {}
        let at = if ends { Cycle(9_999) } else { Cycle(10_031) };
        if ends {
            stash.cta_end(0);
        }
        let words = std::iter::from_fn(|| stash.outgoing(at)).map(|packet| (packet.message, packet.words));
        assert!(words.eq([(Message::Register, 0b101), (Message::Register, 0b1)]), "ends: {ends}");
    }
}

#[test]
fn a_store_is_registered_and_written_back_when_its_place_is_used() {
    let mut stash = stash();
    stash.offer(&of_lane_0(1, Some(0), 4, Some(5)), Cycle(0)).expect("nothing is in its way");
    assert_eq!(stash.completed(Cycle(1)).expect("a store takes a cycle").token, 1);
    let register = stash.outgoing(Cycle(11)).expect("the registration");
    assert_eq!((register.message, register.words), (Message::Register, 0b10));
    assert!(!stash.synchronise(), "the kernel does not end before the grant");
    stash.accept(&packet(Message::Granted, MAP_0, 0b10, 0), Cycle(40));
    stash.cta_end(0);
    assert!(stash.synchronise());
    assert!(stash.answer(Cycle(99)).is_none(), "writebacks are lazy");
    stash.add_map(0, &array(0, 0x2000, 32), &pages, &place(), Cycle(100)).expect("it can be added");
    stash.offer(&of_lane_0(2, Some(0), 60, None), Cycle(110)).expect("the chunk is written back");
    let write_back = stash.answer(Cycle(121)).expect("the writeback");
    assert_eq!((write_back.message, write_back.owner), (Message::WriteBack, MAP_0));
    assert_eq!((write_back.words, write_back.data[1]), (0b10, 5));
    assert_eq!(stash.outgoing(Cycle(121)).expect("the read").message, Message::Read);
    // Until the registry answers, the buffer does.
    stash.accept(&packet(Message::ForwardRead, CPU, 0b10, 0), Cycle(130));
    let data = stash.answer(Cycle(141)).expect("the reply");
    assert_eq!((data.message, data.to, data.data[1]), (Message::Data, Receiver::Memory(CPU), 5));
    assert_eq!(stash.writing_back(), 1);
    stash.accept(&packet(Message::WrittenBack, MAP_0, 0b10, 0), Cycle(150));
    assert_eq!(stash.writing_back(), 0);
}

#[test]
fn a_remote_request_finds_the_word_by_map_and_physical_address() {
    let mut stash = stash();
    stash.offer(&of_lane_0(1, Some(0), 4, Some(5)), Cycle(0)).expect("nothing is in its way");
    stash.accept(&packet(Message::Granted, MAP_0, 0b10, 0), Cycle(40));
    assert_eq!(stash.outgoing(Cycle(41)).expect("the registration").message, Message::Register);
    stash.accept(&packet(Message::ForwardRead, CPU, 0b10, 0), Cycle(50));
    assert!(stash.answer(Cycle(60)).is_none());
    let data = stash.answer(Cycle(61)).expect("the reply");
    assert_eq!((data.message, data.to, data.data[1]), (Message::Data, Receiver::Memory(CPU), 5));
    stash.accept(&packet(Message::ForwardRegister, CPU, 0b10, 0), Cycle(70));
    let granted = stash.answer(Cycle(81)).expect("the grant");
    assert_eq!((granted.message, granted.to), (Message::Granted, Receiver::Memory(CPU)));
    stash.offer(&of_lane_0(2, Some(0), 4, None), Cycle(90)).expect("nothing is in its way");
    assert_eq!(stash.outgoing(Cycle(101)).expect("the word is gone").message, Message::Read);
}

#[test]
fn a_mapping_of_the_same_addresses_finds_what_the_older_one_left() {
    for stash_base in [0, 1024] {
        let mut stash = stash();
        stash.offer(&of_lane_0(1, Some(0), 4, Some(5)), Cycle(0)).expect("nothing is in its way");
        stash.accept(&packet(Message::Granted, MAP_0, 0b10, 0), Cycle(40));
        while stash.outgoing(Cycle(50)).is_some() || stash.completed(Cycle(50)).is_some() {}
        stash.cta_end(0);
        assert!(stash.synchronise());
        stash.add_map(0, &array(stash_base, 0, 32), &pages, &place(), Cycle(60)).expect("it can be added");
        let load = of_lane_0(2, Some(0), stash_base as u32 + 4, None);
        stash.offer(&load, Cycle(70)).expect("nothing is in its way");
        assert_eq!(stash.completed(Cycle(71)).expect("it is here").words[0], 5);
        // In another place it must be registered anew.
        let register = stash.outgoing(Cycle(81)).map(|packet| (packet.message, packet.owner.place));
        let anew = (Message::Register, Place::Stash { map: 1 });
        assert_eq!(register, (stash_base != 0).then_some(anew));
    }
}
