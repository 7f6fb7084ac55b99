//! The kernel without a controller, its requests in a list: capacity, and what requests cost by the place of the blocks, with few
//! and many warps, and without the network (Fig. 11 and what section 5 says of it).

use strata_gpu::extended_llc::{Characterisation, Network, SetPlace};
use strata_gpu::machine::Machine;

use crate::support::{How, verified};

const PLACES: [SetPlace; 3] = [SetPlace::Registers, SetPlace::SharedMemory, SetPlace::L1d];

/// An RTX 3080 with one SM.
fn machine() -> Machine {
    Machine::load("rtx3080", &["gpu.sms=1".into(), "gpu.memory_mib=64".into()]).unwrap()
}

fn program(place: SetPlace, warps: u32, reads: u32, network: Network) -> Characterisation {
    Characterisation::new(&machine(), place, warps, reads, network).unwrap()
}

/// Nanoseconds of a read of a set, from the time that 50 more of them take.
fn nanoseconds(place: SetPlace, warps: u32, network: Network) -> f64 {
    let cycles = |reads| {
        let program = program(place, warps, reads, network);
        verified(&machine(), &program, How::CHECKED, &format!("{place:?}, {warps} warps")).cycles()
    };
    let mhz = f64::from(*machine().file().clocks.core_mhz);
    (cycles(100) - cycles(50)) as f64 / 50.0 * 1000.0 / mhz
}

#[test]
fn more_warps_serve_more() {
    for place in PLACES {
        let [few, many] = [8, 48].map(|warps| nanoseconds(place, warps, Network::Modelled));
        println!("{place:?}: {few:.0} ns with 8 warps, {many:.0} with 48");
        assert!(48.0 / many > 2.0 * 8.0 / few, "{place:?}: {few} {many}");
    }
}

#[test]
fn the_network_is_most_of_a_read() {
    for place in PLACES {
        let [with, without] =
            [Network::Modelled, Network::Ideal].map(|network| nanoseconds(place, 8, network));
        println!("{place:?}: {with:.0} ns with the network, {without:.0} without");
        assert!(with > 2.0 * without, "{place:?}: {with} {without}");
    }
}

#[test]
fn a_set_is_as_large_as_the_storage_allows() {
    let kib = |place| {
        [1, 8, 32].map(|warps| program(place, warps, 1, Network::Modelled).capacity_bytes(warps) >> 10)
    };
    let [one, eight, all] = kib(SetPlace::Registers);
    // A thread has 255 registers: one warp cannot use more.
    assert!(one * 8 <= eight && eight > all, "{one} {eight} {all}");
    // Lanes have tags of 256 blocks, 32 KiB; a CTA takes 1 KiB of the 100.
    assert_eq!(kib(SetPlace::SharedMemory), [32, 99, 96]);
    assert_eq!(kib(SetPlace::L1d), [128; 3]);
}

#[test]
fn warps_and_reads_that_cannot_be_are_refused() {
    let refused = |machine: &Machine, place, warps, reads| {
        Characterisation::new(machine, place, warps, reads, Network::Modelled).unwrap_err()
    };
    assert_eq!(refused(&machine(), SetPlace::Registers, 0, 1), "warps: found 0, expected 1 to 48");
    assert_eq!(refused(&machine(), SetPlace::Registers, 49, 1), "warps: found 49, expected 1 to 48");
    assert_eq!(refused(&machine(), SetPlace::Registers, 8, 0), "reads: found 0, expected at least 1");
    let fermi = Machine::load("gtx480", &[]).unwrap();
    assert_eq!(
        refused(&fermi, SetPlace::L1d, 8, 1),
        "gtx480: expected sm.unified, which says how large an L1D is without shared memory"
    );
}
