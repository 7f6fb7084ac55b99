//! Kernels whose work is done by matrix instructions, asynchronous copies and barriers in shared memory.

use std::fmt::Write;

/// k of the product in `gemm`: four steps of 16.
pub const DEPTH: usize = 64;
/// Rows of B from here on are not copied: zeros take their place.
pub const ROWS_OF_B: usize = 60;
/// Number of elements copied from the last copied row.
pub const LAST_ELEMENTS: usize = 4;
/// Rows of the product that a CTA computes, 16 a warp.
pub const ROWS: usize = 32;
/// Columns of the product.
pub const COLUMNS: usize = 8;
/// Chunks of 32 words that pass through `pipeline`.
pub const CHUNKS: usize = 6;

const HEAD: &str = ".reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<16>;\n\
                    mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shr.u32 %r2, %r0, 5; mov.u32 %r3, %ctaid.x;\n";

/// The module with every kernel here.
pub fn text() -> String {
    format!(".version 8.0\n.target sm_80\n.address_size 64\n{}{}{}", gemm(), pipeline(), wmma())
}

/// C (f32) += A (f16, by rows, 64 deep) B (f16, by rows, 8 wide): tiles come by `cp.async` into two buffers, go to
/// registers by `ldmatrix` and are multiplied by `mma`. 64 threads a CTA.
fn gemm() -> String {
    let mut text = format!(
        ".visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 c) {{\n\
         .shared .align 128 .b8 tiles[3072];\n{HEAD}\
         ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c];\n\
         // %r4: the warp's first row; %r5: its tiles\n\
         shl.b32 %r4, %r3, 5; shl.b32 %r6, %r2, 4; add.u32 %r4, %r4, %r6;\n\
         mov.u32 %r5, tiles; mad.lo.u32 %r5, %r2, 1536, %r5;\n\
         // %rd3: the lane's half of a row of A; %r8: where it goes\n\
         shr.u32 %r6, %r1, 1; and.b32 %r7, %r1, 1; add.u32 %r9, %r4, %r6; shl.b32 %r9, %r9, 7; shl.b32 %r10, %r7, 4;\n\
         add.u32 %r9, %r9, %r10; cvt.u64.u32 %rd4, %r9; add.u64 %rd3, %rd0, %rd4;\n\
         shl.b32 %r8, %r1, 4; add.u32 %r8, %r8, %r5;\n\
         // %rd5: the lane's row of B\n\
         mul.wide.u32 %rd4, %r1, 16; add.u64 %rd5, %rd1, %rd4; setp.lt.u32 %p0, %r1, 16;\n\
         // %r11, %r12: rows for ldmatrix\n\
         and.b32 %r6, %r1, 15; shl.b32 %r6, %r6, 5; and.b32 %r7, %r1, 16; add.u32 %r11, %r6, %r7; add.u32 %r11, %r11, %r5;\n\
         and.b32 %r6, %r1, 15; shl.b32 %r6, %r6, 4; add.u32 %r12, %r6, %r5;\n\
         // %rd6: the lane's part of C\n\
         shr.u32 %r6, %r1, 2; add.u32 %r6, %r6, %r4; shl.b32 %r6, %r6, 5; and.b32 %r7, %r1, 3; shl.b32 %r7, %r7, 3;\n\
         add.u32 %r6, %r6, %r7; cvt.u64.u32 %rd4, %r6; add.u64 %rd6, %rd2, %rd4;\n\
         ld.global.v2.f32 {{%f0, %f1}}, [%rd6]; ld.global.v2.f32 {{%f2, %f3}}, [%rd6+256];\n"
    );
    let copy = |text: &mut String, step: usize| {
        let buffer = step % 2 * 768;
        let first = 16 * step;
        // Bytes of the lane's row of B that are there.
        let whole = 16 * step + 15 < ROWS_OF_B;
        let last = ROWS_OF_B - 1;
        write!(
            text,
            "cp.async.cg.shared.global [%r8+{buffer}], [%rd3+{}], 16;\n\
             add.u32 %r13, %r1, {first}; setp.le.u32 %p1, %r13, {last}; setp.eq.u32 %p2, %r13, {last};\n\
             selp.u32 %r14, 16, 0, %p1; @%p2 mov.u32 %r14, {};\n\
             @%p0 cp.async.ca.shared.global [%r8+{}], [%rd5+{}], 16{};\n",
            32 * step,
            2 * LAST_ELEMENTS,
            buffer + 512,
            16 * first,
            if whole { "" } else { ", %r14" },
        )
        .expect("a string takes all");
    };
    copy(&mut text, 0);
    text.push_str("cp.async.commit_group;\n");
    for step in 0..4 {
        if step < 3 {
            copy(&mut text, step + 1);
        }
        let buffer = step % 2 * 768;
        write!(
            text,
            "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.warp.sync -1;\n\
             ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r20, %r21, %r22, %r23}}, [%r11+{buffer}];\n\
             ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%r24, %r25}}, [%r12+{}];\n\
             mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f0, %f1, %f2, %f3}}, {{%r20, %r21, %r22, %r23}}, \
             {{%r24, %r25}}, {{%f0, %f1, %f2, %f3}};\n\
             bar.warp.sync -1;\n",
            buffer + 512
        )
        .expect("a string takes all");
    }
    text.push_str("st.global.v2.f32 [%rd6], {%f0, %f1}; st.global.v2.f32 [%rd6+256], {%f2, %f3};\nret;\n}\n");
    text
}

/// Warp 0 copies chunks into two buffers; warp 1 takes each word of its neighbour lane and adds the chunk's number. Barriers
/// in shared memory say when a buffer is full and when it is empty.
fn pipeline() -> String {
    let mut text = format!(
        ".visible .entry pipeline(.param .u64 in, .param .u64 out) {{\n\
         .shared .align 16 .b8 buffers[256]; .shared .align 8 .b64 bars[5];\n{HEAD}\
         ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];\n\
         mov.u32 %r4, bars; mov.u32 %r5, buffers; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6; xor.b32 %r8, %r6, 4;\n\
         add.u32 %r8, %r5, %r8; mul.lo.u32 %r9, %r3, {}; add.u32 %r9, %r9, %r6; cvt.u64.u32 %rd2, %r9;\n\
         add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;\n\
         setp.ne.u32 %p0, %r0, 0; @%p0 bra ready;\n",
        128 * CHUNKS
    );
    for bar in 0..4 {
        writeln!(text, "mbarrier.init.shared.b64 [%r4+{}], 32;", 8 * bar).expect("a string takes all");
    }
    text.push_str(
        "mbarrier.init.shared.b64 [%r4+32], 64;\nready: bar.sync 0;\nsetp.ne.u32 %p1, %r2, 0; @%p1 bra consumer;\n",
    );
    for chunk in 0..CHUNKS {
        let (stage, lap) = (chunk % 2, chunk / 2);
        write!(
            text,
            "e{chunk}: mbarrier.try_wait.parity.shared.b64 %p2, [%r4+{}], {}; @!%p2 bra e{chunk};\n\
             cp.async.ca.shared.global [%r7+{}], [%rd0+{}], 4;\n\
             cp.async.mbarrier.arrive.noinc.shared.b64 [%r4+{}];\n",
            16 + 8 * stage,
            (lap + 1) % 2,
            128 * stage,
            128 * chunk,
            8 * stage
        )
        .expect("a string takes all");
    }
    text.push_str("bra join;\nconsumer:\n");
    for chunk in 0..CHUNKS {
        let (stage, lap) = (chunk % 2, chunk / 2);
        write!(
            text,
            "f{chunk}: mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r4+{}], {}; @!%p2 bra f{chunk};\n\
             ld.shared.u32 %r10, [%r8+{}]; add.u32 %r10, %r10, {chunk}; st.global.u32 [%rd1+{}], %r10;\n\
             mbarrier.arrive.release.cta.shared::cta.b64 _, [%r4+{}];\n",
            8 * stage,
            lap % 2,
            128 * stage,
            128 * chunk,
            16 + 8 * stage
        )
        .expect("a string takes all");
    }
    text.push_str(
        "join: mbarrier.arrive.shared.b64 %rd4, [%r4+32]; mbarrier.pending_count.b64 %r11, %rd4;\n\
         all: mbarrier.test_wait.shared.b64 %p3, [%r4+32], %rd4; @!%p3 bra all;\n\
         setp.gt.u32 %p4, %r11, 64; @%p4 trap;\n\
         cp.async.mbarrier.arrive.shared.b64 [%r4+32];\nret;\n}\n",
    );
    text
}

/// D (f32) = A (f16, by rows) B (f16, by columns) + C (f32, by columns), 16 by 16 by 16, with fragments of `wmma`; D by
/// rows. A passes through shared memory.
fn wmma() -> String {
    let list = |letter: char, first: usize| {
        let names: Vec<String> = (first..first + 8).map(|n| format!("%{letter}{n}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let (a, b, c) = (list('r', 20), list('r', 30), list('f', 0));
    format!(
        ".visible .entry wmma(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{\n\
         .shared .align 32 .b8 tile[512];\n{HEAD}\
         ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c]; ld.param.u64 %rd3, [d];\n\
         mov.u32 %r4, tile; shl.b32 %r5, %r1, 4; add.u32 %r6, %r4, %r5; cvt.u64.u32 %rd4, %r5; add.u64 %rd4, %rd0, %rd4;\n\
         ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%rd4]; st.shared.v4.u32 [%r6], {{%r10, %r11, %r12, %r13}};\n\
         bar.warp.sync -1; mov.u32 %r7, 16;\n\
         wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {a}, [%r4];\n\
         wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {b}, [%rd1], %r7;\n\
         wmma.load.c.sync.aligned.col.m16n16k16.f32 {c}, [%rd2];\n\
         wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {c}, {a}, {b}, {c};\n\
         wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd3], {c}, 16;\nret;\n}}\n"
    )
}
