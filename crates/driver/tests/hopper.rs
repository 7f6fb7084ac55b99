//! Tensor maps and launches of clusters, by a client in C's way.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use support::*;

const INVALID_CLUSTER_SIZE: u32 = 912;

/// A map, where the driver API asks for it.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Map([u8; 128]);

/// What a plane of f16, 64 by 32, is encoded from.
#[derive(Clone)]
struct Plane {
    element: u64,
    rank: u64,
    address: u64,
    sizes: [u64; 2],
    strides: [u64; 1],
    extent: [u32; 2],
    steps: [u32; 2],
    interleave: u64,
    swizzle: u64,
    fill: u64,
}

const PLANE: Plane = Plane {
    element: 6,
    rank: 2,
    address: 1 << 20,
    sizes: [64, 32],
    strides: [128],
    extent: [32, 8],
    steps: [1, 1],
    interleave: 0,
    swizzle: 2,
    fill: 0,
};

fn encode(cuda: &Cuda, plane: &Plane, map: &mut Map) -> u32 {
    call!(
        cuda,
        "cuTensorMapEncodeTiled",
        to(map),
        number(plane.element),
        number(plane.rank),
        number(plane.address),
        of(&plane.sizes),
        of(&plane.strides),
        of(&plane.extent),
        of(&plane.steps),
        number(plane.interleave),
        number(plane.swizzle),
        number(0),
        number(plane.fill)
    )
}

/// A launch configuration and the attributes that it points to.
#[repr(C)]
struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: u64,
    attributes: *const [u32; 18],
    count: u32,
}

/// Each CTA writes the number of its neighbour in the cluster.
const NEIGHBOURS: &str = "\
.version 8.0\n.target sm_90\n.address_size 64\n\
.visible .entry neighbours(.param .u64 out) {\n\
.reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .u32 own;\n\
ld.param.u64 %rd0, [out]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;\n\
st.shared.u32 [own], %r0; barrier.cluster.arrive; barrier.cluster.wait;\n\
add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2; mov.u32 %r4, own; mapa.shared::cluster.u32 %r5, %r4, %r3;\n\
ld.shared::cluster.u32 %r6, [%r5]; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r6;\n\
barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";

#[test]
fn maps_and_clusters() {
    let cuda = Cuda::with(&[("STRATA_SET", "gpu.sms=2")]);
    context(cuda);

    let (mut map, mut other) = (Map([0; 128]), Map([0; 128]));
    assert_eq!(encode(cuda, &PLANE, &mut map), SUCCESS);
    assert_eq!(encode(cuda, &Plane { address: 1 << 21, ..PLANE }, &mut other), SUCCESS);
    assert_ne!(map, other);
    assert_eq!(call!(cuda, "cuTensorMapReplaceAddress", to(&mut map), number(1 << 21)), SUCCESS);
    assert_eq!(map, other);
    for plane in [
        Plane { address: 8, ..PLANE },
        Plane { rank: 6, ..PLANE },
        Plane { rank: 0, ..PLANE },
        Plane { strides: [120], ..PLANE },
        Plane { extent: [64, 8], ..PLANE },
        Plane { extent: [0, 8], ..PLANE },
        Plane { steps: [1, 9], ..PLANE },
        Plane { sizes: [0, 32], ..PLANE },
        Plane { element: 0, fill: 1, ..PLANE },
        Plane { fill: 2, ..PLANE },
    ] {
        assert_eq!(encode(cuda, &plane, &mut map), INVALID_VALUE);
    }
    for plane in
        [Plane { interleave: 1, ..PLANE }, Plane { swizzle: 4, ..PLANE }, Plane { element: 13, ..PLANE }]
    {
        assert_eq!(encode(cuda, &plane, &mut map), NOT_SUPPORTED);
    }
    assert_eq!(map, other, "what is refused writes nothing");
    let mut garbage = Map([0x5a; 128]);
    assert_eq!(call!(cuda, "cuTensorMapReplaceAddress", to(&mut garbage), number(1 << 21)), INVALID_VALUE);

    let (_, kernel) = function(cuda, NEIGHBOURS, "neighbours");
    let out = buffer(cuda, &[0_u32; 12]);
    let arguments = [of(&out)];
    let mut attribute = [0_u32; 18];
    attribute[0] = 4;
    let configured = |size: u32, run: &dyn Fn(&Config) -> u32| {
        let mut attribute = attribute;
        attribute[2..5].copy_from_slice(&[size, 1, 1]);
        let config = Config {
            grid: [12, 1, 1],
            block: [32, 1, 1],
            shared: 0,
            stream: 0,
            attributes: &raw const attribute,
            count: 1,
        };
        run(&config)
    };
    let launch = |size: u32| {
        configured(size, &|config| {
            call!(cuda, "cuLaunchKernelEx", of(config), kernel, arguments.as_ptr(), number(0))
        })
    };
    for size in [1, 2, 3, 4, 6] {
        assert_eq!(launch(size), SUCCESS);
        let wanted: Vec<u32> = (0..12).map(|cta| cta / size * size + (cta % size + 1) % size).collect();
        assert_eq!(contents::<u32>(cuda, out, 12), wanted, "clusters of {size}");
    }
    assert_eq!(launch(5), INVALID_VALUE, "12 CTAs are no clusters of 5");
    assert_eq!(launch(0), INVALID_VALUE);
    assert_eq!(launch(12), INVALID_CLUSTER_SIZE, "more than is portable");
    let mut found = 0_i32;
    let mut attribute_of = attribute;
    attribute_of[2..5].copy_from_slice(&[4, 1, 1]);
    let config = Config {
        grid: [12, 1, 1],
        block: [32, 1, 1],
        shared: 0,
        stream: 0,
        attributes: &raw const attribute_of,
        count: 1,
    };
    assert_eq!(
        call!(cuda, "cuOccupancyMaxPotentialClusterSize", to(&mut found), kernel, of(&config)),
        SUCCESS
    );
    assert_eq!(found, 8, "an SM holds eight CTAs, and eight are portable");
    assert_eq!(call!(cuda, "cuOccupancyMaxActiveClusters", to(&mut found), kernel, of(&config)), SUCCESS);
    assert_eq!(found, 4, "two on each of two SMs");
    assert_eq!(call!(cuda, "cuFuncSetAttribute", kernel, number(14), number(1)), SUCCESS);
    assert_eq!(launch(12), OUT_OF_RESOURCES, "an SM of this machine holds eight CTAs");
}
