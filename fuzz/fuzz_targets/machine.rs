//! Hostile machine files.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use strata_fuzz::mutate::{self, Dice};

/// The words of the dictionary, without their quotes.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let lines = include_str!("../dictionaries/machine.txt").lines();
    lines.filter_map(|line| line.strip_prefix('"')?.strip_suffix('"')).collect()
});

fuzz_target!(|input: &[u8]| strata_fuzz::machine::try_input(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut dice = Dice::new(seed);
    if dice.below(4) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    match mutate::text(&data[..size], &WORDS, &mut dice) {
        Some(text) if text.len() <= max_size && !text.is_empty() => {
            data[..text.len()].copy_from_slice(text.as_bytes());
            text.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});
