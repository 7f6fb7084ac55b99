//! Reads of registers that nothing has written: which are found, which are not, and where they stand.

use strata_ptx::back::Options;
use strata_ptx::front::{parse_module, place_of_read};
use strata_ptx::load::load;

/// The reads found in a kernel of this body, as `register line:column`; those that only some path leads to without a
/// write have a `?`.
fn reads(body: &str) -> Vec<String> {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u32 n)\n{{\n\
         .reg .b32 %r<20>;\n.reg .b64 %rd<4>;\n.reg .pred %p<4>;\n.reg .v2 .f32 %v;\n\
         ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\n\
         {body}\nret;\n}}\n"
    );
    let before = text.lines().position(|line| line.starts_with("ld.param.u32")).expect("it is there") + 1;
    let module = parse_module("k.ptx", &text).unwrap_or_else(|error| panic!("{error}"));
    let loaded = load("k.ptx", &text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let found = loaded.kernels[0].undefined.iter().map(|read| {
        let place = place_of_read(&module, read.line, &read.register).expect("an instruction reads it");
        let sure = if read.always { "" } else { "?" };
        format!("{}{sure} {}:{}", read.register, read.line as usize - before, place.column)
    });
    found.collect()
}

#[test]
fn a_register_that_nothing_writes_is_found_at_its_first_read() {
    assert_eq!(reads("add.u32 %r2, %r1, %r5;\nst.global.u32 [%rd1], %r2;"), ["%r5 1:19"]);
    assert_eq!(
        reads("add.u32 %r2, %r5, %r5;\nmul.lo.u32 %r2, %r2, %r5;\nst.global.u32 [%rd1], %r2;"),
        ["%r5 1:14"]
    );
    assert_eq!(reads("st.global.u32 [%rd2], %r1;"), ["%rd2 1:15"]);
    assert_eq!(reads("@%p1 st.global.u32 [%rd1], %r1;"), ["%p1 1:2"]);
    assert_eq!(reads("st.global.v2.f32 [%rd1], %v;"), ["%v.x 1:26", "%v.y 1:26"]);
    assert_eq!(
        reads("st.global.u32 [%rd1], %r5;\nmov.u32 %r5, 1;\nst.global.u32 [%rd1+4], %r5;"),
        ["%r5 1:23"]
    );
}

#[test]
fn a_sum_that_nothing_sets_before_its_loop_is_found() {
    let sum = "mov.u32 %r2, 0;\nL: add.u32 %r5, %r5, %r2;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n\
               @%p1 bra L;\nst.global.u32 [%rd1], %r5;";
    assert_eq!(reads(sum), ["%r5 2:17"]);
    assert_eq!(reads(&format!("mov.u32 %r5, 0;\n{sum}")), [""; 0]);
}

#[test]
fn what_only_some_path_leaves_out_is_uncertain() {
    let branch = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r5, 1;\nL: st.global.u32 [%rd1], %r5;";
    assert_eq!(reads(branch), ["%r5? 4:26"]);
    let both = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r5, 1;\nbra M;\nL: mov.u32 %r5, 2;\n\
                M: st.global.u32 [%rd1], %r5;";
    assert_eq!(reads(both), [""; 0]);
    let guarded = "setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r5, 1;\nst.global.u32 [%rd1], %r5;";
    assert_eq!(reads(guarded), ["%r5? 3:23"]);
}

#[test]
fn what_is_written_under_the_guard_of_its_read_has_a_value() {
    let same = "setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r5, 1;\n@%p1 st.global.u32 [%rd1], %r5;";
    assert_eq!(reads(same), [""; 0]);
    let both =
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r5, 1;\n@!%p1 mov.u32 %r5, 2;\nst.global.u32 [%rd1], %r5;";
    assert_eq!(reads(both), [""; 0]);
    let other = "setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r5, 1;\nsetp.ne.u32 %p1, %r1, 0;\n\
                 @%p1 st.global.u32 [%rd1], %r5;";
    assert_eq!(reads(other), ["%r5? 4:28"]);
}

#[test]
fn copies_and_results_that_nobody_needs_are_no_faults() {
    assert_eq!(reads("add.u32 %r2, %r5, 1;\nst.global.u32 [%rd1], %r1;"), [""; 0], "dead");
    assert_eq!(reads("mov.u32 %r2, %r5;\nst.global.u32 [%rd1], %r1;"), [""; 0], "a dead copy");
    let used = "mov.u32 %r2, %r5;\nst.global.u32 [%rd1], %r2;";
    assert_eq!(reads(used), ["%r5 1:14"], "the copied register is named");
    let joined = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r2, 1;\nbra M;\nL: mov.u32 %r2, %r5;\n\
                  M: st.global.u32 [%rd1], %r2;";
    assert_eq!(reads(joined), ["%r2? 6:26"], "the value may be a copy of nothing");
    assert_eq!(
        reads("bra M;\nst.global.u32 [%rd1], %r5;\nM: st.global.u32 [%rd1], %r1;"),
        [""; 0],
        "unreachable"
    );
}

#[test]
fn large_kernels_of_undefined_registers_take_time_by_their_size() {
    // Each of these lines makes a search grow that must not grow with the others.
    let many = |line: &str| line.repeat(20_000);
    let guarded = format!(
        "setp.eq.u32 %p1, %r1, 0;\n{}st.global.u32 [%rd1], %r5;",
        many("@%p1 mov.u32 %r5, %r1;\nst.global.u32 [%rd1], %r5;\n")
    );
    assert_eq!(reads(&guarded), ["%r5? 3:23"]);
    assert_eq!(reads(&many("mov.u32 %r2, %r5;\nst.global.u32 [%rd1], %r2;\n")), ["%r5 1:14"]);
}
