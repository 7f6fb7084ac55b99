//! What policies evict, on strings of accesses whose outcome is published or follows from a definition.

use strata_engine::seed::Stream;

use super::optimal::{fewest_load_misses, fewest_misses};
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
fn a_use_again_is_a_use() {
    for name in all() {
        let [mut told, mut short] = [(); 2].map(|()| victims(&named(name), 2, 4));
        let mut stream = Stream::new(5, "uses");
        for _ in 0..2000 {
            let [filled, used] = [(); 2].map(|()| stream.below(8) as usize);
            let touch = |frame: usize| Touch { line: LineAddress(frame as u64), ..Touch::default() };
            for state in [&mut told, &mut short] {
                state.filled(filled, &touch(filled));
                state.used(used, &touch(used));
            }
            for _ in 0..stream.below(3) {
                told.used(used, &touch(used));
                short.used_again(used, || touch(used));
            }
            let set = stream.below(2) as usize;
            assert_eq!(told.victim(set, 0b1111), short.victim(set, 0b1111), "{name}");
        }
    }
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

/// The fewest loads that miss from a state of one set on, by trying every line that could be evicted.
fn fewest_by_trial(here: &[u64], ways: usize, accesses: &[(u64, bool)]) -> u64 {
    let Some(((line, loads), rest)) = accesses.split_first() else { return 0 };
    if here.contains(line) {
        return fewest_by_trial(here, ways, rest);
    }
    let with = |kept: &[u64]| fewest_by_trial(&[kept, &[*line]].concat(), ways, rest);
    let without = |gone: &u64| here.iter().copied().filter(|held| held != gone).collect::<Vec<_>>();
    let fewest = match here.len() < ways {
        true => with(here),
        false => here.iter().map(|gone| with(&without(gone))).min().expect("a full set has lines"),
    };
    fewest + u64::from(*loads)
}

#[test]
fn no_choice_of_lines_to_evict_misses_fewer_loads() {
    let mut random = Stream::new(11, "loads and stores");
    let (mut fewer, mut of_all) = (0, 0);
    for _ in 0..400 {
        let (lines, ways) = (3 + random.below(3), 2 + random.below(2) as usize);
        let accesses: Vec<_> = (0..12).map(|_| (random.below(lines), random.below(3) > 0)).collect();
        let look_ups: Vec<_> = accesses.iter().map(|(line, loads)| (0, LineAddress(*line), *loads)).collect();
        let fewest = fewest_load_misses(&look_ups, ways);
        assert_eq!(fewest, fewest_by_trial(&[], ways, &accesses), "{ways} ways: {accesses:?}");
        // Of loads alone they are the fewest misses.
        let plain: Vec<_> = look_ups.iter().map(|(set, line, _)| (*set, *line)).collect();
        let loads: Vec<_> = plain.iter().map(|(set, line)| (*set, *line, true)).collect();
        assert_eq!(fewest_load_misses(&loads, ways), fewest_misses(&plain, ways, false));
        (fewer, of_all) = (fewer + fewest, of_all + fewest_misses(&plain, ways, false));
    }
    assert!(fewer < of_all, "stores' misses do not count: {fewer} of {of_all}");
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

/// Whether accesses to one set, lines 0 to `ways` - 1 first, have evicted a line.
fn is_gone(policy: &str, ways: usize, accesses: &[u64], line: u64) -> bool {
    let all = (0..ways as u64).chain(accesses.iter().copied()).chain([line]);
    let all: Vec<_> = all.map(|line| (line, 0)).collect();
    misses_of(policy, 1, ways, &all).pop().expect("there are accesses")
}

/// The most accesses to different lines, of `limit`, that leave `line` where it is: to some of `old`, and to new ones.
fn most_survived(policy: &str, ways: usize, so_far: &[u64], line: u64, old: &[u64], limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    let new = 100 + so_far.len() as u64;
    let survived = old.iter().copied().chain([new]).filter_map(|next| {
        let accesses = [so_far, &[next]].concat();
        let left: Vec<_> = old.iter().copied().filter(|other| *other != next).collect();
        let survives = !is_gone(policy, ways, &accesses, line);
        survives.then(|| 1 + most_survived(policy, ways, &accesses, line, &left, limit - 1))
    });
    survived.max().unwrap_or(0)
}

/// Whether some accesses to `count` different lines evict `line`.
fn can_evict(policy: &str, ways: usize, so_far: &[u64], line: u64, old: &[u64], count: usize) -> bool {
    let new = 100 + so_far.len() as u64;
    count > 0
        && old.iter().copied().chain([new]).any(|next| {
            let accesses = [so_far, &[next]].concat();
            let left: Vec<_> = old.iter().copied().filter(|other| *other != next).collect();
            is_gone(policy, ways, &accesses, line)
                || can_evict(policy, ways, &accesses, line, &left, count - 1)
        })
}

#[test]
fn lines_live_as_long_as_published() {
    // Reineke, Grund, Berg and Wilhelm, Timing predictability of cache replacement policies, Real-Time Systems 2007: *evict*, the
    // accesses to different lines after which none of the lines before can be left, is k for LRU, 2k - 1 for FIFO and
    // k / 2 log2(k) + 1 for PLRU, with k ways; *mls*, the fewest that evict a line that has just come, is k, k and log2(k) + 1.
    for (policy, ways, evict, least) in [
        ("lru", 2, 2, 2),
        ("lru", 4, 4, 4),
        ("fifo", 2, 3, 2),
        ("fifo", 4, 7, 4),
        ("tree-plru", 2, 2, 2),
        ("tree-plru", 4, 5, 3),
    ] {
        let lines: Vec<u64> = (0..ways as u64).collect();
        let (mut most, mut can) = (0, vec![false; least + 1]);
        // Three uses bring every order of the other lines, and every tree.
        let three = |n: u64| [0, 1, 2].map(|place| n / (ways as u64).pow(place) % ways as u64);
        for before in (0..(ways as u64).pow(3)).map(three) {
            for line in &lines {
                let old: Vec<_> = lines.iter().copied().filter(|other| other != line).collect();
                most = most.max(most_survived(policy, ways, &before, *line, &old, 2 * ways));
            }
            let with_new = [&before[..], &[50]].concat();
            for (count, can) in can.iter_mut().enumerate() {
                *can |= can_evict(policy, ways, &with_new, 50, &lines, count);
            }
        }
        assert_eq!(most + 1, evict, "{policy}, {ways} ways: evict");
        assert_eq!(can.iter().position(|can| *can), Some(least), "{policy}, {ways} ways: mls");
    }
    let lines: Vec<u64> = (0..8).collect();
    let can = |count| can_evict("tree-plru", 8, &[50], 50, &lines, count);
    assert_eq!((can(3), can(4)), (false, true), "tree-plru, 8 ways: mls");
}

#[test]
fn independent_references_miss_as_often_as_published() {
    // Three lines with probabilities 1/2, 1/3 and 1/6, of which two fit. RANDOM and FIFO miss alike (Gelenbe, IEEE Transactions on
    // Computers 1973): two lines are here with a probability proportional to the product of theirs, so 3/11 of the accesses miss.
    // LRU (King, IFIP 1971): the sum over orders i, j, k of p_i p_j / (1 - p_i) p_k, which is 9.4 / 36.
    let mut random = Stream::new(5, "independent references");
    let accesses: Vec<_> = (0..200_000)
        .map(|_| match random.below(6) {
            0..3 => (0, 0),
            3..5 => (1, 0),
            _ => (2, 0),
        })
        .collect();
    for (policy, expected) in [("random", 3.0 / 11.0), ("fifo", 3.0 / 11.0), ("lru", 9.4 / 36.0)] {
        let rate = count(&misses_of(policy, 1, 2, &accesses)) as f64 / accesses.len() as f64;
        // Three standard deviations of independent draws are 0.003; LRU is 0.0116 away from the others.
        assert!((rate - expected).abs() < 0.004, "{policy}: {rate}, not {expected}");
    }
}

#[test]
fn random_victims_are_drawn_evenly() {
    let mut state = victims(&named("random"), 1, 8);
    let mut drawn = [0_i32; 8];
    for _ in 0..40_000 {
        drawn[state.victim(0, 0b1011_0010)] += 1;
    }
    // Each of four ways a quarter of the time; four standard deviations are 346.
    for (way, count) in drawn.into_iter().enumerate() {
        let expected = if 0b1011_0010 >> way & 1 == 1 { 10_000 } else { 0 };
        assert!((count - expected).abs() < 350, "way {way}: {count}");
    }
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
