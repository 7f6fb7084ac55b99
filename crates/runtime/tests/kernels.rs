//! What programs ask about kernels before they launch them, and copies and calls with a choice that makes no difference here.

#![allow(unsafe_code, reason = "a client of C libraries")]

mod support;

use std::sync::atomic::{AtomicU64, Ordering};

use support::*;

const INVALID_DEVICE: u32 = 101;
const INVALID_CLUSTER_SIZE: u32 = 912;

fn all() -> &'static [Runtime; 3] {
    runtimes(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet"), ("STRATA_SET", "gpu.sms=2")])
}

fn kernel(runtime: &Runtime) -> Any {
    let container = Vec::leak(container(&[entry(1, 70, SCALE, Packing::Raw)]));
    let (kernel, binary) = (shadow(), runtime.register(Box::leak(Box::new(Wrapper::of(container)))));
    runtime.register_function(binary, kernel, c"mul");
    kernel
}

/// `cudaLaunchConfig_t`, with attributes of 72 bytes.
#[repr(C)]
struct Config {
    grid: Dim3,
    block: Dim3,
    shared: u64,
    stream: u64,
    attributes: *const [u32; 18],
    count: u32,
}

#[test]
fn clusters_and_shared_memory_that_fit_are_counted() {
    for runtime in all() {
        let mul = kernel(runtime);
        // Attribute 4 has the sides of a cluster.
        let mut sides = [0_u32; 18];
        (sides[0], sides[2], sides[3], sides[4]) = (4, 2, 1, 1);
        // Six CTAs of 256 threads fit one of two SMs. A grid says nothing about that, and may be missing.
        let config = |x: u32, block: u32| {
            let mut sides = sides;
            sides[2] = x;
            let attributes: &'static [u32; 18] = Box::leak(Box::new(sides));
            Config { grid: line(0), block: line(block), shared: 0, stream: 0, attributes, count: 1 }
        };
        let active = |config: &Config| {
            let mut clusters = -1;
            (call!(runtime, "cudaOccupancyMaxActiveClusters", to(&mut clusters), mul, of(config)), clusters)
        };
        assert_eq!(active(&config(2, 256)), (SUCCESS, 6));
        assert_eq!(active(&config(4, 256)), (SUCCESS, 2));
        assert_eq!(active(&config(16, 256)), (INVALID_CLUSTER_SIZE, -1));
        let largest = |config: &Config| {
            let mut size = -1;
            (call!(runtime, "cudaOccupancyMaxPotentialClusterSize", to(&mut size), mul, of(config)), size)
        };
        assert_eq!(largest(&config(1, 256)), (SUCCESS, 6));
        assert_eq!(largest(&config(1, 32)), (SUCCESS, 8), "the portable size");
        assert_eq!(largest(&config(1, 0)).0, INVALID_VALUE);

        let available = |ctas: u64, threads: u64| {
            let mut bytes = 7_u64;
            let (ctas, threads) = (number(ctas), number(threads));
            let asked = call!(
                runtime,
                "cudaOccupancyAvailableDynamicSMemPerBlock",
                to(&mut bytes),
                mul,
                ctas,
                threads
            );
            (asked, bytes)
        };
        let fit = |threads: u64, bytes: u64| {
            let mut ctas = 0;
            let (threads, bytes) = (number(threads), number(bytes));
            let asked = call!(
                runtime,
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                to(&mut ctas),
                mul,
                threads,
                bytes
            );
            assert_eq!(asked, SUCCESS);
            ctas
        };
        for ctas in 1..=6 {
            let (asked, bytes) = available(ctas, 256);
            assert_eq!(asked, SUCCESS);
            assert!(fit(256, bytes) >= ctas as i32 && fit(256, bytes + 1) < ctas as i32, "{ctas}: {bytes}");
        }
        for (ctas, threads) in [(7, 256), (1, 2048), (0, 256), (1, 0)] {
            assert_eq!(available(ctas, threads), (INVALID_VALUE, 7), "{ctas} of {threads}");
        }
        let mut count = 0_u64;
        assert_eq!(call!(runtime, "cudaFuncGetParamCount", mul, to(&mut count)), SUCCESS);
        assert_eq!(count, 3);
        let mut value = 0.1_f64;
        assert_eq!(call!(runtime, "cudaSetDoubleForDevice", to(&mut value)), SUCCESS);
        assert_eq!(call!(runtime, "cudaSetDoubleForHost", to(&mut value)), SUCCESS);
        assert_eq!(value, 0.1);
    }
}

extern "C" fn add(to: *const AtomicU64) {
    // SAFETY: the test passes a counter of its own.
    unsafe { &*to }.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn the_host_waits_for_its_functions_in_any_way() {
    for runtime in all() {
        let calls = AtomicU64::new(0);
        let function: extern "C" fn(*const AtomicU64) = add;
        let launch =
            |mode: u64| call!(runtime, "cudaLaunchHostFunc_v2", none(), function, of(&calls), number(mode));
        assert_eq!([launch(0), launch(1), launch(2)], [SUCCESS, SUCCESS, INVALID_VALUE]);
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    }
}

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
struct PeerCopy3D {
    from_array: u64,
    from_at: Extent,
    from: Pitched,
    from_device: i32,
    to_array: u64,
    to_at: Extent,
    to: Pitched,
    to_device: i32,
    extent: Extent,
}

#[test]
fn boxes_are_copied_from_the_device_to_itself() {
    for runtime in all() {
        let (from, to_) = (runtime.buffer(&(0..24).collect::<Vec<u8>>()), runtime.buffer(&[0xff_u8; 24]));
        // Of two slices of three rows of four bytes, the middle bytes of the last two rows.
        let rows = |start: u64| Pitched { start, pitch: 4, width: 4, height: 3 };
        let at = Extent { width: 1, height: 1, depth: 0 };
        let copy = |to_device: i32| {
            let what = PeerCopy3D {
                from_array: 0,
                from_at: at,
                from: rows(from),
                from_device: 0,
                to_array: 0,
                to_at: at,
                to: rows(to_),
                to_device,
                extent: Extent { width: 2, height: 2, depth: 2 },
            };
            call!(runtime, "cudaMemcpy3DPeer", of(&what))
        };
        assert_eq!(copy(1), INVALID_DEVICE);
        assert_eq!(runtime.contents::<u8>(to_, 24), [0xff; 24]);
        assert_eq!(copy(0), SUCCESS);
        let copied = |n: u8| if !(n / 4).is_multiple_of(3) && (1..3).contains(&(n % 4)) { n } else { 0xff };
        assert_eq!(runtime.contents::<u8>(to_, 24), (0..24).map(copied).collect::<Vec<u8>>());
    }
}
