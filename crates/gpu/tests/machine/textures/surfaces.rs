//! `suld`, `sust`, `sured` and `suq`.

use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Channel, Format, Header};

use super::bench::{Spec, THREADS, both, kernel};

fn numbered(spec: &Spec) -> Vec<u8> {
    let bytes = spec.sides.iter().product::<u32>() as usize * spec.format.bytes();
    (0..bytes).map(|n| (n * 7 + n / 251) as u8).collect()
}

/// Byte of an image of plain rows.
fn offset(spec: &Spec, x: usize, y: usize, z: usize) -> usize {
    let row = spec.sides[0] as usize * spec.format.bytes();
    (z * spec.sides[1] as usize + y) * row + x
}

const SHAPES: [(Geometry, [u32; 3], &str, &str); 5] = [
    (Geometry::D1, [24, 1, 1], "1d", "{%r0}"),
    (Geometry::D2, [24, 11, 1], "2d", "{%r0, %r1}"),
    (Geometry::D3, [8, 11, 5], "3d", "{%r0, %r1, %r2, %r3}"),
    (Geometry::Layers1, [24, 1, 5], "a1d", "{%r2, %r0}"),
    (Geometry::Layers2, [8, 11, 5], "a2d", "{%r2, %r0, %r1, %r3}"),
];

/// Byte of a row, row and slice of a thread, some beyond every edge when `outside`.
fn places(spec: &Spec, width: usize, outside: bool) -> Vec<[u32; 4]> {
    let row = spec.sides[0] as usize * spec.format.bytes();
    (0..THREADS as usize)
        .map(|thread| {
            let x = thread * 5 % (row / width) * width;
            let (y, z) = (thread / 3 % spec.sides[1] as usize, thread / 7 % spec.sides[2] as usize);
            let beyond = |n: usize| outside && thread % 8 == n;
            let x = if beyond(1) {
                row as u32
            } else if beyond(2) {
                -(width as i32) as u32
            } else {
                x as u32
            };
            let y = if beyond(3) && spec.sides[1] > 1 { spec.sides[1] } else { y as u32 };
            let z = if beyond(4) && spec.sides[2] > 1 { spec.sides[2] + 3 } else { z as u32 };
            [x, y, z, thread as u32]
        })
        .collect()
}

#[test]
fn loads_of_every_width_and_geometry() {
    for (geometry, sides, word, place) in SHAPES {
        for (ty, registers, width) in [
            ("b8", "%h0", 1),
            ("b16", "%h0", 2),
            ("b32", "%r4", 4),
            ("v2.b32", "{%r4, %r5}", 8),
            ("v4.b32", "{%r4, %r5, %r6, %r7}", 16),
            ("b64", "%rd4", 8),
            ("v2.b64", "{%rd4, %rd5}", 16),
            ("v4.b8", "{%h0, %h1, %h2, %h3}", 4),
        ] {
            let spec = Spec::new(geometry, sides);
            let bytes = numbered(&spec);
            let unpack = match ty {
                "b8" | "b16" => "cvt.u32.u16 %r4, %h0;",
                "b64" => "mov.b64 {%r4, %r5}, %rd4;",
                "v2.b64" => "mov.b64 {%r4, %r5}, %rd4; mov.b64 {%r6, %r7}, %rd5;",
                "v4.b8" => {
                    "cvt.u32.u16 %r4, %h0; cvt.u32.u16 %r5, %h1; shl.b32 %r5, %r5, 8; or.b32 %r4, %r4, %r5; \
                     cvt.u32.u16 %r5, %h2; shl.b32 %r5, %r5, 16; or.b32 %r4, %r4, %r5; \
                     cvt.u32.u16 %r5, %h3; shl.b32 %r5, %r5, 24; or.b32 %r4, %r4, %r5; mov.u32 %r5, 0;"
                }
                _ => "",
            };
            let body = format!("suld.b.{word}.{ty}.zero {registers}, [%t, {place}]; {unpack}");
            for outside in [false, true] {
                let words = places(&spec, width, outside);
                let (results, after) =
                    both(&kernel("", &body), &spec, &bytes, Header::Surface, &words).unwrap();
                assert_eq!(after, bytes, "a load changes nothing");
                for (found, at) in results.iter().zip(&words) {
                    let row = sides[0] as usize * 16;
                    let inside = at[0] as usize + width <= row && at[1] < sides[1] && at[2] < sides[2];
                    let mut expected = [0; 16];
                    if inside {
                        let from = offset(&spec, at[0] as usize, at[1] as usize, at[2] as usize);
                        expected[..width].copy_from_slice(&bytes[from..from + width]);
                    }
                    let found: Vec<u8> = found.iter().flat_map(|word| word.to_le_bytes()).collect();
                    assert_eq!(found, expected, "{body} at {at:?}");
                }
            }
        }
    }
}

#[test]
fn stores_of_every_width_and_geometry() {
    for (geometry, sides, word, place) in SHAPES {
        for (ty, registers, width) in [
            ("b8", "%h0", 1),
            ("b16", "%h0", 2),
            ("b32", "%r12", 4),
            ("v2.b32", "{%r12, %r13}", 8),
            ("v4.b32", "{%r12, %r13, %r14, %r15}", 16),
            ("b64", "%rd4", 8),
        ] {
            let spec = Spec::new(geometry, sides);
            let bytes = numbered(&spec);
            let words = places(&spec, width, true);
            let body = format!(
                "mul.lo.u32 %r12, %r3, 0x01030507; add.u32 %r13, %r12, 1; add.u32 %r14, %r12, 2; \
                 add.u32 %r15, %r12, 3; cvt.u16.u32 %h0, %r12; mov.b64 %rd4, {{%r12, %r13}}; \
                 sust.b.{word}.{ty}.zero [%t, {place}], {registers};"
            );
            // One thread a place, so that no order decides.
            let mut taken = std::collections::BTreeSet::new();
            let words: Vec<[u32; 4]> =
                words
                    .into_iter()
                    .map(|at| {
                        if taken.insert((at[0], at[1], at[2])) { at } else { [u32::MAX / 2 + 1, 0, 0, at[3]] }
                    })
                    .collect();
            let (_, after) = both(&kernel("", &body), &spec, &bytes, Header::Surface, &words).unwrap();
            let mut expected = bytes.clone();
            for at in &words {
                let row = sides[0] as usize * 16;
                let inside = at[0] < row as u32 && at[1] < sides[1] && at[2] < sides[2];
                if inside {
                    let value = at[3].wrapping_mul(0x0103_0507);
                    let stored: Vec<u8> =
                        (0..4u32).flat_map(|n| value.wrapping_add(n).to_le_bytes()).collect();
                    let to = offset(&spec, at[0] as usize, at[1] as usize, at[2] as usize);
                    expected[to..to + width].copy_from_slice(&stored[..width]);
                }
            }
            assert!(after == expected, "{body}");
        }
    }
}

#[test]
fn a_clamped_access_goes_to_the_nearest_place() {
    let spec = Spec::new(Geometry::D2, [24, 11, 1]);
    let bytes = numbered(&spec);
    let words = places(&spec, 4, true);
    let body = "suld.b.2d.b32.clamp %r4, [%t, {%r0, %r1}];";
    let (results, _) = both(&kernel("", body), &spec, &bytes, Header::Surface, &words).unwrap();
    for (found, at) in results.iter().zip(&words) {
        let x = (at[0] as i32).clamp(0, 24 * 16 - 4) as usize;
        let from = offset(&spec, x, at[1].min(10) as usize, 0);
        assert_eq!(found[0], u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap()), "{at:?}");
    }
}

#[test]
fn reductions_add_up_over_all_threads() {
    let format = Format { channel: Channel::U32, channels: 1 };
    let spec = Spec { format, ..Spec::new(Geometry::D2, [8, 3, 1]) };
    let bytes = vec![0; 8 * 3 * 4];
    // Thread n adds n to texel (n % 8, n % 3), and the greatest number is kept beside it.
    let words: Vec<[u32; 4]> = (0..THREADS).map(|n| [n % 4 * 4, n % 3, n, 16 + n % 4 * 4]).collect();
    let body =
        "sured.b.add.2d.u32.trap [%t, {%r0, %r1}], %r2; sured.b.max.2d.s32.trap [%t, {%r3, %r1}], %r2;";
    let (_, after) = both(&kernel("", body), &spec, &bytes, Header::Surface, &words).unwrap();
    let word = |x: usize, y: usize| {
        let at = (y * 8 + x) * 4;
        u32::from_le_bytes(after[at..at + 4].try_into().unwrap())
    };
    for x in 0..4u32 {
        for y in 0..3u32 {
            let threads = (0..THREADS).filter(|n| n % 4 == x && n % 3 == y);
            assert_eq!(word(x as usize, y as usize), threads.clone().sum::<u32>());
            assert_eq!(word(4 + x as usize, y as usize), threads.max().unwrap());
        }
    }
}

#[test]
fn what_a_thread_stored_it_loads() {
    let spec = Spec::new(Geometry::D2, [24, 11, 1]);
    let bytes = numbered(&spec);
    let words: Vec<[u32; 4]> = (0..THREADS).map(|n| [n % 96 * 4, n / 96, n, 0]).collect();
    let body = "suld.b.2d.b32.trap %r4, [%t, {%r0, %r1}]; sust.b.2d.b32.trap [%t, {%r0, %r1}], %r2; \
                suld.b.2d.b32.trap %r5, [%t, {%r0, %r1}]; suq.width.b32 %r6, [%t];";
    let (results, _) = both(&kernel("", body), &spec, &bytes, Header::Surface, &words).unwrap();
    for (n, found) in results.iter().enumerate() {
        let from = offset(&spec, n % 96 * 4, n / 96, 0);
        let before = u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap());
        assert_eq!(found[..3], [before, n as u32, 24]);
    }
}
