//! Storage against 4.4.

use strata_engine::Cited;
use strata_memory::area::AreaSize;

use super::super::StashConfig;

#[test]
fn the_state_bits_are_those_of_the_paper_and_one_a_word_for_what_comes_along() {
    let bits = |name, takes_along: bool| {
        let config = StashConfig { takes_along: Cited::new(takes_along, "test"), ..StashConfig::paper() };
        config.check().expect("the paper's parameters can be built");
        let area = config.area();
        let row = area.iter().find(|row| row.name == name).expect("the row is there");
        let AreaSize::Bits(bits) = row.size else { panic!("{name} is counted in bits") };
        bits
    };
    let state = |takes_along| bits("state bits", takes_along) + bits("chunks", takes_along);
    // 4.4: 39 bits a chunk of 64 B, an overhead of about 8 %.
    assert_eq!(state(false), 256 * 39);
    assert_eq!(state(false) * 1000 / bits("data", false), 76);
    assert_eq!(state(true), 256 * (39 + 16));
    let bits = |name| bits(name, true);
    assert_eq!(bits("map index table"), 8 * 4 * 6);
    // 1 valid + 9 #DirtyData + 1 coherent + 7 reuse + 14 and 48 of bases + 7 x 32.
    assert_eq!(bits("stash-map"), 64 * 304);
    // Two pages of 36 bits + 6 + 1.
    assert_eq!(bits("VP-map"), 64 * 79);
}

#[test]
fn parameters_that_cannot_be_are_named() {
    let cited = |value| Cited::new(value, "test");
    let paper = StashConfig::paper();
    let message = |config: StashConfig| {
        let error = config.check().expect_err("it cannot be built");
        format!("{} {}", error.field, error.message)
    };
    assert_eq!(
        message(StashConfig { map_entries: cited(31), ..paper.clone() }),
        "map_entries must be 32 to 64, found 31"
    );
    assert_eq!(
        message(StashConfig { bytes: cited(10_000), ..paper.clone() }),
        "bytes must be a multiple of chunk_bytes (64) from 1024 to 1048576, found 10000"
    );
    assert_eq!(message(StashConfig { ctas: cited(0), ..paper.clone() }), "ctas must be 1 to 32, found 0");
    assert_eq!(
        message(StashConfig { accesses: Some(cited(0)), ..paper }),
        "accesses must be 1 to 1024, found 0"
    );
}
