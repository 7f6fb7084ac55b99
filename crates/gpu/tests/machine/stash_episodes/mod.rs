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

use strata_engine::seed::Stream;
use strata_gpu::gpu::Gpu;

use machines::Variation;
use play::play;

/// An episode by number.
fn episode(number: u64) -> Vec<strata_engine::statistics::Group> {
    let variation = Variation::random(&mut Stream::new(number, "stash machine"));
    let outcome = play(number, &variation, &mut |machine, options| Gpu::new(machine, options));
    outcome.unwrap_or_else(|error| panic!("episode {number}, {variation:?}: {error}"))
}

#[test]
fn random_episodes() {
    (0..200).for_each(|number| drop(episode(number)));
}

/// Ten thousand: `cargo test --release -p strata-gpu --test machine stash_episodes::campaign -- --ignored`.
#[test]
#[ignore = "takes an hour"]
fn campaign() {
    for number in 200..10_200 {
        episode(number);
        if number % 100 == 99 {
            println!("{number}");
        }
    }
}
