//! Kernels as large as nobody writes by hand: each compiles in seconds, or is refused before it takes the memory. With time
//! or memory in the square of its size, one of them would take minutes or all of a machine's memory.

use std::fmt::Write;
use strata_ptx::back::{Options, compile};
use strata_ptx::front::{lower, parse_module};
use strata_ptx::program::Kernel;

/// Compiles a text with one kernel, or says why not.
fn fate(text: &str) -> Result<Kernel, String> {
    let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}");
    let module = parse_module("t", &text).and_then(|module| lower(&module, None)).expect("is well formed");
    compile(&module.functions[0], &Options::default()).map_err(|error| error.to_string())
}

/// A kernel of `first`, then `each` of the numbers below `count`, then `last`. %a0 to %a7 are b32, %rd1 is a global address
/// and %p1 a predicate; there are `count` each of %r (b32) and %q (predicates).
fn kernel(first: &str, count: usize, each: &[&dyn Fn(usize) -> String], last: &str) -> String {
    let mut text = format!(
        ".entry k(.param .u64 p)\n{{ .reg .pred %p<2>, %q<{count}>; .reg .b32 %a<8>, %r<{count}>; .reg .b64 %rd<2>;\n\
         ld.param.u64 %rd1, [p]; mov.u32 %a1, %tid.x; setp.ne.u32 %p1, %a1, 3;\n{first}\n"
    );
    for line in each {
        (0..count).for_each(|n| writeln!(text, "{}", line(n)).expect("a string"));
    }
    writeln!(text, "{last}\nst.global.u32 [%rd1], %a1;\nret; }}").expect("a string");
    text
}

/// The kernel of such a body.
#[track_caller]
fn compiled(count: usize, each: &[&dyn Fn(usize) -> String]) -> Kernel {
    fate(&kernel("", count, each, "")).expect("compiles")
}

#[track_caller]
fn refused(text: &str, what: &str) {
    let error = fate(text).expect_err("is refused");
    assert_eq!(error, format!("a kernel with more than {what} is too large to compile"));
}

#[test]
fn a_block_of_many_instructions() {
    let add = |n| format!("add.u32 %a{}, %a{}, {n};", 1 + n * 7 % 4, 1 + n * 5 % 4);
    compiled(200_000, &[&add]);
    let guarded = |_| "@%p1 add.u32 %a1, %a1, 1;".into();
    assert_eq!(compiled(100_000, &[&guarded]).registers, 4);
    let copies = |_| "@%p1 mov.u32 %a1, %a2; @!%p1 mov.u32 %a2, %a1;".into();
    compiled(50_000, &[&copies]);
}

#[test]
fn a_block_of_many_accesses() {
    let apart = |n| {
        let at = 8 * n;
        format!("ld.global.u32 %a2, [%rd1+{at}]; st.global.u32 [%rd1+{}], %a2;", at + 4)
    };
    compiled(50_000, &[&apart]);
    let anywhere = |_| "ld.u32 %a2, [%rd1]; st.shared.u32 [%a2], %a1;".into();
    compiled(30_000, &[&anywhere]);
}

#[test]
fn many_values_live_at_once() {
    let load = |n| format!("ld.global.u32 %r{n}, [%rd1+{}];", 4 * n);
    let store = |n| format!("st.global.u32 [%rd1+{}], %r{n};", 4 * n);
    assert!(compiled(20_000, &[&load, &store]).spill_bytes > 70_000);
    let test = |n| format!("setp.ne.u32 %q{n}, %a1, {n};");
    let add = |n| format!("@%q{n} add.u32 %a1, %a1, 1;");
    assert!(compiled(10_000, &[&test, &add]).spill_bytes > 30_000);
    refused(&kernel("", 70_000, &[&load, &store], ""), "65535 values that find no register");
}

#[test]
fn many_blocks() {
    let skip = |n| format!("@%p1 bra L{n}; add.u32 %a1, %a1, 1; L{n}:");
    compiled(70_000, &[&skip]);
    let leave = |_| "@%p1 bra END; add.u32 %a1, %a1, 1;".into();
    assert!(fate(&kernel("", 50_000, &[&leave], "END:")).is_ok());
    let idle = |_| "@%p1 bra END;".into();
    assert_eq!(fate(&kernel("", 50_000, &[&idle], "END:")).expect("compiles").code.len(), 3);
    let repeated =
        |n| format!("@%p1 bra L{n}; mul.lo.u32 %r{n}, %a1, 12; st.global.u32 [%rd1], %r{n}; L{n}:");
    compiled(20_000, &[&repeated]);
    let begin = |n| format!("L{n}: add.u32 %a1, %a1, 1;");
    let repeat = |n| format!("setp.lt.u32 %p1, %a1, {n}; @%p1 bra L{};", 2_999 - n);
    compiled(3_000, &[&begin, &repeat]);
}

#[test]
fn tables_of_many_targets() {
    let labels: Vec<String> = (0..50_000).map(|n| format!("L{n}")).collect();
    let table = format!("table: .branchtargets {};\nbrx.idx %a1, table;", labels.join(", "));
    let label = |n| format!("L{n}: add.u32 %a1, %a1, 1;");
    assert!(fate(&kernel(&table, 50_000, &[&label], "")).is_ok());
    let many = format!("{table}\n{}", "@%p1 brx.idx %a1, table;\n".repeat(100));
    let limit = "4194304 targets of indexed branches, calls and returns";
    refused(&kernel(&many, 50_000, &[&label], ""), limit);
}

#[test]
fn values_that_live_through_many_blocks() {
    let load = |n| format!("ld.global.u32 %r{n}, [%rd1+{}];", 4 * n);
    let store = |n| format!("st.global.u32 [%rd1+{}], %r{n};", 4 * n);
    let blocks = |count: usize| -> String {
        (0..count).map(|n| format!("@%p1 bra L{n}; add.u32 %a1, %a1, 1; L{n}:\n")).collect()
    };
    let through = |count: usize| {
        let blocks = blocks(count);
        let middle = move |n| if n == 0 { blocks.clone() } else { String::new() };
        kernel("", 1_000, &[&load, &middle, &store], "")
    };
    assert!(fate(&through(500)).is_ok());
    refused(&through(20_000), "33554432 values live from block to block");
}

#[test]
fn all_registers_live_through_many_instructions() {
    let registers: Vec<usize> = (0..230).collect();
    let all = |line: &dyn Fn(&usize) -> String| registers.iter().map(line).collect::<String>();
    let load = all(&|n| format!("ld.global.u32 %r{n}, [%rd1+{}];\n", 4 * n));
    let store = all(&|n| format!("st.global.u32 [%rd1+{}], %r{n};\n", 4 * n));
    let add = |n: usize| format!("add.u32 %r{}, %r{}, %a1;", n % 230, (n + 7) % 230);
    refused(&kernel(&load, 300_000, &[&add], &store), "67108864 pairs of registers live at once");
}

#[test]
fn values_saved_around_many_calls() {
    let recursive = |calls: usize| {
        let all = |line: &dyn Fn(usize) -> String| (0..1_000).map(line).collect::<String>();
        let load = all(&|n| format!("ld.global.u32 %r{n}, [g+{}];\n", 4 * n));
        let store = all(&|n| format!("st.global.u32 [g+{}], %r{n};\n", 4 * n));
        let call = "{ .param .b32 a; .param .b32 c; st.param.b32 [a], %r1; call.uni (c), f, (a); ld.param.b32 %r1, [c]; }\n";
        format!(
            ".global .b32 g[1000];\n.func (.param .b32 o) f(.param .b32 i)\n{{ .reg .b32 %r<1000>;\n{load}{}{store}\
             st.param.b32 [o], %r1; ret; }}\n.entry k() {{ {} ret; }}",
            call.repeat(calls),
            call.replace("%r1", "%s"),
        )
        .replace(".entry k() {", ".entry k() { .reg .b32 %s; mov.u32 %s, 1;")
    };
    assert!(fate(&recursive(10)).is_ok());
    refused(&recursive(1_500), "1048576 values to save around calls");
}
