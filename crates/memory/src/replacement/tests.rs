//! What policies evict, on strings of accesses whose outcome is published or follows from a definition.

use strata_engine::seed::Stream;

use super::optimal::fewest_misses;
use super::{ReplacementPolicy, Shape, Victims};
use crate::address::LineAddress;
use crate::policy::{Chosen, PolicyKind};
use crate::touch::{Origin, Touch};

fn named(name: &str) -> Chosen<dyn ReplacementPolicy> {
    Chosen::named(name).expect("it is built in")
}

fn all() -> Vec<&'static str> {
    <dyn ReplacementPolicy>::family().names()
}

fn victims(policy: &Chosen<dyn ReplacementPolicy>, sets: usize, ways: usize) -> Victims {
    Victims::new(policy, Shape { sets, ways, stream: Stream::new(1, "replacement") })
}

/// Accesses, each a line and a program counter, to sets of some ways; lines go to sets by their number.
fn misses_of(policy: &str, sets: usize, ways: usize, accesses: &[(u64, u32)]) -> Vec<bool> {
    let mut state = victims(&named(policy), sets, ways);
    let mut lines = vec![None; sets * ways];
    let access = |(line, pc): &(u64, u32)| {
        let set = *line as usize % sets;
        let touch =
            Touch { line: LineAddress(*line), origin: Origin { pc: *pc, warp: 0 }, ..Touch::default() };
        let here = &mut lines[set * ways..][..ways];
        if let Some(way) = here.iter().position(|held| *held == Some(*line)) {
            state.used(set * ways + way, &touch);
            return false;
        }
        let empty = here.iter().position(Option::is_none);
        let way = empty.unwrap_or_else(|| state.victim(set, u64::MAX >> (64 - ways)));
        here[way] = Some(*line);
        state.filled(set * ways + way, &touch);
        true
    };
    accesses.iter().map(access).collect()
}

/// Accesses to lines that are called by letters, in one set: capitals are the misses of `string`.
fn string(policy: &str, ways: usize, string: &str) {
    let lines: Vec<_> = string.bytes().map(|name| (u64::from(name.to_ascii_lowercase()), 0)).collect();
    let missed = misses_of(policy, 1, ways, &lines);
    let found = string
        .chars()
        .zip(missed)
        .map(|(name, missed)| if missed { name.to_ascii_uppercase() } else { name.to_ascii_lowercase() });
    assert_eq!(found.collect::<String>(), string, "{policy}, {ways} ways");
}

/// `rounds` times the lines from `first` to `first + count - 1`, asked for by `pc`.
fn loops(first: u64, count: u64, rounds: usize, pc: u32) -> Vec<(u64, u32)> {
    (0..rounds).flat_map(|_| (first..first + count).map(move |line| (line, pc))).collect()
}

fn count(missed: &[bool]) -> usize {
    missed.iter().filter(|missed| **missed).count()
}

#[test]
fn textbook_strings() {
    // Belady's anomaly (Belady, Nelson and Shedler, CACM 1969): first in, first out misses more with four ways than with three.
    string("fifo", 3, "ABCDABEabCDe");
    string("fifo", 4, "ABCDabEABCDE");
    string("lru", 3, "ABCDABEabCDE");
    string("lru", 4, "ABCDabEabCDE");
    // Jaleel et al., ISCA 2010, Fig. 3: two lines that are used again survive four that are not.
    string("lru", 4, "ABbaCDEFAB");
    string("srrip", 4, "ABbaCDEFab");
    // By hand: B's use points to the other half, where D's points to C; E's points back to where B's points to A; and so on.
    string("tree-plru", 4, "ABCDabECADB");
    string("lru", 4, "ABCDabECaDB");
}

#[test]
fn a_loop_that_is_too_long_defeats_what_keeps_recent_lines() {
    let accesses = loops(0, 6, 500, 0);
    assert_eq!(count(&misses_of("lru", 1, 4, &accesses)), 3000);
    assert_eq!(count(&misses_of("srrip", 1, 4, &accesses)), 3000);
    // BRRIP keeps three of the six for long.
    let missed = count(&misses_of("brrip", 1, 4, &accesses));
    assert!((1500..1900).contains(&missed), "{missed}");
}

#[test]
fn drrip_follows_the_better_of_its_leaders() {
    // Eight sets, each with a loop that is too long, or with lines that come back after others that do not.
    let too_long = loops(0, 6 * 8, 500, 0);
    let one_way = |policy| count(&misses_of(policy, 8, 4, &too_long));
    assert!(one_way("drrip") < one_way("srrip") * 7 / 10, "{} of {}", one_way("drrip"), one_way("srrip"));
    let mut friendly = Vec::new();
    for round in 0..500 {
        friendly.extend(loops(0, 16, 2, 0));
        friendly.extend(loops(1000 + 8 * round, 8, 1, 0));
    }
    let other_way = |policy| count(&misses_of(policy, 8, 4, &friendly));
    assert!(
        other_way("drrip") <= other_way("srrip") * 11 / 10,
        "{} of {}",
        other_way("drrip"),
        other_way("srrip")
    );
}

#[test]
fn ship_learns_which_instruction_streams() {
    // Instruction 1 uses three lines twice a round, instruction 2 eight that never come back.
    let mut accesses = Vec::new();
    for round in 0..200 {
        accesses.extend(loops(0, 3, 2, 1));
        accesses.extend(loops(1000 + 8 * round, 8, 1, 2));
    }
    let lines_of_1 = |policy| {
        let missed = misses_of(policy, 1, 4, &accesses);
        accesses.iter().zip(missed).filter(|((_, pc), missed)| *pc == 1 && *missed).count()
    };
    assert_eq!(lines_of_1("srrip"), 600);
    assert!(lines_of_1("ship") == 3, "{}", lines_of_1("ship"));
}

#[test]
fn nothing_misses_less_than_what_knows_the_future() {
    let stream = |accesses: &[(u64, u32)], sets: u64| -> Vec<_> {
        accesses.iter().map(|(line, _)| ((line % sets) as usize, LineAddress(*line))).collect()
    };
    // Of a loop of n lines, c of which fit, (n - c) / (n - 1) of the accesses miss after the first round.
    let accesses = loops(0, 6, 501, 0);
    let fewest = fewest_misses(&stream(&accesses, 1), 4, false);
    assert!((6 + 1198..=6 + 1202).contains(&fewest), "{fewest}");
    let mut random = Stream::new(7, "accesses");
    let accesses: Vec<_> =
        (0..20_000).map(|_| (random.below(8) * random.below(8), random.below(3) as u32)).collect();
    let fewest = fewest_misses(&stream(&accesses, 2), 4, false);
    assert!(fewest_misses(&stream(&accesses, 2), 4, true) <= fewest);
    for name in all() {
        let missed = count(&misses_of(name, 2, 4, &accesses)) as u64;
        assert!(missed >= fewest, "{name}: {missed} of {fewest}");
    }
}

#[test]
fn every_policy_keeps_to_the_ways_it_may_evict() {
    for name in all() {
        for ways in [1, 2, 4, 64] {
            let mut state = victims(&named(name), 2, ways);
            let mut random = Stream::new(3, name);
            for _ in 0..2000 {
                let eligible = random.next() & u64::MAX >> (64 - ways);
                let (set, way) = (random.below(2) as usize, random.below(ways as u64) as usize);
                match random.below(3) {
                    0 => state.used(set * ways + way, &Touch::default()),
                    1 => state.filled(set * ways + way, &Touch::default()),
                    _ if eligible == 0 => {}
                    _ => {
                        let victim = state.victim(set, eligible);
                        assert!(eligible >> victim & 1 == 1, "{name}");
                        assert_eq!(state.victim(set, 1 << victim), victim);
                    }
                }
            }
        }
    }
    assert!(named("tree-plru").check(3).is_err() && named("srrip").check(3).is_ok());
}

/// Fills ways 0..4 of set 1 in order, uses way 0 and then way 2.
fn victim_after(policy: &str, eligible: u64) -> usize {
    let (mut state, touch) = (victims(&named(policy), 2, 4), Touch::default());
    (4..8).for_each(|frame| state.filled(frame, &touch));
    state.used(4, &touch);
    state.used(6, &touch);
    state.victim(1, eligible)
}

#[test]
fn victims_among_some_ways() {
    for (policy, eligible, expected) in [
        ("lru", 0b1111, 1),
        ("lru", 0b1101, 3),
        ("lru", 0b0101, 0),
        ("fifo", 0b1111, 0),
        ("fifo", 0b1100, 2),
        // After uses 0, 1, 2, 3, 0, 2 the root points down, and the lower half to way 1.
        ("tree-plru", 0b1111, 1),
        ("tree-plru", 0b1101, 0),
        ("tree-plru", 0b1100, 3),
        ("tree-plru", 0b0100, 2),
        ("random", 0b0100, 2),
    ] {
        assert_eq!(victim_after(policy, eligible), expected, "{policy} {eligible:#b}");
    }
}

#[test]
fn random_victims_reach_every_eligible_way_and_no_other() {
    let mut state = victims(&named("random"), 2, 8);
    let seen = (0..200).fold(0_u64, |seen, _| seen | 1 << state.victim(0, 0b1011_0010));
    assert_eq!(seen, 0b1011_0010);
}

#[test]
fn the_tree_of_64_ways_never_evicts_the_last_use() {
    let mut state = victims(&named("tree-plru"), 2, 64);
    let mut way = 0;
    for _ in 0..500 {
        state.used(way, &Touch::default());
        let victim = state.victim(0, u64::MAX);
        assert_ne!(victim, way);
        way = victim;
    }
}
