//! Arrays with levels of detail, and what objects are made of, through each version of the runtime API.

#![allow(unsafe_code, reason = "a client of C libraries")]

mod support;

use support::*;

const INVALID_TEXTURE: u32 = 18;
const INVALID_BINDING: u32 = 19;

/// Flag of arrays that surfaces can be made of.
const SURFACE: u32 = 2;

/// 32 bits of float in one channel.
const FLOAT: [u32; 5] = [32, 0, 0, 0, 2];

/// Sides of the largest level; there are five.
const WIDTH: u64 = 16;
const HEIGHT: u64 = 8;
const LEVELS: u64 = 5;

/// Thread n of 16 stores what a texture has in the middle at level n / 4, by handle and by name; thread n of 8 writes n to
/// the first row of a surface.
const KERNELS: &str = "\
.version 7.0\n.target sm_70\n.address_size 64\n.global .texref table;\n\
.visible .entry by_handle(.param .u64 out, .param .u64 texture) {\n\
.reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %rd<6>;\n\
ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [texture];\n\
mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; mul.f32 %f1, %f0, 0f3E800000; mov.f32 %f0, 0f3F000000;\n\
tex.level.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f0}], %f1;\n\
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; st.global.f32 [%rd3], %f2; ret;\n}\n\
.visible .entry by_name(.param .u64 out) {\n\
.reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %rd<6>;\n\
ld.param.u64 %rd0, [out];\n\
mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; mul.f32 %f1, %f0, 0f3E800000; mov.f32 %f0, 0f3F000000;\n\
tex.level.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [table, {%f0, %f0}], %f1;\n\
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; st.global.f32 [%rd3], %f2; ret;\n}\n\
.visible .entry write(.param .u64 surface) {\n\
.reg .b32 %r<4>; .reg .f32 %f<2>; .reg .b64 %rd<2>;\n\
ld.param.u64 %rd0, [surface]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0; shl.b32 %r2, %r0, 2; cvt.rn.f32.u32 %f0, %r0;\n\
mov.b32 %r3, %f0; sust.b.2d.b32.trap [%rd0, {%r2, %r1}], {%r3}; ret;\n}\n";

fn all() -> &'static [Runtime; 3] {
    runtimes(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")])
}

/// A `cudaResourceDesc` of an array of either kind; its last versions have 144 bytes.
fn resource(kind: u64, array: Any) -> [u64; 18] {
    let mut words = [0; 18];
    (words[0], words[1]) = (kind, array as u64);
    words
}

/// A `cudaTextureDesc`: clamped, linear within a level and between levels 0.75 and 3, half a level further than a fetch says,
/// with normalised coordinates.
fn sampling() -> [u32; 18] {
    let mut words = [0; 18];
    words[..4].copy_from_slice(&[1, 1, 1, 1]);
    words[6] = 0.25_f32.to_bits();
    (words[10], words[12]) = (1, 1);
    words[13..16].copy_from_slice(&[0.5_f32, 0.75, 3.0].map(f32::to_bits));
    words
}

/// What a texture so made has at a level, where level n holds the nth power of ten.
fn blended(n: u32) -> f32 {
    let level = (f64::from(n) / 4.0 + 0.5).clamp(0.75, 3.0);
    let value = |level: f64| 10.0_f64.powi(level as i32);
    let weight = level.fract();
    (value(level.floor()) * (1.0 - weight) + value(level.floor() + 1.0) * weight) as f32
}

fn level(runtime: &Runtime, whole: Any, number: u64) -> (u32, Any) {
    let mut array = none();
    let got = call!(runtime, "cudaGetMipmappedArrayLevel", to(&mut array), whole, support::number(number));
    (got, array)
}

/// An array whose level n holds the nth power of ten everywhere.
fn filled(runtime: &Runtime) -> Any {
    type Malloc = unsafe extern "C" fn(Any, Any, Extent, u32, u32) -> u32;
    let malloc = runtime.function::<Malloc>("cudaMallocMipmappedArray");
    let (mut whole, extent) = (none(), Extent { width: WIDTH, height: HEIGHT, depth: 0 });
    // More levels than there are.
    // SAFETY: the runtime API's function.
    assert_eq!(unsafe { malloc(to(&mut whole), of(&FLOAT), extent, 99, SURFACE) }, SUCCESS);
    for number in 0..LEVELS {
        let (got, array) = level(runtime, whole, number);
        assert_eq!(got, SUCCESS, "level {number}");
        let (mut channels, mut sides, mut flags) = ([0_u32; 5], [0_u64; 3], 0_u32);
        let described =
            call!(runtime, "cudaArrayGetInfo", to(&mut channels), to(&mut sides), to(&mut flags), array);
        let (width, height) = (WIDTH >> number, (HEIGHT >> number).max(1));
        assert_eq!((described, channels, sides, flags), (SUCCESS, FLOAT, [width, height, 0], SURFACE));
        let texels = vec![10.0_f32.powi(number as i32); (width * height) as usize];
        let row = support::number(4 * width);
        let (zero, rows) = (support::number(0), support::number(height));
        let kind = support::number(HOST_TO_DEVICE);
        let copied =
            call!(runtime, "cudaMemcpy2DToArray", array, zero, zero, texels.as_ptr(), row, row, rows, kind);
        assert_eq!(copied, SUCCESS);
    }
    assert_eq!(level(runtime, whole, LEVELS).0, INVALID_VALUE);
    whole
}

/// Registers a kernel; returns its host address and the binary.
fn kernel(runtime: &Runtime, name: &std::ffi::CStr) -> (Any, Any) {
    let container = Vec::leak(container(&[entry(1, 70, KERNELS, Packing::Raw)]));
    let (kernel, binary) = (shadow(), runtime.register(Box::leak(Box::new(Wrapper::of(container)))));
    runtime.register_function(binary, kernel, name);
    (kernel, binary)
}

#[test]
fn textures_blend_levels_and_say_what_they_are_made_of() {
    for runtime in all() {
        let whole = filled(runtime);
        let (made_of, how) = (resource(1, whole), sampling());
        let mut object = 0_u64;
        let created =
            call!(runtime, "cudaCreateTextureObject", to(&mut object), of(&made_of), of(&how), none());
        assert_eq!(created, SUCCESS);
        let (fetch, _) = kernel(runtime, c"by_handle");
        let out = runtime.buffer(&[0.0_f32; 16]);
        assert_eq!(runtime.launch(fetch, line(1), line(16), &[of(&out), of(&object)]), SUCCESS);
        assert_eq!(runtime.contents::<f32>(out, 16), (0..16).map(blended).collect::<Vec<f32>>());

        // The structures have the version's size: what lies behind them does not change.
        let words = if runtime.version == 13 { 18 } else { 8 };
        let mut found = [0xee_u64; 19];
        let asked = number(object);
        assert_eq!(call!(runtime, "cudaGetTextureObjectResourceDesc", found.as_mut_ptr(), asked), SUCCESS);
        assert_eq!((&found[..words], found[words]), (&made_of[..words], 0xee));
        let words = if runtime.version == 11 { 17 } else { 18 };
        let mut found = [0xee_u32; 19];
        assert_eq!(call!(runtime, "cudaGetTextureObjectTextureDesc", found.as_mut_ptr(), asked), SUCCESS);
        assert_eq!((&found[..words], found[words]), (&how[..words], 0xee));
        if runtime.version == 11 {
            found[18] = 0xee;
            let asked = call!(runtime, "cudaGetTextureObjectTextureDesc_v2", found.as_mut_ptr(), asked);
            assert_eq!((asked, &found[..18], found[18]), (SUCCESS, &how[..], 0xee));
        }
        let view = call!(runtime, "cudaGetTextureObjectResourceViewDesc", found.as_mut_ptr(), asked);
        assert_eq!(view, INVALID_VALUE, "there is none");
        assert_eq!(call!(runtime, "cudaDestroyTextureObject", asked), SUCCESS);
        let gone = call!(runtime, "cudaGetTextureObjectTextureDesc", found.as_mut_ptr(), asked);
        assert_eq!(gone, INVALID_VALUE);

        let level = level(runtime, whole, 1).1;
        for (name, array) in
            [("cudaMipmappedArrayGetMemoryRequirements", whole), ("cudaArrayGetMemoryRequirements", level)]
        {
            let mut requirements = [0xee_u64; 8];
            let get = runtime.function::<unsafe extern "C" fn(Any, Any, i32) -> u32>(name);
            // SAFETY: the runtime API's function.
            assert_eq!(unsafe { get(to(&mut requirements), array, 0) }, INVALID_VALUE, "{name}");
            assert_eq!(requirements, [0xee; 8]);
        }
        let mut plane = none();
        assert_eq!(call!(runtime, "cudaArrayGetPlane", to(&mut plane), level, number(0)), INVALID_VALUE);
        let mut sparse = [0_u64; 8];
        let properties = call!(runtime, "cudaMipmappedArrayGetSparseProperties", to(&mut sparse), whole);
        assert_eq!(properties, INVALID_VALUE);
        assert_eq!(call!(runtime, "cudaArrayGetSparseProperties", to(&mut sparse), level), INVALID_VALUE);
        assert_eq!(call!(runtime, "cudaFreeMipmappedArray", whole), SUCCESS);
        assert_eq!(call!(runtime, "cudaFreeMipmappedArray", none()), SUCCESS);
        assert_ne!(call!(runtime, "cudaFreeMipmappedArray", whole), SUCCESS, "it is gone");
        assert_ne!(call!(runtime, "cudaArrayGetPlane", to(&mut plane), level, number(0)), INVALID_VALUE);
    }
}

#[test]
fn linear_memory_is_described_by_its_format() {
    for runtime in all() {
        // Two channels of 8 bits, unsigned, read as normalised floats.
        let channels = [8_u32, 8, 0, 0, 1];
        let memory = runtime.buffer(&[0_u8; 512]);
        let mut made_of = [0_u64; 18];
        // Three words of channels and padding behind the address, then the size.
        made_of[..6].copy_from_slice(&[2, memory, 8 << 32 | 8, 0, 1, 512]);
        let mut how = [0_u32; 18];
        how[4] = 1;
        let mut object = 0_u64;
        let created =
            call!(runtime, "cudaCreateTextureObject", to(&mut object), of(&made_of), of(&how), none());
        assert_eq!(created, SUCCESS);
        let asked = number(object);
        let mut found = [0xee_u64; 18];
        assert_eq!(call!(runtime, "cudaGetTextureObjectResourceDesc", found.as_mut_ptr(), asked), SUCCESS);
        assert_eq!(found[..8], made_of[..8]);
        let mut found = [0xee_u32; 18];
        assert_eq!(call!(runtime, "cudaGetTextureObjectTextureDesc", found.as_mut_ptr(), asked), SUCCESS);
        assert_eq!(found[..17], how[..17]);
        let (mut width, zero) = (0_u64, number(0));
        let most =
            call!(runtime, "cudaDeviceGetTexture1DLinearMaxWidth", to(&mut width), of(&channels), zero);
        assert!(most == SUCCESS && width >= 1 << 16, "{most} {width}");
    }
}

#[test]
fn surfaces_write_one_level() {
    for runtime in all() {
        let whole = filled(runtime);
        let (second, third) = (level(runtime, whole, 1).1, level(runtime, whole, 2).1);
        let mut object = 0_u64;
        let of_whole = call!(runtime, "cudaCreateSurfaceObject", to(&mut object), of(&resource(1, whole)));
        assert_eq!(of_whole, INVALID_VALUE, "a surface has one level");
        let made_of = resource(0, second);
        assert_eq!(call!(runtime, "cudaCreateSurfaceObject", to(&mut object), of(&made_of)), SUCCESS);
        let words = if runtime.version == 13 { 18 } else { 8 };
        let mut found = [0xee_u64; 19];
        let asked = number(object);
        assert_eq!(call!(runtime, "cudaGetSurfaceObjectResourceDesc", found.as_mut_ptr(), asked), SUCCESS);
        assert_eq!((&found[..words], found[words]), (&made_of[..words], 0xee));
        let (write, _) = kernel(runtime, c"write");
        assert_eq!(runtime.launch(write, line(1), line(8), &[of(&object)]), SUCCESS);
        let row = |array: Any, width: usize| {
            let mut row = vec![0.0_f32; width];
            let (bytes, zero) = (number(4 * width as u64), number(0));
            let (at, kind) = (row.as_mut_ptr(), number(DEVICE_TO_HOST));
            let copied =
                call!(runtime, "cudaMemcpy2DFromArray", at, bytes, array, zero, zero, bytes, number(1), kind);
            assert_eq!(copied, SUCCESS);
            row
        };
        assert_eq!(row(second, 8), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(row(third, 4), [100.0; 4], "other levels stay");

        // Bytes of rows go on in the next row: the last of the third level's first row, and the second's first.
        let (x, bytes, zero) = (number(12), number(8), number(0));
        let kind = number(3);
        let copied =
            call!(runtime, "cudaMemcpyArrayToArray", second, number(28), zero, third, x, zero, bytes, kind);
        assert_eq!(copied, SUCCESS);
        assert_eq!(row(second, 8)[7], 100.0);
        let outside =
            call!(runtime, "cudaMemcpyArrayToArray", second, number(32), zero, third, x, zero, bytes, kind);
        assert_eq!(outside, INVALID_VALUE);
        assert_eq!(call!(runtime, "cudaDestroySurfaceObject", asked), SUCCESS);
        assert_eq!(call!(runtime, "cudaFreeMipmappedArray", whole), SUCCESS);
    }
}

#[test]
fn a_reference_is_bound_to_levels_as_its_variable_says() {
    let runtime = &all()[0];
    let whole = filled(runtime);
    let (fetch, binary) = kernel(runtime, c"by_name");
    // A `textureReference`: the first words are those of all, then come anisotropy, filter, bias, least and most level.
    let how = sampling();
    let mut reference = [1_u32, 1, 1, 1, 1, 32, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0];
    reference[13..16].copy_from_slice(&how[13..16]);
    let (name, zero) = (c"::table".as_ptr(), number(0));
    call!(runtime, "__cudaRegisterTexture", binary, of(&reference), none(), name, number(2), zero, zero);
    let mut offset = 7_u64;
    let ask = |offset: &mut u64| call!(runtime, "cudaGetTextureAlignmentOffset", to(offset), of(&reference));
    assert_eq!(ask(&mut offset), INVALID_BINDING);
    let bound = call!(runtime, "cudaBindTextureToMipmappedArray", of(&reference), whole, of(&FLOAT));
    assert_eq!((bound, ask(&mut offset), offset), (SUCCESS, SUCCESS, 0));
    let out = runtime.buffer(&[0.0_f32; 16]);
    assert_eq!(runtime.launch(fetch, line(1), line(16), &[of(&out)]), SUCCESS);
    assert_eq!(runtime.contents::<f32>(out, 16), (0..16).map(blended).collect::<Vec<f32>>());

    let linear = runtime.buffer(&[0.0_f32; 256]);
    let (at, bytes) = (number(linear + 4), number(64));
    let mut written = 7_u64;
    let bound = call!(runtime, "cudaBindTexture", to(&mut written), of(&reference), at, of(&FLOAT), bytes);
    assert_eq!((bound, written, ask(&mut offset), offset), (SUCCESS, 4, SUCCESS, 4));
    let bound = call!(runtime, "cudaBindTexture", none(), of(&reference), at, of(&FLOAT), bytes);
    assert_eq!((bound, ask(&mut offset)), (INVALID_VALUE, INVALID_BINDING), "the offset would be lost");
    assert_eq!(call!(runtime, "cudaUnbindTexture", of(&reference)), SUCCESS);
    assert_eq!(ask(&mut offset), INVALID_BINDING);
    assert_eq!(call!(runtime, "cudaGetTextureAlignmentOffset", to(&mut offset), of(&FLOAT)), INVALID_TEXTURE);
    assert_eq!(call!(runtime, "cudaFreeMipmappedArray", whole), SUCCESS);
}
