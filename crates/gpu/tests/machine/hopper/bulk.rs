//! Bulk copies, with and without tensors.

use super::everywhere;
use half::f16;
use strata_ptx::tensor::{Element, Fill, Swizzle, TensorMap};

/// Waits on the barrier `b` for the phase of parity 0.
const WAIT: &str = "W: mbarrier.try_wait.parity.shared::cta.b64 %p7, [b], 0; @!%p7 bra W;\n";

const REGISTERS: &str = ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b16 %h<2>;\n\
                         .shared .align 1024 .b8 s[16384]; .shared .align 8 .b8 b[8];\n\
                         mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;\n\
                         @%p0 mbarrier.init.shared::cta.b64 [b], 1; fence.mbarrier_init.release.cluster;\n\
                         bar.sync 0;\n";

fn numbers(count: usize, seed: u64) -> Vec<u8> {
    let word = |n: u64| (n + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..count as u64).map(|n| word(n) as u8).collect()
}

#[test]
fn blocks_of_bytes() {
    // To shared memory, on to another place there, back, and added to words, in both memories.
    let text = format!(
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sums) .reqnctapercluster 1, 1, 1 {{\n{REGISTERS}\
         ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [sums]; mov.u32 %r1, 4112;\n\
         mov.u32 %r2, s;\n\
         @!%p0 bra L;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 4112;\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0+16], %r1, [b];\n\
         L: {WAIT}\
         bar.sync 0;\n\
         @!%p0 bra M;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 8208;\n\
         cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2+8192], [s], %r1, [b];\n\
         cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r2+8208], [s], 4096, [b];\n\
         M: X: mbarrier.try_wait.parity.shared::cta.b64 %p6, [b], 1; @!%p6 bra X;\n\
         bar.sync 0; fence.proxy.async.shared::cta;\n\
         @!%p0 bra N;\n\
         cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2+8192], 8192;\n\
         cp.async.bulk.commit_group;\n\
         cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2+32], [s], 64;\n\
         cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%rd2+96], [s], 64;\n\
         cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%rd2+160], [s], 64;\n\
         cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; cp.async.bulk.wait_group 0;\n\
         N: ret; }}\n"
    );
    let cycles = everywhere(&|device| {
        device.module(&text);
        let (input, sums) = (numbers(8192, 1), numbers(256, 500));
        let (from, out, to) = (device.buffer(&input), device.buffer(&[7; 8192]), device.buffer(&sums));
        let params: Vec<u8> = [from, out, to].iter().flat_map(|at| at.to_le_bytes()).collect();
        device.launch("k", [2, 1, 1], 64, &params).unwrap();
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        // The sum begins 16 bytes behind the copy.
        let mut wanted = vec![0; 8192];
        wanted[..4112].copy_from_slice(&input[16..4128]);
        for n in (0..4096).step_by(4) {
            let sum = word(&wanted, 16 + n).wrapping_add(word(&input, 16 + n));
            wanted[16 + n..20 + n].copy_from_slice(&sum.to_le_bytes());
        }
        assert_eq!(device.bytes(out, 8192), wanted);
        let found = device.bytes(to, 256);
        for n in (0..256).step_by(4) {
            let given = |base: usize| word(&input, 16 + n - base);
            let old = word(&sums, n);
            // Two CTAs do the same.
            let wanted = match n {
                32..96 => old.wrapping_add(given(32)).wrapping_add(given(32)),
                96..160 => (old as i32).max(given(96) as i32) as u32,
                _ => old,
            };
            assert_eq!(word(&found, n), wanted, "word at {n}");
        }
    });
    assert!(cycles > 0);
}

/// Elements of a box and where they lie in shared memory, by the driver API's words: the innermost dimension first, those
/// outside of the tensor without a place in memory, chunks of 16 bytes exchanged by the number of their line of 128 bytes.
fn walk(map: &TensorMap, at: [i32; 5], mut see: impl FnMut(usize, Option<u64>)) {
    let size = map.element.bytes() as usize;
    let rank = map.rank as usize;
    let count = |n: usize| if n == 0 { map.extent[0] } else { map.extent[n].div_ceil(map.steps[n]) };
    let total: u32 = (0..rank).map(count).product();
    for element in 0..total {
        let (mut left, mut address, mut inside) = (element, map.base as i64, true);
        for (n, first) in at.iter().enumerate().take(rank) {
            let step = if n == 0 { 1 } else { map.steps[n] };
            let place = i64::from(*first) + i64::from(left % count(n) * step);
            left /= count(n);
            inside &= place >= 0 && place < map.sizes[n] as i64;
            address += place * if n == 0 { size as i64 } else { map.strides[n] as i64 };
        }
        let plain = element as usize * size;
        let (line, chunk) = (plain / 128, plain % 128 / 16);
        let chunk = match map.swizzle {
            Swizzle::None => chunk,
            Swizzle::Of32 => chunk ^ (line & 1),
            Swizzle::Of64 => chunk ^ (line & 3),
            Swizzle::Of128 => chunk ^ (line & 7),
        };
        see(line * 128 + chunk * 16 + plain % 16, inside.then_some(address as u64));
    }
}

/// A kernel that brings a box to shared memory, shows it, and sends it to another tensor, if it goes there.
fn tile_kernel(rank: u32, reduction: Option<&str>, goes_on: bool) -> String {
    let coordinates = ["%r8", "%r9", "%r10", "%r11", "%r12"][..rank as usize].join(", ");
    let loads: String = (0..rank).map(|n| format!("ld.param.u32 %r{}, [c+{}];\n", 8 + n, 4 * n)).collect();
    let back = match reduction {
        _ if !goes_on => String::new(),
        None => format!(
            "cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%rd1, {{{coordinates}}}], [s];\n"
        ),
        Some(op) => format!(
            "cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}.tile.bulk_group [%rd1, {{{coordinates}}}], [s];\n"
        ),
    };
    format!(
        ".visible .entry k(.param .align 64 .b8 m[128], .param .align 64 .b8 o[128], .param .u64 image,\n\
         .param .u32 bytes, .param .align 4 .b8 c[20]) {{\n{REGISTERS}{loads}\
         mov.b64 %rd0, m; cvta.param.u64 %rd0, %rd0; mov.b64 %rd1, o; cvta.param.u64 %rd1, %rd1;\n\
         ld.param.u64 %rd2, [image]; ld.param.u32 %r1, [bytes];\n\
         prefetch.tensormap [%rd0];\n\
         @!%p0 bra L;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], %r1;\n\
         cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%rd0, {{{coordinates}}}], [b];\n\
         L: {WAIT}\
         shl.b32 %r2, %r0, 2; mov.u32 %r3, s;\n\
         C: setp.ge.u32 %p1, %r2, %r1; @%p1 bra D;\n\
         add.u32 %r4, %r3, %r2; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %rd3, %r2; add.u64 %rd3, %rd2, %rd3;\n\
         st.global.u32 [%rd3], %r5; add.u32 %r2, %r2, 128; bra C;\n\
         D: bar.sync 0;\n\
         @!%p0 bra N;\n\
         {back}cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n\
         N: ret; }}\n"
    )
}

struct Box {
    element: Element,
    sizes: &'static [u64],
    extent: &'static [u32],
    steps: &'static [u32],
    swizzle: Swizzle,
    fill: Fill,
    at: [i32; 5],
}

impl Box {
    /// The map, of a tensor at an address, and the tensor's bytes.
    fn map(&self, base: u64) -> (TensorMap, usize) {
        let rank = self.sizes.len();
        let mut map = TensorMap {
            element: self.element,
            rank: rank as u32,
            base,
            sizes: [1; 5],
            strides: [0; 5],
            extent: [1; 5],
            steps: [1; 5],
            swizzle: self.swizzle,
            fill: self.fill,
        };
        let mut stride = (self.sizes[0] * u64::from(self.element.bytes())).next_multiple_of(16);
        for n in 0..rank {
            (map.sizes[n], map.extent[n], map.steps[n]) = (self.sizes[n], self.extent[n], self.steps[n]);
            if n > 0 {
                map.strides[n] = stride;
                stride *= self.sizes[n];
            }
        }
        (map, stride as usize)
    }
}

/// Elements of type s32, u32, f32 or f16, combined; `None` overwrites.
type Combine = Option<(&'static str, fn(&[u8], &[u8]) -> Vec<u8>)>;

fn check_box(which: &Box, combine: Combine) {
    // No plain store begins before its tensor.
    let goes_on = combine.is_some() || which.at.iter().all(|at| *at >= 0);
    let text = tile_kernel(which.sizes.len() as u32, combine.map(|(op, _)| op), goes_on);
    everywhere(&|device| {
        device.module(&text);
        let (_, bytes) = which.map(16);
        let (input, before) = (numbers(bytes, 3), numbers(bytes, 9000));
        let (from, to) = (device.buffer(&input), device.buffer(&before));
        let (map, out) = (which.map(from).0, which.map(to).0);
        map.check().unwrap();
        let box_bytes = map.box_bytes() as usize;
        let image = device.buffer(&vec![0; box_bytes]);
        let mut params = [map.encode(), out.encode()].concat();
        params.extend(image.to_le_bytes());
        params.extend((box_bytes as u32).to_le_bytes());
        params.extend(which.at.iter().flat_map(|at| at.to_le_bytes()));
        device.launch("k", [1; 3], 32, &params).unwrap();

        let size = map.element.bytes() as usize;
        let nan = match map.element {
            Element::F64 => 0x7ff7_7ff7_7ff7_7ff7_u64.to_le_bytes().to_vec(),
            Element::F32 => 0x7ff7_7ff7_u32.to_le_bytes().to_vec(),
            _ => 0x7ff7_u16.to_le_bytes().to_vec(),
        };
        let (mut wanted, mut after) = (vec![0; box_bytes], before.clone());
        walk(&map, which.at, |shared, address| match address {
            Some(address) => {
                let at = (address - from) as usize;
                let value = &input[at..at + size];
                wanted[shared..shared + size].copy_from_slice(value);
                let value =
                    combine.map_or(value.to_vec(), |(_, combine)| combine(&before[at..at + size], value));
                if goes_on {
                    after[at..at + size].copy_from_slice(&value);
                }
            }
            None if map.fill == Fill::Nan => wanted[shared..shared + size].copy_from_slice(&nan),
            None => {}
        });
        assert!(device.bytes(image, box_bytes) == wanted, "in shared memory: {map:?} at {:?}", which.at);
        assert!(device.bytes(to, bytes) == after, "in the other tensor: {map:?} at {:?}", which.at);
    });
}

const PLANE: Box = Box {
    element: Element::F16,
    sizes: &[100, 40],
    extent: &[64, 24],
    steps: &[1, 1],
    swizzle: Swizzle::Of128,
    fill: Fill::Zero,
    at: [8, 3, 0, 0, 0],
};

#[test]
fn boxes_of_tensors_of_every_rank() {
    check_box(&PLANE, None);
    check_box(&Box { at: [64, 30, 0, 0, 0], fill: Fill::Nan, ..PLANE }, None);
    check_box(&Box { at: [-8, -5, 0, 0, 0], ..PLANE }, None);
    check_box(&Box { at: [200, 0, 0, 0, 0], fill: Fill::Nan, ..PLANE }, None);
    let line = Box {
        element: Element::U8,
        sizes: &[333],
        extent: &[176],
        steps: &[1],
        swizzle: Swizzle::None,
        at: [208, 0, 0, 0, 0],
        ..PLANE
    };
    check_box(&line, None);
    let deep = Box {
        element: Element::F32,
        sizes: &[9, 5, 4, 7],
        extent: &[8, 3, 3, 5],
        steps: &[1, 2, 1, 2],
        swizzle: Swizzle::Of32,
        fill: Fill::Nan,
        at: [4, 1, -1, 3, 0],
    };
    check_box(&deep, None);
    let deepest = Box {
        element: Element::F64,
        sizes: &[6, 5, 4, 3, 3],
        extent: &[4, 3, 2, 2, 2],
        steps: &[1, 1, 1, 1, 1],
        swizzle: Swizzle::Of32,
        fill: Fill::Zero,
        at: [2, -1, 3, 1, 0],
    };
    check_box(&deepest, None);
    check_box(&Box { element: Element::Bf16, extent: &[16, 40], swizzle: Swizzle::Of32, ..PLANE }, None);
}

#[test]
fn halves_of_either_format_at_the_edge_of_a_tensor() {
    check_box(&PLANE, Some(("max", |old, new| bound(old, new, 0x7c00, false))));
    let bf16 = Box { element: Element::Bf16, at: [-8, 30, 0, 0, 0], ..PLANE };
    check_box(&bf16, Some(("min", |old, new| bound(old, new, 0x7f80, true))));
}

/// The lesser or greater of two halves, whose infinity has these bits, by their order as numbers; one that is none loses.
fn bound(old: &[u8], new: &[u8], infinity: u16, least: bool) -> Vec<u8> {
    let [old, new] = [old, new].map(|bytes| u16::from_le_bytes(bytes.try_into().unwrap()));
    let place = |bits: u16| {
        let size = i32::from(bits & 0x7fff);
        // -0 stands below 0.
        let place = if bits & 0x8000 == 0 { size } else { -1 - size };
        (size <= infinity.into()).then_some(place)
    };
    let found = match (place(old), place(new)) {
        (None, None) => 0x7fff,
        (Some(_), None) => old,
        (None, Some(_)) => new,
        (Some(a), Some(b)) if (a < b) == least => old,
        (Some(_), Some(_)) => new,
    };
    found.to_le_bytes().to_vec()
}

#[test]
fn boxes_that_are_combined_with_what_is_there() {
    fn word(bytes: &[u8]) -> u32 {
        u32::from_le_bytes(bytes.try_into().unwrap())
    }
    let whole = Box { element: Element::U32, extent: &[32, 24], ..PLANE };
    let add = |old: &[u8], new: &[u8]| word(old).wrapping_add(word(new)).to_le_bytes().to_vec();
    check_box(&whole, Some(("add", add)));
    let max = |old: &[u8], new: &[u8]| (word(old) as i32).max(word(new) as i32).to_le_bytes().to_vec();
    check_box(&Box { element: Element::S32, at: [80, 30, 0, 0, 0], ..whole }, Some(("max", max)));
    let xor = |old: &[u8], new: &[u8]| (word(old) ^ word(new)).to_le_bytes().to_vec();
    check_box(&Box { element: Element::U32, at: [-4, -4, 0, 0, 0], ..whole }, Some(("xor", xor)));
    let min = |old: &[u8], new: &[u8]| {
        let half = |bytes: &[u8]| f16::from_le_bytes(bytes.try_into().unwrap());
        match (half(old), half(new)) {
            (x, y) if x.is_nan() && y.is_nan() => vec![0xff, 0x7f],
            (x, y) if y.is_nan() || !x.is_nan() && x.total_cmp(&y).is_le() => old.to_vec(),
            _ => new.to_vec(),
        }
    };
    check_box(&Box { extent: &[64, 24], swizzle: Swizzle::None, ..PLANE }, Some(("min", min)));
}

#[test]
fn faults_name_what_is_wrong() {
    let refused = |first: &dyn Fn(u64) -> [u8; 128], says: &str| {
        everywhere(&|device| {
            device.module(&tile_kernel(2, None, true));
            let tensor = device.buffer(&[0; 16384]);
            let (map, _) = PLANE.map(tensor);
            let mut params = [first(tensor), map.encode()].concat();
            params.extend(tensor.to_le_bytes());
            params.extend(64u32.to_le_bytes());
            params.extend([0; 20]);
            let error = device.launch("k", [1; 3], 32, &params).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        });
    };
    refused(&|_| [0; 128], "no tensor map");
    let line = Box { sizes: &[100], extent: &[64], steps: &[1], ..PLANE };
    refused(&|tensor| line.map(tensor).0.encode(), "1 dimensions");
    // A tensor that reaches beyond its buffer.
    let beyond = |tensor| {
        let (mut map, _) = PLANE.map(tensor);
        map.strides[1] = 1 << 20;
        map.encode()
    };
    refused(&beyond, "lobal address");
}
