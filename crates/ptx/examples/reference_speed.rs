//! How fast the reference executor runs a tiled matrix product: warp instructions a second.
//!
//! `cargo run --release -p strata-ptx --example reference_speed`

use std::time::Instant;

use strata_ptx::reference::testing::Session;

/// C = A * B for square matrices of `n` (a multiple of 16); a CTA of 256 threads makes a tile of 16 by 16.
const GEMM: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
    .reg .pred %p; .reg .b32 %r<20>; .reg .b64 %a, %b, %c, %t, %row; .reg .f32 %sum, %x, %y;
    .shared .align 16 .b8 as[1024];
    .shared .align 16 .b8 bs[1024];
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 15; shr.u32 %r3, %r1, 4;
    shr.u32 %r4, %r0, 4; mov.u32 %r5, %ctaid.x; rem.u32 %r6, %r5, %r4; div.u32 %r7, %r5, %r4;
    shl.b32 %r7, %r7, 4; add.u32 %r7, %r7, %r3;
    shl.b32 %r6, %r6, 4; add.u32 %r6, %r6, %r2;
    mad.lo.u32 %r8, %r7, %r0, %r2; mul.wide.u32 %t, %r8, 4; add.u64 %a, %a, %t;
    mad.lo.u32 %r8, %r3, %r0, %r6; mul.wide.u32 %t, %r8, 4; add.u64 %b, %b, %t;
    mad.lo.u32 %r8, %r7, %r0, %r6; mul.wide.u32 %t, %r8, 4; add.u64 %c, %c, %t;
    mul.wide.u32 %row, %r0, 64;
    mov.u32 %r10, as; mov.u32 %r11, bs;
    shl.b32 %r12, %r1, 2; add.u32 %r13, %r10, %r12; add.u32 %r14, %r11, %r12;
    shl.b32 %r15, %r3, 6; add.u32 %r15, %r10, %r15;
    shl.b32 %r16, %r2, 2; add.u32 %r16, %r11, %r16;
    mov.f32 %sum, 0f00000000; mov.u32 %r17, 0;
tile:
    ld.global.f32 %x, [%a]; ld.global.f32 %y, [%b];
    st.shared.f32 [%r13], %x; st.shared.f32 [%r14], %y;
    bar.sync 0;
@STEPS@
    bar.sync 0;
    add.u64 %a, %a, 64; add.u64 %b, %b, %row;
    add.u32 %r17, %r17, 16; setp.lt.u32 %p, %r17, %r0;
    @%p bra tile;
    st.global.f32 [%c], %sum;
    ret;
}
";

fn main() {
    let n = 512usize;
    let steps: String = (0..16)
        .map(|k| {
            format!(
                "    ld.shared.f32 %x, [%r15+{}]; ld.shared.f32 %y, [%r16+{}]; fma.rn.f32 %sum, %x, %y, %sum;\n",
                4 * k,
                64 * k
            )
        })
        .collect();
    let mut session = Session::new(&GEMM.replace("@STEPS@", &steps));
    session.options.instruction_limit = None;
    let values: Vec<u32> = (0..n * n).map(|k| ((k % 7) as f32).to_bits()).collect();
    let (a, b, c) = (session.buffer(&values), session.buffer(&values), session.buffer(&vec![0; n * n]));
    let ctas = (n / 16 * n / 16) as u32;
    let start = Instant::now();
    let summary =
        session.launch("gemm", ctas, 256, &[a, b, c, n as u64]).unwrap_or_else(|fault| panic!("{fault}"));
    let seconds = start.elapsed().as_secs_f64();
    let value = |row: usize, column: usize| ((row * n + column) % 7) as f32;
    let wanted: f32 = (0..n).map(|k| value(3, k) * value(k, 5)).sum();
    assert_eq!(f32::from_bits(session.words(c, n * n)[3 * n + 5]), wanted, "the product is wrong");
    let instructions = summary.counts.warp_instructions;
    println!(
        "{instructions} warp instructions in {seconds:.2} s: {:.1} million a second",
        instructions as f64 / seconds / 1e6
    );
}
