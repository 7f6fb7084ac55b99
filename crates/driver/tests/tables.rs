//! The tables of `cuGetExportTable`, used as the static CUDA runtimes of 11.8, 12.9 and 13.5 use them.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use std::sync::atomic::{AtomicU64, Ordering};

use support::*;

const RUNTIME: u128 = 0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9;
const HOOKS: u128 = 0xa094_798c_2e74_2e74_93f2_0800_200c_0a66;
const THREAD: u128 = 0x42d8_5a81_23f6_cb47_8298_f6e7_8a3a_ecdc;
const STORAGE: u128 = 0xc693_336e_1121_df11_a8c3_68f3_55d8_9593;
const CHECKS: u128 = 0x263e_8860_7cd2_6143_92f6_bbd5_006d_fa7e;
const INTEGRITY: u128 = 0xd408_2055_bde6_704b_8d34_ba12_3c66_e1f2;
const CONTEXTS: u128 = 0x2131_8c60_9714_3248_8ca6_41ff_7324_c8f2;

type Any5 = unsafe extern "C" fn(u64, u64, u64, u64, u64) -> u32;

/// A table's address.
fn table(cuda: &Cuda, uuid: u128) -> *const u64 {
    let (mut table, uuid) = (none(), uuid.to_be_bytes());
    assert_eq!(call!(cuda, "cuGetExportTable", to(&mut table), of(&uuid)), SUCCESS);
    table.cast()
}

/// Calls a table's function.
fn slot(table: *const u64, place: usize, arguments: [u64; 5]) -> u32 {
    let [a, b, c, d, e] = arguments;
    // SAFETY: the table has a function there, whose arguments fit registers; others are not looked at (System V ABI).
    unsafe { std::mem::transmute::<u64, Any5>(table.add(place).read())(a, b, c, d, e) }
}

fn at<T>(value: &mut T) -> u64 {
    std::ptr::from_mut(value).expose_provenance() as u64
}

/// A container of one PTX text for sm_70, as nvcc lays it out, and a wrapper that points to it.
fn fat_binary(text: &str) -> (Vec<u8>, Box<[u64; 3]>) {
    let mut payload = text.as_bytes().to_vec();
    payload.resize(payload.len().next_multiple_of(8), 0);
    let mut entry = [0_u8; 64];
    entry[0] = 1;
    entry[4] = 64;
    entry[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    entry[28] = 70;
    let mut container = 0x0010_0001_ba55_ed50_u64.to_le_bytes().to_vec();
    container.extend((64 + payload.len() as u64).to_le_bytes());
    container.extend(entry);
    container.extend(payload);
    let wrapper = Box::new([0x1_4662_43b1, container.as_ptr().expose_provenance() as u64, 0]);
    (container, wrapper)
}

static FAREWELLS: AtomicU64 = AtomicU64::new(0);

/// What the storage calls when a context is destroyed: it calls the driver, as the runtime's does.
extern "C" fn farewell(context: u64, key: u64, value: u64) {
    assert_eq!((key, value), (7, 70));
    let mut known = 0_u64;
    let get = slot(table(cuda(), STORAGE), 2, [at(&mut known), context, 7, 0, 0]);
    assert_eq!(get, INVALID_HANDLE, "the value is gone");
    FAREWELLS.fetch_add(1, Ordering::Relaxed);
}

fn cuda() -> &'static Cuda {
    Cuda::with(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")])
}

#[test]
fn a_static_runtime_finds_what_it_needs() {
    let cuda = cuda();
    let (mut context, mut active, mut flags) = (0_u64, 5_i32, 5_u32);
    let runtime = table(cuda, RUNTIME);
    let state = |flags: &mut u32, active: &mut i32| {
        assert_eq!(call!(cuda, "cuDevicePrimaryCtxGetState", number(0), to(flags), to(active)), SUCCESS);
    };
    // The primary context is there, but not to be used before it is retained.
    assert_eq!(slot(runtime, 2, [at(&mut context), 0, 0, 0, 0]), SUCCESS);
    assert_eq!(slot(runtime, 2, [at(&mut context), 1, 0, 0, 0]), 101);
    assert_eq!(slot(runtime, 2, [0; 5]), INVALID_VALUE);
    state(&mut flags, &mut active);
    assert_eq!((flags, active), (0, 0));
    assert_eq!(call!(cuda, "cuCtxSetCurrent", number(context)), SUCCESS);
    let mut memory = 0_u64;
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut memory), number(4)), DESTROYED);
    let mut retained = 0_u64;
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxRetain", to(&mut retained), number(0)), SUCCESS);
    state(&mut flags, &mut active);
    assert_eq!((retained, active), (context, 1));

    // The thread's context, its number, and checks of it.
    let mut found = 0_u64;
    assert_eq!(slot(table(cuda, THREAD), 2, [at(&mut found), 0, 0, 0, 0]), SUCCESS);
    assert_eq!(found, context);
    let (mut number_of, mut id, mut device, mut stands) = (0_u64, 0_u64, 5_i32, 5_u32);
    assert_eq!(slot(table(cuda, CONTEXTS), 4, [context, at(&mut number_of), 0, 0, 0]), SUCCESS);
    assert_eq!(call!(cuda, "cuCtxGetId", number(context), to(&mut id)), SUCCESS);
    assert_eq!(slot(table(cuda, CONTEXTS), 3, [context, at(&mut device), 0, 0, 0]), SUCCESS);
    assert_eq!(slot(table(cuda, CHECKS), 2, [context, at(&mut stands), 0, 0, 0]), SUCCESS);
    assert_eq!((number_of, device, stands), (id, 0, 0));
    assert_eq!(slot(table(cuda, CHECKS), 2, [context ^ 1, at(&mut stands), 0, 0, 0]), INVALID_CONTEXT);
    assert_eq!(slot(table(cuda, CHECKS), 3, [0; 5]), 0);

    // Flags that no tool has set.
    for (place, count) in [(2, 1024), (6, 14)] {
        let (mut start, mut words) = (0_u64, 0_u64);
        slot(table(cuda, HOOKS), place, [at(&mut start), at(&mut words), 0, 0, 0]);
        assert_eq!(words, count);
        // SAFETY: the table says that there are so many words.
        let flags = unsafe {
            std::slice::from_raw_parts(
                std::ptr::with_exposed_provenance::<u32>(start as usize),
                words as usize,
            )
        };
        assert!(flags.iter().all(|flag| *flag == 0));
    }

    // Modules from a fat binary, by each of the three functions.
    let (container, wrapper) = fat_binary(ADD);
    let wrapper = wrapper.as_ptr().expose_provenance() as u64;
    let container = container.as_ptr().expose_provenance() as u64;
    let mut module = 0_u64;
    for (place, arguments) in [
        (1, [at(&mut module), wrapper, 0, 0, 0]),
        (6, [at(&mut module), wrapper, 0, 0, 0]),
        (8, [container, at(&mut module), 0, 0, 0]),
    ] {
        module = 0;
        assert_eq!(slot(runtime, place, arguments), SUCCESS, "function {place}");
        let (mut add, name) = (none(), text("add"));
        assert_eq!(call!(cuda, "cuModuleGetFunction", to(&mut add), number(module), name.as_ptr()), SUCCESS);
        let (a, n) = (buffer(cuda, &[1.0_f32, 3.0]), 2_u64);
        assert_eq!(launch(cuda, add, 1, 32, &[of(&a), of(&a), of(&a), of(&n)]), SUCCESS);
        assert_eq!(contents::<f32>(cuda, a, 2), [2.0, 6.0]);
        assert_eq!(call!(cuda, "cuModuleUnload", number(module)), SUCCESS);
    }
    assert_eq!(slot(runtime, 6, [at(&mut module), wrapper, 1, 0, 0]), NOT_SUPPORTED);
    assert_eq!(slot(runtime, 6, [at(&mut module), 0, 0, 0, 0]), INVALID_VALUE);

    // The storage keeps values until the context is reset, and then calls.
    let storage = table(cuda, STORAGE);
    let mut value = 0_u64;
    assert_eq!(slot(storage, 2, [at(&mut value), context, 7, 0, 0]), INVALID_HANDLE);
    let callback = farewell as *const () as u64;
    assert_eq!(slot(storage, 0, [context, 7, 69, callback, 0]), SUCCESS);
    assert_eq!(slot(storage, 0, [0, 7, 70, callback, 0]), SUCCESS);
    assert_eq!(slot(storage, 0, [context, 8, 80, callback, 0]), SUCCESS);
    assert_eq!(slot(storage, 2, [at(&mut value), 0, 7, 0, 0]), SUCCESS);
    assert_eq!(value, 70);
    assert_eq!(slot(storage, 1, [context, 8, 0, 0, 0]), SUCCESS);
    assert_eq!(slot(storage, 1, [context, 8, 0, 0, 0]), INVALID_HANDLE);
    assert_eq!(slot(storage, 0, [context ^ 1, 7, 70, callback, 0]), INVALID_CONTEXT);
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxReset_v2", number(0)), SUCCESS);
    assert_eq!(FAREWELLS.load(Ordering::Relaxed), 1);
    // The same context as before, and empty.
    state(&mut flags, &mut active);
    assert_eq!(active, 0);
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxRetain", to(&mut retained), number(0)), SUCCESS);
    assert_eq!(retained, context);
    assert_eq!(slot(storage, 2, [at(&mut value), context, 7, 0, 0]), INVALID_HANDLE);
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut memory), number(4)), SUCCESS);
}

#[test]
fn a_driver_answers_for_itself() {
    let integrity = table(cuda(), INTEGRITY);
    let check = |version: u64, seconds: u64| {
        let mut answer = [0_u64; 2];
        assert_eq!(slot(integrity, 1, [version, seconds, at(&mut answer), 0, 0]), SUCCESS);
        answer
    };
    assert_eq!(check(13050, 1), check(11080, 2));
    let first = check(13052, 1);
    assert_ne!(first, check(13052, 2));
    assert_eq!(check(13052, 1), first, "an answer does not depend on those before");
    assert_eq!(slot(integrity, 1, [13052, 1, 0, 0, 0]), INVALID_VALUE);
}

#[test]
fn what_is_not_known_is_refused() {
    let cuda = cuda();
    let mut something = 0_u64;
    let (mut table_of, uuid) = (to(&mut something), [0_u8; 16]);
    assert_eq!(call!(cuda, "cuGetExportTable", to(&mut table_of), of(&uuid)), NOT_FOUND);
    assert!(table_of.is_null());
    assert_eq!(call!(cuda, "cuGetExportTable", to(&mut table_of), none()), INVALID_VALUE);
    assert_eq!(call!(cuda, "cuGetExportTable", none(), of(&uuid)), INVALID_VALUE);
    for (uuid, slots, known) in [
        (RUNTIME, 13, &[1, 2, 6, 7, 8, 12][..]),
        (HOOKS, 7, &[2, 6]),
        (THREAD, 4, &[2]),
        (CHECKS, 4, &[2, 3]),
        (INTEGRITY, 3, &[1]),
        (CONTEXTS, 95, &[3, 4]),
    ] {
        let table = table(cuda, uuid);
        // SAFETY: the size is at the start.
        assert_eq!(unsafe { table.read() }, 8 * slots as u64, "{uuid:x}");
        for place in (1..slots).filter(|place| !known.contains(place)) {
            assert_eq!(slot(table, place, [0; 5]), NOT_SUPPORTED, "{uuid:x} {place}");
        }
    }
}
