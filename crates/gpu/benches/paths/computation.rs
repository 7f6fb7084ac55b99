//! One warp instruction, executed for its values without timing.

use std::hint::black_box;

use strata_ptx::exec::{Operands, WarpContext, execute};
use strata_ptx::isa::PredReg;
use strata_ptx::lanes::{ALL_LANES, LaneMask, Row};
use strata_ptx::program::Kernel;
use strata_ptx::reference::testing::Session;

use super::Path;

/// Rows of two words for each source and destination, as an operand collector holds them.
struct Collected {
    sources: [[Row; 2]; 6],
    written: [[Row; 2]; 4],
    predicates: [LaneMask; 8],
}

impl Operands for Collected {
    fn source(&self, slot: usize, half: usize) -> &Row {
        &self.sources[slot][half]
    }
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row) {
        self.written[slot][half].merge(lanes, value);
    }
    fn predicate(&self, register: PredReg) -> LaneMask {
        self.predicates[usize::from(register.0)]
    }
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask) {
        let old = &mut self.predicates[usize::from(register.0)];
        *old = *old & !lanes | value & lanes;
    }
}

/// `d = a * b + c` in f32.
pub fn f32_fma() -> Path {
    path("fma.rn.f32 %f1, %f2, %f3, %f4;", "fma.rn.f32")
}

/// `d = a * b + c` in 32-bit integers.
pub fn i32_mad() -> Path {
    path("mad.lo.s32 %r1, %r2, %r3, %r4;", "mad.lo.s32")
}

/// A 64-bit sum, whose operands are two rows each.
pub fn i64_add() -> Path {
    path("add.s64 %d1, %d2, %d3;", "add.s64")
}

/// A comparison into a predicate.
pub fn setp() -> Path {
    path("setp.lt.s32 %p1, %r2, %r3; selp.b32 %r1, 1, 0, %p1;", "setp.lt.s32")
}

/// Executes the instruction of `body` on the line that contains `what`, without its surroundings.
fn path(body: &str, what: &str) -> Path {
    let text = kernel_around(body);
    let line = 1 + text.lines().position(|line| line.contains(what)).expect("the text has the line") as u32;
    let kernel = kernel(&text);
    let found = kernel.code.iter().find(|instruction| instruction.line == line);
    let instruction = found.expect("the instruction is not folded away").clone();
    let rows = [3, 5, 7, 11, 13, 17].map(|value| [Row::splat(value), Row::splat(0)]);
    let mut collected = Collected { sources: rows, written: [[Row::ZERO; 2]; 4], predicates: [0; 8] };
    let context = WarpContext::default();
    Path::new(move || {
        execute(black_box(&instruction), &mut collected, black_box(ALL_LANES), &context);
        black_box(&collected.written);
    })
}

/// A kernel around `body` in which nothing is constant or dead.
fn kernel_around(body: &str) -> String {
    let result = if body.contains("%f1") {
        ("f32", "%f1")
    } else if body.contains("%d1") {
        ("u64", "%d1")
    } else {
        ("u32", "%r1")
    };
    let (ty, register) = result;
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .b64 %out;\n\
         ld.param.u64 %out, [out];\n\
         ld.global.u32 %r2, [%out]; ld.global.u32 %r3, [%out+4]; ld.global.u32 %r4, [%out+8];\n\
         ld.global.u64 %d2, [%out+16]; ld.global.u64 %d3, [%out+24];\n\
         ld.global.f32 %f2, [%out+32]; ld.global.f32 %f3, [%out+36]; ld.global.f32 %f4, [%out+40];\n\
         {body}\n\
         st.global.{ty} [%out], {register};\nret;\n}}\n"
    )
}

fn kernel(text: &str) -> Kernel {
    let options = strata_ptx::back::Options::default();
    let module =
        strata_ptx::load::load("bench.ptx", text, &options).unwrap_or_else(|error| panic!("{error}"));
    module.kernels.into_iter().next().expect("the text has a kernel")
}

/// The inner loop of a tiled matrix product on the reference executor: 3 times 16 instructions a warp, and 4
/// of the loop.
pub fn reference_gemm() -> Path {
    let steps: String = (0..16)
        .map(|k| {
            format!(
                "ld.shared.f32 %f1, [%r1+{}]; ld.shared.f32 %f2, [%r2+{}]; fma.rn.f32 %f3, %f1, %f2, %f3;\n",
                4 * k,
                64 * k
            )
        })
        .collect();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n\
         .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %out;\n\
         .shared .align 16 .b8 as[1024];\n.shared .align 16 .b8 bs[1024];\n\
         ld.param.u64 %out, [out];\n\
         mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 15; shr.u32 %r5, %r3, 4;\n\
         mov.u32 %r1, as; mad.lo.u32 %r1, %r5, 64, %r1; mov.u32 %r2, bs; mad.lo.u32 %r2, %r4, 4, %r2;\n\
         mov.f32 %f3, 0f00000000; mov.u32 %r6, 0;\n\
         again:\n{steps}\
         add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 20; @%p1 bra again;\n\
         st.global.f32 [%out], %f3;\nret;\n}}\n"
    );
    let mut session = Session::new(&text);
    let out = session.buffer(&[0; 8]);
    Path::new(move || {
        let summary = session.launch("k", 1, 32, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
        black_box(summary);
    })
}
