//! A litmus test on a machine: its launches, and what came of them.

use std::collections::BTreeSet;

use crate::support::{WrapL1d, with_wrapped_l1ds};

use strata_engine::Cycle;
use strata_engine::seed::Stream;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::GpuOptions;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

use super::kernel::{GROUPS, LANES, Layout, text};
use super::tests::Litmus;

/// Launches of a test on a machine: a layout of the variables and the longest delay, in rounds of a loop.
const LAUNCHES: &[(Layout, u64)] = &[
    (Layout { stride: 1152 }, 100),
    (Layout { stride: 16 }, 0),
    (Layout { stride: 16 }, 100),
    (Layout { stride: 16 }, 300),
];

/// gtx480 with `sms` SMs, these systems and these overrides.
pub fn machine(sms: u32, (systems, sets): (&[&str], &[&str])) -> Machine {
    let base = ["gpu.channels=2".to_owned(), "gpu.memory_mib=16".to_owned(), format!("gpu.sms={sms}")];
    let sets: Vec<String> = base.into_iter().chain(sets.iter().map(ToString::to_string)).collect();
    Machine::load_with("gtx480", systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// How the machines are run: a spin that never ends is an error.
pub fn options(threads: usize) -> GpuOptions {
    GpuOptions { threads, saves_threads: false, window: None, limit: Cycle(5_000_000), interrupt: None }
}

/// The buffers of a test.
struct Buffers {
    variables: [DevicePtr; 3],
    delays: DevicePtr,
    out: DevicePtr,
    stamps: DevicePtr,
}

/// Outcomes of all launches of a test on a machine: what the roles of an instance saw, and its variables at the end.
pub fn outcomes(
    test: &Litmus,
    on: (&[&str], &[&str]),
    threads: usize,
    wrap_l1d: WrapL1d<'_>,
) -> Result<BTreeSet<Vec<u32>>, DeviceError> {
    let roles = test.roles.len() as u32;
    let ctas = if test.one_cta { GROUPS } else { GROUPS * roles };
    let text = text(test);
    let machine = machine(ctas, on);
    let mut silent = |_: &_| {};
    let refused = |error: String| -> ! { panic!("{}: {error}\n{text}", test.name) };
    let gpu = with_wrapped_l1ds(&machine, options(threads), wrap_l1d).unwrap_or_else(|error| refused(error));
    let module = Module { name: test.name, text: &text };
    let mut device =
        TimedDevice::on(gpu, &machine, module, &mut silent).unwrap_or_else(|error| refused(error));
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
    device.launch("litmus", Shape::new([ctas, 1, 1], [LANES * warps, 1, 1]), &args)
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
