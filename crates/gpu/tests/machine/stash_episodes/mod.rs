//! Random programs without races on whole machines with stashes: host phases on CPU cores, and kernels with plain accesses,
//! strong ones, mapped tiles in both modes, and words without a mapping. Words move between caches and stashes from phase to phase,
//! and neighbours in lines and chunks have different owners. Every load, and all memory after each phase, is compared
//! with what the plan predicts, and memory with the reference executor.

mod cta;
mod machines;
mod plan;
mod planted;
mod play;
mod text;
mod tile;
mod world;

use std::panic::catch_unwind;

use strata_engine::seed::Stream;
use strata_engine::statistics::Group;
use strata_gpu::gpu::Gpu;

use machines::Variation;
use play::play;

/// An episode by number, on one of some random machines.
fn episode(number: u64, random: fn(&mut Stream) -> Variation) -> Vec<Group> {
    let variation = random(&mut Stream::new(number, "stash machine"));
    let outcome = play(number, &variation, &mut |machine, options| Gpu::new(machine, options));
    outcome.unwrap_or_else(|error| panic!("episode {number}, {variation:?}: {error}"))
}

/// What the episodes together must come to; else they would find little. Accesses that the stash refuses are not among it: a kernel
/// that reads its steps from memory is too slow to come to a chunk whose words are under way.
const REACHED: &[&str] = &[
    "stash.copies",
    "stash.remote_requests",
    "stash.map_stalls",
    "stash.maps_changed",
    "stash.words_written_back",
    "denovo.supplied_words",
    "denovo.yielded_words",
    "denovo.returned_words",
    "denovo.set_aside",
    "cpu.denovo.supplied_words",
    "cpu.denovo.yielded_words",
    "cpu.denovo.returned_words",
    "registry.eviction_recalls",
    "registry.operation_recalls",
    "registry.dropped_words",
];

/// Episodes of the campaign that have found something.
const FOUND: [u64; 2] = [549, 692];

#[test]
fn random_episodes() {
    let episodes = (0..200).chain(FOUND).map(|number| episode(number, Variation::random));
    assert_reached(episodes, REACHED);
}

/// What episodes with the systems of all papers must come to.
const REACHED_WITHOUT_OWNERS: &[&str] = &[
    "stash.hits",
    "stash.copies",
    "stash.words_along",
    "stash.map_stalls",
    "stash.maps_changed",
    "stash.words_written_back",
    "fuse.sram_hits",
    "tiny_cache.load_hits",
    "register_hierarchy.cache_reads",
    "morpheus.true_hits",
];

#[test]
fn random_episodes_beside_the_systems_of_all_papers() {
    let episodes = (0..80).map(|number| episode(number, Variation::without_owners));
    assert_reached(episodes, REACHED_WITHOUT_OWNERS);
}

/// Plays episodes, which together must have counted each of these.
fn assert_reached(episodes: impl Iterator<Item = Vec<Group>>, counters: &[&str]) {
    let mut reached = vec![0; counters.len()];
    for groups in episodes {
        for (path, sum) in counters.iter().zip(&mut reached) {
            let (name, counter) = path.rsplit_once('.').expect("group and counter");
            let group = groups.iter().find(|group| group.name == name);
            *sum += group.and_then(|group| group.get(counter)).unwrap_or(0);
        }
    }
    println!("{:?}", counters.iter().zip(&reached).collect::<Vec<_>>());
    let missing: Vec<_> = counters.iter().zip(&reached).filter(|(_, sum)| **sum == 0).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Ten thousand: `cargo test --release -p strata-gpu --test machine stash_episodes::campaign -- --ignored`.
/// `STRATA_EPISODES=300..400` plays others.
#[test]
#[ignore = "takes an hour"]
fn campaign() {
    let episodes = std::env::var("STRATA_EPISODES").unwrap_or_else(|_| "200..10200".to_owned());
    let ends =
        episodes.split_once("..").and_then(|(first, end)| Some((first.parse().ok()?, end.parse().ok()?)));
    let (first, end) = ends.unwrap_or_else(|| {
        panic!("STRATA_EPISODES: expected two numbers, as in 300..400, found `{episodes}`")
    });
    let fails = |number: &u64| {
        if number.is_multiple_of(100) {
            println!("{number}");
        }
        catch_unwind(|| episode(*number, Variation::random)).is_err()
    };
    let failed: Vec<u64> = (first..end).filter(fails).collect();
    assert!(failed.is_empty(), "episodes {failed:?} fail");
}
