//! Clusters: places in them, one another's shared memory, their barrier, and barriers that count what other CTAs send.

use super::{Device, On, everywhere, modelled};
use crate::support::{PLAIN, gtx480};
use strata_gpu::gpu::GpuOptions;

const REGISTERS: &str = ".reg .pred %p<8>; .reg .b16 %h<2>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n";

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// The number of a thread's first word of output: CTAs by number, x fastest.
const FIRST_WORD: &str = "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x;\n\
    mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r5, %ntid.x; mad.lo.u32 %r6, %r4, %r5, %r0;\n";

#[test]
fn places_in_clusters() {
    // Clusters of 2 by 3 CTAs.
    let registers = [
        "%clusterid.x",
        "%clusterid.y",
        "%nclusterid.x",
        "%nclusterid.y",
        "%cluster_ctaid.x",
        "%cluster_ctaid.y",
        "%cluster_nctaid.x",
        "%cluster_nctaid.y",
        "%cluster_ctarank",
        "%cluster_nctarank",
    ];
    let stores: String = registers
        .iter()
        .enumerate()
        .map(|(n, name)| format!("mov.u32 %r8, {name}; st.global.u32 [%rd0+{}], %r8;\n", 4 * n))
        .collect();
    let text = format!(
        ".visible .entry k(.param .u64 out) .explicitcluster .reqnctapercluster 2, 3, 1 {{\n{REGISTERS}{FIRST_WORD}\
         ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r6, 44; add.u64 %rd0, %rd0, %rd1;\n{stores}\
         mov.pred %p1, %is_explicit_cluster; selp.u32 %r8, 1, 0, %p1; st.global.u32 [%rd0+40], %r8; ret; }}\n"
    );
    everywhere(&|device| {
        device.module(&text);
        let out = device.buffer(&[0; 4 * 11 * 24]);
        device.launch("k", [4, 6, 1], 1, &out.to_le_bytes()).unwrap();
        let found = words(&device.bytes(out, 4 * 11 * 24));
        for (cta, found) in found.chunks(11).enumerate() {
            let (x, y) = (cta as u32 % 4, cta as u32 / 4);
            let rank = y % 3 * 2 + x % 2;
            assert_eq!(found, [x / 2, y / 3, 2, 2, x % 2, y % 3, 2, 3, rank, 6, 1], "CTA {x}, {y}");
        }
        let error = device.launch("k", [3, 3, 1], 1, &out.to_le_bytes()).unwrap_err().to_string();
        assert!(error.contains("does not consist of clusters"), "{error}");
    });
}

#[test]
fn one_anothers_shared_memory() {
    // Each thread reads its word of the next CTA and its generic address, and adds to a counter of CTA 0.
    let text = format!(
        ".visible .entry k(.param .u64 out) .reqnctapercluster 4, 1, 1 {{\n{REGISTERS}{FIRST_WORD}\
         .shared .align 16 .b8 s[512]; .shared .u32 sum;\n\
         ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r6, 20; add.u64 %rd0, %rd0, %rd1;\n\
         mov.u32 %r7, s; shl.b32 %r8, %r0, 2; add.u32 %r7, %r7, %r8; mad.lo.u32 %r9, %r1, 1000, %r0;\n\
         st.shared::cta.u32 [%r7], %r9; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [sum], 0;\n\
         barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n\
         mov.u32 %r10, %cluster_ctarank; add.u32 %r11, %r10, 1; and.b32 %r11, %r11, 3;\n\
         mapa.shared::cluster.u32 %r12, %r7, %r11; ld.shared::cluster.u32 %r13, [%r12]; st.global.u32 [%rd0], %r13;\n\
         cvt.u64.u32 %rd2, %r7; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, %r11; ld.u32 %r14, [%rd3];\n\
         st.global.u32 [%rd0+4], %r14; isspacep.shared::cluster %p1, %rd3; selp.u32 %r15, 1, 0, %p1;\n\
         getctarank.u64 %r16, %rd3; getctarank.shared::cluster.u32 %r17, %r7; mad.lo.u32 %r16, %r16, 10, %r17;\n\
         mad.lo.u32 %r15, %r15, 100, %r16; st.global.u32 [%rd0+8], %r15;\n\
         mov.u32 %r18, 0; mov.u32 %r19, sum; mapa.shared::cluster.u32 %r20, %r19, %r18;\n\
         atom.relaxed.cluster.shared::cluster.add.u32 %r21, [%r20], %r9; red.shared::cluster.add.u32 [%r20], 1;\n\
         // Backwards, into the CTA before.\n\
         add.u32 %r22, %r10, 3; and.b32 %r22, %r22, 3; mapa.shared::cluster.u32 %r23, %r7, %r22;\n\
         barrier.cluster.arrive; barrier.cluster.wait;\n\
         not.b32 %r24, %r9; st.shared::cluster.u32 [%r23], %r24;\n\
         barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n\
         ld.shared.u32 %r25, [%r7]; st.global.u32 [%rd0+12], %r25; ld.shared.u32 %r26, [sum]; st.global.u32 [%rd0+16], %r26;\n\
         barrier.cluster.arrive; barrier.cluster.wait; ret; }}\n"
    );
    let (ctas, threads) = (12, 64);
    everywhere(&|device| {
        device.module(&text);
        let out = device.buffer(&vec![0; 20 * ctas * threads]);
        device.launch("k", [ctas as u32, 1, 1], threads as u32, &out.to_le_bytes()).unwrap();
        let found = words(&device.bytes(out, 20 * ctas * threads));
        for (at, found) in found.chunks(5).enumerate() {
            let (cta, thread) = (at / threads, at % threads);
            let (first, rank) = (cta / 4 * 4, cta % 4);
            let next = first + (rank + 1) % 4;
            let value = |cta: usize| (cta * 1000 + thread) as u32;
            let sum: usize = (first..first + 4)
                .map(|cta| threads * cta * 1000 + threads * (threads - 1) / 2 + threads)
                .sum();
            let sum = if rank == 0 { sum as u32 } else { 0 };
            let ranks = 100 + 10 * (next % 4) as u32 + rank as u32;
            assert_eq!(
                found,
                [value(next), value(next), ranks, !value(next), sum],
                "CTA {cta}, thread {thread}"
            );
        }
    });
}

/// Cycles of eight loads by one thread, each of which needs the one before, from the shared memory of CTA `rank` of a cluster of two.
fn eight_loads(rank: u32, sets: &[&str], options: GpuOptions) -> u64 {
    let loads = "ld.shared::cluster.u32 %r7, [%r7];\n".repeat(8);
    let text = format!(
        ".visible .entry k(.param .u64 out) .reqnctapercluster 2, 1, 1 {{\n{REGISTERS}.shared .u32 s;\n\
         mov.u32 %r0, s; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, {rank};\n\
         mapa.shared::cluster.u32 %r3, %r0, %r1; st.shared.u32 [s], %r3; ld.param.u64 %rd0, [out];\n\
         barrier.cluster.arrive; barrier.cluster.wait;\n\
         mapa.shared::cluster.u32 %r7, %r0, %r2; setp.ne.u32 %p0, %r1, 0; @%p0 bra E;\n\
         mov.u64 %rd1, %clock64;\n{loads}xor.b32 %r8, %r7, %r7; cvt.u64.u32 %rd2, %r8; add.u64 %rd2, %rd2, %rd1;\n\
         mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2; st.global.u64 [%rd0], %rd3;\n\
         E: barrier.cluster.arrive; barrier.cluster.wait; ret; }}\n"
    );
    let small = ["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=64"];
    let machine = gtx480(&small.iter().chain(sets).copied().collect::<Vec<_>>());
    let mut on = On::new(modelled(&machine, options, false), &machine);
    on.module(&text);
    let out = on.buffer(&[0; 8]);
    // The second launch finds its code in the cache.
    for _ in 0..2 {
        on.launch("k", [2, 1, 1], 1, &out.to_le_bytes()).unwrap();
    }
    u64::from_le_bytes(on.bytes(out, 8).try_into().unwrap())
}

#[test]
fn another_ctas_shared_memory_is_further() {
    let two_threads = GpuOptions { threads: 2, saves_threads: false, ..PLAIN };
    let near = eight_loads(0, &[], PLAIN);
    assert_eq!(eight_loads(1, &[], PLAIN), near, "without the key it is as its own");
    let far = ["lsu.shared.remote_latency_cycles=90"];
    for options in [PLAIN, two_threads] {
        assert_eq!(eight_loads(0, &far, options), near, "its own is no further");
        // Eight loads, one after the other, of 90 cycles more each.
        assert_eq!(eight_loads(1, &far, options), near + 720);
    }
}

#[test]
fn barriers_that_other_ctas_arrive_at() {
    // CTA 0 of three waits for an arrival of each, for words that the others store, and for sums.
    let text = format!(
        ".visible .entry k(.param .u64 out) .reqnctapercluster 3, 1, 1 {{\n{REGISTERS}{FIRST_WORD}\
         .shared .align 8 .b8 b[8]; .shared .align 16 .b8 s[128];\n\
         ld.param.u64 %rd0, [out]; mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r7, 0;\n\
         @%p0 mbarrier.init.shared::cta.b64 [b], 3; @%p0 st.shared.u32 [s+48], 5; fence.mbarrier_init.release.cluster;\n\
         barrier.cluster.arrive; barrier.cluster.wait;\n\
         @!%p0 bra W;\n\
         mov.u32 %r8, 0; mov.u32 %r9, b; mapa.shared::cluster.u32 %r10, %r9, %r8; mov.u32 %r11, s;\n\
         shl.b32 %r12, %r7, 4; add.u32 %r11, %r11, %r12; mapa.shared::cluster.u32 %r13, %r11, %r8;\n\
         mov.u32 %r14, s; mapa.shared::cluster.u32 %r14, %r14, %r8;\n\
         @%p1 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r10], 40;\n\
         add.u32 %r15, %r1, 100; add.u32 %r16, %r1, 200;\n\
         @!%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r13], {{%r15, %r16, %r15, %r16}}, [%r10];\n\
         @!%p1 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r14+48], %r15, [%r10];\n\
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\n\
         W: @!%p1 bra N;\n\
         T: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], 0, 100000; @!%p2 bra T;\n\
         shl.b32 %r17, %r0, 2; mov.u32 %r18, s; add.u32 %r18, %r18, %r17; ld.shared.u32 %r19, [%r18];\n\
         shr.u32 %r20, %r1, 2; mad.lo.u32 %r20, %r1, 16, %r0; mul.wide.u32 %rd1, %r20, 4; add.u64 %rd0, %rd0, %rd1;\n\
         setp.lt.u32 %p3, %r0, 16; @%p3 st.global.u32 [%rd0], %r19;\n\
         N: barrier.cluster.arrive; barrier.cluster.wait; ret; }}\n"
    );
    everywhere(&|device| {
        device.module(&text);
        let out = device.buffer(&[0; 64 * 6]);
        device.launch("k", [6, 1, 1], 32, &out.to_le_bytes()).unwrap();
        let found = words(&device.bytes(out, 64 * 6));
        for first in [0, 3] {
            let mut wanted = [0; 16];
            for rank in [1, 2] {
                let cta = first + rank;
                for n in 0..4 {
                    wanted[4 * rank + n] = (cta + if n % 2 == 0 { 100 } else { 200 }) as u32;
                }
            }
            wanted[12] = (5 + 2 * 100 + 2 * first + 3) as u32;
            assert_eq!(found[16 * first..16 * first + 16], wanted, "the cluster of CTA {first}");
        }
    });
}

#[test]
fn a_copy_for_several_ctas() {
    let text = format!(
        ".visible .entry k(.param .u64 in, .param .u64 out) .reqnctapercluster 4, 1, 1 {{\n{REGISTERS}{FIRST_WORD}\
         .shared .align 128 .b8 s[1024]; .shared .align 8 .b8 b[8];\n\
         ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u32 %r7, %cluster_ctarank;\n\
         setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r7, 1; and.pred %p2, %p0, %p1; setp.ne.u32 %p3, %r7, 2;\n\
         @%p0 mbarrier.init.shared::cta.b64 [b], 1; fence.mbarrier_init.release.cluster;\n\
         shl.b32 %r8, %r0, 2; mov.u32 %r9, s; add.u32 %r9, %r9, %r8; st.shared.u32 [%r9], 77; st.shared.u32 [%r9+512], 77;\n\
         @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 512;\n\
         barrier.cluster.arrive; barrier.cluster.wait;\n\
         mov.b16 %h0, 11;\n\
         @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%rd0], 512, [b], %h0;\n\
         // CTA 2 gets none.\n\
         @!%p3 bra N;\n\
         T: mbarrier.try_wait.parity.shared::cta.b64 %p4, [b], 0; @!%p4 bra T;\n\
         N: ld.shared.u32 %r10, [%r9]; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r10;\n\
         barrier.cluster.arrive; barrier.cluster.wait; ret; }}\n"
    );
    everywhere(&|device| {
        device.module(&text);
        let input: Vec<u8> = (0..128u32).flat_map(|n| (n * 3 + 1).to_le_bytes()).collect();
        let (from, out) = (device.buffer(&input), device.buffer(&[0; 512 * 4]));
        let params: Vec<u8> = [from, out].iter().flat_map(|at| at.to_le_bytes()).collect();
        device.launch("k", [4, 1, 1], 128, &params).unwrap();
        let found = words(&device.bytes(out, 512 * 4));
        for (at, found) in found.into_iter().enumerate() {
            let wanted = if at / 128 == 2 { 77 } else { (at % 128) as u32 * 3 + 1 };
            assert_eq!(found, wanted, "CTA {}, word {}", at / 128, at % 128);
        }
    });
}

#[test]
fn what_clusters_refuse() {
    let launch = |body: &str, says: &str| {
        let text = format!(
            ".visible .entry k(.param .u64 out) .reqnctapercluster 2, 1, 1 {{\n{REGISTERS}.shared .u32 s;\n{body} ret; }}\n"
        );
        everywhere(&|device| {
            device.module(&text);
            let error = device.launch("k", [2, 1, 1], 32, &[0; 8]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        });
    };
    launch("barrier.cluster.wait;", "turn");
    launch("barrier.cluster.arrive; barrier.cluster.arrive;", "turn");
    let absent = "mov.u32 %r0, s; mov.u32 %r1, 2; mapa.shared::cluster.u32 %r2, %r0, %r1; ld.shared::cluster.u32 %r3, [%r2];\n\
                  st.shared.u32 [s], %r3;";
    launch(absent, "hared");
}
