//! Which loops the assembler unrolls, and how. The cases are those that the vendor's assembler (ptxas 11.8 for sm_70) was seen to
//! unroll, and those that it left alone.

use strata_ptx::back::{self, Options};
use strata_ptx::front::{lower, parse_module};
use strata_ptx::isa::{Flow, Op, Space};
use strata_ptx::program::Kernel;

/// A kernel with a pointer `p`, numbers `n` and `i`, a product `f` and `g` to sum up in, and `c` for comparisons.
fn kernel(body: &str, options: &Options) -> Kernel {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u32 count) {{\n\
         .reg .pred c,d; .reg .f32 e,f,g,h; .reg .b32 i,n,r,s; .reg .b64 p,q,o;\n.shared .align 4 .b8 S[4096];\n\
         ld.param.u64 p, [in];\nld.param.u32 n, [count];\nmov.u64 o, p;\nmov.f32 f, 0f00000000;\nmov.u32 s, %tid.x;\n\
         {body}\nst.global.f32 [o], f;\nret;\n}}\n"
    );
    let module = parse_module("test.ptx", &text).unwrap();
    let lowered = lower(&module, None).unwrap();
    back::compile(&lowered.functions[0], options).unwrap()
}

/// Loads of global memory of each stretch of code between branches and their targets, without those that have none.
fn loads(body: &str) -> Vec<usize> {
    let kernel = kernel(body, &Options::default());
    let mut begins = vec![false; kernel.code.len() + 1];
    for (at, inst) in kernel.code.iter().enumerate() {
        if inst.op.traits().flow == Flow::Branch {
            begins[inst.target as usize] = true;
            begins[at + 1] = true;
        }
    }
    let mut stretches = vec![0];
    for (at, inst) in kernel.code.iter().enumerate() {
        if begins[at] {
            stretches.push(0);
        }
        let is_load = matches!(inst.op, Op::Load(mode) if mode.space == Space::Global);
        *stretches.last_mut().unwrap() += usize::from(is_load);
    }
    stretches.retain(|count| *count > 0);
    stretches
}

/// So many loads from `p` on, 4 KiB apart, with a multiply-add each.
fn round(count: usize) -> String {
    (0..count).map(|n| format!("ld.global.f32 e,[p+{}]; fma.rn.f32 f,f,e,e;\n", 4096 * n)).collect()
}

fn up(body: &str, compare: &str) -> String {
    format!("mov.u32 i,0;\nL:\n{body}\nadd.s64 p,p,16; add.s32 i,i,1; setp.{compare} c,i,n; @c bra L;")
}

fn known(body: &str, trips: u32) -> String {
    format!("mov.u32 i,0;\nL:\n{body}\nadd.s64 p,p,16; add.s32 i,i,1; setp.lt.s32 c,i,{trips}; @c bra L;")
}

#[test]
fn rounds_that_are_not_known_come_in_fours_twos_and_ones() {
    for compare in ["lt.s32", "lt.u32", "le.s32", "ne.s32"] {
        assert_eq!(loads(&up(&round(1), compare)), [4, 2, 1], "{compare}");
    }
    let down =
        |by: i32| format!("mov.u32 i,n;\nL:\n{}\nadd.s32 i,i,-{by}; setp.ne.s32 c,i,0; @c bra L;", round(2));
    assert_eq!(loads(&down(4)), [8, 4, 2]);
    assert_eq!(loads(&down(1)), [8, 4, 2]);
    assert_eq!(loads(&up("bar.sync 0; ld.global.f32 e,[p]; add.f32 f,f,e;", "lt.s32")), [4, 2, 1]);
}

#[test]
fn the_more_a_round_loads_the_larger_it_may_be() {
    assert_eq!(loads(&up(&round(15), "lt.s32")), [60, 30, 15]);
    assert_eq!(loads(&up(&round(16), "lt.s32")), [16]);
    let sums = |count: usize| "fma.rn.f32 g,g,h,h;\n".repeat(count) + "st.global.f32 [o],g;";
    assert_eq!(loads(&up(&(round(1) + &sums(41)), "lt.s32")), [4, 2, 1]);
    assert_eq!(loads(&up(&(round(1) + &sums(42)), "lt.s32")), [1]);
}

#[test]
fn known_rounds_stand_one_after_another() {
    for trips in [1, 2, 7, 20, 64] {
        assert_eq!(loads(&known(&round(4), trips)), [4 * trips as usize]);
    }
    assert_eq!(loads(&known(&round(16), 8)), [128]);
    // Too long: a loop of as many rounds as leave the fewest over.
    assert_eq!(loads(&known(&round(16), 64)), [64]);
    assert_eq!(loads(&known(&round(64), 8)), [64]);
}

#[test]
fn loops_that_something_else_ends_stay() {
    assert_eq!(loads(&up(&format!(".pragma \"nounroll\";\n{}", round(1)), "lt.s32")), [1]);
    assert_eq!(loads(&up("ld.global.f32 e,[p]; div.rn.f32 f,f,e;", "lt.s32")), [1], "calls a subroutine");
    let shuffled = "shfl.sync.down.b32 r,s,1,31,-1; add.u32 s,s,r; ld.global.f32 e,[p]; add.f32 f,f,e;";
    assert_eq!(loads(&up(shuffled, "lt.s32")), [1], "lanes wait for each other");
    assert_eq!(loads(&up(&(round(1) + "ld.shared.u32 n,[S];"), "lt.s32")), [1], "the bound changes");
    let tail = |tail: &str| format!("mov.u32 i,1;\nL:\n{}\nadd.s64 p,p,16; {tail} @c bra L;", round(1));
    assert_eq!(loads(&tail("add.s32 i,i,s; setp.lt.s32 c,i,n;")), [1], "the step is not known");
    assert_eq!(loads(&tail("shl.b32 i,i,1; setp.lt.s32 c,i,n;")), [1], "no sum");
    assert_eq!(loads(&tail("setp.lt.s32 c,i,n; add.s32 i,i,1;")), [1], "compared before it moves on");
    assert_eq!(loads(&tail("add.s32 i,i,1; setp.gt.s32 c,i,n;")), [1], "ends where it wraps");
}

/// The offsets of loads of a space, in order.
fn offsets(kernel: &Kernel, space: Space) -> Vec<i64> {
    let loads = kernel.code.iter().filter(|inst| matches!(inst.op, Op::Load(mode) if mode.space == space));
    loads.map(|inst| inst.offset).collect()
}

#[test]
fn one_sum_moves_a_pointer_on_for_all_copies() {
    let kernel = kernel(&known(&round(1), 8), &Options::default());
    assert_eq!(offsets(&kernel, Space::Global), [0, 16, 32, 48, 64, 80, 96, 112]);
    // Parameters, eight loads, eight multiply-adds, the store and the end: nothing counts and nothing is moved on.
    let others = kernel.code.iter().filter(|inst| matches!(inst.op, Op::Int(..) | Op::Setp { .. })).count();
    assert_eq!(others, 0);
}

#[test]
fn shifted_counters_become_offsets_too() {
    let body = "mov.u32 i,0; shl.b32 s,s,2;\nL:\nshl.b32 r,i,6; add.s32 r,r,s; ld.shared.f32 e,[r]; add.f32 f,f,e;\n\
                add.s32 i,i,1; setp.ne.s32 c,i,n; @c bra L;";
    let kernel = kernel(body, &Options::default());
    assert_eq!(offsets(&kernel, Space::Shared), [0, 64, 128, 192, 0, 64, 0]);
}

#[test]
fn the_order_of_the_text_has_its_loops() {
    let as_written = Options { load_window: 0, ..Options::default() };
    assert_eq!(offsets(&kernel(&known(&round(1), 8), &as_written), Space::Global), [0]);
}

#[test]
fn text_that_is_made_to_grow_does_not_grow_without_end() {
    let one = |n: usize| {
        format!("mov.u32 i,0;\nL{n}:\nadd.s32 s,s,r;\nadd.s32 i,i,1; setp.lt.s32 c,i,500; @c bra L{n};\n")
    };
    let many: String = (0..2000).map(one).collect();
    let code = kernel(&format!("mov.u32 r,n;\n{many}st.global.u32 [o],s;"), &Options::default()).code;
    assert!((100_000..140_000).contains(&code.len()), "{}", code.len());
}
