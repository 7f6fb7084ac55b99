//! `mov.indirect`: who may write it, what it becomes, where its array lies.

use strata_ptx::back::{self, BackError, Options, RegisterAllocation};
use strata_ptx::front::{lower, parse_module};
use strata_ptx::isa::{Dst, Op, Reg, Src};
use strata_ptx::program::Kernel;

/// A kernel that moves through an array `%a` of eight registers.
fn text(target: &str, body: &str) -> String {
    format!(
        ".version 7.8\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>;\nld.param.u64 %rd0, [out];\n{body}\nret;\n}}\n"
    )
}

const ARRAY: &str = ".reg .b32 %a[8];\nmov.u32 %r0, %tid.x;\n";
const HAS: &str = "sm_86, indirect_mov";

fn compiled(target: &str, body: &str, indirect_mov: bool) -> Result<Kernel, String> {
    compiled_with(target, body, Options { indirect_mov, ..Options::default() })
}

fn compiled_with(target: &str, body: &str, options: Options) -> Result<Kernel, String> {
    let module = parse_module("test.ptx", &text(target, body)).map_err(|error| error.to_string())?;
    let lowered = lower(&module, None).map_err(|error| error.to_string())?;
    back::compile(&lowered.functions[0], &options).map_err(|error: BackError| error.to_string())
}

#[test]
fn the_target_and_the_machine_must_have_it() {
    let body = format!(
        "{ARRAY}mov.indirect.b32 %a[%r0], 5;\nmov.indirect.b32 %r1, %a[%r0];\nst.global.u32 [%rd0], %r1;"
    );
    compiled(HAS, &body, true).unwrap();
    let refused = compiled("sm_86", &body, true).unwrap_err();
    assert!(
        refused.contains("array of registers: expected `;`, or `indirect_mov` in `.target`"),
        "{refused}"
    );
    let instruction = compiled("sm_86", "mov.indirect.b32 %r1, %r0;", true).unwrap_err();
    assert!(
        instruction.contains("found `mov.indirect.b32`, expected `indirect_mov` in `.target`"),
        "{instruction}"
    );
    let refused = compiled(HAS, &body, false).unwrap_err();
    assert_eq!(
        refused,
        "line 9: `mov.indirect`: the machine does not have it; expected one with `sm.indirect_mov`"
    );
}

#[test]
fn what_is_no_array_or_no_element_is_refused() {
    let refused = |body: &str, why: &str| {
        let found = compiled(HAS, &format!("{ARRAY}{body}"), true).unwrap_err();
        assert!(found.contains(why), "{body}\n{found}");
    };
    refused(".reg .b32 %z[0];", "array of too few or too many registers: found 0, expected 1 to 128");
    refused(".reg .b32 %z[129];", "array of too few or too many registers: found 129, expected 1 to 128");
    refused(".reg .b64 %z[4];", "malformed array of registers: expected one dimension of `.b32`");
    refused(".reg .b32 %z[2][2];", "malformed array of registers");
    refused("mov.indirect.b32 %r1, %a[8];", "no such register of the array: found 8, expected 0 to 7");
    refused("mov.indirect.b32 %r1, %r2[%r0];", "found `%r2`, expected an array of registers");
    refused("mov.indirect.b32 %r1, %r2;", "expected `array[index]` as one of the operands");
    refused("mov.indirect.b32 %a[%r0], %a[%r0];", "operand of the wrong kind: found `%a[%r0]`");
    refused("mov.indirect.b64 %rd1, %a[%r0];", "b64");
    refused("mov.indirect.b32 %rd1, %a[%r0];", "`.b64` register `%rd1`");
    refused("mov.b32 %r1, %a;", "`.b32[]` register `%a`");
    refused("add.u32 %r1, %a[%r0], 1;", "operand of the wrong kind");
}

#[test]
fn an_array_lies_side_by_side_and_every_move_waits_for_all_of_it() {
    let body = format!(
        "{ARRAY}mov.indirect.b32 %a[%r0], %r0;\nadd.u32 %r2, %r0, 1;\nmov.indirect.b32 %r1, %a[%r2];\n\
         st.global.u32 [%rd0], %r1;"
    );
    let kernel = compiled(HAS, &body, true).unwrap();
    let find = |read: bool| {
        let is =
            |op: &Op| matches!((op, read), (Op::MovFromArray { .. }, true) | (Op::MovToArray { .. }, false));
        kernel.code.iter().find(|instruction| is(&instruction.op)).expect("the move is there")
    };
    let (to, from) = (find(false), find(true));
    let (Dst::Reg(first), Src::Reg(same)) = (to.dst[0], from.src[1]) else { panic!("arrays have places") };
    assert_eq!(first, same);
    assert_eq!(first.0 % 8, 0);
    for register in (first.0..first.0 + 8).map(Reg) {
        assert!(to.write_set.contains(register) && from.read_set.contains(register), "{register:?}");
    }
    // A write collects index and value; a read its index, and behind it what that picks.
    assert_eq!((to.reads.as_slice().len(), from.reads.as_slice().len(), from.row_of[1]), (1, 1, 1));
    assert!(to.writes.as_slice().is_empty());
}

#[test]
fn a_known_number_makes_an_ordinary_move() {
    let body = format!(
        "{ARRAY}mov.indirect.b32 %a[3], %r0;\nmov.u32 %r2, 3;\nmov.indirect.b32 %r1, %a[%r2];\n\
         st.global.u32 [%rd0], %r1;"
    );
    let kernel = compiled(HAS, &body, true).unwrap();
    assert!(kernel.code.iter().all(|i| !matches!(i.op, Op::MovFromArray { .. } | Op::MovToArray { .. })));
    // A parameter is known to the launch only: it goes through a register.
    let body = format!(
        "{ARRAY}mov.indirect.b32 %a[3], %r0;\nld.param.u32 %r2, [n];\nmov.indirect.b32 %r1, %a[%r2];\n\
         st.global.u32 [%rd0], %r1;"
    );
    let kernel = compiled(HAS, &body, true).unwrap();
    let from = kernel.code.iter().find(|i| matches!(i.op, Op::MovFromArray { .. })).unwrap();
    assert!(matches!(from.src[0], Src::Reg(_)));
}

/// Twelve values that live beside an array of five.
fn crowded() -> String {
    let mut body = String::from(".reg .b32 %z[5];\n.reg .b64 %wide;\nmov.u32 %r0, %tid.x;\n");
    let mut all = String::new();
    for n in 1..=12 {
        body += &format!("ld.global.u32 %r{n}, [%rd0+{}];\n", 4 * n);
        all += &format!("xor.b32 %r13, %r13, %r{n};\n");
    }
    body + "mul.wide.u32 %wide, %r0, 4;\nmov.indirect.b32 %z[%r0], %r1;\nmov.indirect.b32 %r13, %z[%r2];\n"
        + &all
        + "add.u64 %rd1, %rd0, %wide;\nst.global.u32 [%rd1], %r13;"
}

#[test]
fn what_lives_beside_an_array_makes_room_for_it() {
    // The back end checks its places itself, as long as debug assertions are on.
    for (max_registers, spills) in [(63, false), (18, true)] {
        let options = Options { indirect_mov: true, max_registers, ..Options::default() };
        let kernel = compiled_with(HAS, &crowded(), options).unwrap();
        assert_eq!(kernel.spill_bytes > 0, spills, "{max_registers}: {} bytes", kernel.spill_bytes);
        assert!(kernel.registers <= max_registers);
    }
    let allocation = RegisterAllocation::Separate;
    let options = Options { indirect_mov: true, allocation, ..Options::default() };
    let kernel = compiled_with(HAS, &crowded(), options).unwrap();
    assert!(!kernel.reuses_registers);
    let two = ".reg .b32 %z[128]; .reg .b32 %y[128];\nmov.u32 %r0, %tid.x;\nmov.indirect.b32 %z[%r0], 1;\n\
               mov.indirect.b32 %y[%r0], 2;\nmov.indirect.b32 %r1, %z[%r0];\nmov.indirect.b32 %r2, %y[%r0];\n\
               st.global.v2.u32 [%rd0], {%r1, %r2};";
    let refused = compiled(HAS, two, true).unwrap_err();
    assert!(refused.contains("more than 255 registers are needed at once"), "{refused}");
}
