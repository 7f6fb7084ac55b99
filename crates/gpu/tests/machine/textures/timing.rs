//! What a fetch costs, and that nothing of the host decides it.

use strata_engine::statistics::Group;
use strata_gpu::device::Modelled;
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Addressing, Filter};

use super::bench::{Bench, Spec, THREADS, kernel};
use super::fetches::texels;
use crate::support::PLAIN;

const FETCH: &str = "tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%t, {%f0, %f1}];";

/// Cycles of a launch, all counters, and the results.
fn measure(
    spec: &Spec,
    body: &str,
    words: &[[u32; 4]],
    options: GpuOptions,
    (sets, ticked): (&[&str], bool),
) -> (u64, Vec<Group>, Vec<[u32; 4]>) {
    let sets: Vec<&str> = [&["gpu.sms=2", "gpu.memory_mib=16"], sets].concat();
    measure_on(&crate::support::gtx480(&sets), spec, body, words, (options, ticked))
}

fn measure_on(
    machine: &Machine,
    spec: &Spec,
    body: &str,
    words: &[[u32; 4]],
    (options, ticked): (GpuOptions, bool),
) -> (u64, Vec<Group>, Vec<[u32; 4]>) {
    let (bytes, _) = texels(spec);
    let mut gpu = Gpu::new(machine, options).unwrap();
    if ticked {
        gpu.tick_every_cycle();
    }
    let backend = Modelled::new(gpu, machine).unwrap();
    let mut bench = Bench::new(backend, machine, &kernel("", body), spec, &bytes);
    let handle = bench.card.create_texture(spec.texture(bench.image)).unwrap();
    let results = bench.run(handle, words).unwrap();
    let backend = bench.card.backend_mut();
    (backend.cycles(), backend.statistics(), results)
}

fn count(groups: &[Group], group: &str, name: &str) -> u64 {
    groups.iter().find(|found| found.name == group).and_then(|found| found.get(name)).expect("it is counted")
}

fn scattered() -> Vec<[u32; 4]> {
    (0..THREADS)
        .map(|n| [((n * 37 % 64) as f32 + 0.3).to_bits(), ((n * 11 % 48) as f32 + 0.8).to_bits(), 0, 0])
        .collect()
}

#[test]
fn threads_and_windows_change_nothing() {
    let spec = Spec {
        filter: Filter::Linear,
        addressing: Addressing::Border,
        ..Spec::new(Geometry::D2, [64, 48, 1])
    };
    let plain = measure(&spec, FETCH, &scattered(), PLAIN, (&[], false));
    for (threads, window) in [(2, None), (1, Some(1)), (3, Some(5))] {
        let other =
            measure(&spec, FETCH, &scattered(), GpuOptions { threads, window, ..PLAIN }, (&[], false));
        assert!(plain == other, "{threads} threads, window {window:?}");
    }
    // Loads and fetches in turns, with few places for accesses: nothing depends on which cycles are skipped.
    let body =
        format!("{FETCH} ld.global.u32 %r12, [%rd0]; ld.global.v2.b32 {{%r13, %r14}}, [%rd0+8]; {FETCH}");
    let narrow = &["lsu.accesses=4", "lsu.queue=3"][..];
    let skipped = measure(&spec, &body, &scattered(), PLAIN, (narrow, false));
    assert!(skipped == measure(&spec, &body, &scattered(), PLAIN, (narrow, true)));
}

#[test]
fn texels_may_be_loads_through_a_lane_path() {
    let spec = Spec {
        filter: Filter::Linear,
        addressing: Addressing::Border,
        ..Spec::new(Geometry::D2, [64, 48, 1])
    };
    let body = format!("{FETCH} ld.global.u32 %r12, [%rd0]; {FETCH}");
    let machine = |systems: &[&str], way: &str| {
        let sets = ["gpu.sms=2", "gpu.memory_mib=16", way].map(str::to_owned);
        Machine::load_with("gtx480", systems, &sets).unwrap()
    };
    let on = |machine: &Machine, ticked| measure_on(machine, &spec, &body, &scattered(), (PLAIN, ticked));
    let (_, own, results) = on(&machine(&["tcbase"], "lsu.read_only=own-paths"), false);
    for systems in [&["tcbase"] as &[&str], &["bypass-global"], &[]] {
        let machine = machine(systems, "lsu.read_only=as-global");
        let skipped = on(&machine, false);
        assert!(skipped == on(&machine, true), "{systems:?}");
        assert!(skipped.2 == results, "{systems:?}");
        assert_eq!(count(&skipped.1, "lsu", "texels"), count(&own, "lsu", "texels"));
        assert_eq!(count(&skipped.1, "lsu", "constant_lines"), 0);
        if systems == ["tcbase"] {
            // Each texel, and three parameters of each thread, are loads of its lane.
            let more = count(&own, "lsu", "texels") + 3 * u64::from(THREADS);
            let loads = |groups| count(groups, "tiny_cache", "global_loads");
            assert_eq!(loads(&skipped.1), loads(&own) + more);
        }
    }
}

#[test]
fn counters_count_what_is_read() {
    // Each warp's 32 threads stand at 32 texels of a row, the warps on rows of their own.
    let format = strata_ptx::texture::Format { channel: strata_ptx::texture::Channel::F32, channels: 1 };
    let spec = Spec { format, ..Spec::new(Geometry::D2, [32, 16, 1]) };
    let row: Vec<[u32; 4]> =
        (0..THREADS).map(|n| [((n % 32) as f32).to_bits(), ((n / 32) as f32).to_bits(), 0, 0]).collect();
    let (_, groups, _) = measure(&spec, FETCH, &row, PLAIN, (&[], false));
    let warps = u64::from(THREADS / 32);
    assert_eq!(count(&groups, "lsu", "textures"), warps);
    assert_eq!(count(&groups, "lsu", "texels"), u64::from(THREADS));
    assert_eq!(count(&groups, "lsu", "texture_cycles"), warps * 8, "four lanes a cycle");
    let others = {
        let (_, groups, _) = measure(&spec, "", &row, PLAIN, (&[], false));
        count(&groups, "lsu", "accesses")
    };
    // A line holds 8 texels by 4 rows: 32 texels of a row are in four lines.
    assert_eq!(count(&groups, "lsu", "accesses") - others, warps * 4);
    let linear = Spec { filter: Filter::Linear, ..spec };
    let (_, groups, _) = measure(&linear, FETCH, &row, PLAIN, (&[], false));
    assert_eq!(count(&groups, "lsu", "texels"), u64::from(4 * THREADS));
    assert_eq!(count(&groups, "lsu", "texture_cycles"), warps * 8, "four texels of a lane at once");
}

#[test]
fn latency_and_throughput_are_the_machine_files() {
    let spec = Spec::new(Geometry::D2, [64, 48, 1]);
    let same = vec![[0; 4]; THREADS as usize];
    let one = |sets: &[&str]| measure(&spec, FETCH, &same, PLAIN, (sets, false)).0;
    let plain = one(&[]);
    // The last warp's results wait for the filter, and nothing else does meanwhile: points for what comes instead.
    assert_eq!(one(&["lsu.texture.point_latency_cycles=101"]), plain + 100);
    assert_eq!(one(&["lsu.texture.filter_latency_cycles=321"]), plain);
    let blends = Spec { filter: Filter::Linear, ..Spec::new(Geometry::D2, [64, 48, 1]) };
    let linear = |sets: &[&str]| measure(&blends, FETCH, &same, PLAIN, (sets, false)).0;
    assert_eq!(linear(&["lsu.texture.filter_latency_cycles=321"]), linear(&[]) + 100);
    // All wait for the line that the first fetch asks for, which its 8 passes delay.
    assert_eq!(one(&["lsu.texture.lanes_per_cycle=1"]), plain + 24);
    assert!(one(&["lsu.texture.lanes_per_cycle=32"]) < plain);
}

#[test]
fn every_machine_gives_the_same_results() {
    let format = strata_ptx::texture::Format { channel: strata_ptx::texture::Channel::U8, channels: 2 };
    for format in [format, Spec::new(Geometry::D2, [64, 48, 1]).format] {
        let read = strata_ptx::texture::Read::Normalized;
        let spec = Spec { format, read, filter: Filter::Linear, ..Spec::new(Geometry::D2, [64, 48, 1]) };
        let (_, _, plain) = measure(&spec, FETCH, &scattered(), PLAIN, (&[], false));
        for sets in [
            &["lsu.segment_bytes=32"][..],
            &["lsu.segment_bytes=64", "l1d.sram.sector_bytes=32"],
            &["l1d.sram.mshr_entries=1", "l1d.sram.mshr_merges=1"],
            &["l1d.sram.sets=1", "l1d.sram.ways=1", "l1d.sram.miss_queue=2"],
            &["lsu.queue=1", "lsu.accesses=1"],
            &["lsu.texture.lanes_per_cycle=3", "lsu.texture.texels_per_cycle=1"],
            &["lsu.texture.filter_latency_cycles=1", "lsu.writeback_latency_cycles=0"],
        ] {
            let (_, groups, results) = measure(&spec, FETCH, &scattered(), PLAIN, (sets, false));
            assert!(results == plain, "{sets:?}");
            let broken: Vec<_> = groups.iter().filter_map(|group| group.broken).collect();
            assert!(broken.is_empty(), "{sets:?}: {broken:?}");
        }
    }
}
