//! Snippets of PTX and what they become.

mod arrays;
mod modules;

use expect_test::{Expect, expect};

use super::{LoweredModule, lower, parse_module};
use crate::ir::{Constant, Function, VDst, VInst, VSrc};
use crate::isa::Op;

/// Registers for the snippets.
const REGISTERS: &str = ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; \
                         .reg .f32 %f<8>; .reg .f64 %d<8>;";

fn module(text: &str) -> LoweredModule {
    let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}");
    let parsed = parse_module("test.ptx", &text).unwrap_or_else(|error| panic!("{error}"));
    lower(&parsed, None).unwrap_or_else(|error| panic!("{error}"))
}

/// The code of a kernel with this body.
fn check(body: &str, expected: Expect) {
    check_module(&format!(".entry k(.param .u64 p, .param .u32 n) {{ {REGISTERS}\n{body}\n}}"), expected);
}

/// The code of the one kernel of a text.
fn check_module(text: &str, expected: Expect) {
    let module = module(text);
    expected.assert_eq(&print(&module.functions[0]));
}

/// One instruction a line; registers are numbered in order of first use.
fn print(function: &Function) -> String {
    let mut seen = Vec::new();
    let mut text = String::new();
    for (n, inst) in function.code.iter().enumerate() {
        text += &format!("{n}: {}\n", instruction(inst, function, &mut seen));
    }
    text
}

fn instruction(inst: &VInst, function: &Function, seen: &mut Vec<u32>) -> String {
    let mut register = |register: crate::ir::VReg| {
        let place = seen.iter().position(|known| *known == register.0).unwrap_or_else(|| {
            seen.push(register.0);
            seen.len() - 1
        });
        format!("v{place}:{:?}", function.registers[register.0 as usize])
    };
    let mut parts = Vec::new();
    if let Some((guard, negated)) = inst.guard {
        parts.push(format!("@{}{}", if negated { "!" } else { "" }, register(guard)));
    }
    let dst: Vec<String> = inst
        .dst
        .iter()
        .map(|dst| match dst {
            VDst::None => "_".to_string(),
            VDst::Reg(reg) => register(*reg),
        })
        .collect();
    if !dst.is_empty() {
        parts.push(format!("{} =", dst.join(", ")));
    }
    parts.push(format!("{:?}", inst.op));
    let src: Vec<String> = inst
        .src
        .iter()
        .map(|src| match src {
            VSrc::None => "none".to_string(),
            VSrc::Reg(reg, negated) => format!("{}{}", if *negated { "!" } else { "" }, register(*reg)),
            VSrc::Const(Constant::Bits(bits)) => format!("{bits:#x}"),
            VSrc::Const(Constant::Symbol { symbol, addend }) => format!("symbol {symbol}+{addend}"),
            VSrc::Const(Constant::Param { offset }) => format!("param {offset}"),
            VSrc::Const(Constant::StackBase) => "stack".to_string(),
            VSrc::PredConst(value) => value.to_string(),
        })
        .collect();
    parts.push(src.join(", "));
    if inst.offset != 0 {
        parts.push(format!("offset {}", inst.offset));
    }
    if matches!(inst.op, Op::Branch { .. }) {
        parts.push(format!("to {}", inst.target));
    }
    parts.join(" ").trim_end().to_string()
}

#[test]
fn saxpy() {
    check_module(
        ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {
           .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<9>; .reg .f32 %f<5>;
           ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
           mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
           mad.lo.s32 %r5, %r2, %r3, %r4;
           setp.ge.s32 %p1, %r5, %r1;
           @%p1 bra $done;
           cvta.to.global.u64 %rd3, %rd1;
           mul.wide.s32 %rd4, %r5, 4;
           add.s64 %rd5, %rd3, %rd4;
           ld.global.nc.f32 %f2, [%rd5];
           cvta.to.global.u64 %rd6, %rd2; add.s64 %rd7, %rd6, %rd4;
           ld.global.f32 %f3, [%rd7]; fma.rn.f32 %f4, %f2, %f1, %f3; st.global.f32 [%rd7], %f4;
           $done: ret;
         }",
        expect![[r#"
            0: v0:B32 = Mov(U32) param 0
            1: v1:F32 = Mov(F32) param 4
            2: v2:B64 = Mov(U64) param 8
            3: v3:B64 = Mov(U64) param 16
            4: v4:B32 = ReadSpecial(Ctaid(X))
            5: v5:B32 = ReadSpecial(Ntid(X))
            6: v6:B32 = ReadSpecial(Tid(X))
            7: v7:B32 = Mad { part: Lo, ty: S32, sat: false } v4:B32, v5:B32, v6:B32
            8: v8:Pred = Setp { cmp: Ge, ty: S32, combine: None, ftz: false } v7:B32, v0:B32
            9: @v8:Pred Branch { uniform: false }  to 19
            10: v9:B64 = Mov(U64) v2:B64
            11: v10:B64 = Mul(Wide, S32) v7:B32, 0x4
            12: v11:B64 = Int(Add, S64) v9:B64, v10:B64
            13: v12:F32 = Load(MemoryMode { space: Global, ty: F32, vector: 1, cache: NonCoherent, ordering: Weak, scope: Cta }) v11:B64
            14: v13:B64 = Mov(U64) v3:B64
            15: v14:B64 = Int(Add, S64) v13:B64, v10:B64
            16: v15:F32 = Load(MemoryMode { space: Global, ty: F32, vector: 1, cache: All, ordering: Weak, scope: Cta }) v14:B64
            17: v16:F32 = Fma(F32, FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false }, Signs { product: false, addend: false }) v12:F32, v1:F32, v15:F32
            18: Store(MemoryMode { space: Global, ty: F32, vector: 1, cache: All, ordering: Weak, scope: Cta }) v14:B64, v16:F32
            19: Exit
        "#]],
    );
}

#[test]
fn narrow_values_are_extended_to_the_register() {
    check(
        "ld.global.u8 %h1, [%rd1+3]; ld.global.s8 %r1, [%rd1]; ld.global.s16 %rd2, [%rd1]; ld.global.b32 %rd3, [%rd1];
         cvt.s32.s8 %r2, %r1; cvt.u16.u32 %h2, %r1; cvt.u8.u32 %rd4, %r1; st.global.u8 [%rd1-1], %rd4;",
        expect![[r#"
            0: v0:B16 = Load(MemoryMode { space: Global, ty: U8, vector: 1, cache: All, ordering: Weak, scope: Cta }) v1:B64 offset 3
            1: v2:B32 = Load(MemoryMode { space: Global, ty: S8, vector: 1, cache: All, ordering: Weak, scope: Cta }) v1:B64
            2: v3:S16 = Load(MemoryMode { space: Global, ty: S16, vector: 1, cache: All, ordering: Weak, scope: Cta }) v1:B64
            3: v4:B64 = Cvt { to: S64, from: S16, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v3:S16
            4: v5:B32 = Load(MemoryMode { space: Global, ty: B32, vector: 1, cache: All, ordering: Weak, scope: Cta }) v1:B64
            5: v6:B64 = Cvt { to: U64, from: U32, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v5:B32
            6: v7:B32 = Cvt { to: S32, from: S8, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v2:B32
            7: v8:B16 = Cvt { to: U16, from: U32, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v2:B32
            8: v9:U8 = Cvt { to: U8, from: U32, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v2:B32
            9: v10:B64 = Cvt { to: U64, from: U8, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v9:U8
            10: Store(MemoryMode { space: Global, ty: U8, vector: 1, cache: All, ordering: Weak, scope: Cta }) v1:B64, v10:B64 offset -1
            11: Exit
        "#]],
    );
}

#[test]
fn parameters_are_constants() {
    check_module(
        ".entry k(.param .u8 a, .param .align 16 .b8 s[20], .param .f64 d) {
           .reg .b16 %h<2>; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .f64 %d<2>; .reg .b64 %rd<3>;
           ld.param.s8 %r1, [a]; ld.param.u8 %h1, [a]; ld.param.v2.f32 {%f1, %f2}, [s+8]; ld.param.f64 %d1, [d];
           mov.b64 %rd1, s; cvta.param.u64 %rd2, %rd1; ld.param.u32 %r2, [%rd1+4];
         }",
        expect![[r#"
            0: v0:B32 = Cvt { to: S32, from: S8, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } param 0
            1: v1:B16 = Cvt { to: U32, from: U8, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } param 0
            2: v2:F32 = Mov(F32) param 24
            3: v3:F32 = Mov(F32) param 28
            4: v4:F64 = Mov(F64) param 40
            5: v5:B64 = Mov(B64) 0x10
            6: v6:B64 = Cvta { space: Param, to_generic: true } v5:B64
            7: v7:B32 = Load(MemoryMode { space: Param, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) v5:B64 offset 4
            8: Exit
        "#]],
    );
}

#[test]
fn addresses_of_every_space() {
    check_module(
        ".global .align 4 .b8 g[64]; .const .f32 c = 0f3F800000; .shared .align 8 .b8 a[12]; .shared .u64 unused;
         .extern .shared .align 16 .b8 dynamic[];
         .entry k() {
           .reg .b32 %r<4>; .reg .b64 %rd<8>; .local .align 8 .b8 depot[24]; .shared .b32 b;
           mov.u64 %rd1, g+8; ld.const.u32 %r1, [c]; ld.u32 %r1, [g+4];
           mov.u32 %r2, a; ld.shared.u32 %r1, [b]; ld.shared.u32 %r1, [%r2+4]; ld.shared.u32 %r1, [dynamic+8];
           mov.u64 %rd2, depot; cvta.local.u64 %rd3, %rd2; st.local.u32 [depot+20], %r1; cvta.shared.u64 %rd4, %rd3;
           cvta.to.global.u64 %rd5, %rd4; ld.u32 %r1, [a];
         }",
        expect![[r#"
            0: v0:B64 = Mov(U64) symbol 0+8
            1: v1:B32 = Load(MemoryMode { space: Const, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) symbol 1+0
            2: v1:B32 = Load(MemoryMode { space: Generic, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) symbol 0+0 offset 4
            3: v2:B32 = Mov(U32) 0x8
            4: v1:B32 = Load(MemoryMode { space: Shared, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x0
            5: v1:B32 = Load(MemoryMode { space: Shared, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) v2:B32 offset 4
            6: v1:B32 = Load(MemoryMode { space: Shared, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x20 offset 8
            7: v3:B64 = Mov(U64) 0x0
            8: v4:B64 = Cvta { space: Local, to_generic: true } v3:B64
            9: Store(MemoryMode { space: Local, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x0, v1:B32 offset 20
            10: v5:B64 = Cvta { space: Shared, to_generic: true } v4:B64
            11: v6:B64 = Mov(U64) v5:B64
            12: v1:B32 = Load(MemoryMode { space: Generic, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x10000000008
            13: Exit
        "#]],
    );
}

#[test]
fn vectors_pack_and_unpack() {
    check(
        "ld.global.v4.f32 {%f1,%f2,_,%f3}, [%rd1]; st.shared.v2.b32 [%r1], {%r2, 7};
         mov.b64 %rd2, {%r1, %r2}; mov.b64 {_, %r3}, %rd2; mov.b32 {%h1, %h2}, %r1;
         .reg .v2 .f32 %v; ld.global.v2.f32 %v, [%rd1]; add.f32 %f1, %v.x, %v.y;",
        expect![[r#"
            0: v0:F32, v1:F32, _, v2:F32 = Load(MemoryMode { space: Global, ty: F32, vector: 4, cache: All, ordering: Weak, scope: Cta }) v3:B64
            1: Store(MemoryMode { space: Shared, ty: B32, vector: 2, cache: All, ordering: Weak, scope: Cta }) v4:B32, v5:B32, 0x7
            2: v6:B64 = Pack { whole: B64, pieces: 2 } v4:B32, v5:B32
            3: _, v7:B32 = Unpack { whole: B64, pieces: 2 } v6:B64
            4: v8:B16, v9:B16 = Unpack { whole: B32, pieces: 2 } v4:B32
            5: v10:F32, v11:F32 = Load(MemoryMode { space: Global, ty: F32, vector: 2, cache: All, ordering: Weak, scope: Cta }) v3:B64
            6: v0:F32 = Float(Add, F32, FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false }) v10:F32, v11:F32
            7: Exit
        "#]],
    );
}

#[test]
fn carries_are_one_predicate() {
    check(
        "add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, %r6; addc.u32 %r1, 0, 0; sub.cc.u64 %rd1, %rd2, %rd3;
         mad.lo.cc.u32 %r1, %r2, %r3, %r4; madc.hi.u32 %r1, %r2, %r3, %r4;",
        expect![[r#"
            0: v0:B32, v1:Pred = AddCarry { ty: U32, carry_in: false, carry_out: true } v2:B32, v3:B32
            1: v4:B32, v1:Pred = AddCarry { ty: U32, carry_in: true, carry_out: true } v5:B32, v6:B32, v1:Pred
            2: v0:B32 = AddCarry { ty: U32, carry_in: true, carry_out: false } 0x0, 0x0, v1:Pred
            3: v7:B64, v1:Pred = SubBorrow { ty: U64, carry_in: false, carry_out: true } v8:B64, v9:B64
            4: v0:B32, v1:Pred = MadCarry { part: Lo, ty: U32, carry_in: false, carry_out: true } v2:B32, v3:B32, v4:B32
            5: v0:B32 = MadCarry { part: Hi, ty: U32, carry_in: true, carry_out: false } v2:B32, v3:B32, v4:B32, v1:Pred
            6: Exit
        "#]],
    );
}

#[test]
fn constants_are_bits_of_the_type() {
    check(
        "mov.f32 %f1, 0f3F800000; mov.f32 %f1, 1.5; mov.f64 %d1, 0d3FF0000000000000; mov.f64 %d1, -2.0;
         add.s32 %r1, %r2, -1; add.s16 %h1, %h2, -1; mov.u64 %rd1, -1; and.b32 %r1, %r2, ~0xF;
         mov.u32 %r1, (3 + 4) * 2 << 1; mov.u32 %r1, 07 + 0b11; mov.u32 %r1, WARP_SZ; setp.eq.u32 %p1, 5 > 3 ? 1 : 2, %r1;",
        expect![[r#"
            0: v0:F32 = Mov(F32) 0x3f800000
            1: v0:F32 = Mov(F32) 0x3fc00000
            2: v1:F64 = Mov(F64) 0x3ff0000000000000
            3: v1:F64 = Mov(F64) 0xc000000000000000
            4: v2:B32 = Int(Add, S32) v3:B32, 0xffffffff
            5: v4:B16 = Int(Add, S16) v5:B16, 0xffff
            6: v6:B64 = Mov(U64) 0xffffffffffffffff
            7: v2:B32 = Logic(And, B32) v3:B32, 0xfffffff0
            8: v2:B32 = Mov(U32) 0x1c
            9: v2:B32 = Mov(U32) 0xa
            10: v2:B32 = Mov(U32) 0x20
            11: v7:Pred = Setp { cmp: Eq, ty: U32, combine: None, ftz: false } 0x1, v2:B32
            12: Exit
        "#]],
    );
}

#[test]
fn branches_go_to_indices() {
    check(
        "table: .branchtargets one, two;
         start: @!%p1 bra two; brx.idx %r1, table;
         one: { inner: @%p2 bra inner; bra.uni start; }
         two: exit; mov.u32 %r1, 0;",
        expect![[r#"
            0: @!v0:Pred Branch { uniform: false }  to 4
            1: BranchIndexed { table: 0 } v1:B32
            2: @v2:Pred Branch { uniform: false }  to 2
            3: Branch { uniform: true }  to 0
            4: Exit
            5: v1:B32 = Mov(U32) 0x0
            6: Exit
        "#]],
    );
}

#[test]
fn predicates() {
    check(
        "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3; setp.geu.ftz.f32 %p1, %f1, 0f00000000; and.pred %p1, %p2, !%p3;
         not.pred %p1, %p2; mov.pred %p1, 1; selp.f64 %d1, %d2, 0d0000000000000000, %p1;
         vote.sync.ballot.b32 %r1, !%p1, -1; lop3.or.b32 _|%p1, %r1, %r2, %r3, 0x80, %p2;",
        expect![[r#"
            0: v0:Pred, v1:Pred = Setp { cmp: Lt, ty: S32, combine: Some(And), ftz: false } v2:B32, v3:B32, !v4:Pred
            1: v0:Pred = Setp { cmp: Geu, ty: F32, combine: None, ftz: true } v5:F32, 0x0
            2: v0:Pred = PredLogic(And) v1:Pred, !v4:Pred
            3: v0:Pred = PredNot v1:Pred
            4: v0:Pred = PredMov true
            5: v6:F64 = Select(F64) v7:F64, 0x0, v0:Pred
            6: v2:B32 = Vote(Ballot) !v0:Pred, 0xffffffff
            7: v8:B32 = Lop3(128) v2:B32, v3:B32, v9:B32
            8: v0:Pred = Setp { cmp: Ne, ty: B32, combine: Some(Or), ftz: false } v8:B32, 0x0, v1:Pred
            9: Exit
        "#]],
    );
}

#[test]
fn calls_are_expanded() {
    check_module(
        ".func (.param .b32 result) twice(.param .b32 a, .param .align 8 .b8 s[16]) {
           .reg .b32 %r<3>; .reg .pred %p<2>;
           ld.param.b32 %r1, [a]; ld.param.b32 %r2, [s+8]; setp.eq.s32 %p1, %r1, 0;
           @%p1 bra done;
           add.s32 %r1, %r1, %r2; st.param.b32 [result], %r1; ret;
           done: st.param.b32 [result], 0; ret;
         }
         .entry k() {
           .reg .b32 %r<3>; .reg .pred %p<2>;
           { .param .b32 x; .param .align 8 .b8 y[16]; .param .b32 z;
             st.param.b32 [x], %r1; st.param.b32 [y+8], 3;
             @%p1 call.uni (z), twice, (x, y);
             ld.param.b32 %r2, [z]; }
         }",
        expect![[r#"
            0: v0:B32 = Mov(B32) v1:B32
            1: Store(MemoryMode { space: Local, ty: B32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x0, 0x3 offset 8
            2: @!v2:Pred Branch { uniform: false }  to 11
            3: v3:B32 = Mov(B32) v0:B32
            4: v4:B32 = Load(MemoryMode { space: Local, ty: B32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x0 offset 8
            5: v5:Pred = Setp { cmp: Eq, ty: S32, combine: None, ftz: false } v3:B32, 0x0
            6: @v5:Pred Branch { uniform: false }  to 10
            7: v3:B32 = Int(Add, S32) v3:B32, v4:B32
            8: v6:B32 = Mov(B32) v3:B32
            9: Branch { uniform: false }  to 11
            10: v6:B32 = Mov(B32) 0x0
            11: v7:B32 = Mov(B32) v6:B32
            12: Exit
        "#]],
    );
}

#[test]
fn registers_pass_by_value() {
    check_module(
        ".func (.reg .u32 r, .reg .pred q) f(.reg .u32 a) { add.u32 a, a, 1; mov.u32 r, a; setp.eq.u32 q, a, 0; ret; }
         .entry k() { .reg .u32 x, y; .reg .pred p; call (y, p), f, (x); call (y, _), f, (5); }",
        expect![[r#"
            0: v0:U32 = Mov(U32) v1:U32
            1: v0:U32 = Int(Add, U32) v0:U32, 0x1
            2: v2:U32 = Mov(U32) v0:U32
            3: v3:Pred = Setp { cmp: Eq, ty: U32, combine: None, ftz: false } v0:U32, 0x0
            4: v4:U32 = Mov(U32) v2:U32
            5: v5:Pred = PredMov v3:Pred
            6: v6:U32 = Mov(U32) 0x5
            7: v6:U32 = Int(Add, U32) v6:U32, 0x1
            8: v7:U32 = Mov(U32) v6:U32
            9: v8:Pred = Setp { cmp: Eq, ty: U32, combine: None, ftz: false } v6:U32, 0x0
            10: v4:U32 = Mov(U32) v7:U32
            11: Exit
        "#]],
    );
}

#[test]
fn prints_load_their_arguments() {
    let text = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
         .global .align 1 .b8 fmt[13] = {37, 100, 32, 37, 102, 32, 37, 108, 108, 120, 37, 37, 0};
         .entry k() {
           .reg .b32 %r<3>; .reg .b64 %rd<4>; .local .align 8 .b8 depot[24];
           mov.u64 %rd1, depot; cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, fmt; cvta.global.u64 %rd3, %rd2;
           { .param .b64 f; st.param.b64 [f], %rd3; .param .b64 a; st.param.b64 [a], %rd1; .param .b32 r;
             call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }
         }";
    check_module(
        text,
        expect![[r#"
        0: v0:B64 = Mov(U64) 0x0
        1: v0:B64 = Cvta { space: Local, to_generic: true } v0:B64
        2: v1:B64 = Mov(U64) symbol 0+0
        3: v2:B64 = Mov(U64) v1:B64
        4: v3:B64 = Mov(B64) v2:B64
        5: v4:B64 = Mov(B64) v0:B64
        6: v5:B32 = Load(MemoryMode { space: Generic, ty: B32, vector: 1, cache: All, ordering: Weak, scope: Cta }) v4:B64
        7: v6:F64 = Load(MemoryMode { space: Generic, ty: F64, vector: 1, cache: All, ordering: Weak, scope: Cta }) v4:B64 offset 8
        8: v7:B64 = Load(MemoryMode { space: Generic, ty: B64, vector: 1, cache: All, ordering: Weak, scope: Cta }) v4:B64 offset 16
        9: Print { format: 0, from: 0 } v5:B32, v6:F64, v7:B64
        10: v8:B32 = Mov(B32) 0x3
        11: v9:B32 = Mov(B32) v8:B32
        12: Exit
    "#]],
    );
    let formats = &module(text).functions[0].formats;
    expect![[r#"[PrintFormat { text: "%d %f %llx%%", arguments: [B32, F64, B64] }]"#]]
        .assert_eq(&format!("{formats:?}"));
}

#[test]
fn memory_words() {
    check(
        "ld.volatile.shared.u32 %r1, [%r2]; ld.acquire.gpu.global.u32 %r1, [%rd1]; ld.global.cg.L1::no_allocate.L2::128B.f32 %f1, [%rd1];
         st.release.sys.u32 [%rd1], %r1; atom.global.add.f64 %d1, [%rd1+8], %d2; atom.acq_rel.cta.shared.cas.b32 %r1, [%r2], %r3, 5;
         red.global.max.s64 [%rd1], %rd2; atom.exch.b64 _, [%rd1], 1; membar.gl; fence.acq_rel.cta; prefetch.global.L2 [%rd1];",
        expect![[r#"
            0: v0:B32 = Load(MemoryMode { space: Shared, ty: U32, vector: 1, cache: All, ordering: Volatile, scope: Sys }) v1:B32
            1: v0:B32 = Load(MemoryMode { space: Global, ty: U32, vector: 1, cache: All, ordering: Acquire, scope: Gpu }) v2:B64
            2: v3:F32 = Load(MemoryMode { space: Global, ty: F32, vector: 1, cache: Global, ordering: Weak, scope: Cta }) v2:B64
            3: Store(MemoryMode { space: Generic, ty: U32, vector: 1, cache: All, ordering: Release, scope: Sys }) v2:B64, v0:B32
            4: v4:F64 = Atomic { op: Add, mode: MemoryMode { space: Global, ty: F64, vector: 1, cache: All, ordering: Relaxed, scope: Gpu } } v2:B64, v5:F64 offset 8
            5: v0:B32 = Atomic { op: Cas, mode: MemoryMode { space: Shared, ty: B32, vector: 1, cache: All, ordering: AcqRel, scope: Cta } } v1:B32, v6:B32, 0x5
            6: Reduce { op: Max, mode: MemoryMode { space: Global, ty: S64, vector: 1, cache: All, ordering: Relaxed, scope: Gpu } } v2:B64, v7:B64
            7: _ = Atomic { op: Exch, mode: MemoryMode { space: Generic, ty: B64, vector: 1, cache: All, ordering: Relaxed, scope: Gpu } } v2:B64, 0x1
            8: Fence { ordering: SeqCst, scope: Gpu }
            9: Fence { ordering: AcqRel, scope: Cta }
            10: Prefetch(Prefetch { space: Global, to: L2 }) v2:B64
            11: Exit
        "#]],
    );
}

#[test]
fn barriers_and_exchanges() {
    check(
        "bar.sync 0; barrier.sync.aligned 1, 64; bar.arrive 2, 64; bar.red.popc.u32 %r1, 0, !%p1; bar.warp.sync -1;
         shfl.sync.down.b32 %r1|%p1, %r2, 4, 31, -1; shfl.up.b32 %r1, %r2, %r3, 0; match.all.sync.b64 %r1|%p1, %rd1, -1;
         redux.sync.add.s32 %r1, %r2, -1; activemask.b32 %r1; elect.sync _|%p1, -1; nanosleep.u32 100;",
        expect![[r#"
            0: Barrier(Sync) 0x0, 0x0
            1: Barrier(Sync) 0x1, 0x40
            2: Barrier(Arrive) 0x2, 0x40
            3: v0:B32 = Barrier(RedPopc) 0x0, 0x0, !v1:Pred
            4: WarpSync 0xffffffff
            5: v0:B32, v1:Pred = Shfl(Down) v2:B32, 0x4, 0x1f, 0xffffffff
            6: v0:B32 = Shfl(Up) v2:B32, v3:B32, 0x0, 0xffffffff
            7: v0:B32, v1:Pred = Match { ty: B64, all: true } v4:B64, 0xffffffff
            8: v0:B32 = Redux { op: Add, ty: S32 } v2:B32, 0xffffffff
            9: v0:B32 = Activemask
            10: _, v1:Pred = Elect 0xffffffff
            11: Nanosleep 0x64
            12: Exit
        "#]],
    );
}

#[test]
fn halves() {
    check(
        "add.rn.f16 %h1, %h2, %h3; fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4; setp.ltu.f16 %p1, %h1, %h2;
         cvt.rn.f16x2.f32 %r1, %f1, %f2; cvt.f32.bf16 %f1, %h1; ex2.approx.f16 %h1, %h2;",
        expect![[r#"
            0: v0:B16 = Float(Add, F16, FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false }) v1:B16, v2:B16
            1: v3:B32 = Fma(Bf16x2, FloatMode { rounding: Rn, ftz: false, sat: false, relu: true, finite: false }, Signs { product: false, addend: false }) v4:B32, v5:B32, v6:B32
            2: v7:Pred = Setp { cmp: Ltu, ty: F16, combine: None, ftz: false } v0:B16, v1:B16
            3: v3:B32 = Cvt { to: F16x2, from: F32, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v8:F32, v9:F32
            4: v8:F32 = Cvt { to: F32, from: Bf16, mode: FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false } } v0:B16
            5: v0:B16 = FloatUnary(Ex2Approx, F16, FloatMode { rounding: Rn, ftz: false, sat: false, relu: false, finite: false }) v1:B16
            6: Exit
        "#]],
    );
}
