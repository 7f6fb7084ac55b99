//! Fetches: cycles computed by hand, with four lanes a cycle, filter latency 7 and the latencies of the other timelines.

use strata_ptx::isa::{Detail, Geometry, TextureFetch, TextureQuery};
use strata_ptx::texture::{
    Addressing, Channel, Filter, Format, Header, Headers, Image, Layout, Levels, Read, Texture,
};

use super::*;

const FETCH: Op = Op::Texture(fetch());

const fn fetch() -> TextureFetch {
    TextureFetch {
        geometry: Geometry::D1,
        integer: true,
        result: Ty::U32,
        gather: None,
        detail: Detail::Base,
    }
}

/// A bench whose handle 1 is 1,024 words of linear memory, and whose kernel fetches.
fn bench() -> Bench {
    bench_with(&config(), Channel::U32, Filter::Point)
}

fn bench_with(config: &LsuConfig, channel: Channel, filter: Filter) -> Bench {
    let mut bench = Bench::new(config);
    let mut headers = Headers::default();
    let image = Image {
        base: BASE,
        format: Format { channel, channels: 1 },
        geometry: Geometry::D1,
        width: 1024,
        height: 1,
        depth: 1,
        layout: Layout::Linear,
    };
    let handle = headers.reserve();
    headers.set(
        handle,
        Header::Texture(Texture {
            image,
            addressing: [Addressing::Clamp; 3],
            filter,
            read: Read::Element,
            normalized: false,
            border: [0.0; 4],
            levels: Levels::ONE,
        }),
    );
    let kernel = Kernel { code: vec![instruction(FETCH)], ..(*bench.launch.kernel).clone() };
    bench.launch.kernel = Arc::new(kernel);
    bench.launch.headers = Arc::new(headers);
    bench.lsu.prepare(&bench.launch);
    bench
}

fn texels(of: impl Fn(u64) -> u64) -> Sources {
    Sources::at(|_| 1).with(1, of)
}

fn word(at: usize) -> u32 {
    let memory = Memory::numbered();
    u32::from_le_bytes(memory.0[at..at + 4].try_into().unwrap())
}

#[test]
fn a_fetch_takes_its_passes_and_the_filter_on_top_of_a_load() {
    let mut bench = bench();
    bench.issue(0, FETCH, &texels(|lane| lane));
    bench.drain();
    assert_eq!(bench.l1d.log, ["10: load 0x0 128 bytes"], "8 passes, then address generation");
    assert_eq!(bench.finished, ["39: warp 0 pc 40"]);
    assert_eq!(bench.rows.len(), 4);
    let red: Vec<u32> = (0..32).map(|lane| word(4 * lane)).collect();
    assert_eq!(bench.rows[0].0.to_vec(), red);
    // Channels that a texel lacks are nought, as GPUs have them.
    assert_eq!((bench.rows[1], bench.rows[3]), (Row::ZERO, Row::ZERO));
}

#[test]
fn what_blends_nothing_does_not_wait_for_the_filter() {
    let mut config = config();
    config.texture.point_latency_cycles = Some(Cited::new(4, "test"));
    let floats = TextureFetch {
        geometry: Geometry::D1,
        integer: false,
        result: Ty::F32,
        gather: None,
        detail: Detail::Base,
    };
    let between = |lane: u64| u64::from((lane as f32 + 0.75).to_bits());
    let cycle_of = |filter, what: TextureFetch, of: &dyn Fn(u64) -> u64| {
        let mut bench = bench_with(&config, Channel::F32, filter);
        bench.issue(0, Op::Texture(what), &texels(of));
        bench.drain();
        bench.finished[0].clone()
    };
    // As a_fetch_takes_its_passes_and_the_filter_on_top_of_a_load, 3 cycles sooner: 4 instead of the filter's 7.
    assert_eq!(cycle_of(Filter::Point, floats, &between), "36: warp 0 pc 40");
    // Integer coordinates name one texel, whatever the filter.
    let whole = TextureFetch { integer: true, ..floats };
    assert_eq!(cycle_of(Filter::Linear, whole, &|lane| lane), "36: warp 0 pc 40");
    // Neighbours that are blended: a second line for the last lane's, and the filter.
    assert_eq!(cycle_of(Filter::Linear, floats, &between), "40: warp 0 pc 40");
    // Neighbours that are gathered, not blended.
    let gathers = TextureFetch { gather: Some(0), ..floats };
    assert_eq!(cycle_of(Filter::Linear, gathers, &between), "37: warp 0 pc 40");
    // An answer has no texels.
    assert_eq!(
        {
            let mut bench = bench_with(&config, Channel::F32, Filter::Linear);
            bench.issue(0, Op::TextureQuery(TextureQuery::Width), &texels(|_| 0));
            bench.drain();
            bench.finished[0].clone()
        },
        "16: warp 0 pc 40"
    );
}

#[test]
fn texels_may_be_loads_of_global_memory_one_of_each_lane_at_a_time() {
    let config = LsuConfig { read_only: Some(Cited::new(ReadOnlyWay::AsGlobal, "test")), ..config() };
    let mut bench = bench_with(&config, Channel::U32, Filter::Point);
    bench.issue(0, FETCH, &texels(|lane| lane));
    bench.drain();
    // A load's 3 and 20 cycles, without passes through the unit, then the filter and the write-back.
    assert_eq!(bench.l1d.log, ["3: load 0x0 128 bytes"]);
    assert_eq!(bench.finished, ["32: warp 0 pc 40"]);
    let red: Vec<u32> = (0..32).map(|lane| word(4 * lane)).collect();
    assert_eq!(bench.rows[0].0.to_vec(), red);
    let counted = bench.lsu.statistics();
    assert_eq!((counted.texels, counted.texture_cycles, counted.lane_addresses), (32, 0, 32));

    // Two texels that are blended are two loads, one after the other, and give what the unit's own accesses give.
    let floats = TextureFetch { integer: false, result: Ty::F32, ..fetch() };
    let between = |lane: u64| u64::from((lane as f32 + 0.75).to_bits());
    let rows = |config: &LsuConfig| {
        let mut bench = bench_with(config, Channel::F32, Filter::Linear);
        bench.issue(0, Op::Texture(floats), &texels(between));
        bench.drain();
        (bench.rows.clone(), bench.l1d.log.len())
    };
    let (own, accesses) = rows(&super::config());
    assert_eq!((accesses, rows(&config)), (2, (own, 3)));

    // Both take the lane path, where there is one.
    let mut bench = super::lanes::behind_a_path(bench_with(&config, Channel::F32, Filter::Linear));
    bench.issue(0, Op::Texture(floats), &texels(between));
    bench.drain();
    assert_eq!((bench.rows, bench.l1d.log.len()), (rows(&super::config()).0, 0));

    // Narrow texels come in the low bytes of a word.
    let narrow = |config: &LsuConfig| {
        let mut bench = bench_with(config, Channel::U8, Filter::Point);
        bench.issue(0, FETCH, &texels(|lane| 7 * lane));
        bench.drain();
        bench.rows.clone()
    };
    assert_eq!(narrow(&config), narrow(&super::config()));

    // What lies outside is not loaded.
    let mut bench = bench_with(&config, Channel::U32, Filter::Point);
    bench.issue(0, FETCH, &texels(|lane| 5000 + lane));
    bench.drain();
    assert!(bench.l1d.log.is_empty());
    assert_eq!(bench.finished, ["9: warp 0 pc 40"]);
}

#[test]
fn lanes_that_are_few_or_outside_take_fewer_passes_and_accesses() {
    let mut bench = bench();
    bench.try_issue(0, 0b11111, FETCH, &texels(|lane| 40 * lane)).unwrap();
    bench.drain();
    assert_eq!(
        bench.l1d.log,
        [
            "4: load 0x0 4 bytes",
            "5: load 0x80 4 bytes",
            "6: load 0x100 4 bytes",
            "7: load 0x180 4 bytes",
            "8: load 0x280 4 bytes"
        ]
    );
    let mut bench = super::textures::bench();
    bench.issue(0, FETCH, &texels(|lane| 5000 + lane));
    bench.issue(1, Op::TextureQuery(TextureQuery::Width), &texels(|_| 0));
    bench.drain();
    assert!(bench.l1d.log.is_empty(), "nothing is read beyond the end, or to answer a question");
    // Complete at 10 and 18, when their accesses would have been made.
    assert_eq!(bench.finished, ["19: warp 0 pc 40", "27: warp 1 pc 41"]);
    assert_eq!(bench.rows, [Row::splat(1024)]);
}

#[test]
fn fetches_and_loads_take_the_port_in_turns() {
    let mut bench = bench();
    bench.issue(0, FETCH, &texels(|lane| 2 * lane));
    (0..7).for_each(|_| bench.cycle());
    let load = Op::Load(mode(Space::Global, Ty::U32, 1));
    bench.issue(1, load, &Sources::at(|lane| BASE + 0x400 + 8 * lane));
    bench.drain();
    assert_eq!(
        bench.l1d.log,
        [
            "10: load 0x400 64 bytes",
            "11: load 0x0 64 bytes",
            "12: load 0x480 64 bytes",
            "13: load 0x80 64 bytes"
        ]
    );
    assert_eq!(bench.finished, ["34: warp 1 pc 41", "42: warp 0 pc 40"]);
}

#[test]
fn a_handle_of_nothing_is_a_fault_and_changes_nothing() {
    let mut bench = bench();
    let fault = bench.try_issue(0, LaneMask::MAX, FETCH, &Sources::at(|lane| 1 + lane / 9)).unwrap_err();
    assert_eq!(fault.thread, [9, 0, 0]);
    assert_eq!(
        fault.to_string(),
        "kernel k, line 7, CTA [3, 0, 0], thread [9, 0, 0]: handle 0x2 is of no live texture or surface"
    );
    assert!(bench.lsu.is_idle());
    bench.issue(0, FETCH, &texels(|lane| lane));
    bench.drain();
    assert_eq!(bench.finished.len(), 1);
}
