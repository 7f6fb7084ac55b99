//! What the assembler joins: products with sums, negations with sums, neighbouring accesses of shared memory. The cases are
//! those that the vendor's assembler (ptxas 11.8 for sm_70) was seen to join, and those that it left alone.

use strata_ptx::back::{self, Options};
use strata_ptx::front::{lower, parse_module};
use strata_ptx::isa::{FloatOp, FloatUnary, Op, Signs, Space};

/// The operations of a kernel with floats `a` to `d` loaded, `e` to `h` free, `s` a shared address of 16 bytes a thread.
fn operations(body: &str) -> Vec<Op> {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {{\n\
         .reg .pred p; .reg .f32 a,b,c,d,e,f,g,h; .reg .f64 x,y,z; .reg .u32 s,t,m; .reg .u64 q;\n\
         .shared .align 4 .b8 S[4096];\nld.param.u64 q, [out]; ld.param.u32 m, [n];\n\
         mov.u32 t, %tid.x; shl.b32 t, t, 4; mov.u32 s, S; add.u32 s, s, t;\n\
         ld.global.f32 a, [q]; ld.global.f32 b, [q+4]; ld.global.f32 c, [q+8]; ld.global.f32 d, [q+12];\n\
         {body}\nret;\n}}\n"
    );
    let module = parse_module("test.ptx", &text).unwrap();
    let lowered = lower(&module, None).unwrap();
    let kernel = back::compile(&lowered.functions[0], &Options::default()).unwrap();
    kernel.code.iter().map(|inst| inst.op).collect()
}

/// Numbers of products, sums and multiply-adds.
fn floats(body: &str) -> (usize, usize, usize) {
    let operations = operations(body);
    let count = |which: fn(&Op) -> bool| operations.iter().filter(|op| which(op)).count();
    (
        count(|op| matches!(op, Op::Float(FloatOp::Mul, ..))),
        count(|op| matches!(op, Op::Float(FloatOp::Add | FloatOp::Sub, ..))),
        count(|op| matches!(op, Op::Fma(..))),
    )
}

/// Elements of each access of shared memory, in order; loads are positive.
fn shared(body: &str) -> Vec<i32> {
    let elements = |op: Op| match op {
        Op::Load(mode) if mode.space == Space::Shared => Some(i32::from(mode.vector)),
        Op::Store(mode) if mode.space == Space::Shared => Some(-i32::from(mode.vector)),
        _ => None,
    };
    operations(body).into_iter().filter_map(elements).collect()
}

fn signs(body: &str) -> Signs {
    let fma = |op| if let Op::Fma(_, _, signs) = op { Some(signs) } else { None };
    operations(body).into_iter().find_map(fma).expect("there is a multiply-add")
}

#[test]
fn a_product_that_only_sums_use_is_joined_with_all_of_them() {
    assert_eq!(floats("mul.f32 e,a,b; add.f32 f,e,c; sub.f32 g,e,b; st.global.v2.f32 [q],{f,g};"), (0, 0, 2));
    let used_otherwise = "mul.f32 e,a,b; add.f32 f,e,c; st.global.v2.f32 [q],{f,e};";
    assert_eq!(floats(used_otherwise), (1, 1, 0));
    assert_eq!(floats("mul.f32 e,a,b; add.f32 e,e,e; st.global.f32 [q],e;"), (1, 1, 0), "added to itself");
    // Of two products one is left; a sum of three needs one product.
    assert_eq!(floats("mul.f32 e,a,b; mul.f32 f,c,d; add.f32 g,f,e; st.global.f32 [q],g;"), (1, 0, 1));
    let three = "mul.f32 e,a,b; mul.f32 f,c,d; mul.f32 g,a,d; add.f32 h,f,e; st.global.f32 [q],h;\
                 add.f32 h,f,g; st.global.f32 [q+4],h; add.f32 h,b,g; st.global.f32 [q+8],h;";
    assert_eq!(floats(three), (1, 0, 3));
}

#[test]
fn where_the_text_names_a_rounding_nothing_is_joined() {
    for (product, sum) in
        [("mul.rn", "add"), ("mul", "add.rn"), ("mul.ftz", "add"), ("mul", "add.ftz"), ("mul.sat", "add")]
    {
        assert_eq!(floats(&format!("{product}.f32 e,a,b; {sum}.f32 e,e,c; st.global.f32 [q],e;")), (1, 1, 0));
    }
    for (product, sum) in [("mul.ftz", "add.ftz"), ("mul", "add.sat")] {
        assert_eq!(floats(&format!("{product}.f32 e,a,b; {sum}.f32 e,e,c; st.global.f32 [q],e;")), (0, 0, 1));
    }
    let guarded = "setp.gt.f32 p,a,b; mul.f32 e,a,b; mov.f32 f,c; @p add.f32 f,e,d; st.global.f32 [q],f;";
    assert_eq!(floats(guarded), (0, 0, 1));
    let under_guard = "setp.gt.f32 p,a,b; mov.f32 e,c; @p mul.f32 e,a,b; add.f32 f,e,d; st.global.f32 [q],f;";
    assert_eq!(floats(under_guard), (1, 1, 0));
}

#[test]
fn differences_and_negations_become_signs() {
    let (plus, less) = (Signs::PLUS, Signs { product: true, addend: false });
    assert_eq!(signs("mul.f32 e,a,b; sub.f32 e,c,e; st.global.f32 [q],e;"), less);
    assert_eq!(
        signs("mul.f32 e,a,b; sub.f32 e,e,c; st.global.f32 [q],e;"),
        Signs { product: false, addend: true }
    );
    assert_eq!(signs("neg.f32 e,a; fma.rn.f32 e,e,b,c; st.global.f32 [q],e;"), less);
    assert_eq!(signs("neg.f32 e,a; neg.f32 f,b; fma.rn.f32 e,e,f,c; st.global.f32 [q],e;"), plus);
    assert_eq!(signs("mul.f32 e,c,b; neg.f32 e,e; add.f32 e,e,d; st.global.f32 [q],e;"), less);
    assert_eq!(signs("ld.global.f64 x,[q]; mul.f64 y,x,x; sub.f64 y,x,y; st.global.f64 [q],y;"), less);
    let negations = |body: &str| {
        let count = operations(body).into_iter();
        count.filter(|op| matches!(op, Op::FloatUnary(FloatUnary::Neg, ..))).count()
    };
    assert_eq!(negations("neg.f32 e,a; add.rn.f32 f,b,e; st.global.f32 [q],f;"), 0);
    assert_eq!(negations("neg.f32 e,a; add.rn.f32 f,b,e; st.global.v2.f32 [q],{e,f};"), 1, "stored too");
    assert_eq!(
        negations("neg.ftz.f32 e,a; add.f32 f,b,e; st.global.f32 [q],f;"),
        1,
        "flushes what the sum would not"
    );
}

#[test]
fn neighbours_in_shared_memory_are_one_access_where_they_are_aligned() {
    let four = |at: &str| {
        format!(
            "ld.shared.f32 e,[{at}]; ld.shared.f32 f,[{at}+4]; ld.shared.f32 g,[{at}+8]; ld.shared.f32 h,[{at}+12];\
                 st.global.v4.f32 [q],{{e,f,g,h}};"
        )
    };
    assert_eq!(shared(&four("s")), [4]);
    assert_eq!(shared(&four("s+8")), [2, 2]);
    assert_eq!(shared(&four("s+4")), [1, 2, 1]);
    assert_eq!(shared(&format!("mad.lo.u32 s,m,4,s;{}", four("s"))), [1; 4], "m may be anything");
    assert_eq!(shared(&format!("mad.lo.u32 s,m,8,s;{}", four("s"))), [2, 2]);
    let clamped = ".reg .s64 w; mul.wide.s32 w,m,16; cvt.sat.s32.s64 s,w;";
    assert_eq!(shared(&format!("{clamped}{}", four("s"))), [1; 4], "the greatest number is odd");
    let kept = ".reg .s64 w; mul.wide.s32 w,m,16; cvt.s32.s64 s,w;";
    assert_eq!(shared(&format!("{kept}{}", four("s"))), [4]);
    let stores = "st.shared.f32 [s],a; st.shared.f32 [s+4],b; st.shared.f32 [s+8],c; st.shared.f32 [s+12],d;";
    assert_eq!(shared(stores), [-4]);
    assert_eq!(
        shared("ld.shared.f64 x,[s]; ld.shared.f64 y,[s+8]; add.f64 x,x,y; st.global.f64 [q],x;"),
        [2]
    );
    let other_order = "ld.shared.f32 e,[s+4]; ld.shared.f32 f,[s]; st.global.v2.f32 [q],{e,f};";
    assert_eq!(shared(other_order), [2]);
}

#[test]
fn no_access_moves_past_what_may_touch_its_bytes() {
    let with = |between: &str| {
        shared(&format!(
            "ld.shared.f32 e,[s]; {between} ld.shared.f32 f,[s+4]; st.global.v2.f32 [q],{{e,f}};"
        ))
    };
    assert_eq!(with("st.shared.f32 [s+64],a;"), [2, -1]);
    assert_eq!(with("st.shared.f32 [s+4],a;"), [1, -1, 1]);
    assert_eq!(with("st.shared.f32 [m],a;"), [1, -1, 1], "may be the same byte");
    assert_eq!(with("bar.sync 0;"), [1, 1]);
    assert_eq!(with("st.global.f32 [q+64],a;"), [2]);
    assert_eq!(with("mov.f32 f,a; st.global.f32 [q+64],f;"), [2], "another value of f");
    let with = |between: &str| shared(&format!("st.shared.f32 [s],a; {between} st.shared.f32 [s+4],b;"));
    assert_eq!(with("ld.shared.f32 e,[s]; st.global.f32 [q],e;"), [-1, 1, -1]);
    assert_eq!(with("ld.shared.f32 e,[s+64]; st.global.f32 [q],e;").len(), 2);
    assert_eq!(with("bar.sync 0;"), [-1, -1]);
}
