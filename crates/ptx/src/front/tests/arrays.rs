//! Elements of arrays by number. What ptxas 13.5 makes of the same lines for sm_80 is the oracle.

use super::{check_module, parse_module};

use expect_test::expect;

#[test]
fn an_index_counts_scalars() {
    check_module(
        ".global .align 4 .u32 g[16]; .shared .align 8 .v2 .u32 pairs[8]; .shared .align 8 .f64 wide[2][4];
         .entry k(.param .align 4 .b8 p[16]) {
           .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .u32 a[9];
           { .shared .align 2 .u16 a[8]; mov.u32 %r0, a[3]; }
           mov.u64 %rd0, g[3]; mov.u32 %r1, a[5]; ld.shared.u32 %r2, a[8]; ld.shared.u32 %r3, pairs[1];
           mov.u32 %r0, wide[2]; ld.param.u32 %r1, p[4]; ld.global.u32 %r2, g[-1+3];
         }",
        expect![[r#"
            0: v0:B32 = Mov(U32) 0x2a
            1: v1:B64 = Mov(U64) symbol 0+12
            2: v2:B32 = Mov(U32) 0x14
            3: v3:B32 = Load(MemoryMode { space: Shared, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x0 offset 32
            4: v4:B32 = Load(MemoryMode { space: Shared, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x38 offset 4
            5: v0:B32 = Mov(U32) 0x88
            6: v2:B32 = Mov(U32) param 4
            7: v3:B32 = Load(MemoryMode { space: Global, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) symbol 0+0 offset 8
            8: Exit
        "#]],
    );
}

#[test]
fn only_arrays_have_elements() {
    for (declared, named) in [(".shared .u32 x;", "x"), ("", "y"), ("{ .shared .u32 z[4]; }", "z")] {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {{ .reg .b32 %r; {declared} mov.u32 %r, {named}[1]; ret; }}"
        );
        let error = parse_module("test.ptx", &text).unwrap_err().to_string();
        assert!(
            error.contains(&format!("index of what is no array: found `{named}`, expected an array")),
            "{error}"
        );
    }
}
