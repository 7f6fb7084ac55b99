//! Calls that executables make, on the reference executor, with each of the three libraries.

#![allow(unsafe_code, reason = "a client of C libraries")]

mod support;

use support::*;

fn all() -> &'static [Runtime; 3] {
    runtimes(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")])
}

/// Registers a text with its kernel `mul` and its variable `scale`. Returns their host addresses and the
/// binary.
fn register(runtime: &Runtime, container: &[u8]) -> (Any, Any, Any) {
    let (kernel, variable) = (shadow(), shadow());
    let wrapper = Box::leak(Box::new(Wrapper::of(container)));
    let binary = runtime.register(wrapper);
    runtime.register_function(binary, kernel, c"mul");
    runtime.register_variable(binary, variable, c"scale", 4);
    call!(runtime, "__cudaRegisterFatBinaryEnd", binary);
    (kernel, variable, binary)
}

fn kept(entries: &[Vec<u8>]) -> &'static [u8] {
    Vec::leak(container(entries))
}

#[test]
fn kernels_of_fat_binaries_run_however_they_are_packed() {
    for runtime in all() {
        for packing in [Packing::Raw, Packing::Lz4, Packing::Zstd] {
            // Entries beside the text are ignored: machine code, and a target that the device does not
            // support.
            let beside = [entry(2, 80, "\x7fELF", Packing::Raw), entry(1, 120, "no PTX", Packing::Raw)];
            let [code, later] = beside;
            let (kernel, variable, binary) =
                register(runtime, kept(&[code, entry(1, 70, SCALE, packing), later]));
            let n = 300_u32;
            let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let (a_at, out) = (runtime.buffer(&a), runtime.buffer(&vec![-1.0_f32; n as usize]));
            let scale = runtime.version as f32;
            let copied = call!(
                runtime,
                "cudaMemcpyToSymbol",
                variable,
                of(&scale),
                number(4),
                number(0),
                number(HOST_TO_DEVICE)
            );
            assert_eq!(copied, SUCCESS, "{packing:?}");
            let arguments = [of(&out), of(&a_at), of(&n)];
            assert_eq!(runtime.launch(kernel, line(n.div_ceil(128)), line(128), &arguments), SUCCESS);
            assert_eq!(call!(runtime, "cudaDeviceSynchronize"), SUCCESS);
            let expected: Vec<f32> = a.iter().map(|value| value * scale).collect();
            assert_eq!(runtime.contents::<f32>(out, n as usize), expected, "{packing:?}");
            let mut read = 0.0_f32;
            let back = call!(
                runtime,
                "cudaMemcpyFromSymbol",
                to(&mut read),
                variable,
                number(4),
                number(0),
                number(DEVICE_TO_HOST)
            );
            assert_eq!((back, read), (SUCCESS, scale));
            call!(runtime, "__cudaUnregisterFatBinary", binary);
            assert_eq!(runtime.launch(kernel, line(1), line(1), &arguments), INVALID_FUNCTION);
            let gone = call!(
                runtime,
                "cudaMemcpyToSymbol",
                variable,
                of(&scale),
                number(4),
                number(0),
                number(HOST_TO_DEVICE)
            );
            assert_eq!(gone, INVALID_SYMBOL);
            assert_eq!(call!(runtime, "cudaGetLastError"), INVALID_SYMBOL);
        }
    }
}

#[test]
fn symbols_are_ranges_of_variables() {
    for runtime in all() {
        let (_, variable, _) = register(runtime, kept(&[entry(1, 70, SCALE, Packing::Zstd)]));
        let (mut address, mut bytes, value) = (0_u64, 0_u64, 2.0_f32);
        assert_eq!(call!(runtime, "cudaGetSymbolAddress", to(&mut address), variable), SUCCESS);
        assert_eq!(call!(runtime, "cudaGetSymbolSize", to(&mut bytes), variable), SUCCESS);
        assert!(address != 0 && bytes == 4);
        for (bytes, offset, kind, expected) in [
            (4, 1, HOST_TO_DEVICE, INVALID_VALUE),
            (5, 0, HOST_TO_DEVICE, INVALID_VALUE),
            (4, u64::MAX, HOST_TO_DEVICE, INVALID_VALUE),
            (4, 0, DEVICE_TO_HOST, INVALID_DIRECTION),
            (4, 0, HOST_TO_DEVICE, SUCCESS),
        ] {
            let (bytes, offset, kind) = (number(bytes), number(offset), number(kind));
            let copied = call!(runtime, "cudaMemcpyToSymbol", variable, of(&value), bytes, offset, kind);
            assert_eq!(copied, expected);
        }
        assert_eq!(runtime.contents::<f32>(address, 1), [2.0]);
        assert_eq!(call!(runtime, "cudaGetSymbolAddress", to(&mut address), of(&value)), INVALID_SYMBOL);
    }
}

#[test]
fn texts_that_were_compiled_apart_are_linked() {
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let caller = format!(
        "{head}.extern .func (.param .b32 r) twice(.param .b32 x);\n\
         .visible .entry mul(.param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %rd<2>;\n\
         mov.u32 %r0, 21; {{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r0;\n\
         call (r), twice, (x); ld.param.b32 %r1, [r]; }}\n\
         ld.param.u64 %rd0, [out]; st.global.u32 [%rd0], %r1; ret; }}\n"
    );
    let callee = format!(
        "{head}.visible .func (.param .b32 r) twice(.param .b32 x) {{ .reg .b32 %r<3>;\n\
         ld.param.b32 %r0, [x]; add.u32 %r1, %r0, %r0; st.param.b32 [r], %r1; ret; }}\n"
    );
    let apart = [caller, callee].map(|text| container(&[entry(1, 80, &text, Packing::Lz4)]));
    let wrapper = Wrapper::linking(&apart);
    for runtime in all() {
        let kernel = shadow();
        let binary = runtime.register(&wrapper);
        runtime.register_function(binary, kernel, c"mul");
        let out = runtime.buffer(&[0_u32]);
        assert_eq!(runtime.launch(kernel, line(1), line(1), &[of(&out)]), SUCCESS);
        assert_eq!(runtime.contents::<u32>(out, 1), [42]);
        call!(runtime, "__cudaUnregisterFatBinary", binary);
    }
}

#[test]
fn what_cannot_be_loaded_fails_when_it_is_used() {
    let mut cut = entry(1, 70, SCALE, Packing::Lz4);
    cut.truncate(cut.len() - 8);
    let mut lies = entry(1, 70, SCALE, Packing::Zstd);
    lies[56..64].copy_from_slice(&7_u64.to_le_bytes());
    let mut long = container(&[entry(1, 70, SCALE, Packing::Raw)]);
    long[8..16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let mut other = container(&[entry(1, 70, SCALE, Packing::Raw)]);
    other[0] ^= 1;
    let cases = [
        (container(&[cut]), INVALID_IMAGE),
        (container(&[lies]), INVALID_IMAGE),
        (long, INVALID_IMAGE),
        (other, INVALID_IMAGE),
        (container(&[entry(2, 80, "\x7fELF", Packing::Raw)]), NO_IMAGE),
        (container(&[entry(1, 70, ".version 7.0\nthis is no PTX", Packing::Raw)]), INVALID_PTX),
        (container(&[entry(1, 70, &SCALE.replace("mul(", "div("), Packing::Raw)]), INVALID_FUNCTION),
    ];
    for runtime in all() {
        for (container, expected) in &cases {
            let (kernel, _, binary) = register(runtime, container);
            assert_eq!(call!(runtime, "cudaGetLastError"), SUCCESS, "nothing is read before it is used");
            for _ in 0..2 {
                assert_eq!(runtime.launch(kernel, line(1), line(1), &[]), *expected);
                assert_eq!(call!(runtime, "cudaPeekAtLastError"), *expected);
            }
            assert_eq!(call!(runtime, "cudaGetLastError"), *expected);
            assert_eq!(call!(runtime, "cudaGetLastError"), SUCCESS);
            call!(runtime, "__cudaUnregisterFatBinary", binary);
        }
    }
}

#[test]
fn errors_are_those_of_their_thread() {
    for runtime in all() {
        let (kernel, _, _) = register(runtime, kept(&[entry(1, 70, SCALE, Packing::Raw)]));
        for (grid, block) in [
            (line(0), line(1)),
            (line(1), line(0)),
            (line(1), line(1025)),
            (line(1), Dim3(1, 1, 65)),
            (line(1), Dim3(64, 64, 1)),
            (Dim3(1, 65536, 1), line(1)),
        ] {
            assert_eq!(runtime.launch(kernel, grid, block, &[]), INVALID_CONFIGURATION, "{grid:?} {block:?}");
        }
        std::thread::scope(|scope| {
            let other = scope.spawn(|| call!(runtime, "cudaGetLastError"));
            assert_eq!(other.join().unwrap(), SUCCESS);
        });
        assert_eq!(call!(runtime, "cudaGetLastError"), INVALID_CONFIGURATION);
        assert_eq!(runtime.error_name(INVALID_CONFIGURATION), "cudaErrorInvalidConfiguration");
        assert_eq!(runtime.error_name(12345), "unrecognized error code");
        let popped = call!(runtime, "__cudaPopCallConfiguration", none(), none(), none(), none());
        assert_eq!(popped, MISSING_CONFIGURATION);
        assert_eq!(call!(runtime, "cudaMalloc", none(), number(4)), INVALID_VALUE);
        assert_eq!(call!(runtime, "cudaMemcpy", none(), none(), number(4), number(9)), INVALID_DIRECTION);
        assert_eq!(call!(runtime, "cudaMemcpy", none(), none(), number(4), number(0)), INVALID_VALUE);
        assert_eq!(call!(runtime, "cudaSetDevice", number(1)), 101);
        assert_eq!(call!(runtime, "cudaIpcGetMemHandle", none(), none()), NOT_SUPPORTED);
        assert_eq!(call!(runtime, "cudaGetLastError"), NOT_SUPPORTED);
    }
}

#[test]
fn structures_are_those_of_their_version() {
    for runtime in all() {
        let mut version = 0;
        assert_eq!(call!(runtime, "cudaRuntimeGetVersion", to(&mut version)), SUCCESS);
        assert_eq!(version / 1000, runtime.version);
        // Sizes of the structure from the headers; bytes after it must not change.
        let (name, size, sms_at) = match runtime.version {
            11 => ("cudaGetDeviceProperties", 728, 388),
            12 => ("cudaGetDeviceProperties_v2", 1032, 388),
            _ => ("cudaGetDeviceProperties", 1008, 384),
        };
        let mut bytes = vec![0xee_u8; size + 8];
        let get = runtime.function::<unsafe extern "C" fn(Any, i32) -> u32>(name);
        // SAFETY: the runtime API's function, which writes `size` bytes.
        assert_eq!(unsafe { get(bytes.as_mut_ptr().cast(), 0) }, SUCCESS);
        assert!(bytes.starts_with(b"Strata gtx480\0"));
        assert_eq!(bytes[sms_at..][..4], 15_i32.to_le_bytes(), "SMs");
        assert_eq!((&bytes[size - 4..size], &bytes[size..]), (&[0; 4][..], &[0xee; 8][..]));
        // Pinned memory is known to the driver; the stack is not.
        let words = if runtime.version == 13 { 11 } else { 3 };
        let mut known = [0xee_u64; 12];
        let mut pinned = 0_u64;
        assert_eq!(call!(runtime, "cudaMallocHost", to(&mut pinned), number(64)), SUCCESS);
        let get = |at: u64, known: &mut [u64; 12]| {
            assert_eq!(call!(runtime, "cudaPointerGetAttributes", known.as_mut_ptr(), number(at)), SUCCESS);
        };
        get(pinned + 8, &mut known);
        assert_eq!((known[0], known[2], known[words]), (1, pinned + 8, 0xee), "host memory");
        let own = of(&pinned).expose_provenance() as u64;
        get(own, &mut known);
        assert_eq!((known[0] as u32, known[0] >> 32, known[2]), (0, (-2_i32) as u32 as u64, own));
        let device = runtime.buffer(&[0_u8; 16]);
        get(device, &mut known);
        assert_eq!((known[0], known[1], known[2]), (2, device, 0));
        // What is known of a kernel.
        let (kernel, _, _) = register(runtime, kept(&[entry(1, 70, SCALE, Packing::Raw)]));
        let size = if runtime.version == 11 { 14 } else { 36 };
        let mut known = [0xeeee_eeee_u32; 37];
        assert_eq!(call!(runtime, "cudaFuncGetAttributes", known.as_mut_ptr(), kernel), SUCCESS);
        assert_eq!((known[6], known[8], known[size]), (1024, 70, 0xeeee_eeee), "threads, PTX");
        let mut ctas = 0;
        let occupancy = call!(
            runtime,
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
            to(&mut ctas),
            kernel,
            number(256),
            number(0)
        );
        assert_eq!((occupancy, ctas), (SUCCESS, 6), "1536 threads of an SM");
    }
}

#[test]
fn memory_is_copied_in_rows_and_slices() {
    let runtime = &all()[1];
    let (mut start, mut pitch) = (0_u64, 0_u64);
    let made = call!(runtime, "cudaMallocPitch", to(&mut start), to(&mut pitch), number(20), number(3));
    assert!(made == SUCCESS && pitch >= 20, "{made} {pitch}");
    let rows: Vec<u8> = (0..60).collect();
    let there = call!(
        runtime,
        "cudaMemcpy2D",
        number(start),
        number(pitch),
        rows.as_ptr(),
        number(20),
        number(20),
        number(3),
        number(HOST_TO_DEVICE)
    );
    assert_eq!(there, SUCCESS);
    assert_eq!(
        call!(runtime, "cudaMemset2D", number(start), number(pitch), number(0x1ff), number(5), number(2)),
        SUCCESS
    );
    let mut back = [0_u8; 60];
    let from = call!(
        runtime,
        "cudaMemcpy2D",
        back.as_mut_ptr(),
        number(20),
        number(start),
        number(pitch),
        number(20),
        number(3),
        number(DEVICE_TO_HOST)
    );
    assert_eq!(from, SUCCESS);
    let mut expected = rows.clone();
    for row in 0..2 {
        expected[20 * row..][..5].fill(0xff);
    }
    assert_eq!(back[..], expected);
    let narrow = call!(
        runtime,
        "cudaMemcpy2D",
        back.as_mut_ptr(),
        number(19),
        number(start),
        number(pitch),
        number(20),
        number(3),
        number(DEVICE_TO_HOST)
    );
    assert_eq!(runtime.error_name(narrow), "cudaErrorInvalidPitchValue");
    // An extent and a pitched pointer are passed by value.
    let malloc = runtime.function::<unsafe extern "C" fn(Any, Extent) -> u32>("cudaMalloc3D");
    let mut pitched = Pitched { start: 0, pitch: 0, width: 0, height: 0 };
    // SAFETY: the runtime API's function.
    assert_eq!(unsafe { malloc(to(&mut pitched), Extent { width: 12, height: 2, depth: 2 }) }, SUCCESS);
    assert_eq!((pitched.width, pitched.height), (12, 2));
    let slices: Vec<u8> = (100..148).collect();
    let host =
        |at: *const u8| Pitched { start: at.expose_provenance() as u64, pitch: 12, width: 12, height: 2 };
    let copy = |from: Pitched, to: Pitched, kind: u64| {
        let zero = Extent { width: 0, height: 0, depth: 0 };
        let extent = Extent { width: 12, height: 2, depth: 2 };
        let what = Copy3D { from_array: 0, from_at: zero, from, to_array: 0, to_at: zero, to, extent, kind };
        call!(runtime, "cudaMemcpy3D", of(&what))
    };
    assert_eq!(copy(host(slices.as_ptr()), pitched, HOST_TO_DEVICE), SUCCESS);
    let mut back = [0_u8; 48];
    assert_eq!(copy(pitched, host(back.as_mut_ptr()), DEVICE_TO_HOST), SUCCESS);
    assert_eq!(back[..], slices);
}

/// Fetches `out[i] = tex[i]` from a texture that is a reference.
const FETCH: &str = "\
.version 7.0\n.target sm_70\n.address_size 64\n.global .texref tex;\n\
.visible .entry fetch(.param .u64 out) {\n\
.reg .b32 %r<2>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n\
ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1;\n\
tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [tex, {%r0}]; st.global.f32 [%rd2], %f0; ret;\n}\n";

#[test]
fn texture_references_are_bound_as_their_variable_says() {
    let runtime = &all()[0];
    // 32 bits of float in one channel.
    let channels = [32_u32, 0, 0, 0, 2];
    let mut array = none();
    let made =
        call!(runtime, "cudaMallocArray", to(&mut array), of(&channels), number(4), number(0), number(0));
    assert_eq!(made, SUCCESS);
    let kernel = shadow();
    // Coordinates count elements, point sampling, clamped.
    let reference = [0_u32, 0, 1, 1, 1, 32, 0, 0, 0, 2, 0];
    let container = kept(&[entry(1, 70, FETCH, Packing::Zstd)]);
    let binary = runtime.register(Box::leak(Box::new(Wrapper::of(container))));
    runtime.register_function(binary, kernel, c"fetch");
    // The name in nvcc's form.
    let (name, zero) = (c"::tex".as_ptr(), number(0));
    call!(runtime, "__cudaRegisterTexture", binary, of(&reference), none(), name, number(1), zero, zero);
    let texels: Vec<f32> = (0..100).map(|i| 0.5 * i as f32).collect();
    let (linear, out) = (runtime.buffer(&texels), runtime.buffer(&[0.0_f32; 4]));
    let bind = |address: u64, bytes: u64| {
        let mut offset = 7_u64;
        let (address, bytes) = (number(address), number(bytes));
        let bound =
            call!(runtime, "cudaBindTexture", to(&mut offset), of(&reference), address, of(&channels), bytes);
        (bound, offset)
    };
    assert_eq!(bind(linear, u64::from(u32::MAX)), (SUCCESS, 0), "all there is");
    assert_eq!(runtime.launch(kernel, line(1), line(4), &[of(&out)]), SUCCESS);
    assert_eq!(runtime.contents::<f32>(out, 4), texels[..4]);
    assert_eq!(bind(linear + 256, 16), (SUCCESS, 0));
    assert_eq!(runtime.launch(kernel, line(1), line(4), &[of(&out)]), SUCCESS);
    assert_eq!(runtime.contents::<f32>(out, 4), texels[64..68]);
    let (bytes, kind) = (number(16), number(HOST_TO_DEVICE));
    assert_eq!(
        call!(runtime, "cudaMemcpyToArray", array, zero, zero, texels[10..].as_ptr(), bytes, kind),
        SUCCESS
    );
    assert_eq!(call!(runtime, "cudaBindTextureToArray", of(&reference), array, of(&channels)), SUCCESS);
    assert_eq!(runtime.launch(kernel, line(1), line(4), &[of(&out)]), SUCCESS);
    assert_eq!(runtime.contents::<f32>(out, 4), texels[10..14]);
    assert_eq!(call!(runtime, "cudaUnbindTexture", of(&reference)), SUCCESS);
    assert_eq!(call!(runtime, "cudaFreeArray", array), SUCCESS);
    assert_eq!(
        runtime.error_name(call!(runtime, "cudaUnbindTexture", of(&channels))),
        "cudaErrorInvalidTexture"
    );
}
