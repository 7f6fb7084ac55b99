//! Limits of a context that reach its kernels: stack and heap.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use support::*;

const LAUNCH_FAILED: u32 = 719;

/// Values of `CUlimit`.
const STACK: u64 = 0;
const HEAP: u64 = 2;

const LOCAL_BYTES: u64 = 3;

/// `sum` adds the numbers up to n by recursion; `keep` allocates and writes, `look` reads what `keep` wrote.
const TEXT: &str = "\
.version 7.0\n.target sm_70\n.address_size 64\n\
.extern .func (.param .b64 p) malloc(.param .b64 bytes);\n\
.global .align 8 .u64 kept;\n\
.func (.param .b32 r) up_to(.param .b32 n) {\n\
.reg .pred %p; .reg .b32 %r<6>; .param .b32 a; .param .b32 b;\n\
ld.param.u32 %r0, [n]; mov.u32 %r3, 0; setp.eq.u32 %p, %r0, 0; @%p bra done;\n\
sub.u32 %r1, %r0, 1; st.param.b32 [a], %r1; call (b), up_to, (a); ld.param.b32 %r2, [b];\n\
add.u32 %r3, %r2, %r0;\n\
done: st.param.b32 [r], %r3; ret;\n}\n\
.visible .entry sum(.param .u64 out, .param .u32 n) {\n\
.reg .b32 %r<3>; .reg .b64 %rd<2>; .param .b32 a; .param .b32 b;\n\
ld.param.u32 %r0, [n]; ld.param.u64 %rd0, [out]; st.param.b32 [a], %r0; call (b), up_to, (a);\n\
ld.param.b32 %r1, [b]; st.global.u32 [%rd0], %r1; ret;\n}\n\
.visible .entry keep(.param .u64 bytes) {\n\
.reg .pred %p; .reg .b64 %rd<4>; .param .b64 s; .param .b64 p;\n\
ld.param.u64 %rd0, [bytes]; st.param.b64 [s], %rd0; call (p), malloc, (s); ld.param.b64 %rd1, [p];\n\
st.global.u64 [kept], %rd1; setp.eq.u64 %p, %rd1, 0; @%p ret; st.u32 [%rd1], 4711; ret;\n}\n\
.visible .entry look(.param .u64 out) {\n\
.reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<4>;\n\
ld.param.u64 %rd0, [out]; ld.global.u64 %rd1, [kept]; mov.u32 %r0, 0; setp.eq.u64 %p, %rd1, 0;\n\
@!%p ld.u32 %r0, [%rd1]; st.global.u32 [%rd0], %r0; ret;\n}\n";

fn cuda() -> &'static Cuda {
    Cuda::with(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")])
}

fn set(cuda: &Cuda, limit: u64, value: u64) -> u32 {
    call!(cuda, "cuCtxSetLimit", number(limit), number(value))
}

fn get(cuda: &Cuda, limit: u64) -> u64 {
    let mut value = 0_u64;
    assert_eq!(call!(cuda, "cuCtxGetLimit", to(&mut value), number(limit)), SUCCESS);
    value
}

fn kernel(cuda: &Cuda, module: Any, name: &str) -> Any {
    let (mut function, name) = (none(), text(name));
    assert_eq!(call!(cuda, "cuModuleGetFunction", to(&mut function), module, name.as_ptr()), SUCCESS);
    function
}

/// A single test, because limits belong to the shared context and a fault ends it.
#[test]
fn limits_reach_kernels() {
    let cuda = cuda();
    context(cuda);
    let (module, sum) = function(cuda, TEXT, "sum");
    let (keep, look) = (kernel(cuda, module, "keep"), kernel(cuda, module, "look"));
    let out = buffer(cuda, &[7_u32]);

    // The heap limit also applies to a loaded module until its heap is used.
    assert_eq!(get(cuda, HEAP), 8 << 20);
    assert_eq!(set(cuda, HEAP, 64 << 10), SUCCESS);
    let kept = |bytes: u64| {
        assert_eq!(launch(cuda, keep, 1, 1, &[of(&bytes)]), SUCCESS);
        assert_eq!(launch(cuda, look, 1, 1, &[of(&out)]), SUCCESS);
        contents::<u32>(cuda, out, 1)[0]
    };
    assert_eq!(kept(1 << 20), 0, "more than there is");
    assert_eq!(kept(32 << 10), 4711, "what one launch allocates the next one finds");
    assert_eq!(set(cuda, HEAP, 4 << 20), INVALID_VALUE, "it was used");
    assert_eq!(get(cuda, HEAP), 64 << 10);
    let (other, _) = function(cuda, ADD, "add");
    assert_eq!(call!(cuda, "cuModuleUnload", other), SUCCESS);
    assert_eq!(call!(cuda, "cuModuleUnload", module), SUCCESS);
    assert_eq!(set(cuda, HEAP, 4 << 20), SUCCESS, "the heap is gone with its module");
    let (module, sum_again) = function(cuda, TEXT, "sum");
    let (keep, look) = (kernel(cuda, module, "keep"), kernel(cuda, module, "look"));
    let bytes = 1_u64 << 20;
    assert_eq!(launch(cuda, keep, 1, 1, &[of(&bytes)]), SUCCESS);
    assert_eq!(launch(cuda, look, 1, 1, &[of(&out)]), SUCCESS);
    assert_eq!(contents::<u32>(cuda, out, 1), [4711]);

    // The stack limit applies to each launch.
    let n = 1000_u32;
    assert_eq!(launch(cuda, sum, 1, 1, &[of(&out), of(&n)]), INVALID_HANDLE, "unloaded");
    let sum = sum_again;
    let local = || {
        let mut bytes = 0_i32;
        assert_eq!(call!(cuda, "cuFuncGetAttribute", to(&mut bytes), number(LOCAL_BYTES), sum), SUCCESS);
        bytes
    };
    assert_eq!(get(cuda, STACK), 1024);
    let before = local();
    assert_eq!(set(cuda, STACK, 64 << 10), SUCCESS);
    assert_eq!(local(), before - 1024 + (64 << 10));
    assert_eq!(launch(cuda, sum, 1, 1, &[of(&out), of(&n)]), SUCCESS);
    assert_eq!(contents::<u32>(cuda, out, 1), [n * (n + 1) / 2]);
    assert_eq!(set(cuda, STACK, 1024), SUCCESS);
    assert_eq!(local(), before);
    assert_eq!(launch(cuda, sum, 1, 1, &[of(&out), of(&n)]), LAUNCH_FAILED, "too deep for the default");
}
