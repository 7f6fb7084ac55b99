//! Random call graphs: functions that call each other by name and through a table of addresses, and what they compute.

use std::fmt::Write;

use proptest::prelude::*;

use super::programs::module;

/// A function of `n` (calls may still go so deep) and `x`.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// What it makes of `x` when it calls nobody.
    leaf: u32,
    /// Whom it calls by name, when bit `bit` of `x` is set.
    direct: usize,
    bit: u32,
    /// Which entry of the table it calls otherwise: `(x >> shift) % functions`.
    shift: u32,
    /// Whom it calls with the result, if anybody.
    second: Option<usize>,
    /// Whether `x` lies in a local variable meanwhile.
    local: bool,
}

/// A kernel's functions.
pub fn functions() -> impl Strategy<Value = Vec<Function>> {
    (1..5_usize).prop_flat_map(|count| {
        let one = (any::<u32>(), 0..count, 0..32_u32, 0..24_u32, prop::option::of(0..count), any::<bool>());
        let one = one.prop_map(|(leaf, direct, bit, shift, second, local)| Function {
            leaf,
            direct,
            bit,
            shift,
            second,
            local,
        });
        prop::collection::vec(one, count)
    })
}

/// What function `f` returns.
pub fn value(all: &[Function], f: usize, n: u32, x: u32) -> u32 {
    let own = &all[f];
    if n == 0 {
        return x.wrapping_mul(own.leaf | 1).wrapping_add(own.leaf);
    }
    let callee = if x >> own.bit & 1 == 1 { own.direct } else { (x >> own.shift) as usize % all.len() };
    let first = value(all, callee, n - 1, x.wrapping_mul(1_664_525).wrapping_add(own.leaf));
    let second = own.second.map_or(first, |callee| value(all, callee, n - 1, first ^ x));
    second.wrapping_mul(31).wrapping_add(x)
}

/// Kernel `k(out)`: thread t stores what function t % functions makes of (t % 4, a mix of t).
pub fn text(all: &[Function]) -> String {
    let mut text = String::new();
    let head = |f: usize| format!(".func (.param .b32 r) f{f}(.param .b32 n, .param .b32 x)");
    for f in 0..all.len() {
        writeln!(text, "{};", head(f)).unwrap();
    }
    let names: Vec<String> = (0..all.len()).map(|f| format!("f{f}")).collect();
    writeln!(text, ".global .align 8 .u64 table[{}] = {{{}}};", all.len(), names.join(", ")).unwrap();
    let through = |index: &str, arguments: [&str; 2], result: &str| {
        format!(
            "rem.u32 %r15, {index}, {};\nmul.wide.u32 %rd1, %r15, 8;\nmov.u64 %rd2, table;\nadd.u64 %rd1, %rd2, %rd1;\n\
             ld.global.u64 %rd3, [%rd1];\n{{ .param .b32 a; .param .b32 b; .param .b32 c;\n\
             proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n\
             st.param.b32 [a], {}; st.param.b32 [b], {};\ncall (c), %rd3, (a, b), proto;\n\
             ld.param.b32 {result}, [c]; }}\n",
            all.len(),
            arguments[0],
            arguments[1],
        )
    };
    let direct = |callee: usize, argument: &str, result: &str| {
        format!(
            "{{ .param .b32 a; .param .b32 b; .param .b32 c;\nst.param.b32 [a], %r3; st.param.b32 [b], {argument};\n\
             call (c), f{callee}, (a, b);\nld.param.b32 {result}, [c]; }}\n"
        )
    };
    for (f, function) in all.iter().enumerate() {
        let Function { leaf, direct: named, bit, shift, second, local } = *function;
        let keep = if local { "st.local.u32 [own+4], %r1;\nmov.u32 %r1, 0;\n" } else { "" };
        let again = if local { "ld.local.u32 %r1, [own+4];\n" } else { "" };
        let more = second.map_or("mov.u32 %r8, %r7;\n".to_owned(), |callee| {
            format!("{again}xor.b32 %r9, %r7, %r1;\n{keep}{}", direct(callee, "%r9", "%r8"))
        });
        writeln!(
            text,
            "{} {{\n.reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n.local .align 4 .b8 own[8];\n\
             ld.param.u32 %r0, [n];\nld.param.u32 %r1, [x];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra deeper;\n\
             mad.lo.u32 %r2, %r1, {}, {leaf};\nst.param.b32 [r], %r2;\nret;\ndeeper:\nsub.u32 %r3, %r0, 1;\n\
             mad.lo.u32 %r4, %r1, 1664525, {leaf};\nshr.u32 %r5, %r1, {bit};\nand.b32 %r5, %r5, 1;\n\
             setp.eq.u32 %p1, %r5, 0;\nshr.u32 %r6, %r1, {shift};\n{keep}@%p1 bra table_call;\n{}bra join;\n\
             table_call:\n{}join:\n{more}{again}mad.lo.u32 %r10, %r8, 31, %r1;\nst.param.b32 [r], %r10;\nret;\n}}",
            head(f),
            leaf | 1,
            direct(named, "%r4", "%r7"),
            through("%r6", ["%r3", "%r4"], "%r7"),
        )
        .unwrap();
    }
    writeln!(
        text,
        ".visible .entry k(.param .u64 out) {{\n.reg .b32 %r<16>; .reg .b64 %rd<8>;\nld.param.u64 %rd0, [out];\n\
         mov.u32 %r0, %tid.x;\nand.b32 %r3, %r0, 3;\nmul.lo.u32 %r4, %r0, 0x9e3779b1;\n{}\
         mul.wide.u32 %rd4, %r0, 4;\nadd.u64 %rd0, %rd0, %rd4;\nst.global.u32 [%rd0], %r7;\nactivemask.b32 %r8;\n\
         st.global.u32 [%rd0+{}], %r8;\nret;\n}}",
        through("%r0", ["%r3", "%r4"], "%r7"),
        4 * THREADS,
    )
    .unwrap();
    module(&text)
}

/// Threads of the kernel.
pub const THREADS: u32 = 64;

/// What the kernel leaves: a value for each thread, and that its warp is together again.
pub fn expected(all: &[Function]) -> Vec<u32> {
    let of =
        |thread: u32| value(all, thread as usize % all.len(), thread & 3, thread.wrapping_mul(0x9e37_79b1));
    (0..THREADS).map(of).chain((0..THREADS).map(|_| u32::MAX)).collect()
}
