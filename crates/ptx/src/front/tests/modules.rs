//! What a module declares around its kernels, and what is refused of it.

use super::*;

#[test]
fn declared_outside_and_defined_here() {
    check_module(
        ".extern .global .b8 x[]; .global .b32 x = 5; .extern .shared .b8 d[];
         .entry k() { .reg .b32 r; .extern .shared .b8 d[]; .shared .b8 s[3]; ld.global.u32 r, [x]; st.shared.b32 [d], r; }",
        expect![[r#"
            0: v0:B32 = Load(MemoryMode { space: Global, ty: U32, vector: 1, cache: All, ordering: Weak, scope: Cta }) symbol 0+0
            1: Store(MemoryMode { space: Shared, ty: B32, vector: 1, cache: All, ordering: Weak, scope: Cta }) 0x10, v0:B32
            2: Exit
        "#]],
    );
}

#[test]
fn initial_values() {
    let module = module(
        ".global .u16 grid[2][3] = {{1, 2}, {4, 5, 6}}; .global .v2 .f32 pair[2] = {{1.0, 0f40000000}, {3.0}};
         .const .u64 pointers[3] = {grid, generic(grid)+4, 7}; .global .s8 text[] = {104, -1, 0};
         .global .align 8 .b8 split[10] = {1, 0, 0, 0, 0, 0, 0, 0};
         .global .align 8 .b8 bytes[8] = {0xff(grid), 0xff00(grid), 0xff0000(grid), 0xff000000(grid), 0xff00000000(grid),
           0xff0000000000(grid), 0xff000000000000(grid), 0xff00000000000000(grid)};
         .entry k() { ret; }",
    );
    let text: String = module.variables.iter().map(|variable| format!("{variable:?}\n")).collect();
    expect![[r#"
        Variable { name: "grid", constant: false, opaque: None, align: 2, bytes: 12, init: [1, 0, 2, 0, 0, 0, 4, 0, 5, 0, 6, 0], relocations: [], heap: false }
        Variable { name: "pair", constant: false, opaque: None, align: 8, bytes: 16, init: [0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64], relocations: [], heap: false }
        Variable { name: "pointers", constant: true, opaque: None, align: 8, bytes: 24, init: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0], relocations: [Relocation { at: 0, symbol: 0, addend: 0 }, Relocation { at: 8, symbol: 0, addend: 4 }], heap: false }
        Variable { name: "text", constant: false, opaque: None, align: 1, bytes: 3, init: [104, 255, 0], relocations: [], heap: false }
        Variable { name: "split", constant: false, opaque: None, align: 8, bytes: 10, init: [1, 0, 0, 0, 0, 0, 0, 0], relocations: [], heap: false }
        Variable { name: "bytes", constant: false, opaque: None, align: 8, bytes: 8, init: [0, 0, 0, 0, 0, 0, 0, 0], relocations: [Relocation { at: 0, symbol: 0, addend: 0 }], heap: false }
    "#]].assert_eq(&text);
}

#[test]
fn launch_bounds_and_layout() {
    let module = module(
        ".entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b, .param .align 16 .b8 c[5])
           .maxntid 16, 8 .minnctapersm 2 .maxnreg 40 .pragma \"nounroll\";
         { .shared .b8 s; .shared .align 8 .b64 t; .local .b32 l; ret; }",
    );
    let function = &module.functions[0];
    let text = format!(
        "{:?}\n{:#?}\nshared {} local {}\n",
        function.launch_bounds, function.params, function.shared_bytes, function.local_bytes
    );
    expect![[r#"
        LaunchBounds { max_threads: Some(128), required: None, min_ctas: Some(2), max_registers: Some(40), cluster: None, max_cluster: None, explicit_cluster: false }
        [
            Param {
                name: "a",
                ty: U8,
                offset: 0,
                bytes: 1,
                align: 1,
            },
            Param {
                name: "b",
                ty: U64,
                offset: 8,
                bytes: 8,
                align: 8,
            },
            Param {
                name: "c",
                ty: B8,
                offset: 16,
                bytes: 5,
                align: 16,
            },
        ]
        shared 16 local 4
    "#]]
    .assert_eq(&text);
}

#[test]
fn what_is_parsed_and_read_over() {
    module(
        "// comment
         .file 1 \"a.cu\", 123, 456
         .global .texref tex; .global .attribute(.managed) .u32 m; .weak .global .u32 w; .common .global .u32 z;
         .extern .func (.param .b64 r) malloc(.param .b64 n) .noreturn;
         .func unused(); .alias other, unused;
         .visible .func unused() { .reg .f32 %f<9>; tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex, {%f5,%f6}]; ret; }
         .section .debug_str { info: .b8 0, 1, 2 .b32 info+4 .b64 .debug_str }
         .entry k() {
           .loc 1 5 3, function_name info + 8, inlined_at 1 9 2
           .pragma \"used_bytes_mask 0xff\"; /* a
           comment */ proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;
           ;
           ret; }",
    );
}

#[test]
fn only_kernels_asked_for_are_lowered() {
    let text = ".version 8.0 .target sm_80 .entry good() { ret; } .entry bad() { tcgen05.whatever [x]; }";
    let parsed = parse_module("test.ptx", text).expect("both kernels are PTX");
    let lowered = lower(&parsed, Some(&["good"])).expect("the good kernel has nothing unsupported");
    assert_eq!(lowered.functions.len(), 1);
    let refused = lower(&parsed, Some(&["bad"])).expect_err("the bad kernel is refused");
    assert!(refused.only_unsupported());
    expect!["test.ptx:1:66: unsupported: instruction: found `tcgen05.whatever`"]
        .assert_eq(&refused.to_string());
    let missing = lower(&parsed, Some(&["none"])).expect_err("no such kernel");
    expect!["test.ptx:1:1: no such kernel: found `none`, expected `good`, `bad`"]
        .assert_eq(&missing.to_string());
}

/// Names of PTX 9's special registers that have no value here, and what belongs to clusters: refused as not executed, so that
/// a driver loads the module for the sake of its other kernels.
#[test]
fn what_is_not_modelled_is_no_mistake_of_the_text() {
    let refused = |code: &str| {
        let text = format!(
            ".version 8.6 .target sm_100 .entry good() {{ ret; }}\n.entry bad() {{ .reg .pred %p<2>; .reg .b32 %r<3>; \
             .reg .b64 %rd<3>; .reg .f32 %f<9>;\n{code}; ret; }}"
        );
        let parsed = parse_module("test.ptx", &text).unwrap_or_else(|error| panic!("{code}: {error}"));
        lower(&parsed, Some(&["good"])).unwrap_or_else(|error| panic!("{code}: {error}"));
        match lower(&parsed, Some(&["bad"])) {
            Err(refused) if refused.only_unsupported() => refused.to_string(),
            Err(refused) => format!("not as unsupported: {refused}"),
            Ok(_) => "accepted".to_string(),
        }
    };
    let mut registers: Vec<String> = (0..8).flat_map(|n| [format!("%pm{n}"), format!("%pm{n}_64")]).collect();
    registers.extend(["begin", "end", "cap", "0", "1"].map(|which| format!("%reserved_smem_offset_{which}")));
    for register in &registers {
        assert_eq!(
            refused(&format!("mov.u32 %r1, {register}")),
            format!("test.ptx:3:14: unsupported: special register: found `{register}`")
        );
    }
    let refused_ones = [
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1, %r1, %r1}], [%r2], {%r1}",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16, %r2",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
        "st.async.release.global.u32 [%rd1], %r2",
        "st.bulk.shared::cta [%rd1], 16, 0",
        "multimem.ld_reduce.global.add.f32 %f1, [%rd1]",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, 1, 1, 1, 0, 0",
        "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 2",
        "tcgen05.wait::ld.sync.aligned",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rd1",
        "discard.global.L2 [%rd1], 128",
        "brkpt",
    ];
    let wrong: Vec<String> = refused_ones
        .iter()
        .map(|code| (code, refused(code)))
        .filter(|(_, verdict)| !(verdict.starts_with("test.ptx:3:") && verdict.contains(": unsupported: ")))
        .map(|(code, verdict)| format!("{code}: {verdict}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
