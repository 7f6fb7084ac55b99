//! The kernel without a controller, its requests in a list: capacity, and what requests cost with few and many warps (Fig. 11).

use strata_gpu::extended_llc::Characterisation;
use strata_gpu::machine::Machine;

use crate::support::{How, verified};

/// An RTX 3080 with one SM.
fn machine() -> Machine {
    Machine::load("rtx3080", &["gpu.sms=1".into(), "gpu.memory_mib=64".into()]).unwrap()
}

/// Nanoseconds of a read of a set, from the time that 50 more of them take.
fn nanoseconds(warps: u32) -> f64 {
    let cycles = |reads| {
        let program = Characterisation::new(&machine(), warps, reads).unwrap();
        verified(&machine(), &program, How::CHECKED, &format!("{warps} warps")).cycles()
    };
    let mhz = f64::from(*machine().file().clocks.core_mhz);
    (cycles(100) - cycles(50)) as f64 / 50.0 * 1000.0 / mhz
}

#[test]
fn more_warps_serve_more() {
    let [few, many] = [8, 48].map(nanoseconds);
    println!("{few:.0} ns with 8 warps, {many:.0} with 48");
    assert!(48.0 / many > 2.0 * 8.0 / few, "{few} {many}");
}

#[test]
fn a_set_is_as_large_as_registers_allow() {
    let kib = |warps| Characterisation::new(&machine(), warps, 1).unwrap().capacity_bytes(warps) >> 10;
    let found = [1, 8, 32].map(kib);
    // A thread has 255 registers: one warp cannot use more.
    assert!(found[0] * 8 <= found[1] && found[1] > found[2], "{found:?} KiB");
}

#[test]
fn warps_and_reads_that_cannot_be_are_refused() {
    let refused = |warps, reads| Characterisation::new(&machine(), warps, reads).unwrap_err();
    assert_eq!(refused(0, 1), "warps: found 0, expected 1 to 48");
    assert_eq!(refused(49, 1), "warps: found 49, expected 1 to 48");
    assert_eq!(refused(8, 0), "reads: found 0, expected at least 1");
}
