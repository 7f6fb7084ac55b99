//! `tex`, `tld4` and `txq` by handle.

use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Addressing, Channel, Filter, Format, Header, Read};

use super::bench::{Spec, THREADS, both, kernel};
use super::model::Plain;

/// A texel's channel as stored and as a number.
fn channel(channel: Channel, read: Read, seed: u32) -> (Vec<u8>, f64) {
    let normalized = |value: f64, full: f64| match read {
        Read::Element => value,
        Read::Normalized => f64::from((value / full).max(-1.0) as f32),
    };
    match channel {
        Channel::U8 => (vec![seed as u8], normalized(f64::from(seed as u8), 255.0)),
        Channel::S8 => (vec![seed as u8], normalized(f64::from(seed as i8), 127.0)),
        Channel::U16 => ((seed as u16).to_le_bytes().to_vec(), normalized(f64::from(seed as u16), 65535.0)),
        Channel::S16 => ((seed as u16).to_le_bytes().to_vec(), normalized(f64::from(seed as i16), 32767.0)),
        Channel::U32 => (seed.to_le_bytes().to_vec(), f64::from(seed)),
        Channel::S32 => (seed.to_le_bytes().to_vec(), f64::from(seed as i32)),
        Channel::F16 => {
            // Small integers over four: exact, and their bits follow from the format alone (exponent bias 15).
            let number = 1 + seed % 1000;
            let exponent = 31 - number.leading_zeros();
            let fraction = (number << (10 - exponent.min(10)) & 0x3ff) as u16;
            (((exponent + 15 - 2) as u16 * 1024 + fraction).to_le_bytes().to_vec(), f64::from(number) / 4.0)
        }
        Channel::F32 => {
            let number = (seed % 2001) as f32 * 0.37 - 300.0;
            (number.to_le_bytes().to_vec(), number.into())
        }
    }
}

/// Texels of a spec, as bytes and as the model's numbers.
pub fn texels(spec: &Spec) -> (Vec<u8>, Plain) {
    let count: u32 = spec.sides.iter().product();
    let mut seed = 12345u32;
    let (mut bytes, mut numbers) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let mut texel = [0.0; 4];
        for number in texel.iter_mut().take(spec.format.channels.into()) {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            let (stored, value) = channel(spec.format.channel, spec.read, seed >> 3);
            bytes.extend(stored);
            *number = value;
        }
        numbers.push(texel);
    }
    let plain = Plain {
        geometry: spec.geometry,
        sides: spec.sides.map(i64::from),
        texels: numbers,
        addressing: if spec.array || spec.sides[1] > 1 { spec.addressing } else { Addressing::Border },
        filter: spec.filter,
        normalized: spec.normalized,
    };
    (bytes, plain)
}

/// A coordinate for a thread: centres, edges and anything in between, inside and out on both sides.
fn coordinate(thread: u32, axis: u32, size: u32, normalized: bool) -> f32 {
    let mut state =
        thread.wrapping_mul(2654435761).wrapping_add(axis.wrapping_mul(40503).wrapping_mul(69069));
    state ^= state >> 15;
    state = state.wrapping_mul(2246822519);
    state ^= state >> 13;
    let wide = (state % 4096) as f32 / 4096.0 * 3.5 - 1.25;
    let x = wide * size as f32;
    let x = match thread % 4 {
        0 => x.floor() + 0.5,
        1 => x.floor() + 0.25,
        _ => x,
    };
    if normalized { x / size as f32 } else { x }
}

pub fn close(found: u32, expected: f64) -> bool {
    let found = f64::from(f32::from_bits(found));
    (found - expected).abs() <= expected.abs().max(1.0) * 3e-7
}

/// Checks a floating-point fetch of all threads against the model.
fn check(spec: &Spec, form: &str) {
    let (bytes, plain) = texels(spec);
    let layered = spec.geometry.is_layered();
    let count = spec.geometry.coordinates();
    let words: Vec<[u32; 4]> = (0..THREADS)
        .map(|thread| {
            std::array::from_fn(|n| match n {
                0 if layered => thread % 5,
                _ if spec.geometry.is_cube() => {
                    let x = coordinate(thread, n as u32, 2, true);
                    if x == 0.0 { 0.125f32.to_bits() } else { x.to_bits() }
                }
                _ => {
                    let axis = n - usize::from(layered);
                    coordinate(thread, n as u32, spec.sides[axis.min(2)], spec.normalized).to_bits()
                }
            })
        })
        .collect();
    let list: Vec<String> = (0..count).map(|n| format!("%r{n}")).collect();
    let padding = if count == 3 { ", %r3" } else { "" };
    let body = format!("{form} {{%r4, %r5, %r6, %r7}}, [%t, {{{}{padding}}}]LEVEL;", list.join(", "));
    let level = if form.contains("level") { ", %f3" } else { "" };
    let body = body.replace("LEVEL", level);
    let header = |image| Header::Texture(spec.texture(image));
    let (results, _) = both(&kernel("", &body), spec, &bytes, header, &words).unwrap();
    for (thread, (found, word)) in results.iter().zip(&words).enumerate() {
        let layer = layered.then_some(word[0]);
        let first = usize::from(layered);
        let at: [f32; 3] = std::array::from_fn(|n| f32::from_bits(word.get(first + n).copied().unwrap_or(0)));
        let expected = plain.at(layer, at);
        for n in 0..4 {
            let right = match spec.read == Read::Normalized || spec.format.channel.is_float() {
                true => close(found[n], expected[n]),
                false => found[n] == expected[n] as i64 as u32,
            };
            assert!(
                right,
                "{spec:?} {form}: thread {thread} at {at:?} (layer {layer:?}), channel {n}: {} for {}",
                f32::from_bits(found[n]),
                expected[n]
            );
        }
    }
}

const MODES: [Addressing; 4] = [Addressing::Wrap, Addressing::Clamp, Addressing::Mirror, Addressing::Border];

#[test]
fn a_point_of_two_dimensions_by_handle() {
    check(&Spec::new(Geometry::D2, [37, 19, 1]), "tex.2d.v4.f32.f32");
}

#[test]
fn every_geometry_filter_and_addressing_mode() {
    for (geometry, sides, form) in [
        (Geometry::D1, [45, 1, 1], "tex.1d.v4.f32.f32"),
        (Geometry::D2, [37, 19, 1], "tex.2d.v4.f32.f32"),
        (Geometry::D3, [11, 9, 7], "tex.3d.v4.f32.f32"),
        (Geometry::Layers1, [33, 1, 4], "tex.a1d.v4.f32.f32"),
        (Geometry::Layers2, [13, 21, 3], "tex.a2d.v4.f32.f32"),
    ] {
        for addressing in MODES {
            for filter in [Filter::Point, Filter::Linear] {
                for normalized in [false, true] {
                    let spec = Spec::new(geometry, sides);
                    check(&Spec { addressing, filter, normalized, ..spec }, form);
                }
            }
        }
    }
}

#[test]
fn the_faces_of_cubes() {
    for (geometry, layers, form) in
        [(Geometry::Cube, 6, "tex.cube.v4.f32.f32"), (Geometry::Cubes, 18, "tex.acube.v4.f32.f32")]
    {
        for filter in [Filter::Point, Filter::Linear] {
            let spec = Spec::new(geometry, [16, 16, layers]);
            check(&Spec { filter, normalized: true, ..spec }, form);
        }
    }
}

#[test]
fn every_format_as_it_is_and_normalized() {
    for channel in [
        Channel::U8,
        Channel::S8,
        Channel::U16,
        Channel::S16,
        Channel::U32,
        Channel::S32,
        Channel::F16,
        Channel::F32,
    ] {
        for channels in [1, 2, 4] {
            let format = Format { channel, channels };
            let spec = Spec { format, ..Spec::new(Geometry::D2, [29, 17, 1]) };
            let form = if channel.is_float() { "tex.2d.v4.f32.f32" } else { "tex.2d.v4.u32.f32" };
            check(&spec, form);
            if channel.can_normalize() {
                for filter in [Filter::Point, Filter::Linear] {
                    check(&Spec { read: Read::Normalized, filter, ..spec }, "tex.2d.v4.f32.f32");
                }
            }
        }
    }
}

#[test]
fn linear_memory_and_rows_of_it() {
    for filter in [Filter::Point, Filter::Linear] {
        let rows = Spec { array: false, filter, ..Spec::new(Geometry::D2, [37, 19, 1]) };
        check(&rows, "tex.2d.v4.f32.f32");
        check(&Spec { addressing: Addressing::Wrap, normalized: true, ..rows }, "tex.2d.v4.f32.f32");
    }
    for channels in [1, 2, 4] {
        for channel in [Channel::S32, Channel::F32, Channel::U8] {
            let format = Format { channel, channels };
            let spec = Spec { array: false, format, ..Spec::new(Geometry::D1, [100, 1, 1]) };
            integers(&spec, "tex.1d.v4.s32.s32");
        }
    }
}

/// Checks a fetch at integer coordinates, some of them outside.
fn integers(spec: &Spec, form: &str) {
    let (bytes, plain) = texels(spec);
    let layered = spec.geometry.is_layered();
    let words: Vec<[u32; 4]> = (0..THREADS)
        .map(|thread| {
            std::array::from_fn(|n| match n {
                0 if layered => thread % 5,
                _ => (thread as i32 * (1 + n as i32 * 2) % 130 - 15) as u32,
            })
        })
        .collect();
    let list: Vec<String> = (0..spec.geometry.coordinates()).map(|n| format!("%r{n}")).collect();
    let body = format!("{form} {{%r4, %r5, %r6, %r7}}, [%t, {{{}}}];", list.join(", "));
    let header = |image| Header::Texture(spec.texture(image));
    let (results, _) = both(&kernel("", &body), spec, &bytes, header, &words).unwrap();
    for (found, word) in results.iter().zip(&words) {
        let layer = layered.then_some(word[0]);
        let first = usize::from(layered);
        let at = std::array::from_fn(|n| word.get(first + n).copied().unwrap_or(0) as i32);
        let expected = plain.at_integers(layer, at);
        for n in 0..usize::from(spec.format.channels) {
            let value = match spec.format.channel.is_float() {
                true => f64::from(f32::from_bits(found[n])),
                false if matches!(spec.format.channel, Channel::S8 | Channel::S16 | Channel::S32) => {
                    f64::from(found[n] as i32)
                }
                false => f64::from(found[n]),
            };
            assert_eq!(value, expected[n], "{spec:?} at {at:?}, channel {n}");
        }
    }
}

#[test]
fn integer_coordinates() {
    for addressing in [Addressing::Clamp, Addressing::Border, Addressing::Wrap] {
        for (geometry, sides, form) in [
            (Geometry::D1, [100, 1, 1], "tex.1d.v4.f32.s32"),
            (Geometry::D2, [60, 70, 1], "tex.2d.v4.f32.s32"),
            (Geometry::D3, [60, 50, 9], "tex.3d.v4.f32.s32"),
            (Geometry::Layers1, [60, 1, 3], "tex.a1d.v4.f32.s32"),
            (Geometry::Layers2, [60, 20, 3], "tex.a2d.v4.f32.s32"),
        ] {
            integers(&Spec { addressing, ..Spec::new(geometry, sides) }, form);
        }
    }
}

#[test]
fn levels_and_gradients_choose_the_only_level() {
    let spec = Spec { filter: Filter::Linear, ..Spec::new(Geometry::D2, [37, 19, 1]) };
    check(&spec, "tex.level.2d.v4.f32.f32");
    check(&spec, "tex.base.2d.v4.f32.f32");
    let (bytes, plain) = texels(&spec);
    let words = vec![[3.25f32.to_bits(), 4.75f32.to_bits(), 0, 0]; THREADS as usize];
    let body = "tex.grad.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%t, {%f0, %f1}], {%f2, %f2}, {%f3, %f3};";
    let header = |image| Header::Texture(spec.texture(image));
    let (results, _) = both(&kernel("", body), &spec, &bytes, header, &words).unwrap();
    let expected = plain.at(None, [3.25, 4.75, 0.0]);
    assert!((0..4).all(|n| close(results[7][n], expected[n])));
}

#[test]
fn halves_single_and_packed() {
    let format = Format { channel: Channel::F16, channels: 4 };
    let spec = Spec { format, ..Spec::new(Geometry::D1, [64, 1, 1]) };
    let (bytes, _) = texels(&spec);
    let words: Vec<[u32; 4]> = (0..THREADS).map(|thread| [thread % 64, 0, 0, 0]).collect();
    let packed = "tex.1d.v2.f16x2.s32 {%r4, %r5}, [%t, {%r0}];";
    let single = "tex.1d.v4.f16.s32 {%h0, %h1, %h2, %h3}, [%t, {%r0}]; mov.b32 %r4, {%h0, %h1}; \
                  mov.b32 %r5, {%h2, %h3};";
    for body in [packed, single] {
        let header = |image| Header::Texture(spec.texture(image));
        let (results, _) = both(&kernel("", body), &spec, &bytes, header, &words).unwrap();
        for (found, word) in results.iter().zip(&words) {
            let texel = &bytes[8 * word[0] as usize..][..8];
            let stored = [0, 4].map(|at| u32::from_le_bytes(texel[at..at + 4].try_into().unwrap()));
            assert_eq!(found[..2], stored, "the bits that are stored, in {body}");
        }
    }
}

#[test]
fn the_four_texels_around_a_place() {
    for (component, name) in ["r", "g", "b", "a"].iter().enumerate() {
        for (addressing, normalized) in [(Addressing::Clamp, false), (Addressing::Wrap, true)] {
            let spec = Spec { addressing, normalized, ..Spec::new(Geometry::D2, [37, 19, 1]) };
            let (bytes, plain) = texels(&spec);
            let words: Vec<[u32; 4]> = (0..THREADS)
                .map(|thread| {
                    let at = [37, 19].map(|size| coordinate(thread, size, size, normalized).to_bits());
                    [at[0], at[1], 0, 0]
                })
                .collect();
            let body = format!("tld4.{name}.2d.v4.f32.f32 {{%r4, %r5, %r6, %r7}}, [%t, {{%f0, %f1}}];");
            let header = |image| Header::Texture(spec.texture(image));
            let (results, _) = both(&kernel("", &body), &spec, &bytes, header, &words).unwrap();
            for (found, word) in results.iter().zip(&words) {
                let at = [f32::from_bits(word[0]), f32::from_bits(word[1])];
                let expected = plain.gathered(at, component);
                let found = found.map(|bits| f64::from(f32::from_bits(bits)));
                assert_eq!(found, expected, "{at:?}");
            }
        }
    }
}

#[test]
fn queries_answer_with_the_header() {
    let format = Format { channel: Channel::S16, channels: 2 };
    let spec = Spec { format, normalized: true, ..Spec::new(Geometry::Layers2, [24, 10, 5]) };
    let body = "txq.width.b32 %r4, [%t]; txq.height.b32 %r5, [%t]; txq.array_size.b32 %r6, [%t]; \
                txq.channel_order.b32 %r7, [%t]; shl.b32 %r7, %r7, 16; txq.channel_data_type.b32 %r12, [%t]; \
                or.b32 %r7, %r7, %r12; txq.normalized_coords.b32 %r13, [%t]; txq.num_mipmap_levels.b32 %r14, [%t]; \
                add.u32 %r4, %r4, %r13; add.u32 %r5, %r5, %r14; txq.depth.b32 %r15, [%t]; add.u32 %r6, %r6, %r15;";
    let (bytes, _) = texels(&spec);
    let header = |image| Header::Texture(spec.texture(image));
    let words = vec![[0; 4]; THREADS as usize];
    let (results, _) = both(&kernel("", body), &spec, &bytes, header, &words).unwrap();
    // CL_RG and CL_SIGNED_INT16.
    assert_eq!(results[100], [25, 11, 6, 0x10b2 << 16 | 0x10d8]);
}

#[test]
fn lanes_may_have_textures_of_their_own_and_none() {
    // Odd lanes fetch, and of these every third from a place beyond the border.
    let spec = Spec { addressing: Addressing::Border, ..Spec::new(Geometry::D1, [32, 1, 1]) };
    let (bytes, plain) = texels(&spec);
    let words: Vec<[u32; 4]> =
        (0..THREADS).map(|t| [if t % 3 == 0 { 99 } else { t % 32 }, t % 2, 0, 0]).collect();
    let body = "setp.eq.u32 %p0, %r1, 1; @%p0 tex.1d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [%t, {%r0}];";
    let header = |image| Header::Texture(spec.texture(image));
    let (results, _) = both(&kernel("", body), &spec, &bytes, header, &words).unwrap();
    for (found, word) in results.iter().zip(&words) {
        let expected = if word[1] == 1 { plain.at_integers(None, [word[0] as i32, 0, 0]) } else { [0.0; 4] };
        assert_eq!(found.map(|bits| f64::from(f32::from_bits(bits))), expected);
    }
}
