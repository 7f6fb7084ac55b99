//! How far kernels reach: to the last byte of an allocation, or of its pages. A failed launch ends its context, so every case
//! begins with a new one.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use std::process::Command;

use support::*;

/// Set for the process that is the client.
const CLIENT: &str = "STRATA_TEST_CLIENT";

/// Bytes that are no multiple of anything.
const BYTES: u64 = 1000;

/// Each kernel accesses four bytes at an address.
const TEXT: &str = "\
.version 7.0\n.target sm_80\n.address_size 64\n\
.visible .entry load(.param .u64 at) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n\
ld.param.u64 %rd0, [at]; ld.global.u32 %r0, [%rd0]; ret;\n}\n\
.visible .entry generic(.param .u64 at) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n\
ld.param.u64 %rd0, [at]; ld.u32 %r0, [%rd0]; ret;\n}\n\
.visible .entry store(.param .u64 at) {\n.reg .b64 %rd<2>;\n\
ld.param.u64 %rd0, [at]; st.global.u32 [%rd0], 7; ret;\n}\n\
.visible .entry atomic(.param .u64 at) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n\
ld.param.u64 %rd0, [at]; atom.global.add.u32 %r0, [%rd0], 7; ret;\n}\n\
.visible .entry reduce(.param .u64 at) {\n.reg .b64 %rd<2>;\n\
ld.param.u64 %rd0, [at]; red.global.add.u32 [%rd0], 7; ret;\n}\n\
.visible .entry copy(.param .u64 at) {\n.reg .b64 %rd<2>; .shared .align 4 .b8 tile[4];\n\
ld.param.u64 %rd0, [at]; cp.async.ca.shared.global [tile], [%rd0], 4; cp.async.wait_all; ret;\n}\n";

const KERNELS: [&str; 6] = ["load", "generic", "store", "atomic", "reduce", "copy"];

/// Ways to allocate: each returns the device address of the memory and its size.
type Allocate = (&'static str, fn(&Cuda) -> (u64, u64));

const WAYS: [Allocate; 6] = [
    ("cuMemAlloc", |cuda| {
        let mut at = 0_u64;
        assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut at), number(BYTES)), SUCCESS);
        (at, BYTES)
    }),
    ("cuMemAllocPitch", |cuda| {
        let (mut at, mut pitch) = (0_u64, 0_u64);
        let (width, rows, element) = (number(100), number(3), number(4));
        let status = call!(cuda, "cuMemAllocPitch_v2", to(&mut at), to(&mut pitch), width, rows, element);
        assert_eq!(status, SUCCESS);
        (at, 3 * pitch)
    }),
    ("cuMemAllocAsync", |cuda| {
        let mut at = 0_u64;
        assert_eq!(call!(cuda, "cuMemAllocAsync", to(&mut at), number(BYTES), number(0)), SUCCESS);
        (at, BYTES)
    }),
    ("cuMemAllocManaged", |cuda| {
        let mut at = 0_u64;
        assert_eq!(call!(cuda, "cuMemAllocManaged", to(&mut at), number(BYTES), number(1)), SUCCESS);
        (at, BYTES)
    }),
    ("cuMemHostAlloc", |cuda| {
        let mut at = 0_u64;
        assert_eq!(call!(cuda, "cuMemHostAlloc", to(&mut at), number(BYTES), number(0)), SUCCESS);
        (at, BYTES)
    }),
    ("cuMemHostRegister", |cuda| {
        let memory = Box::leak(vec![0_u8; BYTES as usize].into_boxed_slice());
        let host: Any = memory.as_mut_ptr().cast();
        assert_eq!(call!(cuda, "cuMemHostRegister_v2", host, number(BYTES), number(0)), SUCCESS);
        let mut at = 0_u64;
        assert_eq!(call!(cuda, "cuMemHostGetDevicePointer_v2", to(&mut at), host, number(0)), SUCCESS);
        (at, BYTES)
    }),
];

/// The status of a kernel's access at an offset from the end of a new allocation, in a new context.
fn status(cuda: &Cuda, allocate: fn(&Cuda) -> (u64, u64), kernel: &str, offset: i64) -> u32 {
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxReset_v2", number(0)), SUCCESS);
    context(cuda);
    let (start, bytes) = allocate(cuda);
    let at = (start + bytes).wrapping_add_signed(offset);
    let (_, kernel) = function(cuda, TEXT, kernel);
    launch(cuda, kernel, 1, 1, &[of(&at)])
}

fn client() {
    let cuda = Cuda::with(&[]);
    let is_exact = std::env::var("STRATA_BOUNDS").unwrap() != "page";
    let past = if is_exact { ILLEGAL_ADDRESS } else { SUCCESS };
    for (way, allocate) in WAYS {
        for kernel in KERNELS {
            assert_eq!(status(cuda, allocate, kernel, -4), SUCCESS, "{way}, {kernel}: the last bytes");
            assert_eq!(status(cuda, allocate, kernel, 0), past, "{way}, {kernel}: right after them");
        }
    }
    let before = -4 - BYTES as i64;
    assert_eq!(status(cuda, WAYS[0].1, "load", before), past, "in front of the first allocation");
    let page = 2 << 20;
    assert_eq!(status(cuda, WAYS[0].1, "load", page), ILLEGAL_ADDRESS, "past the page");
}

#[test]
fn kernels_reach_as_far_as_was_asked_for() {
    if std::env::var(CLIENT).is_ok() {
        return client();
    }
    for mode in ["functional", "timing"] {
        for bounds in ["exact", "guard", "page"] {
            let mut client = Command::new(std::env::current_exe().unwrap());
            client.args(["--exact", "kernels_reach_as_far_as_was_asked_for"]).env(CLIENT, "");
            client.env("STRATA_MODE", mode).env("STRATA_BOUNDS", bounds).env("STRATA_LOG", "quiet");
            let ran = client.env("STRATA_SET", "gpu.sms=1").output().unwrap();
            let out = String::from_utf8_lossy(&ran.stdout).into_owned();
            assert!(ran.status.success(), "{mode}, {bounds}: {out}");
        }
    }
}
