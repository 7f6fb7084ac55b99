//! Litmus tests of the PTX memory model: forbidden outcomes never appear, and the controls, which lack a fence, show
//! that they would have been seen.

mod atomics;
mod kernel;
mod tests;

use std::collections::BTreeSet;

use kernel::{GROUPS, LANES, Layout, text};
use strata_engine::Cycle;
use strata_engine::seed::Stream;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::GpuOptions;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module};
use tests::{Litmus, TESTS};

/// Machines that order things differently, as overrides of gtx480, and their worker threads.
pub const MACHINES: &[(&[&str], usize)] = &[
    (&[], 1),
    (&["l1d.sram.write_policy=\"write-through\""], 2),
    (&["l1d.sram.sets=1", "l1d.sram.write_buffer=2", "network.hop_latency_cycles=1"], 1),
    (&["lsu.instructions=2", "l1d.sram.bypass_entries=1", "llc.conventional.sets=1", "gpu.channels=1"], 4),
    (&["gpu.channels=6", "llc.conventional.rop_latency_cycles=1", "l1d.sram.write_miss_policy=fetch"], 1),
];

/// Launches of a test on a machine: a layout of the variables and the longest delay, in rounds of a loop.
const LAUNCHES: &[(Layout, u64)] = &[
    (Layout { stride: 1152 }, 0),
    (Layout { stride: 1152 }, 100),
    (Layout { stride: 16 }, 0),
    (Layout { stride: 16 }, 20),
    (Layout { stride: 16 }, 100),
    (Layout { stride: 16 }, 300),
];

/// gtx480 with `sms` SMs and these overrides.
pub fn machine(sms: u32, sets: &[&str]) -> Machine {
    let base = ["gpu.channels=2".to_owned(), "gpu.memory_mib=16".to_owned(), format!("gpu.sms={sms}")];
    let sets: Vec<String> = base.into_iter().chain(sets.iter().map(ToString::to_string)).collect();
    Machine::load("gtx480", &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// How the machines are run: a spin that never ends is an error.
pub fn options(threads: usize) -> GpuOptions {
    GpuOptions { threads, window: None, limit: Cycle(5_000_000) }
}

/// The buffers of a test.
struct Buffers {
    variables: [DevicePtr; 3],
    delays: DevicePtr,
    out: DevicePtr,
    stamps: DevicePtr,
}

/// Outcomes of all launches of a test on a machine.
fn outcomes(test: &Litmus, sets: &[&str], threads: usize) -> Result<BTreeSet<Vec<u32>>, DeviceError> {
    let roles = test.roles.len() as u32;
    let ctas = if test.one_cta { GROUPS } else { GROUPS * roles };
    let text = text(test);
    let machine = machine(ctas, sets);
    let mut silent = |_: &_| {};
    let mut device =
        TimedDevice::new(&machine, Module { name: test.name, text: &text }, options(threads), &mut silent)
            .unwrap_or_else(|error| panic!("{}: {error}\n{text}", test.name));
    let instances = GROUPS * LANES;
    let room = u64::from(instances * 1152);
    let buffers = Buffers {
        variables: [device.alloc("x", room)?, device.alloc("y", room)?, device.alloc("z", room)?],
        delays: device.alloc("delays", u64::from(GROUPS * roles * 4))?,
        out: device.alloc("out", u64::from(instances * roles * 8))?,
        stamps: device.alloc("stamps", u64::from(GROUPS * roles * 24))?,
    };
    let mut stream = Stream::new(1, test.name);
    let mut seen = BTreeSet::new();
    for (layout, delay) in LAUNCHES {
        for variable in buffers.variables {
            device.fill(variable, 0, room)?;
        }
        let delays: Vec<u8> =
            (0..GROUPS * roles).flat_map(|_| (stream.below(delay + 1) as u32).to_le_bytes()).collect();
        device.upload(buffers.delays, &delays)?;
        launch(test, &mut device, &buffers, layout, ctas)?;
        if !test.one_cta {
            roles_met(test, &mut device, &buffers)?;
        }
        collect(test, &mut device, &buffers, layout, &mut seen)?;
    }
    Ok(seen)
}

fn launch(
    test: &Litmus,
    device: &mut TimedDevice<'_>,
    buffers: &Buffers,
    layout: &Layout,
    ctas: u32,
) -> Result<(), DeviceError> {
    let warps = if test.one_cta { test.roles.len() as u32 } else { 1 };
    let [x, y, z] = buffers.variables;
    let args = [x, y, z, buffers.delays, buffers.out, buffers.stamps].map(Arg::Ptr);
    let args: Vec<Arg> = args.into_iter().chain([Arg::U32(layout.stride)]).collect();
    device.launch("litmus", [ctas, 1, 1], [LANES * warps, 1, 1], 0, &args)
}

/// The roles of a group ran on different SMs, at the same time.
fn roles_met(test: &Litmus, device: &mut TimedDevice<'_>, buffers: &Buffers) -> Result<(), DeviceError> {
    let roles = test.roles.len();
    let mut bytes = vec![0; GROUPS as usize * roles * 24];
    device.download(buffers.stamps, &mut bytes)?;
    let stamps: Vec<u64> =
        bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect();
    for group in stamps.chunks(3 * roles) {
        let sms: BTreeSet<u64> = group.chunks(3).map(|stamp| stamp[0]).collect();
        let last_start = group.chunks(3).map(|stamp| stamp[1]).max();
        let first_end = group.chunks(3).map(|stamp| stamp[2]).min();
        assert_eq!(sms.len(), roles, "{}: roles share an SM", test.name);
        assert!(last_start < first_end, "{}: the roles did not run at the same time: {group:?}", test.name);
    }
    Ok(())
}

/// Adds what each instance saw.
fn collect(
    test: &Litmus,
    device: &mut TimedDevice<'_>,
    buffers: &Buffers,
    layout: &Layout,
    seen: &mut BTreeSet<Vec<u32>>,
) -> Result<(), DeviceError> {
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    };
    let instances = GROUPS * LANES;
    let mut out = vec![0; instances as usize * test.roles.len() * 8];
    device.download(buffers.out, &mut out)?;
    for (instance, saw) in words(&out).chunks(2 * test.roles.len()).enumerate() {
        let mut outcome = saw.to_vec();
        for variable in buffers.variables {
            let mut bytes = [0; 4];
            device.download(variable.offset(instance as u64 * u64::from(layout.stride)), &mut bytes)?;
            outcome.push(u32::from_le_bytes(bytes));
        }
        seen.insert(outcome);
    }
    Ok(())
}

#[test]
fn forbidden_outcomes_do_not_appear_and_controls_show_theirs() {
    for test in TESTS {
        let mut shown = false;
        for (sets, threads) in MACHINES {
            let seen = outcomes(test, sets, *threads)
                .unwrap_or_else(|error| panic!("{} on {sets:?}: {error}", test.name));
            println!("{} on {sets:?}: {} outcomes", test.name, seen.len());
            if let Some(outcome) = seen.iter().find(|outcome| (test.forbidden)(outcome)) {
                assert!(test.shown, "{} on {sets:?}: forbidden {outcome:?}", test.name);
                shown = true;
            }
        }
        assert_eq!(test.shown, shown, "{}: the control must show its outcome", test.name);
    }
}
