//! A kernel failure, in a separate process: every later call reports it until the context is gone.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use support::*;

#[test]
fn a_fault_lasts_until_the_context_is_reset() {
    let cuda = Cuda::with(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")]);
    context(cuda);
    let (_, add) = function(cuda, ADD, "add");
    let (nowhere, n) = (64_u64, 1_u32);
    let arguments = [of(&nowhere), of(&nowhere), of(&nowhere), of(&n)];
    assert_eq!(launch(cuda, add, 1, 32, &arguments), ILLEGAL_ADDRESS);
    let mut address = 0_u64;
    assert_eq!(call!(cuda, "cuCtxSynchronize"), ILLEGAL_ADDRESS);
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut address), number(4)), ILLEGAL_ADDRESS);
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxReset_v2", number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut address), number(4)), DESTROYED);
    context(cuda);
    let (_, add) = function(cuda, ADD, "add");
    let at = buffer(cuda, &[1.0_f32]);
    assert_eq!(launch(cuda, add, 1, 32, &[of(&at), of(&at), of(&at), of(&n)]), SUCCESS);
    assert_eq!(contents::<f32>(cuda, at, 1), [2.0]);
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxRelease_v2", number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxRelease_v2", number(0)), INVALID_CONTEXT);
    assert_eq!(call!(cuda, "cuCtxSetCurrent", none()), SUCCESS);
}
