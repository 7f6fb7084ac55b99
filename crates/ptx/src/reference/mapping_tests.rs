//! Mappings and copies of tiles: what they mean, and what is wrong with those that cannot be.

use super::testing::Session;

/// The device's functions, and a kernel `test(.param .u64 a)` with 256 bytes of shared memory, `%a` = a, `%r0` = thread.
fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .extern .func stash_add_map(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .extern .func stash_chg_map(.param .b32 i, .param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, \
         .param .b32 w, .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .extern .func dma_load(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n);\n\
         .extern .func dma_store(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n);\n\
         .visible .entry test(.param .u64 a) {{\n\
         .shared .align 64 .b8 s[256];\n\
         .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .b64 %a;\n\
         ld.param.u64 %a, [a]; mov.u32 %r0, %tid.x;\n{body}\n}}\n"
    )
}

const FIRST_WARP: &str = "setp.ne.u32 %p0, %r0, 0; @%p0 bra MAPPED;";

/// `statement` by one thread, then a barrier; a thread's word of mapping 0 at `%r1`, of mapping 1 at `%r2`.
fn by_one(statement: &str, rest: &str) -> String {
    text(&format!(
        "{FIRST_WARP}\n{statement}\nMAPPED: bar.sync 0;\n\
         shl.b32 %r1, %r0, 2; add.u32 %r2, %r1, 0x20000000; add.u32 %r1, %r1, 0x10000000;\n{rest}\nret;"
    ))
}

/// Words 0, 1, 2 ... in memory; runs a CTA of 32 threads and returns them.
fn run(text: &str, words: u32) -> Vec<u32> {
    let mut session = Session::new(text);
    let a = session.buffer(&(0..words).collect::<Vec<u32>>());
    session.launch("test", 1, 32, &[a]).unwrap_or_else(|fault| panic!("{fault}"));
    session.words(a, words as usize)
}

/// What is wrong with a program.
fn fault(text: &str) -> String {
    let mut session = Session::new(text);
    let a = session.buffer(&[7; 256]);
    session.launch("test", 1, 32, &[a]).expect_err("the program is wrong").to_string()
}

#[test]
fn words_of_a_coherent_mapping_are_global_words() {
    // Objects of 4 words, their second mapped: two rows of 16 objects, 80 words apart.
    let map = "add.u64 %rd1, %a, 4; call.uni stash_add_map, (0, %rd1, 4, 16, 16, 320, 2, 1);";
    let found =
        run(&by_one(map, "ld.shared.u32 %r3, [%r1]; add.u32 %r3, %r3, 1000; st.shared.u32 [%r1], %r3;"), 144);
    let mapped = |word: u32| word % 80 / 4 < 16 && word % 80 % 4 == 1;
    let expected: Vec<u32> = (0..144).map(|word| word + if mapped(word) { 1000 } else { 0 }).collect();
    assert_eq!(found, expected);
}

#[test]
fn arguments_come_through_parameters_too() {
    let map = "{ .param .b32 s; st.param.b32 [s], %r0; .param .b64 g; st.param.b64 [g], %a; .param .b32 f; \
               st.param.b32 [f], 4; .param .b32 o; st.param.b32 [o], 4; .param .b32 w; st.param.b32 [w], 32; \
               .param .b32 d; st.param.b32 [d], 0; .param .b32 n; st.param.b32 [n], 1; .param .b32 c; \
               st.param.b32 [c], 1; call.uni stash_add_map, (s, g, f, o, w, d, n, c); }";
    let found =
        run(&by_one(map, "ld.shared.u32 %r3, [%r1]; neg.s32 %r3, %r3; st.shared.u32 [%r1], %r3;"), 33);
    assert_eq!(found[..32], (0..32).map(|word: u32| word.wrapping_neg()).collect::<Vec<u32>>());
    assert_eq!(found[32], 32);
}

#[test]
fn wide_accesses_take_words_from_all_over_the_tile() {
    // Fields of one word in objects of four: lane n moves pairs of objects to the other end.
    let map = "call.uni stash_add_map, (0, %a, 4, 16, 32, 0, 1, 1);";
    let rest = "setp.gt.u32 %p1, %r0, 7; @%p1 ret; shl.b32 %r1, %r0, 4; add.u32 %r1, %r1, 0x10000000; \
                ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1]; \
                mov.b64 %rd1, {%r7, %r6}; mov.b64 %rd2, {%r5, %r4}; st.shared.v2.u64 [%r1], {%rd1, %rd2};";
    let found = run(&by_one(map, rest), 128);
    let expected = |word: u32| if word.is_multiple_of(4) { word ^ 12 } else { word };
    assert_eq!(found, (0..128).map(expected).collect::<Vec<u32>>());
}

#[test]
fn words_of_a_non_coherent_mapping_are_private_copies() {
    // The copy is taken at the first read: what is written to memory later does not reach it.
    let map = "call.uni stash_add_map, (0, %a, 4, 4, 32, 0, 1, 0);";
    let rest = "ld.shared.u32 %r3, [%r1]; shl.b32 %r4, %r0, 2; cvt.u64.u32 %rd1, %r4; \
                add.u64 %rd1, %rd1, %a; mov.u32 %r5, 77; st.global.u32 [%rd1+128], %r5; st.global.u32 [%rd1], %r5; \
                ld.shared.u32 %r6, [%r1]; st.global.u32 [%rd1+128], %r6; st.shared.u32 [%r1], %r0;";
    let found = run(&by_one(map, rest), 64);
    assert_eq!(found[..32], [77; 32], "stores to a private copy stay there");
    assert_eq!(found[32..], (0..32).collect::<Vec<u32>>(), "the copy is older than the store");
}

#[test]
fn a_mapping_that_becomes_coherent_publishes_what_was_written() {
    // Even lanes write.
    let map = "call.uni stash_add_map, (0, %a, 4, 4, 32, 0, 1, 0);";
    let rest = "and.b32 %r3, %r0, 1; setp.ne.u32 %p1, %r3, 0; add.u32 %r4, %r0, 500; \
                @!%p1 st.shared.u32 [%r1], %r4; ld.shared.u32 %r5, [%r1]; bar.sync 0; \
                call.uni stash_chg_map, (0, 0, %a, 4, 4, 32, 0, 1, 1);";
    let found = run(&by_one(map, rest), 32);
    let expected = |word: u32| if word.is_multiple_of(2) { word + 500 } else { word };
    assert_eq!(found, (0..32).map(expected).collect::<Vec<u32>>());
}

#[test]
fn a_mapping_may_be_moved() {
    let map = "call.uni stash_add_map, (0, %a, 4, 4, 32, 0, 1, 1);";
    let rest = "ld.shared.u32 %r3, [%r1]; bar.sync 0; add.u64 %rd1, %a, 128; \
                call.uni stash_chg_map, (0, 0, %rd1, 4, 4, 32, 0, 1, 1); \
                bar.sync 0; ld.shared.u32 %r4, [%r1]; add.u32 %r4, %r4, %r3; st.shared.u32 [%r1], %r4;";
    let found = run(&by_one(map, rest), 64);
    let expected = |word: u32| if word < 32 { word } else { 2 * word - 32 };
    assert_eq!(found, (0..64).map(expected).collect::<Vec<u32>>());
}

#[test]
fn each_cta_has_mappings_of_its_own() {
    // A mapping a CTA, 16 words each, for more CTAs than mappings.
    let map = "mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd1, %r5, 64; add.u64 %rd1, %rd1, %a; \
               call.uni stash_add_map, (64, %rd1, 4, 4, 16, 0, 1, 1);";
    let rest = "setp.gt.u32 %p1, %r0, 15; @%p1 ret; mov.u32 %r5, %ctaid.x; st.shared.u32 [%r1+64], %r5;";
    let mut session = Session::new(&by_one(map, rest));
    let a = session.buffer(&[99; 16 * 20]);
    session.launch("test", 20, 32, &[a]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(session.words(a, 320), (0..320).map(|word| word / 16).collect::<Vec<u32>>());
}

#[test]
fn copies_move_tiles_both_ways() {
    let load = "call.uni dma_load, (4, %a, 8, 16, 8, 160, 2);";
    let rest = "shl.b32 %r3, %r0, 2; ld.shared.u32 %r4, [%r3+4]; neg.s32 %r4, %r4; st.shared.u32 [%r3+4], %r4; \
                bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 ret; call.uni dma_store, (4, %a, 8, 16, 8, 160, 2);";
    let found = run(&by_one(load, rest), 80);
    let moved = |word: u32| word % 40 < 32 && word % 4 < 2;
    let expected = |word: u32| if moved(word) { word.wrapping_neg() } else { word };
    assert_eq!(found, (0..80).map(expected).collect::<Vec<u32>>());
}

#[test]
fn mappings_that_cannot_be_are_refused() {
    let add = |arguments: &str| fault(&by_one(&format!("call.uni stash_add_map, ({arguments});"), ""));
    for (arguments, expected) in [
        ("32, %a, 4, 4, 8, 0, 1, 1", "stashBase must be a multiple of 64, found 0x20"),
        (
            "0, %a, 4, 4, 65, 0, 1, 1",
            "the tile must end in the CTA's 256 bytes of shared memory, found its end at 260",
        ),
        ("0, %a, 0, 4, 8, 0, 1, 1", "fieldSize must be at least 1, found 0"),
        ("0, %a, 4, 4, 8, 0, 0, 1", "numStrides must be at least 1, found 0"),
        ("0, %a, 8, 4, 8, 0, 1, 1", "fieldSize must be at most objectSize (4), found 8"),
        ("0, %a, 2, 4, 8, 0, 1, 1", "fieldSize must be a multiple of 4 bytes, found 2"),
        ("0, %a, 4, 4, 8, 16, 2, 1", "strideSize must be at least a row of objects (32 bytes), found 16"),
        ("0, 4096, 4, 4, 8, 0, 1, 1", "the tile must lie in memory, found 0x1000, which holds none"),
        ("0, -4, 4, 4, 8, 0, 1, 1", "the tile must end at an address of 64 bits"),
        ("0, %a, -4, -4, -1, -4, -1, 1", "strideSize must be at least a row of objects ("),
    ] {
        let found = add(arguments);
        assert!(found.contains(expected), "({arguments}): {found}");
        assert!(
            found.starts_with("kernel test, line 13, CTA (0, 0, 0), thread (0, 0, 0): stash_add_map: "),
            "{found}"
        );
    }
}

#[test]
fn mappings_of_a_cta_stay_apart() {
    let two = |second: &str| {
        let map = |arguments: &str| format!("call.uni stash_add_map, ({arguments});");
        fault(&by_one(
            &format!("add.u64 %rd1, %a, 28; {} {}", map("0, %a, 4, 4, 8, 0, 1, 1"), map(second)),
            "",
        ))
    };
    let found = two("0, %rd1, 4, 4, 8, 0, 1, 0");
    assert!(found.contains("chunks of its own, found bytes 0x0 to 0x20 in mapping 0"), "{found}");
    let found = two("64, %rd1, 4, 4, 8, 0, 1, 1");
    assert!(found.contains("coherent in one mapping of a CTA") && found.contains("in mapping 0"), "{found}");
    let fifth = "call.uni stash_add_map, (0, %a, 4, 4, 1, 0, 1, 0);".repeat(5);
    let fifth = (0..5).fold(fifth, |text, n| text.replacen("(0,", &format!("({},", n % 4 * 64), 1));
    let found = fault(&by_one(&fifth, ""));
    assert!(found.contains("a CTA may add 4 mappings, found one more"), "{found}");
}

#[test]
fn fields_that_interleave_do_not_overlap() {
    let map = "add.u64 %rd1, %a, 4; call.uni stash_add_map, (0, %a, 4, 8, 32, 0, 1, 1); \
               call.uni stash_add_map, (128, %rd1, 4, 8, 32, 0, 1, 1);";
    let found = run(
        &by_one(
            map,
            "ld.shared.u32 %r3, [%r1]; ld.shared.u32 %r4, [%r2+128]; \
                                  st.shared.u32 [%r1], %r4; st.shared.u32 [%r2+128], %r3;",
        ),
        64,
    );
    assert_eq!(found, (0..64).map(|word| word ^ 1).collect::<Vec<u32>>());
}

#[test]
fn accesses_that_a_mapping_does_not_allow_are_refused() {
    let map = "call.uni stash_add_map, (0, %a, 4, 4, 33, 0, 1, 1);";
    for (rest, expected) in [
        (
            "ld.shared.u32 %r3, [%r1+8];",
            "word of bytes 0x0 to 0x84 of shared memory, which mapping 0 has, found 0x84",
        ),
        ("ld.shared.u32 %r3, [%r2];", "one of the 1 mappings that the CTA has added, found index 1"),
        ("ld.shared.u16 %h1, [%r1];", "accessed whole, found 2 bytes at shared address 0x10000000"),
        (
            "shl.b32 %r0, %r0, 2; st.shared.u32 [%r0], %r0;",
            "access without a mapping at shared address 0x0, which mapping 0 has",
        ),
        (
            "atom.shared.add.u32 %r3, [%r1], %r0;",
            "only ld and st may name a mapping, found shared address 0x10000000",
        ),
        ("call.uni dma_load, (128, %a, 4, 4, 4, 0, 1);", "at shared address 0x80, which mapping 0 has"),
        ("call.uni stash_chg_map, (3, 0, %a, 4, 4, 4, 0, 1, 1);", "found index 3"),
        ("call.uni dma_store, (250, %a, 4, 4, 4, 0, 1);", "sharedBase must be a multiple of 4, found 0xfa"),
    ] {
        let found = fault(&by_one(map, rest));
        assert!(found.contains(expected), "{rest}: {found}");
        assert!(found.starts_with("kernel test, line 16, CTA (0, 0, 0), thread ("), "{found}");
    }
}

#[test]
fn a_declaration_must_be_the_devices() {
    let text = ".version 8.0\n.target sm_80\n.extern .func stash_add_map(.param .b32 a, .param .b32 b);\n\
                .entry k() { call.uni stash_add_map, (0, 0); }";
    let error = crate::load::load("t.ptx", text, &crate::back::Options::default()).expect_err("it is wrong");
    let found = error.to_string();
    assert!(found.contains("0 results and parameters of 4, 4 bytes"), "{found}");
    assert!(found.contains("0 results and parameters of 4, 8, 4, 4, 4, 4, 4, 4 bytes"), "{found}");
}
