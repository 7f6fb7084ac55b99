//! Arrays, textures and surfaces as clients use them, with the structures of `cuda.h` spelled out.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use support::*;

const FLOAT: u32 = 0x20;
const SIGNED_32: u32 = 0x0a;
const UNSIGNED_8: u32 = 0x01;

fn cuda() -> &'static Cuda {
    Cuda::with(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")])
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ArrayShape {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Array3d {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// `CUDA_RESOURCE_DESC`: the union's words are those of the member that its kind names.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Resource {
    kind: u64,
    union: [u64; 16],
    flags: u32,
}

impl Resource {
    fn array(array: Any) -> Resource {
        let mut union = [0; 16];
        union[0] = array as u64;
        Resource { kind: 0, union, flags: 0 }
    }

    fn linear(address: u64, format: u32, channels: u32, bytes: u64) -> Resource {
        let mut union = [0; 16];
        union[..3].copy_from_slice(&[address, u64::from(channels) << 32 | u64::from(format), bytes]);
        Resource { kind: 2, union, flags: 0 }
    }

    fn pitched(address: u64, format: u32, [width, height, pitch]: [u64; 3]) -> Resource {
        let mut union = [0; 16];
        union[..5].copy_from_slice(&[address, 1 << 32 | u64::from(format), width, height, pitch]);
        Resource { kind: 3, union, flags: 0 }
    }
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Description {
    addressing: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    level_filter: u32,
    levels: [f32; 3],
    border: [f32; 4],
    reserved: [i32; 12],
}

/// `CUDA_MEMCPY2D`, one side.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side {
    x: usize,
    y: usize,
    kind: u32,
    host: Any,
    device: u64,
    array: Any,
    pitch: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Copy2d {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`, one side.
#[repr(C)]
#[derive(Clone, Copy)]
struct Corner {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: Any,
    device: u64,
    array: Any,
    reserved: Any,
    pitch: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Copy3d {
    from: Corner,
    to: Corner,
    width: usize,
    height: usize,
    depth: usize,
}

const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;

fn side() -> Side {
    Side { x: 0, y: 0, kind: HOST, host: none(), device: 0, array: none(), pitch: 0 }
}

fn corner() -> Corner {
    let (x, y, z, level, pitch, height) = (0, 0, 0, 0, 0, 0);
    Corner {
        x,
        y,
        z,
        level,
        kind: HOST,
        host: none(),
        device: 0,
        array: none(),
        reserved: none(),
        pitch,
        height,
    }
}

/// Each thread n stores what the texture of a handle has at (n, 2 n) / 2, and by name what `table` has at n.
const FETCH: &str = "\
.version 7.0\n.target sm_70\n.address_size 64\n\
.global .texref table; .global .surfref marks;\n\
.visible .entry fetch(.param .u64 out, .param .u64 texture) {\n\
.reg .b32 %r<12>; .reg .f32 %f<8>; .reg .b64 %rd<6>;\n\
ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [texture];\n\
mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; mul.f32 %f1, %f0, 0f3F000000;\n\
tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f0}];\n\
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; st.global.f32 [%rd3], %f2; ret;\n}\n\
.visible .entry look(.param .u64 out) {\n\
.reg .b32 %r<12>; .reg .b64 %rd<6>;\n\
ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [table, {%r0}];\n\
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; st.global.u32 [%rd3], %r1; ret;\n}\n\
.visible .entry mark(.param .u64 surface) {\n\
.reg .b32 %r<12>; .reg .b64 %rd<6>;\n\
ld.param.u64 %rd0, [surface]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;\n\
sust.b.2d.b32.zero [%rd0, {%r1, %r0}], %r0; sust.b.2d.b32.zero [marks, {%r1, %r0}], %r0; ret;\n}\n";

fn array(cuda: &Cuda, shape: Array3d) -> Any {
    let mut array = none();
    assert_eq!(call!(cuda, "cuArray3DCreate_v2", to(&mut array), of(&shape)), SUCCESS, "{shape:?}");
    array
}

fn object(cuda: &Cuda, resource: &Resource, description: &Description) -> Result<u64, u32> {
    let mut handle = 0_u64;
    match call!(cuda, "cuTexObjectCreate", to(&mut handle), of(resource), of(description), none()) {
        SUCCESS => Ok(handle),
        error => Err(error),
    }
}

fn named(cuda: &Cuda, module: Any, name: &str) -> Any {
    let name = text(name);
    let mut function = none();
    assert_eq!(call!(cuda, "cuModuleGetFunction", to(&mut function), module, name.as_ptr()), SUCCESS);
    function
}

#[test]
fn the_structures_are_those_of_the_header() {
    assert_eq!(size_of::<Resource>(), 144);
    assert_eq!(size_of::<Description>(), 104);
    assert_eq!(size_of::<ArrayShape>(), 24);
    assert_eq!(size_of::<Array3d>(), 40);
    assert_eq!(size_of::<Copy2d>(), 128);
    assert_eq!(size_of::<Copy3d>(), 200);
}

#[test]
fn a_texture_object_of_an_array_and_of_rows() {
    let cuda = cuda();
    context(cuda);
    let (_, fetch) = function(cuda, FETCH, "fetch");
    let (width, height) = (20, 12);
    let texels: Vec<f32> = (0..width * height).map(|n| n as f32 * 0.5).collect();
    let out = buffer(cuda, &[0.0_f32; 16]);
    let array = array(cuda, Array3d { width, height, format: FLOAT, channels: 1, ..Array3d::default() });
    let whole = Copy2d {
        from: Side { host: texels.as_ptr() as Any, pitch: 4 * width, ..side() },
        to: Side { kind: ARRAY, array, ..side() },
        width: 4 * width,
        height,
    };
    assert_eq!(call!(cuda, "cuMemcpy2D_v2", of(&whole)), SUCCESS);
    // Clamped, unnormalized, linear.
    let linear = Description { addressing: [1; 3], filter: 1, ..Description::default() };
    let texture = object(cuda, &Resource::array(array), &linear).unwrap();
    assert_eq!(launch(cuda, fetch, 1, 16, &[of(&out), of(&texture)]), SUCCESS);
    let texel = |x: i64, y: i64| {
        f64::from(
            texels[(y.clamp(0, height as i64 - 1) as usize) * width + x.clamp(0, width as i64 - 1) as usize],
        )
    };
    let expected: Vec<f32> = (0..16)
        .map(|n| {
            // At (n / 2, n): between four texels, or two where n is odd.
            let (x, y) = (n / 2 - i64::from(n % 2 == 0), n - 1);
            let below = |y| if n % 2 == 0 { (texel(x, y) + texel(x + 1, y)) / 2.0 } else { texel(x, y) };
            ((below(y) + below(y + 1)) / 2.0) as f32
        })
        .collect();
    assert_eq!(contents::<f32>(cuda, out, 16), expected);

    // The same texels in rows of 96 bytes, by point.
    let mut rows = vec![0.0_f32; 24 * height];
    for (row, from) in rows.chunks_mut(24).zip(texels.chunks(width)) {
        row[..width].copy_from_slice(from);
    }
    let rows = buffer(cuda, &rows);
    let resource = Resource::pitched(rows, FLOAT, [width as u64, height as u64, 96]);
    let point = Description { addressing: [3; 3], ..Description::default() };
    let flat = object(cuda, &resource, &point).unwrap();
    assert_ne!(flat, texture);
    assert_eq!(launch(cuda, fetch, 1, 16, &[of(&out), of(&flat)]), SUCCESS);
    let expected: Vec<f32> = (0..16).map(|n| if n < 12 { texels[n * width + n / 2] } else { 0.0 }).collect();
    assert_eq!(contents::<f32>(cuda, out, 16), expected, "beyond the border is zero");

    let mut found = Resource { kind: 9, union: [9; 16], flags: 9 };
    assert_eq!(call!(cuda, "cuTexObjectGetResourceDesc", to(&mut found), number(flat)), SUCCESS);
    assert_eq!((found.kind as u32, found.union[..5].to_vec()), (3, resource.union[..5].to_vec()));
    let mut description = Description::default();
    assert_eq!(call!(cuda, "cuTexObjectGetTextureDesc", to(&mut description), number(texture)), SUCCESS);
    assert_eq!(description, linear);
    for handle in [texture, flat] {
        assert_eq!(call!(cuda, "cuTexObjectDestroy", number(handle)), SUCCESS);
        assert_eq!(call!(cuda, "cuTexObjectDestroy", number(handle)), INVALID_VALUE);
    }
    assert_eq!(call!(cuda, "cuArrayDestroy", array), SUCCESS);
    assert_eq!(call!(cuda, "cuArrayDestroy", array), INVALID_HANDLE);
}

#[test]
fn what_is_no_texture_is_refused() {
    let cuda = cuda();
    context(cuda);
    let memory = buffer(cuda, &[0_u32; 64]);
    let point = Description { flags: 1, ..Description::default() };
    let linear = |bytes| Resource::linear(memory, SIGNED_32, 1, bytes);
    assert!(object(cuda, &linear(256), &point).is_ok());
    for (resource, description, error) in [
        (linear(1 << 20), point, INVALID_VALUE),
        (linear(256), Description { filter: 1, ..point }, INVALID_VALUE),
        (linear(256), Description { addressing: [4, 0, 0], ..point }, INVALID_VALUE),
        (linear(256), Description { flags: 0x10, ..point }, NOT_SUPPORTED),
        (Resource { kind: 1, ..linear(256) }, point, INVALID_HANDLE),
        (Resource { kind: 7, ..linear(256) }, point, INVALID_VALUE),
        (Resource { flags: 1, ..linear(256) }, point, INVALID_VALUE),
        (Resource::linear(memory, 0x77, 1, 256), point, NOT_SUPPORTED),
        (Resource::linear(memory, SIGNED_32, 3, 256), point, INVALID_VALUE),
        (Resource::array(none()), point, INVALID_HANDLE),
        (Resource::array(number(memory)), point, INVALID_HANDLE),
    ] {
        assert_eq!(object(cuda, &resource, &description), Err(error), "{resource:?} {description:?}");
    }
    let mut handle = none();
    for (shape, error) in [
        (Array3d { width: 8, depth: 3, format: FLOAT, channels: 1, ..Array3d::default() }, INVALID_VALUE),
        (Array3d { format: FLOAT, channels: 1, ..Array3d::default() }, INVALID_VALUE),
        (Array3d { width: 8, format: FLOAT, channels: 5, ..Array3d::default() }, INVALID_VALUE),
        (Array3d { width: 8, height: 4, depth: 6, format: FLOAT, channels: 1, flags: 4 }, INVALID_VALUE),
        (Array3d { width: 8, height: 4, format: FLOAT, channels: 1, flags: 0x40, depth: 0 }, NOT_SUPPORTED),
    ] {
        assert_eq!(call!(cuda, "cuArray3DCreate_v2", to(&mut handle), of(&shape)), error, "{shape:?}");
    }
}

#[test]
fn a_reference_is_bound_to_linear_memory() {
    let cuda = cuda();
    context(cuda);
    let (module, look) = function(cuda, FETCH, "look");
    let values: Vec<i32> = (0..300).map(|n| n * n - 700).collect();
    let memory = buffer(cuda, &values);
    let out = buffer(cuda, &[0_i32; 200]);
    let name = text("table");
    let (mut table, mut again) = (none(), none());
    assert_eq!(call!(cuda, "cuModuleGetTexRef", to(&mut table), module, name.as_ptr()), SUCCESS);
    assert_eq!(call!(cuda, "cuModuleGetTexRef", to(&mut again), module, name.as_ptr()), SUCCESS);
    assert_eq!(table, again);
    let none_such = text("marks");
    assert_eq!(call!(cuda, "cuModuleGetTexRef", to(&mut again), module, none_such.as_ptr()), NOT_FOUND);
    let mut offset = 99_usize;
    let bytes = number(1200);
    assert_eq!(call!(cuda, "cuTexRefSetAddress_v2", to(&mut offset), table, number(memory), bytes), SUCCESS);
    assert_eq!(offset, 0, "what cuMemAlloc gives is aligned");
    assert_eq!(call!(cuda, "cuTexRefSetFormat", table, number(SIGNED_32.into()), number(1)), SUCCESS);
    assert_eq!(call!(cuda, "cuTexRefSetFlags", table, number(1)), SUCCESS);
    assert_eq!(launch(cuda, look, 1, 200, &[of(&out)]), SUCCESS);
    assert_eq!(contents::<i32>(cuda, out, 200), values[..200]);
    // From the middle of a buffer: the client adds the offset, here 16 bytes of 272.
    let part = number(memory + 272);
    assert_eq!(call!(cuda, "cuTexRefSetAddress_v2", to(&mut offset), table, part, number(400)), SUCCESS);
    assert_eq!(offset, 16);
    assert_eq!(launch(cuda, look, 1, 200, &[of(&out)]), SUCCESS);
    let mut expected = values[64..168].to_vec();
    expected.resize(200, 0);
    assert_eq!(contents::<i32>(cuda, out, 200), expected, "beyond the memory is zero");
    let mut address = 0_u64;
    assert_eq!(call!(cuda, "cuTexRefGetAddress_v2", to(&mut address), table), SUCCESS);
    assert_eq!(address, memory + 256);
    let (mut format, mut channels) = (0_u32, 0_i32);
    assert_eq!(call!(cuda, "cuTexRefGetFormat", to(&mut format), to(&mut channels), table), SUCCESS);
    assert_eq!((format, channels), (SIGNED_32, 1));
    assert_eq!(call!(cuda, "cuTexRefSetAddressMode", table, number(0), number(2)), SUCCESS);
    let mut mode = 9_u32;
    assert_eq!(call!(cuda, "cuTexRefGetAddressMode", to(&mut mode), table, number(0)), SUCCESS);
    assert_eq!(mode, 2);
    assert_eq!(call!(cuda, "cuModuleUnload", module), SUCCESS);
    assert_eq!(call!(cuda, "cuTexRefSetFlags", table, number(1)), INVALID_HANDLE, "its module is gone");
}

#[test]
fn surfaces_of_an_array_by_handle_and_by_name() {
    let cuda = cuda();
    context(cuda);
    let (module, _) = function(cuda, FETCH, "look");
    let mark = named(cuda, module, "mark");
    let shape = Array3d { width: 16, height: 16, format: SIGNED_32, channels: 1, flags: 2, depth: 0 };
    let (own, by_name) = (array(cuda, shape), array(cuda, shape));
    let mut surface = 0_u64;
    assert_eq!(call!(cuda, "cuSurfObjectCreate", to(&mut surface), of(&Resource::array(own))), SUCCESS);
    let name = text("marks");
    let mut reference = none();
    assert_eq!(call!(cuda, "cuModuleGetSurfRef", to(&mut reference), module, name.as_ptr()), SUCCESS);
    assert_eq!(call!(cuda, "cuSurfRefSetArray", reference, by_name, number(0)), SUCCESS);
    assert_eq!(launch(cuda, mark, 1, 32, &[of(&surface)]), SUCCESS);
    let mut expected = vec![0_i32; 256];
    (0..16).for_each(|n| expected[17 * n] = n as i32);
    for array in [own, by_name] {
        let mut found = vec![-1_i32; 256];
        let bytes = number(1024);
        assert_eq!(call!(cuda, "cuMemcpyAtoH_v2", found.as_mut_ptr(), array, number(0), bytes), SUCCESS);
        assert_eq!(found, expected);
    }
    let plain = array(cuda, Array3d { flags: 0, ..shape });
    assert_eq!(
        call!(cuda, "cuSurfObjectCreate", to(&mut surface), of(&Resource::array(plain))),
        INVALID_VALUE,
        "not made for surfaces"
    );
    let mut found = Array3d::default();
    assert_eq!(call!(cuda, "cuArray3DGetDescriptor_v2", to(&mut found), own), SUCCESS);
    assert_eq!(found, shape);
}

#[test]
fn copies_of_arrays_in_every_direction() {
    let cuda = cuda();
    let own = context(cuda);
    // A volume of bytes, 13 by 9 by 5, in two channels.
    let (width, height, depth) = (13, 9, 5);
    let row = 2 * width;
    let bytes: Vec<u8> = (0..row * height * depth).map(|n| (n * 31 % 251) as u8).collect();
    let shape = Array3d { width, height, depth, format: UNSIGNED_8, channels: 2, flags: 0 };
    let volume = array(cuda, shape);
    let fill = Copy3d {
        from: Corner { host: bytes.as_ptr() as Any, pitch: row, height, ..corner() },
        to: Corner { kind: ARRAY, array: volume, ..corner() },
        width: row,
        height,
        depth,
    };
    assert_eq!(call!(cuda, "cuMemcpy3D_v2", of(&fill)), SUCCESS);
    // A part of it to another array, elsewhere; that to the device; that to the host.
    let other = array(cuda, shape);
    let part = Copy3d {
        from: Corner { x: 4, y: 2, z: 1, kind: ARRAY, array: volume, ..corner() },
        to: Corner { x: 2, y: 1, z: 0, kind: ARRAY, array: other, ..corner() },
        width: 20,
        height: 6,
        depth: 4,
    };
    assert_eq!(call!(cuda, "cuMemcpy3D_v2", of(&part)), SUCCESS);
    let device = buffer(cuda, &vec![0_u8; row * height * depth]);
    let out = Copy3d {
        from: Corner { kind: ARRAY, array: other, ..corner() },
        to: Corner { kind: DEVICE, device, pitch: row, height, ..corner() },
        width: row,
        height,
        depth,
    };
    assert_eq!(call!(cuda, "cuMemcpy3D_v2", of(&out)), SUCCESS);
    let mut expected = vec![0_u8; row * height * depth];
    for z in 0..4 {
        for y in 0..6 {
            let from = ((z + 1) * height + y + 2) * row + 4;
            let to = (z * height + y + 1) * row + 2;
            expected[to..to + 20].copy_from_slice(&bytes[from..from + 20]);
        }
    }
    assert!(contents::<u8>(cuda, device, expected.len()) == expected);
    let beyond = Copy3d { to: Corner { x: 8, ..part.to }, ..part };
    assert_eq!(call!(cuda, "cuMemcpy3D_v2", of(&beyond)), INVALID_VALUE, "beyond the row");

    // Between contexts of the device; an array has its own.
    let again = buffer(cuda, &vec![0_u8; row * height * depth]);
    let there = Copy3d { to: Corner { device: again, reserved: own, ..out.to }, ..out };
    assert_eq!(call!(cuda, "cuMemcpy3DPeer", of(&there)), SUCCESS);
    assert!(contents::<u8>(cuda, again, expected.len()) == expected);
    let back = Copy3d { from: there.to, to: Corner { device, reserved: own, ..out.to }, ..there };
    assert_eq!(call!(cuda, "cuMemcpy3DPeerAsync", of(&back), none()), SUCCESS);
    let nowhere = Copy3d { to: Corner { reserved: none(), ..there.to }, ..there };
    assert_eq!(call!(cuda, "cuMemcpy3DPeer", of(&nowhere)), INVALID_CONTEXT);

    // Runs of bytes, over the ends of rows.
    let mut flat = none();
    let shape = ArrayShape { width: 40, height: 6, format: UNSIGNED_8, channels: 1 };
    assert_eq!(call!(cuda, "cuArrayCreate_v2", to(&mut flat), of(&shape)), SUCCESS);
    let ptr = bytes.as_ptr();
    assert_eq!(call!(cuda, "cuMemcpyHtoA_v2", flat, number(30), ptr, number(100)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemcpyAtoA_v2", flat, number(140), flat, number(30), number(90)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemcpyAtoD_v2", number(device), flat, number(0), number(240)), SUCCESS);
    let mut expected = vec![0_u8; 240];
    expected[30..130].copy_from_slice(&bytes[..100]);
    expected[140..230].copy_from_slice(&bytes[..90]);
    assert!(contents::<u8>(cuda, device, 240) == expected);
    assert_eq!(call!(cuda, "cuMemcpyDtoA_v2", flat, number(7), number(device), number(33)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemcpyHtoA_v2", flat, number(200), ptr, number(41)), INVALID_VALUE);
    let mut found = ArrayShape::default();
    assert_eq!(call!(cuda, "cuArrayGetDescriptor_v2", to(&mut found), flat), SUCCESS);
    assert_eq!(found, shape);
}

/// Each thread n of 16 stores what the texture of a handle has in the middle, at level n / 4.
const LEVELS: &str = "\
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
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd0, %rd2; st.global.f32 [%rd3], %f2; ret;\n}\n";

#[test]
fn levels_of_a_mipmapped_array_are_arrays_and_textures_blend_them() {
    let cuda = cuda();
    context(cuda);
    let (module, by_handle) = function(cuda, LEVELS, "by_handle");
    let by_name = named(cuda, module, "by_name");
    let shape = Array3d { width: 16, height: 8, format: FLOAT, channels: 1, ..Array3d::default() };
    let mut whole = none();
    // 16 by 8 has five levels; more are clamped.
    assert_eq!(call!(cuda, "cuMipmappedArrayCreate", to(&mut whole), of(&shape), number(99)), SUCCESS);
    let mut levels = Vec::new();
    for level in 0..5_u64 {
        let mut array = none();
        assert_eq!(
            call!(cuda, "cuMipmappedArrayGetLevel", to(&mut array), whole, number(level)),
            SUCCESS,
            "level {level}"
        );
        let mut found = Array3d::default();
        assert_eq!(call!(cuda, "cuArray3DGetDescriptor_v2", to(&mut found), array), SUCCESS);
        assert_eq!(found, Array3d { width: 16 >> level, height: (8 >> level).max(1), ..shape });
        let texels = vec![10.0_f32.powi(level as i32); found.width * found.height];
        let bytes = number(4 * texels.len() as u64);
        assert_eq!(call!(cuda, "cuMemcpyHtoA_v2", array, number(0), texels.as_ptr(), bytes), SUCCESS);
        levels.push(array);
    }
    let mut none_such = none();
    assert_eq!(call!(cuda, "cuMipmappedArrayGetLevel", to(&mut none_such), whole, number(5)), INVALID_VALUE);
    assert_eq!(call!(cuda, "cuArrayDestroy", levels[1]), INVALID_VALUE, "a level goes with its array");

    let out = buffer(cuda, &[0.0_f32; 16]);
    let resource = Resource { kind: 1, ..Resource::array(whole) };
    // Normalized and linear between levels 0.5 and 3, half a level further than a fetch says.
    let description = Description {
        addressing: [1; 3],
        filter: 1,
        flags: 2,
        level_filter: 1,
        levels: [0.5, 0.75, 3.0],
        ..Description::default()
    };
    let texture = object(cuda, &resource, &description).unwrap();
    assert_eq!(launch(cuda, by_handle, 1, 16, &[of(&out), of(&texture)]), SUCCESS);
    let blended = |n: u32| {
        let level = (f64::from(n) / 4.0 + 0.5).clamp(0.75, 3.0);
        let value = |level: f64| 10.0_f64.powi(level as i32);
        let weight = level.fract();
        (value(level.floor()) * (1.0 - weight) + value(level.floor() + 1.0) * weight) as f32
    };
    assert_eq!(contents::<f32>(cuda, out, 16), (0..16).map(blended).collect::<Vec<f32>>());

    // By name, the nearest level.
    let (mut reference, name) = (none(), text("table"));
    assert_eq!(call!(cuda, "cuModuleGetTexRef", to(&mut reference), module, name.as_ptr()), SUCCESS);
    assert_eq!(call!(cuda, "cuTexRefSetFlags", reference, number(2)), SUCCESS);
    let clamp = cuda.function::<unsafe extern "C" fn(Any, f32, f32) -> u32>("cuTexRefSetMipmapLevelClamp");
    // SAFETY: the driver API's function.
    assert_eq!(unsafe { clamp(reference, 0.0, 99.0) }, SUCCESS);
    assert_eq!(call!(cuda, "cuTexRefSetMipmappedArray", reference, whole, number(1)), SUCCESS);
    let mut bound = none();
    assert_eq!(call!(cuda, "cuTexRefGetMipmappedArray", to(&mut bound), reference), SUCCESS);
    assert_eq!(bound, whole);
    assert_eq!(launch(cuda, by_name, 1, 16, &[of(&out)]), SUCCESS);
    let nearest = |n: u32| 10.0_f32.powi((f64::from(n) / 4.0 + 0.5).floor() as i32);
    assert_eq!(contents::<f32>(cuda, out, 16), (0..16).map(nearest).collect::<Vec<f32>>());

    assert_eq!(call!(cuda, "cuMipmappedArrayDestroy", whole), SUCCESS);
    assert_eq!(call!(cuda, "cuMipmappedArrayDestroy", whole), INVALID_HANDLE);
    let mut found = Array3d::default();
    assert_eq!(call!(cuda, "cuArray3DGetDescriptor_v2", to(&mut found), levels[0]), INVALID_HANDLE);
}
