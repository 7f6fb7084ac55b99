//! What a machine file tells the compiler.

use strata_gpu::machine::{Machine, builtin};

#[test]
fn the_compiler_knows_how_many_threads_an_sm_holds_and_how_registers_are_handed_out() {
    // Slots for warps of 32 lanes, and units of a warp: 48 * 32 and 64 / 32, for example. The last is what a thread may have
    // where all slots are taken: 32,768 / 1,536 = 21.3, of which whole units are 20.
    let expected = [
        ("a100", 2048, 8, 32),
        ("apu-all", 1536, 8, 40),
        ("fermi-apu", 768, 2, 42),
        ("gtx480", 1536, 2, 20),
        ("h200", 2048, 8, 32),
        ("rtx3080", 1536, 8, 40),
        ("rtx3080-quarter", 1536, 8, 40),
        ("stash-apu", 1536, 2, 20),
        ("v100", 2048, 8, 32),
        ("volta-fuse", 2048, 8, 32),
    ];
    let mut names: Vec<&str> = builtin().iter().map(|machine| machine.name).collect();
    names.sort_unstable();
    assert_eq!(names, expected.map(|(name, ..)| name));
    for (name, threads, unit, full) in expected {
        let options = Machine::load(name, &[]).expect("it is built in").compile_options();
        assert_eq!((options.sm_threads, options.register_unit), (threads, unit), "{name}");
        assert_eq!(options.sm_registers / threads / unit * unit, full, "{name}");
    }
}

#[test]
fn the_compiler_knows_whether_parameters_are_loaded() {
    let loads = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load("fermi-apu", &sets).expect("it is built in").compile_options().loads_parameters
    };
    assert!(!loads(&[]) && !loads(&["lsu.read_only=own-paths"]));
    assert!(loads(&["lsu.read_only=as-global"]));
}
