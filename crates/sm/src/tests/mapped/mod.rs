//! Programs that map or copy tiles, on an SM with a stash or a DMA engine, against the reference executor.

pub mod registry;

use std::sync::Arc;

use strata_designs::dma::{Blocks, Engine};
use strata_designs::stash::{StashConfig, StashScratchpad};
use strata_engine::{Cited, Cycle};
use strata_memory::doors::{Scratchpad, ScratchpadSite};
use strata_memory::ownership::Message;
use strata_memory::{Address, NodeId, SliceMap};
use strata_ptx::program::Kernel;
use strata_ptx::reference::{Executor, GlobalMemory, LaunchConfig, pack_arguments};

use crate::config::SmConfig;
use crate::fakes::{BASE, BYTES};
use crate::fixtures::{Bench, config};
use crate::launch::Launch;
use crate::multiprocessor::Multiprocessor;
use registry::Registry;

/// Where the parameter block is: behind the words of a test.
const PARAMS_AT: u64 = BASE + BYTES as u64 - 256;
/// Words of a test.
const WORDS: usize = 2048;

/// A kernel `test(.param .u64 a)` with 256 bytes of shared memory, `%a` = a, `%r0` = thread, `%r9` = CTA.
fn kernel(body: &str) -> Arc<Kernel> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .extern .func stash_add_map(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .extern .func stash_chg_map(.param .b32 i, .param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, \
         .param .b32 w, .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .extern .func dma_load(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n);\n\
         .extern .func dma_store(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n);\n\
         .visible .entry test(.param .u64 a) {{\n\
         .shared .align 64 .b8 s[256];\n\
         .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .b64 %a;\n\
         ld.param.u64 %a, [a]; mov.u32 %r0, %tid.x; mov.u32 %r9, %ctaid.x;\n{body}\nret; }}\n"
    );
    let module = strata_ptx::load::load("test.ptx", &text, &strata_ptx::back::Options::default());
    let module = module.unwrap_or_else(|error| panic!("{error}"));
    Arc::new(module.kernel("test").expect("it is there").clone())
}

/// `statement` by one thread, then a barrier; a thread's word of mapping 0 at `%r1`, of mapping 1 at `%r2`.
fn by_one(statement: &str, rest: &str) -> String {
    format!(
        "setp.ne.u32 %p0, %r0, 0; @%p0 bra MAPPED;\n{statement}\nMAPPED: bar.sync 0;\n\
         shl.b32 %r1, %r0, 2; add.u32 %r2, %r1, 0x20000000; add.u32 %r1, %r1, 0x10000000;\n{rest}"
    )
}

fn words() -> Vec<u32> {
    (0..WORDS as u32).map(|word| word.wrapping_mul(2_654_435_761)).collect()
}

fn launch(kernel: &Arc<Kernel>, grid: u32, block: u32) -> Launch {
    let params = pack_arguments(kernel, &[BASE]).expect("one argument");
    Launch {
        constants: kernel.constant_rows(&params, &[]),
        kernel: Arc::clone(kernel),
        params,
        params_at: Address(PARAMS_AT),
        code_at: Address(0x1_0000),
        code_version: 0,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        local_at: Address(0),
        allocations: vec![(BASE, BASE + 4 * WORDS as u64)],
        registers: None,
        headers: Arc::default(),
        number: 0,
        micro: crate::micro::MicroCode::default(),
    }
}

/// The words that the reference executor leaves, or its fault.
fn expected(kernel: &Kernel, launches: u32, grid: u32, block: u32) -> Result<Vec<u32>, String> {
    let mut memory = GlobalMemory::new();
    assert!(memory.insert(BASE, words().iter().flat_map(|word| word.to_le_bytes()).collect()));
    for _ in 0..launches {
        let params = pack_arguments(kernel, &[BASE]).expect("one argument");
        let config = LaunchConfig {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            params,
        };
        let ran = Executor::new(kernel, config, &[], &mut memory).run();
        ran.map_err(|fault| fault.to_string())?;
    }
    let bytes = memory.bytes(BASE, 4 * WORDS).expect("they are there");
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four"))).collect())
}

/// An SM whose shared memory is a stash of 1 KiB: four CTAs of [`kernel`] at a time.
fn stash() -> (SmConfig, Option<Box<dyn Scratchpad>>) {
    let cited = |value| Cited::new(value, "test");
    let stash = StashConfig { bytes: cited(1024), ..StashConfig::paper() };
    let site = ScratchpadSite {
        node: NodeId(0),
        slices: SliceMap::new(1, 256, NodeId(1)).expect("one slice"),
        bytes: 1024,
        ctas: 8,
    };
    (SmConfig { shared_bytes: cited(1024), ..config() }, Some(Box::new(StashScratchpad::new(&stash, site))))
}

/// What a run shows: the cycle in which each launch ended, the words, and the counters.
type Shown = (Vec<Cycle>, Vec<u32>, String);

/// Runs launches of a kernel on an SM with a stash.
fn run(kernel: &Arc<Kernel>, (launches, grid, block): (u32, u32, u32), latency: u64, skip: bool) -> Shown {
    let (config, part) = stash();
    let mut bench = Bench::with(&config, launch(kernel, grid, block), 10, part);
    bench.skip = skip;
    bench.registry = Some(Registry::new(BASE, &words(), latency));
    let mut ends = Vec::new();
    for number in 0..launches {
        if number > 0 {
            bench.sm.prepare(Arc::new(launch(kernel, grid, block)), bench.now);
        }
        ends.push(bench.run_all(grid.into()));
    }
    let statistics = format!("{:?}", bench.sm.statistics());
    let now = bench.now;
    bench.registry.as_mut().expect("it is there").recall_all(now);
    for _ in 0..20 * latency + 1000 {
        bench.cycle();
    }
    let registry = bench.registry.as_ref().expect("it is there");
    assert!(registry.is_quiet() && registry.owned() == 0, "the stash returns what is recalled");
    let found = (0..WORDS as u64).map(|word| registry.word(BASE + 4 * word)).collect();
    (ends, found, statistics)
}

/// Programs for a stash, with CTAs and threads.
fn programs() -> Vec<(&'static str, String, u32, u32)> {
    let tile = "mul.wide.u32 %rd1, %r9, 512; add.u64 %rd1, %rd1, %a; ";
    let one = format!("{tile} call.uni stash_add_map, (0, %rd1, 4, 16, 32, 0, 1, 1);");
    let private = one.replace("32, 0, 1, 1", "32, 0, 1, 0");
    let add = "ld.shared.u32 %r3, [%r1]; add.u32 %r3, %r3, 17; st.shared.u32 [%r1], %r3;";
    vec![
        ("a field of each object", by_one(&one, add), 7, 32),
        ("two warps", by_one(&one.replace("16, 32,", "8, 64,"), add), 5, 64),
        (
            "the same place twice, by barriers",
            by_one(&one, &format!("{add} bar.sync 0; xor.b32 %r1, %r1, 4; {add}")),
            6,
            32,
        ),
        (
            "wide accesses",
            by_one(
                &one,
                "setp.gt.u32 %p1, %r0, 7; @%p1 ret; shl.b32 %r1, %r0, 4; add.u32 %r1, %r1, 0x10000000; \
                 ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1]; st.shared.v4.u32 [%r1], {%r7, %r6, %r5, %r4};",
            ),
            9,
            32,
        ),
        (
            "a private copy beside a coherent word",
            by_one(
                &format!(
                    "{private} add.u64 %rd1, %rd1, 4; call.uni stash_add_map, (128, %rd1, 4, 16, 32, 0, 1, 1);"
                ),
                "ld.shared.u32 %r3, [%r1]; st.shared.u32 [%r1], %r0; ld.shared.u32 %r4, [%r1]; \
                 add.u32 %r3, %r3, %r4; st.shared.u32 [%r2+128], %r3;",
            ),
            8,
            32,
        ),
        (
            "a mapping that moves",
            by_one(
                &one,
                &format!(
                    "{add} bar.sync 0; {tile} add.u64 %rd1, %rd1, 8; setp.ne.u32 %p1, %r0, 0; @%p1 bra MOVED; \
                     call.uni stash_chg_map, (0, 0, %rd1, 4, 16, 32, 0, 1, 1); MOVED: bar.sync 0; {add}"
                ),
            ),
            6,
            32,
        ),
        (
            "a mapping that becomes coherent",
            by_one(
                &private,
                &format!(
                    "{add} bar.sync 0; {tile} setp.ne.u32 %p1, %r0, 0; @%p1 bra SEEN; \
                     call.uni stash_chg_map, (0, 0, %rd1, 4, 16, 32, 0, 1, 1); SEEN: bar.sync 0; {add}"
                ),
            ),
            6,
            32,
        ),
        (
            "half mapped, half not",
            by_one(
                &one,
                "ld.shared.u32 %r3, [%r1]; shl.b32 %r4, %r0, 2; st.shared.u32 [%r4+128], %r3; \
                 setp.lt.u32 %p1, %r0, 16; selp.b32 %r5, 0x10000000, 128, %p1; add.u32 %r5, %r5, %r4; \
                 ld.shared.u32 %r6, [%r5]; not.b32 %r6, %r6; st.shared.u32 [%r5], %r6; \
                 ld.shared.u32 %r7, [%r4+128]; xor.b32 %r7, %r7, %r6; st.shared.u32 [%r1], %r7;",
            ),
            6,
            32,
        ),
    ]
}

#[test]
fn programs_leave_the_words_that_the_reference_executor_leaves() {
    for (name, body, grid, block) in programs() {
        let kernel = kernel(&body);
        for launches in 1..3 {
            let expected =
                expected(&kernel, launches, grid, block).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            for latency in [1, 40] {
                let (_, found, _) = run(&kernel, (launches, grid, block), latency, true);
                let differs = (0..WORDS).find(|word| found[*word] != expected[*word]);
                assert_eq!(differs, None, "{name}, {launches} launches, latency {latency}");
            }
        }
    }
}

#[test]
fn skipping_equals_ticking() {
    for (name, body, grid, block) in programs() {
        let kernel = kernel(&body);
        for latency in [3, 90] {
            let [skipped, ticked] = [true, false].map(|skip| run(&kernel, (2, grid, block), latency, skip));
            assert_eq!(skipped.0, ticked.0, "{name}, latency {latency}");
            assert_eq!(skipped.2, ticked.2, "{name}, latency {latency}");
            assert!(skipped.1 == ticked.1, "{name}, latency {latency}");
        }
    }
}

#[test]
fn what_a_stash_keeps_is_found_by_the_next_kernel() {
    // Each CTA adds to 32 words, which the next launch's CTA in the same place finds registered.
    let (_, body, ..) = programs().remove(0);
    let kernel = kernel(&body);
    let (config, part) = stash();
    let mut bench = Bench::with(&config, launch(&kernel, 4, 32), 10, part);
    bench.registry = Some(Registry::new(BASE, &words(), 20));
    bench.run_all(4);
    let sent = |bench: &Bench, what| {
        let log = &bench.registry.as_ref().expect("it is there").log;
        log.iter().filter(|(_, message, _)| *message == what).count()
    };
    assert_eq!((sent(&bench, Message::Read), sent(&bench, Message::Register)), (128, 128));
    assert_eq!(sent(&bench, Message::WriteBack), 0, "nothing else needs the place");
    bench.sm.prepare(Arc::new(launch(&kernel, 4, 32)), bench.now);
    bench.run_all(4);
    assert_eq!((sent(&bench, Message::Read), sent(&bench, Message::Register)), (128, 128));
    assert_eq!(bench.registry.as_ref().expect("it is there").owned(), 128);
    assert_eq!(bench.count("stash", "hits"), 256, "every access of the second launch");
}

#[test]
fn errors_name_the_kernel_the_line_and_the_values() {
    let map = "call.uni stash_add_map, (0, %a, 4, 4, 32, 0, 1, 1);";
    let coherent_twice =
        format!("{map} add.u64 %rd1, %a, 64; call.uni stash_add_map, (64, %rd1, 4, 4, 8, 0, 1, 0);");
    for (body, expected) in [
        (by_one(&map.repeat(2), ""), "stash_add_map: a mapping must have chunks of its own"),
        (by_one(&coherent_twice, ""), "stash_add_map: a mapping must have chunks of its own"),
        (
            by_one(&map.replace("(0,", "(32,"), ""),
            "stash_add_map: stashBase must be a multiple of 64, found 0x20",
        ),
        (
            by_one(&map.replace("32, 0", "65, 0"), ""),
            "end in the CTA's 256 bytes of shared memory, found its end at 260",
        ),
        (by_one(&map.replace("%a", "0"), ""), "the tile must lie in memory, found 0x0, which holds none"),
        (
            by_one(map, "ld.shared.u32 %r3, [%r1+4];"),
            "expected a word of the mapping's bytes 0 to 128, found address 128",
        ),
        (
            by_one(map, "ld.shared.u32 %r3, [%r2];"),
            "expected one of the 1 mappings that the CTA has added, found index 1",
        ),
        (
            by_one(map, "ld.shared.u8 %r3, [%r1];"),
            "accessed whole, found 1 bytes at shared address 0x10000000",
        ),
        (by_one(map, "atom.shared.add.u32 %r3, [%r1], 1;"), "only ld and st may name a mapping"),
        (
            by_one(map, "st.shared.u32 [s+4], %r0;"),
            "expected an address that names mapping 0, which has byte 4",
        ),
        (
            by_one("call.uni dma_load, (0, %a, 4, 4, 32, 0, 1);", ""),
            "dma_load: a stash maps tiles and copies none",
        ),
    ] {
        let kernel = kernel(&body);
        let (config, part) = stash();
        let mut bench = Bench::with(&config, launch(&kernel, 1, 32), 10, part);
        bench.registry = Some(Registry::new(BASE, &words(), 5));
        let found = bench.fault(1);
        assert!(found.contains(expected), "{body}: {found}");
        assert!(found.starts_with("kernel test, line "), "{found}");
    }
    let kernel = kernel(&by_one(map, ""));
    let found = Bench::new(&config(), launch(&kernel, 1, 32), 10).fault(1);
    assert!(
        found.contains("a mapping of shared memory on a machine without a stash (`scratchpad.stash`)"),
        "{found}"
    );
}

/// A kernel that copies 24 words of 16-byte objects in, adds to each and copies them back.
fn copying() -> Arc<Kernel> {
    let tile = "mul.wide.u32 %rd1, %r9, 512; add.u64 %rd1, %rd1, %a;";
    kernel(&by_one(
        &format!("{tile} st.global.u32 [%rd1], %r9; call.uni dma_load, (0, %rd1, 4, 16, 24, 0, 1);"),
        &format!(
            "setp.gt.u32 %p1, %r0, 23; shl.b32 %r3, %r0, 2; @!%p1 ld.shared.u32 %r4, [%r3]; add.u32 %r4, %r4, 5; \
             @!%p1 st.shared.u32 [%r3], %r4; bar.sync 0; @%p0 bra DONE; {tile} \
             call.uni dma_store, (0, %rd1, 4, 16, 24, 0, 1); ld.global.u32 %r5, [%rd1+16]; \
             st.global.u32 [%rd1+20], %r5; DONE:"
        ),
    ))
}

#[test]
fn copies_leave_the_words_that_the_reference_executor_leaves() {
    let kernel = copying();
    // A warp a CTA, and a warp that waits at the barrier for the one that copies.
    for threads in [32, 64] {
        let expected = expected(&kernel, 1, 6, threads).unwrap_or_else(|fault| panic!("{fault}"));
        for (accesses, line_bytes) in [(1, 128), (8, 64), (8, 128)] {
            let run = |blocks, skip| {
                let engine = Engine::new(accesses, line_bytes, blocks);
                let launch = launch(&kernel, 6, threads);
                let mut bench = Bench::with(&config(), launch, 40, Some(Box::new(engine)));
                bench.skip = skip;
                bench.set_words(&words());
                let end = bench.run_all(6);
                assert!(bench.words(WORDS) == expected, "{accesses} accesses, {threads} threads, {blocks:?}");
                (end, format!("{:?}", bench.sm.statistics()))
            };
            let [core, warp] = [Blocks::Core, Blocks::Warp].map(|blocks| {
                let (ticked, skipped) = (run(blocks, false), run(blocks, true));
                assert_eq!(ticked, skipped, "{accesses} accesses, {threads} threads, {blocks:?}");
                ticked.0
            });
            assert!(warp < core, "copies of several CTAs overlap: {warp}, {core}");
        }
    }
}
