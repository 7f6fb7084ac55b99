//! The tables under a model checker: all programs without races, all interleavings, no bound on their length.

mod explorer;
mod l2;
mod machine;
mod network;
mod planted;
mod private;
mod world;

use std::collections::BTreeSet;

use self::explorer::{Explored, explore};
use self::machine::Machine;
use self::network::Network;
use self::planted::{BUGS, Bug};
use super::Message;
use super::word::{Event, Flight, State, transition};
use super::{Owner, Place};

const CACHE_0: Owner = Owner { node: 0, place: Place::Cache };
const CACHE_1: Owner = Owner { node: 1, place: Place::Cache };
const CACHE_2: Owner = Owner { node: 2, place: Place::Cache };
const STASH_1: Owner = Owner { node: 1, place: Place::Stash { map: 5 } };
const OTHER_MAP: Owner = Owner { node: 1, place: Place::Stash { map: 6 } };
/// Mappings of one stash.
const MAPS: [Owner; 3] = [STASH_1, OTHER_MAP, Owner { node: 1, place: Place::Stash { map: 7 } }];

/// Two CPU cores; a CPU core and a CU's stash.
const PAIRS: [[Owner; 2]; 2] = [[CACHE_0, CACHE_1], [CACHE_0, STASH_1]];
/// Three cores; a CU's cache and stash; two mappings of one stash.
const TRIPLES: [[Owner; 3]; 3] =
    [[CACHE_0, CACHE_1, CACHE_2], [CACHE_0, CACHE_1, STASH_1], [CACHE_0, STASH_1, OTHER_MAP]];

const NETWORKS: [Network; 3] = [Network::InOrder, Network::PairsInOrder, Network::NetworksInOrder];

fn holds(machine: &Machine) -> Explored {
    match explore(machine) {
        Ok(explored) => {
            println!("{:?}, {} words, {:?}: {explored:?}", machine.owners, machine.words, machine.network);
            explored
        }
        Err(found) => panic!("{:?}: {}\n{}", machine.owners, found.fault, found.path.join("\n")),
    }
}

#[test]
fn two_memories_and_two_words() {
    for network in NETWORKS {
        holds(&Machine::new(&PAIRS[0], network));
    }
    for network in [Network::InOrder, Network::PairsInOrder] {
        holds(&Machine::new(&PAIRS[1], network));
    }
}

#[test]
fn three_memories_and_a_word() {
    for owners in TRIPLES {
        for network in NETWORKS {
            holds(&Machine { words: 1, ..Machine::new(&owners, network) });
        }
    }
}

/// Mappings of a stash whose registry is in it.
#[test]
fn a_stash_that_is_its_own_registry() {
    holds(&Machine { words: 1, ..Machine::of_own_registry(&MAPS) });
    for bug in [Bug::NotWrittenBack, Bug::RegistrationLost, Bug::FormerOwnerNamed, Bug::MapIndexLost] {
        let found = explore(&Machine { bug: Some(bug), ..Machine::of_own_registry(&MAPS[..2]) })
            .expect_err(&format!("{bug:?} is not found"));
        println!("{bug:?}: {} after {} actions", found.fault, found.path.len() - 1);
    }
}

/// Two of them with both words: six million states.
#[test]
#[ignore = "takes minutes and gigabytes"]
fn a_stash_that_is_its_own_registry_and_two_words() {
    holds(&Machine::of_own_registry(&MAPS[..2]));
}

/// Everybody writes parts of words, and works on them at the registry.
#[test]
fn words_that_several_write() {
    for network in NETWORKS {
        holds(&Machine { words: 1, together: true, ..Machine::new(&PAIRS[0], network) });
        holds(&Machine { words: 1, together: true, ..Machine::new(&PAIRS[1], network) });
    }
    holds(&Machine { words: 1, together: true, ..Machine::new(&TRIPLES[0], Network::NetworksInOrder) });
}

/// `cargo test --release -p strata-designs --lib denovo -- --ignored`.
#[test]
#[ignore = "takes minutes and gigabytes"]
fn three_memories_and_two_words() {
    for owners in TRIPLES {
        for network in NETWORKS {
            holds(&Machine::new(&owners, network));
        }
    }
}

#[test]
fn programs_with_races_do_not_break_the_protocol() {
    for network in NETWORKS {
        for owners in PAIRS {
            holds(&Machine { race_free: false, words: 1, ..Machine::new(&owners, network) });
        }
        holds(&Machine { race_free: false, together: true, words: 1, ..Machine::new(&PAIRS[0], network) });
    }
}

#[test]
#[ignore = "takes minutes and gigabytes"]
fn larger_programs_with_races_do_not_break_the_protocol() {
    for network in NETWORKS {
        holds(&Machine { race_free: false, ..Machine::new(&PAIRS[0], network) });
        holds(&Machine { race_free: false, words: 1, ..Machine::new(&TRIPLES[0], network) });
    }
}

#[test]
fn every_line_about_a_message_is_needed() {
    let mut used = BTreeSet::new();
    for owners in PAIRS {
        for race_free in [true, false] {
            let words = if race_free && owners == PAIRS[0] { 2 } else { 1 };
            let machine = Machine { race_free, words, ..Machine::new(&owners, Network::PairsInOrder) };
            holds(&machine);
            used.append(&mut machine.used.take());
        }
    }
    // Parts of words, by caches beside a stash, and with races.
    for (owners, race_free) in [(PAIRS[1], true), (PAIRS[0], false)] {
        let machine =
            Machine { words: 1, together: true, race_free, ..Machine::new(&owners, Network::PairsInOrder) };
        holds(&machine);
        used.append(&mut machine.used.take());
    }
    let messages = [
        Message::Data,
        Message::Granted,
        Message::WrittenBack,
        Message::ForwardRead,
        Message::ForwardRegister,
        Message::ForwardRegisterRead,
        Message::Recall,
    ];
    let mut wrong = Vec::new();
    for message in messages {
        for state in [State::Invalid, State::Valid, State::Registered] {
            for flight in
                [Flight::None, Flight::Read, Flight::Register, Flight::RegisterRead, Flight::WriteBack]
            {
                let event = Event::Arrives(message);
                let has = transition(state, flight, event).is_some();
                if has != used.contains(&(state, flight, event)) {
                    wrong.push((state, flight, message));
                }
            }
        }
    }
    assert_eq!(wrong, [], "lines that nothing uses");
}

#[test]
fn every_planted_bug_is_found() {
    for bug in BUGS {
        let owners = match bug {
            Bug::RemapDrops | Bug::PublishedUnregistered | Bug::RegistrationsKept | Bug::MapIndexLost => {
                PAIRS[1]
            }
            _ => PAIRS[0],
        };
        let together = bug.needs_together();
        let network = if together { Network::NetworksInOrder } else { Network::PairsInOrder };
        let machine = Machine { bug: Some(bug), together, ..Machine::new(&owners, network) };
        let found = explore(&machine).expect_err(&format!("{bug:?} is not found"));
        println!("{bug:?}: {} after {} actions", found.fault, found.path.len() - 1);
    }
}

#[test]
fn a_network_without_any_order_is_found_out() {
    let machine = Machine::new(&PAIRS[0], Network::Unordered);
    let found = explore(&machine).expect_err("the protocol needs pairs in order");
    println!("{} after {} actions", found.fault, found.path.len() - 1);
}
