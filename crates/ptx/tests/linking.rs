//! Several texts as one program, and the device heap, which is such a text.

#[path = "calls/programs.rs"]
mod programs;

use programs::LISTS;
use strata_ptx::back;
use strata_ptx::front::{self, Diagnostics, ast, link::link};
use strata_ptx::program::Module;
use strata_ptx::reference::testing::Session;

fn parse(name: &str, text: &str) -> ast::Module {
    let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}");
    front::parse_module(name, &text).unwrap_or_else(|error| panic!("{error}"))
}

fn linked(texts: &[(&str, &str)]) -> Result<ast::Module, Diagnostics> {
    link(texts.iter().map(|(name, text)| parse(name, text)).collect())
}

fn refusal(texts: &[(&str, &str)]) -> String {
    let lowered = linked(texts).and_then(|module| front::lower(&module, None));
    lowered.map(|_| ()).unwrap_err().to_string()
}

/// A session with the kernels of a linked module.
fn session(module: &ast::Module) -> Session {
    let lowered = front::lower(module, None).unwrap_or_else(|error| panic!("{error}"));
    let compile = |function| back::compile(function, &back::Options::default()).unwrap();
    Session::of_module(Module {
        kernels: lowered.functions.iter().map(compile).collect(),
        variables: lowered.variables,
        target: lowered.target,
    })
}

const KERNEL: &str = "
.extern .func (.param .b32 r) scaled(.param .b32 n);
.extern .global .align 4 .u32 factor;
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r0;
    call (b), scaled, (a);
    ld.param.b32 %r1, [b]; }
    ld.global.u32 %r2, [factor];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%rd0], %r1;
    ret;
}";

const LIBRARY: &str = "
.visible .global .align 4 .u32 factor = 7;
.func (.param .b32 r) helper(.param .b32 n) {
    .reg .b32 %r<4>;
    ld.param.u32 %r0, [n];
    ld.global.u32 %r1, [factor];
    mul.lo.u32 %r2, %r0, %r1;
    st.param.b32 [r], %r2;
    ret;
}
.visible .func (.param .b32 r) scaled(.param .b32 n) {
    .reg .b32 %r<4>;
    .param .b32 a; .param .b32 b;
    ld.param.u32 %r0, [n];
    st.param.b32 [a], %r0;
    call (b), helper, (a);
    ld.param.b32 %r1, [b];
    st.param.b32 [r], %r1;
    ret;
}";

#[test]
fn what_one_text_declares_another_defines() {
    // An internal function of the same name, of another meaning, and with a register of that name.
    let other = ".func (.param .b32 r) helper(.param .b32 n) { trap; }
.visible .entry other() { .reg .b32 %r<4>; .param .b32 a; .param .b32 b;
st.param.b32 [a], 1; call (b), helper, (a); ret; }";
    for texts in [
        [("a.ptx", KERNEL), ("b.ptx", LIBRARY), ("c.ptx", other)],
        [("c.ptx", other), ("b.ptx", LIBRARY), ("a.ptx", KERNEL)],
    ] {
        let module = linked(&texts).unwrap_or_else(|error| panic!("{error}"));
        let mut session = session(&module);
        let out = session.buffer(&[0; 32]);
        session.launch("k", 1, 32, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(session.words(out, 32), (0..32).map(|n| 7 * n + 7).collect::<Vec<_>>());
        let fault = session.launch("other", 1, 1, &[]).unwrap_err().to_string();
        assert!(fault.contains("line 4 of c.ptx") && fault.ends_with("trap"), "{fault}");
    }
}

#[test]
fn a_result_that_no_definition_has_is_not_defined() {
    // As compilers of languages without `void` declare it.
    let caller = ".extern .func (.param .b32 r) store(.param .b64 at);
.visible .entry k(.param .u64 out) { .reg .b32 %r<2>; .reg .b64 %rd<2>; .param .b32 r; .param .b64 at;
ld.param.u64 %rd0, [out]; st.param.b64 [at], %rd0; call.uni (r), store, (at); ld.param.b32 %r0, [r]; ret; }";
    let library = ".visible .func store(.param .b64 at) { .reg .b64 %rd<2>;
ld.param.u64 %rd0, [at]; st.u32 [%rd0], 42; ret; }";
    let module = linked(&[("a.ptx", caller), ("b.ptx", library)]).unwrap_or_else(|error| panic!("{error}"));
    let mut session = session(&module);
    let out = session.buffer(&[0]);
    session.launch("k", 1, 1, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(session.words(out, 1), [42]);
    // In one text both are seen, and it is wrong.
    let one = format!("{library}\n{}", caller.split_once('\n').unwrap().1);
    assert!(refusal(&[("a.ptx", &one)]).contains("call does not match its function"));
}

#[test]
fn two_definitions_are_refused_with_both_places() {
    let define = ".visible .global .u32 factor = 1;";
    let message = refusal(&[("a.ptx", KERNEL), ("b.ptx", LIBRARY), ("c.ptx", define)]);
    assert_eq!(
        message,
        "c.ptx:4:23: duplicate definition: found `factor`, expected one definition; the other is b.ptx:5:32"
    );
}

#[test]
fn what_nobody_defines_is_refused_where_it_is_used() {
    let message = refusal(&[("a.ptx", KERNEL), ("b.ptx", ".visible .global .u32 other;")]);
    assert!(
        message.contains("a.ptx:15:15: unsupported: call of a function without a body: found `scaled`"),
        "{message}"
    );
    assert!(
        message.contains("a.ptx:17:24: unsupported: variable of another text: found `factor`"),
        "{message}"
    );
    let message = refusal(&[("a.ptx", KERNEL), ("b.ptx", ".visible .global .u32 scaled;")]);
    assert!(
        message.contains("name has another kind in another text: found `scaled` as a function"),
        "{message}"
    );
    let texts = [parse("a.ptx", KERNEL), parse("b.ptx", LIBRARY)];
    let [first, mut second] = texts;
    second.address_size = 32;
    let message = link(vec![first, second]).unwrap_err().to_string();
    assert!(message.starts_with("b.ptx:3:1: texts with addresses of different sizes"), "{message}");
}

#[test]
fn weak_definitions_give_way_and_common_ones_grow() {
    let weak = ".weak .global .align 4 .u32 factor = 3; .common .global .align 4 .b8 room[4];
.weak .func (.param .b32 r) scaled(.param .b32 n) { st.param.b32 [r], 100; ret; }";
    let run = |texts: &[(&str, &str)]| {
        let module = linked(texts).unwrap_or_else(|error| panic!("{error}"));
        let mut session = session(&module);
        let out = session.buffer(&[0; 2]);
        session.launch("k", 1, 2, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
        let room =
            session.module.variables.iter().filter(|variable| variable.name == "room").map(|v| v.bytes);
        (session.words(out, 2), room.collect::<Vec<_>>())
    };
    let larger = ".common .global .align 4 .b8 room[64];";
    let (out, room) = run(&[("w.ptx", weak), ("a.ptx", KERNEL), ("c.ptx", larger), ("b.ptx", LIBRARY)]);
    assert_eq!((out, room), (vec![7, 14], vec![64]));
    // Alone, the weak ones count; of two, the first.
    let second = ".weak .global .align 4 .u32 factor = 4;";
    let (out, room) = run(&[("w.ptx", weak), ("s.ptx", second), ("a.ptx", KERNEL)]);
    assert_eq!((out, room), (vec![103, 103], vec![4]));
}

#[test]
fn threads_build_lists_on_the_heap_and_give_them_back() {
    let mut module = parse("lists.ptx", LISTS);
    // Room for one launch's lists, far from enough for twenty if nothing were freed.
    module.heap_bytes = 128 * 8 * 64;
    let mut session = session(&module);
    let out = session.buffer(&[0; 128]);
    for _ in 0..20 {
        session.launch("k", 2, 64, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
        let sum = |n: u32| (0..n % 8).map(|k| n * 100 + k).sum::<u32>();
        assert_eq!(session.words(out, 128), (0..128).map(sum).collect::<Vec<_>>());
    }
}

#[test]
fn a_heap_that_is_full_gives_null_and_a_bad_free_is_a_fault() {
    let text = "
.extern .func (.param .b64 p) malloc(.param .b64 size);
.extern .func free(.param .b64 p);
.visible .entry take(.param .u64 out, .param .u64 size) {
    .reg .b32 %r<4>; .reg .b64 %rd<8>;
    .param .b64 s; .param .b64 p;
    ld.param.u64 %rd0, [out];
    ld.param.u64 %rd1, [size];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd2, %r0, 8;
    add.u64 %rd0, %rd0, %rd2;
    st.param.b64 [s], %rd1;
    call (p), malloc, (s);
    ld.param.b64 %rd3, [p];
    st.global.u64 [%rd0], %rd3;
    ret;
}
.visible .entry give(.param .u64 pointer) {
    .reg .b64 %rd<4>; .param .b64 p;
    ld.param.u64 %rd0, [pointer];
    st.param.b64 [p], %rd0;
    call free, (p);
    ret;
}";
    let mut module = parse("a.ptx", text);
    module.heap_bytes = 1024;
    let mut session = session(&module);
    let out = session.buffer(&[0; 64]);
    let take = |session: &mut Session, threads: u32, size: u64| -> Vec<u64> {
        session.launch("take", 1, threads, &[out, size]).unwrap_or_else(|fault| panic!("{fault}"));
        let words = session.words(out, 2 * threads as usize);
        words.chunks(2).map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0])).collect()
    };
    assert_eq!(take(&mut session, 1, 0), [0]);
    assert_eq!(take(&mut session, 1, 1025), [0]);
    assert_eq!(take(&mut session, 1, u64::MAX), [0]);
    // 100 bytes are 112, and a header makes them 128: eight blocks fit.
    let blocks = take(&mut session, 32, 100);
    let mut given: Vec<u64> = blocks.iter().copied().filter(|block| *block != 0).collect();
    given.sort_unstable();
    assert_eq!(given.len(), 8);
    assert!(given.windows(2).all(|pair| pair[0] % 16 == 0 && pair[1] - pair[0] >= 116), "{given:x?}");
    session.launch("give", 1, 1, &[given[3]]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(take(&mut session, 1, 112), [given[3]]);
    session.launch("give", 1, 1, &[given[3]]).unwrap_or_else(|fault| panic!("{fault}"));
    session.launch("give", 1, 1, &[0]).unwrap_or_else(|fault| panic!("{fault}"));
    for wrong in [given[3], given[4] + 8, given[0] - 16, out] {
        let fault = session.launch("give", 1, 1, &[wrong]).unwrap_err().to_string();
        assert!(fault.contains("assertion `the pointer is from malloc and not freed yet` failed"), "{fault}");
        assert!(fault.contains("of the device heap"), "{fault}");
    }
}
