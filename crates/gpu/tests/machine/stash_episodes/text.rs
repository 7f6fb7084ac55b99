//! The kernels that play a plan: one with shared memory for SMs, one for CPU cores. What a thread does in a step stands in
//! memory.

use std::fmt::Write;

/// Bytes of a step: where, what, the place of its result, and the value that it stores.
pub const STEP_BYTES: usize = 16;
/// Words of an operation on a tile.
pub const TILE_WORDS: usize = 12;
/// A step without a result.
pub const NO_RESULT: u32 = u32::MAX;

/// How an access to global memory is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Through the cache.
    Weak,
    /// At the registry.
    Volatile,
    /// At the registry.
    PastL1,
}

/// What a step does. Widths are logarithms of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    Load(Flavour, u32),
    Store(Flavour, u32),
    /// Adds to a word and has what was there before.
    Atomic,
    /// Adds to a word.
    Reduce,
    Fence,
    /// With or without a mapping, as the address says.
    SharedLoad(u32),
    SharedStore(u32),
}

const LOADS: u32 = 1;
const STORES: u32 = 16;
const ATOMIC: u32 = 31;
const REDUCE: u32 = 32;
const FENCE: u32 = 33;
const SHARED_LOADS: u32 = 34;
const SHARED_STORES: u32 = 37;

impl Kind {
    /// Its number in a plan.
    pub fn number(self) -> u32 {
        match self {
            Kind::Nothing => 0,
            Kind::Load(flavour, log) => LOADS + flavour as u32 * 5 + log,
            Kind::Store(flavour, log) => STORES + flavour as u32 * 5 + log,
            Kind::Atomic => ATOMIC,
            Kind::Reduce => REDUCE,
            Kind::Fence => FENCE,
            Kind::SharedLoad(log) => SHARED_LOADS + log - 2,
            Kind::SharedStore(log) => SHARED_STORES + log - 2,
        }
    }
}

/// The words that a step stores whose plan names a value.
pub fn stored(value: u32) -> [u32; 4] {
    [value, value ^ 0x9e37_79b9, value.wrapping_add(0x7f4a_7c15), value.wrapping_mul(3)]
}

/// The result of a load of up to four words.
pub fn result(words: [u32; 4]) -> u32 {
    let factors = [1_u32, 3, 5, 7];
    words.iter().zip(factors).fold(0, |sum, (word, factor)| sum.wrapping_add(word.wrapping_mul(factor)))
}

const SUFFIXES: [&str; 5] = ["u8", "u16", "u32", "v2.u32", "v4.u32"];
const STORED: [&str; 5] = ["%v0", "%v0", "%v0", "{%v0, %v1}", "{%v0, %v1, %v2, %v3}"];
const LOADED: [&str; 5] = ["%l0", "%l0", "%l0", "{%l0, %l1}", "{%l0, %l1, %l2, %l3}"];
const NAMES: [(Flavour, &str, &str); 3] = [
    (Flavour::Weak, "ld.global", "st.global"),
    (Flavour::Volatile, "ld.volatile.global", "st.volatile.global"),
    (Flavour::PastL1, "ld.global.cg", "st.global.cg"),
];

/// The instructions of each kind, each under a guard.
fn accesses(shares: bool) -> String {
    let mut text = String::new();
    let mut add = |kind: Kind, what: String| {
        writeln!(text, "setp.eq.u32 %p, %kind, {};\n@%p {what}", kind.number()).expect("a string grows");
    };
    for (log, suffix) in SUFFIXES.iter().enumerate() {
        for (flavour, load, store) in NAMES {
            let log = log as u32;
            add(Kind::Load(flavour, log), format!("{load}.{suffix} {}, [%at];", LOADED[log as usize]));
            add(Kind::Store(flavour, log), format!("{store}.{suffix} [%at], {};", STORED[log as usize]));
        }
    }
    add(Kind::Atomic, "atom.global.add.u32 %l0, [%at], %v0;".to_owned());
    add(Kind::Reduce, "red.global.add.u32 [%at], %v0;".to_owned());
    add(Kind::Fence, "membar.gl;".to_owned());
    for log in if shares { 2..5 } else { 2..2 } {
        let suffix = SUFFIXES[log as usize];
        add(Kind::SharedLoad(log), format!("ld.shared.{suffix} {}, [%offset];", LOADED[log as usize]));
        add(Kind::SharedStore(log), format!("st.shared.{suffix} [%offset], {};", STORED[log as usize]));
    }
    text
}

/// The steps of a round, from label `STEP` on, between the labels of `name`.
fn steps(shares: bool, name: &str) -> String {
    format!(
        "mov.u32 %step, 0;\n{name}_STEP:\n\
         mad.lo.u32 %index, %round, %steps, %step; mad.lo.u32 %index, %index, %threads, %n;\n\
         mul.wide.u32 %at, %index, {STEP_BYTES}; add.u64 %at, %at, %plan;\n\
         ld.global.v4.u32 {{%offset, %kind, %place, %v0}}, [%at];\n\
         xor.b32 %v1, %v0, 0x9e3779b9; add.u32 %v2, %v0, 0x7f4a7c15; mul.lo.u32 %v3, %v0, 3;\n\
         mov.u32 %l0, 0; mov.u32 %l1, 0; mov.u32 %l2, 0; mov.u32 %l3, 0;\n\
         cvt.u64.u32 %at, %offset; add.u64 %at, %at, %x;\n{}\
         mad.lo.u32 %l0, %l1, 3, %l0; mad.lo.u32 %l0, %l2, 5, %l0; mad.lo.u32 %l0, %l3, 7, %l0;\n\
         mul.wide.u32 %at, %place, 4; add.u64 %at, %at, %results;\n\
         setp.ne.u32 %p, %place, {NO_RESULT}; @%p st.global.u32 [%at], %l0;\n\
         add.u32 %step, %step, 1; setp.lt.u32 %p, %step, %steps; @%p bra {name}_STEP;\n",
        accesses(shares)
    )
}

const REGISTERS: &str = ".reg .b32 %n, %threads, %tid, %cta, %round, %rounds, %step, %steps, %op, %ops, %index, %offset, %kind, %place, \
     %v<4>, %l<4>, %t<12>;\n.reg .b64 %plan, %x, %results, %tiles, %at;\n.reg .pred %p, %q;\n\
     ld.param.u64 %plan, [plan]; ld.param.u64 %x, [x]; ld.param.u64 %results, [results];\n\
     ld.param.u32 %steps, [steps];\n";

/// The module with both kernels.
///
/// `gpu`: in each round one thread of a CTA does the operations on tiles, then all take their steps. `host`: one round, of
/// threads that are a CTA each.
pub fn text() -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .extern .func stash_add_map(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .extern .func stash_chg_map(.param .b32 i, .param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, \
         .param .b32 w, .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .extern .shared .align 64 .b8 s[];\n\
         .visible .entry gpu(.param .u64 plan, .param .u64 x, .param .u64 results, .param .u32 steps, .param .u64 tiles, \
         .param .u32 rounds, .param .u32 ops)\n{{\n{REGISTERS}\
         ld.param.u64 %tiles, [tiles]; ld.param.u32 %rounds, [rounds]; ld.param.u32 %ops, [ops];\n\
         mov.u32 %cta, %ctaid.x; mov.u32 %threads, %ntid.x; mov.u32 %tid, %tid.x;\n\
         mad.lo.u32 %n, %cta, %threads, %tid; mov.u32 %t0, %nctaid.x; mul.lo.u32 %threads, %threads, %t0;\n\
         mov.u32 %round, 0;\n\
         ROUND:\nmov.u32 %op, 0;\n\
         TILE:\nsetp.ge.u32 %p, %op, %ops; @%p bra READY;\n\
         mad.lo.u32 %index, %cta, %rounds, %round; mad.lo.u32 %index, %index, %ops, %op;\n\
         mul.wide.u32 %at, %index, {tile_bytes}; add.u64 %at, %at, %tiles;\n\
         ld.global.v4.u32 {{%t0, %t1, %t2, %t3}}, [%at]; ld.global.v4.u32 {{%t4, %t5, %t6, %t7}}, [%at+16];\n\
         ld.global.v4.u32 {{%t8, %t9, %t10, %t11}}, [%at+32];\n\
         add.u32 %op, %op, 1;\n\
         setp.ne.u32 %p, %t1, %tid; @%p bra TILE;\n\
         cvt.u64.u32 %at, %t3; add.u64 %at, %at, %x;\n\
         setp.eq.u32 %p, %t0, 1; setp.eq.u32 %q, %t0, 2;\n\
         @%p bra ADD;\n@%q bra CHANGE;\nbra TILE;\n\
         ADD:\ncall.uni stash_add_map, (%t2, %at, %t4, %t5, %t6, %t7, %t8, %t9);\nbra TILE;\n\
         CHANGE:\ncall.uni stash_chg_map, (%t10, %t2, %at, %t4, %t5, %t6, %t7, %t8, %t9);\nbra TILE;\n\
         READY:\nbar.sync 0;\n{gpu}bar.sync 0;\n\
         add.u32 %round, %round, 1; setp.lt.u32 %p, %round, %rounds; @%p bra ROUND;\nret;\n}}\n\
         .visible .entry host(.param .u64 plan, .param .u64 x, .param .u64 results, .param .u32 steps)\n{{\n{REGISTERS}\
         mov.u32 %n, %ctaid.x; mov.u32 %threads, %nctaid.x; mov.u32 %round, 0;\n{host}ret;\n}}\n",
        tile_bytes = 4 * TILE_WORDS,
        gpu = steps(true, "GPU"),
        host = steps(false, "HOST"),
    )
}
