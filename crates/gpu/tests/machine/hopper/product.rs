//! A matrix product as Hopper's programs make it: boxes by bulk copies, a warpgroup's products, one step ahead.

use super::everywhere;
use half::f16;
use std::fmt::Write;
use strata_ptx::tensor::{Element, Fill, Swizzle, TensorMap};

const DEPTH: usize = 256;
const STEP: usize = 64;
const COLUMNS: usize = 64;
const ROWS: usize = 64;

fn number(place: usize) -> f32 {
    (((place * 2_654_435_761) >> 9) % 17) as f32 - 8.0
}

/// C (f32) = A (f16, by rows) B (f16, the columns one after the other): 64 by 64 a CTA.
fn kernel() -> String {
    let list = |from: usize| {
        let names: Vec<String> = (from..from + COLUMNS / 2).map(|n| format!("%f{n}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let mut text = ".visible .entry gemm(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 c) {\n\
         .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<32>;\n\
         .shared .align 1024 .b8 s[32768]; .shared .align 8 .b8 full[16];\n\
         mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, s; mov.u32 %r2, full; mov.u32 %r3, %ctaid.x;\n\
         shl.b32 %r4, %r3, 6;\n\
         @%p0 mbarrier.init.shared::cta.b64 [full], 1; @%p0 mbarrier.init.shared::cta.b64 [full+8], 1;\n\
         fence.mbarrier_init.release.cluster; bar.sync 0;\n\
         mov.b64 %rd0, a; cvta.param.u64 %rd0, %rd0; mov.b64 %rd1, b; cvta.param.u64 %rd1, %rd1;\n"
        .to_string();
    let bring = |text: &mut String, step: usize| {
        let (stage, k) = (step % 2, step * STEP);
        write!(
            text,
            "@!%p0 bra B{step};\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+{}], 16384;\n\
             mov.u32 %r5, {k}; mov.u32 %r6, 0;\n\
             cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+{}], [%rd0, {{%r5, %r4}}], [%r2+{}];\n\
             cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+{}], [%rd1, {{%r5, %r6}}], [%r2+{}];\n\
             B{step}:\n",
            8 * stage,
            16384 * stage,
            8 * stage,
            16384 * stage + 8192,
            8 * stage
        )
        .unwrap();
    };
    bring(&mut text, 0);
    for step in 0..DEPTH / STEP {
        if step + 1 < DEPTH / STEP {
            bring(&mut text, step + 1);
        }
        let stage = step % 2;
        write!(
            text,
            "W{step}: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full+{}], {}; @!%p1 bra W{step};\n\
             wgmma.fence.sync.aligned;\n",
            8 * stage,
            step / 2 % 2
        )
        .unwrap();
        for part in 0..STEP / 16 {
            // Swizzled by 128 bytes; groups of eight lines 1024 bytes apart.
            let descriptor = |at: usize| (at as u64 / 16) | 1 << 16 | 64 << 32 | 1 << 62;
            let at = 16384 * stage + 32 * part;
            let adds = u8::from(step + part > 0);
            write!(
                text,
                "mov.b64 %rd2, {}; mov.b64 %rd3, {};\n\
                 wgmma.mma_async.sync.aligned.m64n{COLUMNS}k16.f32.f16.f16 {}, %rd2, %rd3, {adds}, 1, 1, 0, 0;\n",
                descriptor(at),
                descriptor(at + 8192),
                list(0)
            )
            .unwrap();
        }
        text += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; bar.sync 0;\n";
    }
    // Row 16 w + l / 4 and eight further, columns 2 (l % 4) of each eight.
    text += "ld.param.u64 %rd4, [c]; shr.u32 %r7, %r0, 5; shl.b32 %r7, %r7, 4; and.b32 %r8, %r0, 31; shr.u32 %r9, %r8, 2;\n\
             add.u32 %r7, %r7, %r9; add.u32 %r7, %r7, %r4; shl.b32 %r7, %r7, 8; and.b32 %r8, %r8, 3; shl.b32 %r8, %r8, 3;\n\
             add.u32 %r7, %r7, %r8; cvt.u64.u32 %rd5, %r7; add.u64 %rd4, %rd4, %rd5;\n";
    for n in 0..COLUMNS / 2 {
        let at = n / 4 * 32 + n / 2 % 2 * 2048 + n % 2 * 4;
        writeln!(text, "st.global.f32 [%rd4+{at}], %f{n};").unwrap();
    }
    text + "ret; }\n"
}

fn map(base: u64, rows: usize) -> TensorMap {
    let bytes = 2 * DEPTH as u64;
    TensorMap {
        element: Element::F16,
        rank: 2,
        base,
        sizes: [DEPTH as u64, rows as u64, 1, 1, 1],
        strides: [0, bytes, 0, 0, 0],
        extent: [STEP as u32, 64, 1, 1, 1],
        steps: [1; 5],
        swizzle: Swizzle::Of128,
        fill: Fill::Zero,
    }
}

#[test]
fn a_product_by_boxes_and_warpgroups() {
    let text = kernel();
    let ctas = 3;
    let rows = ctas * ROWS;
    let halves = |count: usize, seed: usize| -> Vec<u8> {
        (0..count).flat_map(|n| f16::from_f32(number(n + seed)).to_le_bytes()).collect()
    };
    let cycles = everywhere(&|device| {
        device.module(&text);
        let (a, b) = (device.buffer(&halves(rows * DEPTH, 1)), device.buffer(&halves(COLUMNS * DEPTH, 7000)));
        let c = device.buffer(&vec![0; 4 * rows * COLUMNS]);
        let mut params = [map(a, rows).encode(), map(b, COLUMNS).encode()].concat();
        params.extend(c.to_le_bytes());
        device.launch("gemm", [ctas as u32, 1, 1], 128, &params).unwrap();
        let found = device.bytes(c, 4 * rows * COLUMNS);
        for (at, found) in found.chunks(4).enumerate() {
            let (row, column) = (at / COLUMNS, at % COLUMNS);
            let products =
                (0..DEPTH).map(|k| number(row * DEPTH + k + 1) * number(column * DEPTH + k + 7000));
            let wanted: f32 = products.sum();
            assert_eq!(f32::from_le_bytes(found.try_into().unwrap()), wanted, "C[{row}][{column}]");
        }
    });
    // An SM of this machine makes a product of 16 by 8 by 16 in so many cycles that it cannot be faster.
    assert!(cycles > 1000, "{cycles} cycles");
}
