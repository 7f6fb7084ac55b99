//! Calls that clients make, on the reference executor.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use std::ffi::{CStr, c_char};

use support::*;

fn cuda() -> &'static Cuda {
    Cuda::with(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")])
}

fn ramps(n: usize) -> (Vec<f32>, Vec<f32>) {
    ((0..n).map(|i| i as f32).collect(), (0..n).map(|i| 1000.0 + 2.0 * i as f32).collect())
}

#[test]
fn arrays_are_added() {
    let cuda = cuda();
    context(cuda);
    let (module, add) = function(cuda, ADD, "add");
    let n = 1000_u32;
    let (a, b) = ramps(n as usize);
    let (a_at, b_at, out_at) =
        (buffer(cuda, &a), buffer(cuda, &b), buffer(cuda, &vec![-1.0_f32; n as usize + 1]));
    let arguments = [of(&out_at), of(&a_at), of(&b_at), of(&n)];
    assert_eq!(launch(cuda, add, n.div_ceil(128), 128, &arguments), SUCCESS);
    assert_eq!(call!(cuda, "cuCtxSynchronize"), SUCCESS);
    let mut expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    expected.push(-1.0);
    assert_eq!(contents::<f32>(cuda, out_at, n as usize + 1), expected);
    for address in [a_at, b_at, out_at] {
        assert_eq!(call!(cuda, "cuMemFree_v2", number(address)), SUCCESS);
        assert_eq!(call!(cuda, "cuMemFree_v2", number(address)), INVALID_VALUE, "freed twice");
    }
    assert_eq!(call!(cuda, "cuModuleUnload", module), SUCCESS);
    assert_eq!(launch(cuda, add, 1, 1, &arguments), INVALID_HANDLE, "its module is gone");
}

#[test]
fn arguments_may_come_in_one_piece() {
    let cuda = cuda();
    context(cuda);
    let (_, add) = function(cuda, ADD, "add");
    let (a, b) = ramps(32);
    let (a, b, out) = (buffer(cuda, &a), buffer(cuda, &b), buffer(cuda, &[0.0_f32; 32]));
    let mut piece: Vec<u8> = [out, a, b].iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
    piece.extend(32_u32.to_le_bytes());
    let launch = |piece: &[u8], bytes: usize, keys: [u64; 2]| {
        let one = number(1);
        let extra = [number(keys[0]), piece.as_ptr() as Any, number(keys[1]), of(&bytes), number(0)];
        call!(
            cuda,
            "cuLaunchKernel",
            add,
            one,
            one,
            one,
            number(32),
            one,
            one,
            number(0),
            number(0),
            number(0),
            extra.as_ptr()
        )
    };
    assert_eq!(launch(&piece, 27, [1, 2]), INVALID_VALUE, "a byte is missing");
    assert_eq!(launch(&piece, 28, [1, 3]), INVALID_VALUE, "a key that means nothing");
    assert_eq!(launch(&piece, 28, [1, 2]), SUCCESS);
    assert_eq!(contents::<f32>(cuda, out, 32)[31], 31.0 + 1062.0);
}

/// Name of a function that every module here has.
const KNOWN: &CStr = c"add";

#[test]
fn handles_that_are_none_are_refused() {
    let cuda = cuda();
    let own = context(cuda);
    let mut place = none();
    let small = number(1);
    let unaligned = number(0xdead_beef);
    let beyond = number(u64::MAX);
    let of_the_host = of(&0_u64);
    for handle in [none(), small, unaligned, beyond, own, of_the_host] {
        assert_eq!(launch(cuda, handle, 1, 1, &[]), INVALID_HANDLE, "{handle:?}");
        let known = KNOWN.as_ptr();
        let calls = [
            call!(cuda, "cuModuleGetFunction", to(&mut place), handle, known),
            call!(cuda, "cuModuleUnload", handle),
            call!(cuda, "cuLibraryGetKernel", to(&mut place), handle, known),
            call!(cuda, "cuLibraryUnload", handle),
            call!(cuda, "cuKernelGetFunction", to(&mut place), handle),
            call!(cuda, "cuLinkDestroy", handle),
            call!(cuda, "cuEventRecord", handle, number(0)),
            call!(cuda, "cuEventDestroy_v2", handle),
            call!(cuda, "cuFuncGetAttribute", to(&mut place), number(0), handle),
            call!(cuda, "cuStreamDestroy_v2", handle),
        ];
        assert_eq!(calls, [INVALID_HANDLE; 10], "{handle:?}");
        assert_eq!(call!(cuda, "cuMemPoolDestroy", handle), INVALID_VALUE, "{handle:?}");
    }
}

#[test]
fn only_a_context_is_one() {
    let cuda = cuda();
    context(cuda);
    for handle in [none(), number(1), number(u64::MAX), of(&0_u64)] {
        assert_eq!(call!(cuda, "cuCtxPushCurrent_v2", handle), INVALID_CONTEXT, "{handle:?}");
        assert_eq!(call!(cuda, "cuCtxDestroy_v2", handle), INVALID_CONTEXT, "{handle:?}");
    }
}

#[test]
fn the_names_of_the_default_stream_are_the_only_small_handles() {
    let cuda = cuda();
    context(cuda);
    for name in 0..=2 {
        assert_eq!(call!(cuda, "cuStreamSynchronize", number(name)), SUCCESS, "{name}");
    }
    for handle in [number(3), number(u64::MAX), of(&0_u64)] {
        assert_eq!(call!(cuda, "cuStreamSynchronize", handle), INVALID_HANDLE, "{handle:?}");
    }
}

#[test]
fn modules_are_asked_for_what_they_have() {
    let cuda = cuda();
    context(cuda);
    let (module, add) = function(cuda, ADD, "add");
    let mut place = none();
    let known = KNOWN.as_ptr();
    assert_eq!(call!(cuda, "cuModuleGetFunction", none(), module, known), INVALID_VALUE, "no place");
    assert_eq!(call!(cuda, "cuModuleGetFunction", to(&mut place), module, none()), INVALID_VALUE, "no name");
    assert_eq!(call!(cuda, "cuModuleGetFunction", to(&mut place), module, text("sub").as_ptr()), NOT_FOUND);
    assert_eq!(call!(cuda, "cuModuleLoadData", to(&mut place), none()), INVALID_VALUE, "no image");
    assert_eq!(call!(cuda, "cuModuleLoadData", to(&mut place), c"\x7fELF".as_ptr()), NO_BINARY);
    assert_eq!(launch(cuda, add, 1, 1, &[none(); 4]), INVALID_VALUE, "an argument's place is null");
}

#[test]
fn memory_has_a_size_and_a_place() {
    let cuda = cuda();
    context(cuda);
    let mut place = none();
    assert_eq!(call!(cuda, "cuMemAlloc_v2", none(), number(4)), INVALID_VALUE, "no place");
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut place), number(0)), INVALID_VALUE, "no bytes");
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut place), number(u64::MAX)), OUT_OF_MEMORY);
    let bytes = 16;
    let words = buffer(cuda, &[0_u32; 4]);
    assert_eq!(call!(cuda, "cuMemFree_v2", number(words + 1)), INVALID_VALUE, "not a buffer's beginning");
    let copy = |to, from, bytes| call!(cuda, "cuMemcpyHtoD_v2", number(to), from, number(bytes));
    assert_eq!(copy(0, of(&0_u64), 8), INVALID_VALUE, "to nowhere");
    assert_eq!(copy(words, none(), 4), INVALID_VALUE, "from nowhere");
    assert_eq!(copy(words, of(&[0_u8; 20]), bytes + 1), INVALID_VALUE, "a byte beyond the end");
    let host = of(&0_u64);
    assert_eq!(call!(cuda, "cuMemcpyDtoH_v2", to(&mut place), host, number(8)), INVALID_VALUE, "of the host");
    let unaligned = number(words + 2);
    assert_eq!(call!(cuda, "cuMemsetD32_v2", unaligned, number(0), number(1)), INVALID_VALUE);
}

#[test]
fn there_is_one_device() {
    let cuda = cuda();
    context(cuda);
    let mut place = none();
    assert_eq!(call!(cuda, "cuDeviceGet", to(&mut place), number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuDeviceGet", to(&mut place), number(1)), INVALID_DEVICE);
    assert_eq!(call!(cuda, "cuStreamBatchMemOp_v2"), NOT_SUPPORTED);
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let cuda = cuda();
    context(cuda);
    let (_, add) = function(cuda, ADD, "add");
    let values = [0_u64; 4];
    let arguments = [of(&values[0]); 4];
    assert_eq!(launch(cuda, add, 1, 1025, &arguments), INVALID_VALUE);
    assert_eq!(launch(cuda, add, 0, 32, &arguments), INVALID_VALUE);
    assert_eq!(launch(cuda, add, 1, 0, &arguments), INVALID_VALUE);
    let one = number(1);
    let shared = call!(
        cuda,
        "cuLaunchKernel",
        add,
        one,
        one,
        one,
        one,
        one,
        one,
        number(1 << 20),
        number(0),
        arguments.as_ptr(),
        number(0)
    );
    assert_eq!(shared, OUT_OF_RESOURCES);
    assert_eq!(launch(cuda, add, 1, 32, &arguments), SUCCESS, "n is 0: nothing is touched");
}

#[test]
fn what_is_wrong_with_a_text_is_in_the_clients_log() {
    let cuda = cuda();
    context(cuda);
    let broken = text(&ADD.replace("add.f32", "add.f99"));
    let mut log = [0xff_u8; 512];
    let options = [5_u32, 6];
    let mut values = [log.as_mut_ptr() as Any, number(512)];
    let mut module = none();
    let status = call!(
        cuda,
        "cuModuleLoadDataEx",
        to(&mut module),
        broken.as_ptr(),
        number(2),
        options.as_ptr(),
        values.as_mut_ptr()
    );
    assert_eq!(status, INVALID_PTX);
    let written = values[1] as usize;
    let said = std::str::from_utf8(&log[..written]).unwrap();
    assert!(said.contains(":11:") && said.contains("f99"), "{said}");
    assert_eq!(log[written], 0);
    // A log that does not fit is truncated and never overruns its buffer.
    let mut short = [0xff_u8; 12];
    let mut values = [short.as_mut_ptr() as Any, number(8)];
    let status = call!(
        cuda,
        "cuModuleLoadDataEx",
        to(&mut module),
        broken.as_ptr(),
        number(2),
        options.as_ptr(),
        values.as_mut_ptr()
    );
    assert_eq!((status, &short[7..]), (INVALID_PTX, &[0, 0xff, 0xff, 0xff, 0xff][..]));
    assert_eq!(call!(cuda, "cuModuleLoadData", to(&mut module), text("no PTX").as_ptr()), INVALID_PTX);
}

#[test]
fn contexts_are_a_stack_of_each_thread() {
    let cuda = cuda();
    std::thread::spawn(move || {
        let current = || {
            let mut context = number(1);
            assert_eq!(call!(cuda, "cuCtxGetCurrent", to(&mut context)), SUCCESS);
            context
        };
        let mut address = 0_u64;
        assert!(current().is_null(), "a new thread has none");
        assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut address), number(4)), INVALID_CONTEXT);
        assert_eq!(call!(cuda, "cuCtxPopCurrent_v2", none()), INVALID_CONTEXT);
        let (mut a, mut b, mut popped) = (none(), none(), none());
        assert_eq!(call!(cuda, "cuCtxCreate_v2", to(&mut a), number(0), number(0)), SUCCESS);
        assert_eq!(call!(cuda, "cuCtxCreate_v2", to(&mut b), number(0), number(0)), SUCCESS);
        assert_eq!(current(), b);
        assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut address), number(4)), SUCCESS);
        assert_eq!(call!(cuda, "cuCtxPopCurrent_v2", to(&mut popped)), SUCCESS);
        assert_eq!((popped, current()), (b, a));
        assert_eq!(call!(cuda, "cuCtxPushCurrent_v2", a), SUCCESS, "twice on the stack");
        assert_eq!(call!(cuda, "cuCtxDestroy_v2", b), SUCCESS);
        assert_eq!(call!(cuda, "cuMemFree_v2", number(address)), INVALID_VALUE, "it went with its context");
        assert_eq!(call!(cuda, "cuCtxDestroy_v2", a), SUCCESS);
        assert_eq!(current(), a, "the copy below is still there, but dead");
        assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut address), number(4)), DESTROYED);
        assert_eq!(call!(cuda, "cuCtxSetCurrent", none()), SUCCESS);
        assert!(current().is_null());
    })
    .join()
    .unwrap();
}

#[test]
fn functions_are_found_by_name_and_version() {
    let cuda = cuda();
    let find = |name: &str, version: u64| {
        let (mut function, mut why) = (number(1), 9_u32);
        let name = text(name);
        let status = call!(
            cuda,
            "cuGetProcAddress_v2",
            name.as_ptr(),
            to(&mut function),
            number(version),
            number(0),
            to(&mut why)
        );
        (status, function as usize, why)
    };
    let address = |name: &str| *cuda.function::<*const u8>(name) as usize;
    assert_eq!(find("cuMemAlloc", 12000), (SUCCESS, address("cuMemAlloc_v2"), 0));
    assert_eq!(find("cuCtxCreate", 3020), (SUCCESS, address("cuCtxCreate_v2"), 0));
    assert_eq!(find("cuCtxCreate", 12000), (SUCCESS, address("cuCtxCreate_v3"), 0));
    assert_eq!(find("cuCtxCreate", 13000), (SUCCESS, address("cuCtxCreate_v4"), 0));
    assert_eq!(find("cuLibraryLoadData", 11000), (NOT_FOUND, 0, 2));
    assert_eq!(find("cuIpcGetMemHandle", 13000), (SUCCESS, address("cuIpcGetMemHandle"), 0), "not supported");
    assert_eq!(find("cuNothing", 13000), (NOT_FOUND, 0, 1));
    assert_eq!(find("", 13000), (NOT_FOUND, 0, 1));
}

#[test]
fn a_library_is_linked_loaded_and_launched() {
    let cuda = cuda();
    context(cuda);
    let (mut link, mut image, mut bytes) = (none(), none(), 0_usize);
    let nothing = number(0);
    assert_eq!(call!(cuda, "cuLinkCreate_v2", nothing, nothing, nothing, to(&mut link)), SUCCESS);
    let add = |link: Any, kind: u64| {
        let (data, name) = (text(ADD), text("add.ptx"));
        call!(
            cuda,
            "cuLinkAddData_v2",
            link,
            number(kind),
            data.as_ptr(),
            number(ADD.len() as u64),
            name.as_ptr(),
            nothing,
            nothing,
            nothing
        )
    };
    assert_eq!(add(link, 0), NOT_SUPPORTED, "machine code");
    assert_eq!(add(link, 1), SUCCESS);
    assert_eq!(call!(cuda, "cuLinkComplete", link, to(&mut image), to(&mut bytes)), SUCCESS);
    // The image holds the text, a header and NUL.
    assert!(bytes > ADD.len());
    assert_eq!(bytes, given(image as *const c_char).len() + 1);
    let (mut library, mut kernel, name) = (none(), none(), text("add"));
    assert_eq!(
        call!(
            cuda,
            "cuLibraryLoadData",
            to(&mut library),
            image,
            nothing,
            nothing,
            nothing,
            nothing,
            nothing,
            nothing
        ),
        SUCCESS
    );
    assert_eq!(call!(cuda, "cuLinkDestroy", link), SUCCESS);
    assert_eq!(call!(cuda, "cuLibraryGetKernel", to(&mut kernel), library, name.as_ptr()), SUCCESS);
    let mut registers = 0_i32;
    assert_eq!(call!(cuda, "cuKernelGetAttribute", to(&mut registers), number(4), kernel, nothing), SUCCESS);
    assert!((8..64).contains(&registers), "{registers}");
    let (a, b) = ramps(64);
    let (a, b, out, n) = (buffer(cuda, &a), buffer(cuda, &b), buffer(cuda, &[0.0_f32; 64]), 64_u32);
    // cuLaunchKernelEx accepts a kernel as a function.
    let config: [u32; 14] = [1, 1, 1, 64, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let arguments = [of(&out), of(&a), of(&b), of(&n)];
    assert_eq!(
        call!(cuda, "cuLaunchKernelEx", config.as_ptr(), kernel, arguments.as_ptr(), nothing),
        SUCCESS
    );
    assert_eq!(contents::<f32>(cuda, out, 64)[63], 63.0 + 1126.0);
    // Programmatic stream serialization (attribute 6, value 1) changes nothing.
    let mut attribute = [0_u32; 18];
    (attribute[0], attribute[2]) = (6, 1);
    let at = attribute.as_ptr() as u64;
    let mut early = config;
    (early[10], early[11], early[12]) = (at as u32, (at >> 32) as u32, 1);
    assert_eq!(call!(cuda, "cuMemsetD8_v2", number(out), number(0), number(256)), SUCCESS);
    assert_eq!(call!(cuda, "cuLaunchKernelEx", early.as_ptr(), kernel, arguments.as_ptr(), nothing), SUCCESS);
    assert_eq!(contents::<f32>(cuda, out, 64)[63], 63.0 + 1126.0);
    let (mut global, mut size) = (0_u64, 0_usize);
    let name = text("launches");
    assert_eq!(
        call!(cuda, "cuLibraryGetGlobal", to(&mut global), to(&mut size), library, name.as_ptr()),
        SUCCESS
    );
    assert_eq!((size, contents::<u32>(cuda, global, 1)), (4, vec![0]));
    assert_eq!(call!(cuda, "cuLibraryUnload", library), SUCCESS);
    assert_eq!(call!(cuda, "cuMemcpyDtoH_v2", to(&mut size), number(global), number(4)), INVALID_VALUE);
    assert_eq!(
        call!(cuda, "cuLaunchKernelEx", config.as_ptr(), kernel, arguments.as_ptr(), nothing),
        INVALID_HANDLE
    );
}

#[test]
fn pinned_managed_and_registered_memory_is_the_hosts() {
    let cuda = cuda();
    context(cuda);
    let (_, add) = function(cuda, ADD, "add");
    let n = 100_u32;
    let (mut pinned, mut managed) = (0_u64, 0_u64);
    assert_eq!(call!(cuda, "cuMemHostAlloc", to(&mut pinned), number(400), number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemAllocManaged", to(&mut managed), number(400), number(1)), SUCCESS);
    let own = vec![7.0_f32; 100];
    assert_eq!(call!(cuda, "cuMemHostRegister_v2", own.as_ptr(), number(400), number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemHostRegister_v2", own.as_ptr(), number(4), number(0)), 712);
    let mut own_at = 0_u64;
    assert_eq!(
        call!(cuda, "cuMemHostGetDevicePointer_v2", to(&mut own_at), own.as_ptr(), number(0)),
        SUCCESS
    );
    let host = |address: u64| -> &'static mut [f32] {
        // SAFETY: memory of the driver for the host, 100 floats, used by this thread only.
        unsafe { std::slice::from_raw_parts_mut(number(address).cast(), 100) }
    };
    for (i, value) in host(managed).iter_mut().enumerate() {
        *value = i as f32;
    }
    let arguments = [of(&pinned), of(&managed), of(&own_at), of(&n)];
    assert_eq!(launch(cuda, add, 1, 128, &arguments), SUCCESS);
    assert_eq!(host(pinned)[99], 106.0);
    host(pinned)[5] = -1.0;
    assert_eq!(contents::<f32>(cuda, pinned, 6)[5], -1.0, "between launches the host's bytes count");
    let mut kind = 0_u32;
    for (address, expected) in [(pinned, 1), (managed, 2)] {
        assert_eq!(call!(cuda, "cuPointerGetAttribute", to(&mut kind), number(2), number(address)), SUCCESS);
        assert_eq!(kind, expected);
    }
    assert_eq!(call!(cuda, "cuPointerGetAttribute", to(&mut kind), number(2), of(&kind)), INVALID_VALUE);
    assert_eq!(call!(cuda, "cuMemFree_v2", number(pinned)), INVALID_VALUE, "freed as what it is");
    assert_eq!(call!(cuda, "cuMemFreeHost", number(pinned)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemFree_v2", number(managed)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemHostUnregister", own.as_ptr()), SUCCESS);
    assert_eq!(call!(cuda, "cuMemHostUnregister", own.as_ptr()), 713);
}

#[test]
fn the_device_is_the_machine_file() {
    let cuda = cuda();
    let mut name = [0_u8; 64];
    assert_eq!(call!(cuda, "cuDeviceGetName", name.as_mut_ptr(), number(64), number(0)), SUCCESS);
    assert_eq!(&name[..14], b"Strata gtx480\0");
    for (attribute, expected) in
        [(16, 15), (10, 32), (75, 8), (76, 0), (13, 700_000), (8, 49152), (38, 768 << 10)]
    {
        let mut value = 0_i32;
        assert_eq!(
            call!(cuda, "cuDeviceGetAttribute", to(&mut value), number(attribute), number(0)),
            SUCCESS
        );
        assert_eq!(value, expected, "attribute {attribute}");
    }
    let mut name = none();
    assert_eq!(call!(cuda, "cuGetErrorName", number(700), to(&mut name)), SUCCESS);
    assert_eq!(given(name.cast()), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(call!(cuda, "cuGetErrorName", number(12345), to(&mut name)), INVALID_VALUE);
    assert!(name.is_null());
    context(cuda);
    let (_, add) = function(cuda, ADD, "add");
    let (mut ctas, mut grid, mut block) = (0_i32, 0_i32, 0_i32);
    assert_eq!(
        call!(
            cuda,
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            to(&mut ctas),
            add,
            number(256),
            number(0)
        ),
        SUCCESS
    );
    assert_eq!(ctas, 6, "48 warps in CTAs of 8");
    assert_eq!(
        call!(
            cuda,
            "cuOccupancyMaxPotentialBlockSize",
            to(&mut grid),
            to(&mut block),
            add,
            number(0),
            number(0),
            number(0)
        ),
        SUCCESS
    );
    assert_eq!((grid, block), (30, 768), "two CTAs of 24 warps on each of 15 SMs");
}
