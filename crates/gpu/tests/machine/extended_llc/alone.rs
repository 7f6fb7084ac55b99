//! The kernel without a controller, its requests in a list: capacity, and what requests cost with few and many warps (Fig. 11).

use strata_gpu::extended_llc::{Characterisation, Storage};
use strata_gpu::machine::Machine;

use crate::support::{How, verified};

/// An RTX 3080 with one SM.
fn machine() -> Machine {
    Machine::load("rtx3080", &["gpu.sms=1".into(), "gpu.memory_mib=64".into()]).unwrap()
}

/// Nanoseconds of a read of a set, from the time that 100 more of them take.
fn nanoseconds(storage: Storage, warps: u32) -> f64 {
    let cycles = |reads| {
        let program = Characterisation::new(&machine(), storage, warps, reads).unwrap();
        verified(&machine(), &program, How::CHECKED, &format!("{storage}, {warps} warps")).cycles()
    };
    let mhz = f64::from(*machine().file().clocks.core_mhz);
    (cycles(200) - cycles(100)) as f64 / 100.0 * 1000.0 / mhz
}

#[test]
fn more_warps_serve_more_and_each_takes_longer() {
    for storage in Storage::ALL {
        let [one, eight, many] = [1, 8, 48].map(|warps| nanoseconds(storage, warps));
        println!("{storage}: {one:.0} ns with 1 warp, {eight:.0} with 8, {many:.0} with 48");
        assert!(one <= eight * 1.05 && eight < many, "{storage}: {one} {eight} {many}");
        let gigabytes = |warps: f64, ns: f64| warps * 128.0 / ns;
        assert!(gigabytes(48.0, many) > gigabytes(8.0, eight), "{storage}");
    }
}

#[test]
fn a_set_in_registers_is_as_large_as_they_allow() {
    let capacity = |warps| {
        let program = Characterisation::new(&machine(), Storage::Registers, warps, 1).unwrap();
        program.capacity_bytes(warps) >> 10
    };
    let found = [1, 8, 16, 32, 48].map(capacity);
    println!("{found:?} KiB");
    // A thread has 255 registers: one warp cannot use more.
    assert!(found[0] * 8 == found[1] && found[1] > found[2] && found[2] > found[3] && found[3] > found[4]);
}

#[test]
fn warps_and_reads_that_cannot_be_are_refused() {
    let refused =
        |warps, reads| Characterisation::new(&machine(), Storage::Shared, warps, reads).unwrap_err();
    assert_eq!(refused(0, 1), "warps: found 0, expected 1 to 48");
    assert_eq!(refused(49, 1), "warps: found 49, expected 1 to 48");
    assert_eq!(refused(8, 0), "reads: found 0, expected at least 1");
}
