//! Compares what the library exports, and what `cuGetProcAddress` finds, with `names.tsv`, the names of the vendor's headers.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use std::ffi::CString;

use support::*;

/// Results and flags of a look-up.
const FOUND: u32 = 0;
const TOO_OLD: u32 = 2;
const PER_THREAD: u64 = 2;

type LookUp = unsafe extern "C" fn(*const i8, *mut u64, i32, u64, *mut u32) -> u32;

/// A row of the list.
struct Name {
    symbol: String,
    base: CString,
    since: i32,
    per_thread: bool,
}

fn names() -> Vec<Name> {
    let list = include_str!("../names.tsv").lines().filter(|line| !line.starts_with('#'));
    list.map(|line| {
        let [symbol, base, since, default, _] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("`{line}` does not have five columns")
        };
        Name {
            symbol: symbol.to_owned(),
            base: text(base),
            since: since.parse().unwrap(),
            per_thread: default != "legacy",
        }
    })
    .collect()
}

fn address(cuda: &Cuda, symbol: &str) -> u64 {
    *cuda.function::<unsafe extern "C" fn()>(symbol) as usize as u64
}

fn look_up(cuda: &Cuda, name: &Name, version: i32, flags: u64) -> (u64, u32) {
    let (mut found, mut how) = (u64::MAX, u32::MAX);
    let look_up = cuda.function::<LookUp>("cuGetProcAddress_v2");
    // SAFETY: the driver API's function, and pointers to results.
    let status = unsafe { look_up(name.base.as_ptr().cast(), &mut found, version, flags, &mut how) };
    assert_eq!(status, if how == FOUND { SUCCESS } else { NOT_FOUND }, "{}", name.symbol);
    (found, how)
}

#[test]
fn every_name_of_the_headers_is_exported_and_found_by_its_version() {
    let cuda = Cuda::load();
    let names = names();
    assert!(names.len() > 700, "the list is whole");
    for name in &names {
        let expected = address(&cuda, &name.symbol);
        if name.since == 0 {
            continue;
        }
        let flags = if name.per_thread { PER_THREAD } else { 0 };
        assert_eq!(
            look_up(&cuda, name, name.since, flags),
            (expected, FOUND),
            "{} {}",
            name.symbol,
            name.since
        );
    }
}

#[test]
fn a_name_is_not_found_before_its_first_version() {
    let cuda = Cuda::load();
    let names = names();
    for name in &names {
        let first = names.iter().filter(|other| other.base == name.base && other.since > 0);
        let first = first.map(|other| other.since).min().unwrap();
        assert_eq!(look_up(&cuda, name, first - 1, 0), (0, TOO_OLD), "{}", name.symbol);
    }
}

#[test]
fn old_names_with_an_unchanged_signature_work() {
    let cuda = Cuda::with(&[]);
    context(cuda);
    let mut event = none();
    assert_eq!(call!(cuda, "cuEventCreate", to(&mut event), number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent_ptsz", number(0), number(event as u64), number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuEventDestroy", number(event as u64)), SUCCESS);
    assert_eq!(call!(cuda, "cuEventDestroy_v2", number(event as u64)), INVALID_HANDLE, "it is gone");
    assert_eq!(call!(cuda, "cuGraphicsGLRegisterBuffer", none(), number(0), number(0)), NOT_SUPPORTED);
}
