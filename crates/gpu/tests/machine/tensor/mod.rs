//! Matrix instructions, asynchronous copies and barriers in shared memory on the whole machine: values by the reference
//! executor in lockstep and by sums written here, and numbers that depend on neither threads nor skipping.

mod kernels;
mod sparse;

use crate::support::{PLAIN, gtx480};
use half::f16;
use kernels::{CHUNKS, COLUMNS, DEPTH, LAST_ELEMENTS, ROWS, ROWS_OF_B};
use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_gpu::results::LaunchResult;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

/// CTAs of each launch.
const CTAS: usize = 5;

/// A small number for a place in a matrix: sums of products of such numbers are exact.
fn number(place: usize) -> f32 {
    (((place * 2_654_435_761) >> 9) % 17) as f32 - 8.0
}

fn halves(count: usize, seed: usize) -> Vec<u8> {
    (0..count).flat_map(|n| f16::from_f32(number(n + seed)).to_le_bytes()).collect()
}

fn singles(count: usize, seed: usize) -> Vec<u8> {
    (0..count).flat_map(|n| number(n + seed).to_le_bytes()).collect()
}

fn upload(device: &mut dyn Device, name: &str, bytes: &[u8]) -> Result<DevicePtr, DeviceError> {
    let pointer = device.alloc(name, bytes.len() as u64)?;
    device.upload(pointer, bytes)?;
    Ok(pointer)
}

fn words(device: &mut dyn Device, from: DevicePtr, count: usize) -> Result<Vec<u32>, DeviceError> {
    let mut bytes = vec![0; 4 * count];
    device.download(from, &mut bytes)?;
    Ok(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

/// Every kernel once, with what it must compute.
fn host(device: &mut dyn Device) -> Result<(), DeviceError> {
    let rows = CTAS * ROWS;
    let a = upload(device, "a", &halves(rows * DEPTH, 1))?;
    // B ends where the last elements that are copied end.
    let b = upload(device, "b", &halves((ROWS_OF_B - 1) * COLUMNS + LAST_ELEMENTS, 7000))?;
    let c = upload(device, "c", &singles(rows * COLUMNS, 90))?;
    device.launch(
        "gemm",
        Shape::new([CTAS as u32, 1, 1], [64, 1, 1]),
        &[Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(c)],
    )?;
    let found = words(device, c, rows * COLUMNS)?;
    for (at, found) in found.iter().enumerate() {
        let (row, column) = (at / COLUMNS, at % COLUMNS);
        let is_there = |k: usize| k < ROWS_OF_B - 1 || k == ROWS_OF_B - 1 && column < LAST_ELEMENTS;
        let products = (0..DEPTH).filter(|k| is_there(*k));
        let products = products.map(|k| number(row * DEPTH + k + 1) * number(k * COLUMNS + column + 7000));
        let wanted = number(at + 90) + products.sum::<f32>();
        assert_eq!(f32::from_bits(*found), wanted, "C[{row}][{column}]");
    }

    let count = CTAS * CHUNKS * 32;
    let input: Vec<u8> = (0..count as u32).flat_map(|n| (n * 77).to_le_bytes()).collect();
    let input = upload(device, "in", &input)?;
    let output = upload(device, "out", &vec![0; 4 * count])?;
    let shape = Shape::new([CTAS as u32, 1, 1], [64, 1, 1]);
    device.launch("pipeline", shape, &[Arg::Ptr(input), Arg::Ptr(output)])?;
    for (at, found) in words(device, output, count)?.into_iter().enumerate() {
        let chunk = at / 32 % CHUNKS;
        assert_eq!(found, (at as u32 ^ 1) * 77 + chunk as u32, "word {at}");
    }

    let a = upload(device, "wa", &halves(256, 30))?;
    let b = upload(device, "wb", &halves(256, 400))?;
    let c = upload(device, "wc", &singles(256, 800))?;
    let d = upload(device, "wd", &[0; 1024])?;
    let arguments = [a, b, c, d].map(Arg::Ptr);
    device.launch("wmma", Shape::new([1; 3], [32, 1, 1]), &arguments)?;
    for (at, found) in words(device, d, 256)?.into_iter().enumerate() {
        let (row, column) = (at / 16, at % 16);
        let products = (0..16).map(|k| number(row * 16 + k + 30) * number(column * 16 + k + 400));
        let wanted = number(column * 16 + row + 800) + products.sum::<f32>();
        assert_eq!(f32::from_bits(found), wanted, "D[{row}][{column}]");
    }
    Ok(())
}

/// Launches and statistics of a run in lockstep with the reference executor.
fn lockstep(machine: &Machine, options: GpuOptions, ticks: bool) -> (Vec<LaunchResult>, Vec<Group>) {
    let text = kernels::text();
    let module = || Module { name: "tensor.ptx", text: &text };
    let mut silent = |_: &_| {};
    let mut gpu = Gpu::new(machine, options).unwrap_or_else(|error| panic!("{error}"));
    if ticks {
        gpu.tick_every_cycle();
    }
    let mut timed =
        TimedDevice::on(gpu, machine, module(), &mut silent).unwrap_or_else(|error| panic!("{error}"));
    let memory = *machine.file().gpu.memory_mib << 20;
    let mut reference = ReferenceDevice::new(module(), machine.compile_options(), memory, Default::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut both = Lockstep::new(&mut timed, &mut reference);
    host(&mut both).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(both.finish().1, Vec::<String>::new());
    let statistics = timed.statistics();
    for group in &statistics {
        assert_eq!(group.broken, None, "{}", group.name);
    }
    (timed.launches().to_vec(), statistics)
}

fn counter(statistics: &[Group], group: &str, name: &str) -> u64 {
    let found = statistics.iter().find(|candidate| candidate.name == group).and_then(|group| group.get(name));
    found.unwrap_or_else(|| panic!("no statistic {group}.{name}"))
}

#[test]
fn values_agree_on_machines_of_every_kind() {
    let small = ["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=16", "gpu.watchdog_cycles=100000"];
    for sets in [
        &[][..],
        &["lsu.queue=1"],
        &["lsu.queue=2", "l1d.sram.mshr_entries=1", "lsu.shared.banks=16"],
        &["sm.registers_per_thread=20", "sm.register_file.banks=4"],
        &["lsu.address_latency_cycles=30", "lsu.shared.latency_cycles=60", "lsu.segment_bytes=32"],
        &["sm.scheduling=\"loose-round-robin\"", "network.hop_latency_cycles=25"],
    ] {
        let sets: Vec<&str> = small.iter().chain(sets).copied().collect();
        lockstep(&gtx480(&sets), PLAIN, false);
    }
    let volta: Vec<String> = small.map(str::to_owned).to_vec();
    lockstep(&Machine::load("volta-fuse", &volta).unwrap_or_else(|error| panic!("{error}")), PLAIN, false);
}

#[test]
fn numbers_depend_on_no_thread_no_window_and_no_skipping() {
    let machine = gtx480(&["gpu.sms=3", "gpu.channels=2", "gpu.memory_mib=16"]);
    let (launches, one) = lockstep(&machine, PLAIN, false);
    let options = GpuOptions {
        threads: 3,
        saves_threads: false,
        window: Some(1),
        limit: Cycle::NEVER,
        interrupt: None,
    };
    let (launches_of_three, three) = lockstep(&machine, options, false);
    assert_eq!(launches_of_three, launches);
    let values = |groups: &[Group]| groups.iter().map(|group| group.values.clone()).collect::<Vec<_>>();
    assert_eq!(values(&three), values(&one));
    assert_eq!(lockstep(&machine, PLAIN, true).0, launches);

    // Ten warps make four products of 16 deep; the m16n16k16 product is two.
    let products = (2 * CTAS as u64 * 4 + 2) * 16 * 8 * 16;
    assert_eq!(counter(&one, "sm", "products_half"), products);
    assert!(counter(&one, "sm", "stall_copies") > 0);
    // Two copies a step and warp, and one a chunk and CTA.
    assert_eq!(counter(&one, "lsu", "copies"), (2 * CTAS * 4 * 2 + CTAS * CHUNKS) as u64);
}
