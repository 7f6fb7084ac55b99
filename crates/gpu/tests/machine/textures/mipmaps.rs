//! Levels of detail: `tex.level`, `tex.grad` and queries, against a model of each level and of what chooses between them.
//!
//! A level is a texture by itself (`model.rs`). Which is read follows from the settings' words in the CUDA Driver API, and for
//! derivatives from OpenGL's scale factor.

use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Addressing, Channel, Filter, Format, Header, Levels, Texture};

use super::bench::{Spec, THREADS, both, kernel};
use super::fetches::close;
use super::model::Plain;

/// The sides of a level: half of those before, at least one; layers and faces stay.
fn sides(spec: &Spec, level: u32) -> [u32; 3] {
    let [x, y, z] = spec.sides.map(|side| (side >> level).max(1));
    [x, y, if spec.geometry == Geometry::D3 { z } else { spec.sides[2] }]
}

/// The bytes of all levels, and the model of each. No two levels have a number in common.
fn levels(spec: &Spec) -> (Vec<u8>, Vec<Plain>) {
    let mut bytes = Vec::new();
    let models = (0..spec.levels).map(|level| {
        let sides = sides(spec, level);
        let count: u32 = sides.iter().product();
        let number = |n: u32| (n.wrapping_mul(2_654_435_761) >> 20) as f32 / 16.0 + 300.0 * level as f32;
        bytes.extend((0..count).flat_map(|n| number(n).to_le_bytes()));
        Plain {
            geometry: spec.geometry,
            sides: sides.map(i64::from),
            texels: (0..count).map(|n| [number(n).into(), 0.0, 0.0, 0.0]).collect(),
            addressing: spec.addressing,
            filter: spec.filter,
            normalized: spec.normalized,
        }
    });
    let models = models.collect();
    (bytes, models)
}

/// What a fetch gives at a level that an instruction asks for.
fn at_level(models: &[Plain], settings: &Levels, level: f64, value: impl Fn(&Plain) -> [f64; 4]) -> [f64; 4] {
    let level = level + f64::from(settings.bias);
    let level = level.max(settings.least.into()).min(settings.most.into());
    let level = level.max(0.0).min(models.len() as f64 - 1.0);
    if settings.filter == Filter::Point {
        return value(&models[(level + 0.5) as usize]);
    }
    let weight = ((level - level.floor()) * 256.0).round() / 256.0;
    let first = value(&models[level as usize]);
    let second = value(&models[(level as usize + 1).min(models.len() - 1)]);
    std::array::from_fn(|n| first[n] * (1.0 - weight) + second[n] * weight)
}

/// A number for a thread and a purpose, from 0 to 1.
fn random(thread: u32, purpose: u32) -> f32 {
    let mut state = (thread * 7 + purpose + 1).wrapping_mul(2_654_435_761);
    state ^= state >> 15;
    state = state.wrapping_mul(2_246_822_519);
    (state >> 8) as f32 / (1 << 24) as f32
}

const SHAPES: [(Geometry, [u32; 3], u32); 6] = [
    (Geometry::D1, [37, 1, 1], 6),
    (Geometry::D2, [33, 20, 1], 6),
    (Geometry::D2, [16, 4, 1], 3),
    (Geometry::D3, [12, 9, 17], 5),
    (Geometry::Layers2, [16, 11, 3], 5),
    (Geometry::Cube, [16, 16, 6], 5),
];

/// Settings of levels: everything, a bias, clamps on both sides, a clamp between levels.
const SETTINGS: [(f32, f32, f32); 4] =
    [(0.0, 0.0, 99.0), (-0.75, 0.0, 99.0), (0.5, 1.0, 3.0), (0.0, 0.25, 2.5)];

fn spec(geometry: Geometry, sides: [u32; 3], levels: u32, filter: Filter) -> Spec {
    let format = Format { channel: Channel::F32, channels: 1 };
    Spec {
        format,
        filter,
        levels,
        normalized: true,
        addressing: Addressing::Wrap,
        ..Spec::new(geometry, sides)
    }
}

/// The operand for the coordinates.
fn place(geometry: Geometry) -> &'static str {
    match geometry {
        Geometry::D1 => "{%f0}",
        Geometry::D2 => "{%f0, %f1}",
        Geometry::Layers2 => "{%r2, %f0, %f1, %f1}",
        _ => "{%f0, %f1, %f2, %f2}",
    }
}

/// The words of a thread: coordinates, or a layer's number in the third, and a number that chooses the level in the fourth.
fn words(geometry: Geometry, thread: u32, last: f32) -> [u32; 4] {
    let wide = |purpose| 2.5 * random(thread, purpose) - 0.75;
    let third = if geometry == Geometry::Layers2 { thread % 4 } else { wide(2).to_bits() };
    [wide(0).to_bits(), wide(1).to_bits(), third, last.to_bits()]
}

/// What a level gives at a thread's words.
fn value(geometry: Geometry, words: &[u32; 4]) -> impl Fn(&Plain) -> [f64; 4] {
    let (at, layer) = ([words[0], words[1], words[2]].map(f32::from_bits), words[2]);
    move |model| match geometry {
        Geometry::Layers2 => model.at(Some(layer), at),
        _ => model.at(None, at),
    }
}

/// Runs a fetch for every shape, filter and setting; `level` is what the model takes for a thread's words.
fn check(fetch: impl Fn(Geometry) -> String, last: fn(u32) -> f32, level: impl Fn(&Spec, &[u32; 4]) -> f64) {
    for (geometry, sides, count) in SHAPES {
        let text = kernel("", &fetch(geometry));
        for (filter, between) in [Filter::Point, Filter::Linear]
            .into_iter()
            .flat_map(|filter| [(filter, Filter::Point), (filter, Filter::Linear)])
        {
            let spec = spec(geometry, sides, count, filter);
            let (bytes, models) = levels(&spec);
            let words: Vec<[u32; 4]> =
                (0..THREADS).map(|thread| words(geometry, thread, last(thread))).collect();
            for (bias, least, most) in SETTINGS {
                let settings = Levels { count, filter: between, bias, least, most };
                let header = |image| Header::Texture(Texture { levels: settings, ..spec.texture(image) });
                let (found, _) = both(&text, &spec, &bytes, header, &words).unwrap();
                for (thread, (found, words)) in found.iter().zip(&words).enumerate() {
                    let level = level(&spec, words);
                    let expected = at_level(&models, &settings, level, value(geometry, words));
                    for (found, expected) in found.iter().zip(expected) {
                        assert!(
                            close(*found, expected),
                            "{spec:?} {settings:?}, thread {thread} at {words:?}, level {level}: found {}, expected {expected}",
                            f32::from_bits(*found)
                        );
                    }
                }
            }
        }
    }
}

const RESULTS: &str = "mov.b32 %r4, %f4; mov.b32 %r5, %f5; mov.b32 %r6, %f6; mov.b32 %r7, %f7;";

#[test]
fn a_level_that_is_given_is_read() {
    check(
        |geometry| {
            let (word, place) = (geometry.word(), place(geometry));
            format!("tex.level.{word}.v4.f32.f32 {{%f4, %f5, %f6, %f7}}, [%t, {place}], %f3; {RESULTS}")
        },
        |thread| 9.0 * random(thread, 3) - 2.0,
        |_, words| f32::from_bits(words[3]).into(),
    );
}

#[test]
fn without_a_level_the_first_is_read() {
    for (geometry, sides, count) in SHAPES {
        let spec = spec(geometry, sides, count, Filter::Linear);
        let (bytes, models) = levels(&spec);
        let fetch =
            format!("tex.{}.v4.f32.f32 {{%f4, %f5, %f6, %f7}}, [%t, {}];", geometry.word(), place(geometry));
        let words: Vec<[u32; 4]> = (0..THREADS).map(|thread| words(geometry, thread, 3.0)).collect();
        let header = |image| Header::Texture(spec.texture(image));
        let (found, _) = both(&kernel("", &(fetch + RESULTS)), &spec, &bytes, header, &words).unwrap();
        for (found, words) in found.iter().zip(&words) {
            assert!(close(found[0], value(geometry, words)(&models[0])[0]), "{spec:?} at {words:?}");
        }
    }
}

/// The derivatives that the kernel below makes of its last word, along x and along y of the screen.
fn derivatives(last: f32) -> [[f64; 3]; 2] {
    let last = f64::from(last);
    [[last, last * 0.25, -last * 0.5], [-last * 0.125, last * 1.5, last * 0.75]]
}

#[test]
fn derivatives_choose_a_level() {
    check(
        |geometry| {
            let both = match geometry {
                Geometry::D1 => ["{%g0}", "{%g3}"],
                Geometry::D2 | Geometry::Layers2 => ["{%g0, %g1}", "{%g3, %g4}"],
                _ => ["{%g0, %g1, %g2, %g2}", "{%g3, %g4, %g5, %g5}"],
            };
            let (word, place) = (geometry.word(), place(geometry));
            format!(
                ".reg .f32 %g<6>; mov.f32 %g0, %f3; mul.f32 %g1, %f3, 0.25; mul.f32 %g2, %f3, -0.5; \
                 mul.f32 %g3, %f3, -0.125; mul.f32 %g4, %f3, 1.5; mul.f32 %g5, %f3, 0.75; \
                 tex.grad.{word}.v4.f32.f32 {{%f4, %f5, %f6, %f7}}, [%t, {place}], {}, {}; {RESULTS}",
                both[0], both[1]
            )
        },
        |thread| (5.0 * random(thread, 3) - 5.5).exp2(),
        |spec, words| {
            let count = spec.geometry.axes();
            let longest = derivatives(f32::from_bits(words[3])).map(|derivative| {
                let along =
                    if spec.geometry == Geometry::Cube { on_face(words, derivative) } else { derivative };
                let texels = (0..count).map(|axis| along[axis] * f64::from(spec.sides[axis]));
                texels.map(|texels| texels * texels).sum::<f64>().sqrt()
            });
            longest[0].max(longest[1]).log2()
        },
    );
}

/// How fast the coordinates on a cube's face move with a direction: by the difference of two near places.
fn on_face(words: &[u32; 4], derivative: [f64; 3]) -> [f64; 3] {
    let at = [words[0], words[1], words[2]].map(|word| f64::from(f32::from_bits(word)));
    let largest = at.iter().fold(0.0, |most: f64, side| most.max(side.abs()));
    let axis = at.iter().position(|side| side.abs() == largest).expect("one is the largest");
    let others = [(1, 2), (0, 2), (0, 1)][axis];
    let step = 1e-6;
    let side = |from: f64, n: usize| {
        let moved = |n: usize| at[n] + from * derivative[n];
        moved(n) / moved(axis) / 2.0
    };
    let rate = |n: usize| (side(step, n) - side(-step, n)) / (2.0 * step);
    [rate(others.0), rate(others.1), 0.0]
}

#[test]
fn levels_are_told_and_texels_of_a_level_are_read_by_number() {
    let spec = spec(Geometry::D2, [33, 20, 1], 4, Filter::Point);
    let (bytes, models) = levels(&spec);
    let text = kernel(
        "",
        "and.b32 %r12, %r0, 7; and.b32 %r13, %r1, 3;\n\
         tex.level.2d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%t, {%r12, %r13}], %r2; mov.b32 %r4, %f4;\n\
         txq.num_mipmap_levels.b32 %r5, [%t]; txq.level.width.b32 %r6, [%t], %r2; txq.level.height.b32 %r7, [%t], %r2;",
    );
    let words: Vec<[u32; 4]> = (0..THREADS).map(|n| [n, n / 8, n % 4, 0]).collect();
    let (found, _) =
        both(&text, &spec, &bytes, |image| Header::Texture(spec.texture(image)), &words).unwrap();
    for (found, words) in found.iter().zip(&words) {
        let level = words[2];
        let [width, height, _] = sides(&spec, level);
        let texel =
            models[level as usize].at_integers(None, [(words[0] & 7) as i32, (words[1] & 3) as i32, 0]);
        assert_eq!(*found, [(texel[0] as f32).to_bits(), 4, width, height], "level {level}");
    }
}

#[test]
fn levels_that_cannot_be_are_refused() {
    let spec = spec(Geometry::D2, [33, 20, 1], 4, Filter::Linear);
    let layout = strata_ptx::texture::Layout::Blocks;
    let [width, height, depth] = spec.sides;
    let (format, geometry) = (spec.format, spec.geometry);
    let image = strata_ptx::texture::Image { base: 0x1000, format, geometry, width, height, depth, layout };
    let good = spec.texture(image);
    good.check().unwrap();
    let of = |count| Levels { count, ..good.levels };
    for wrong in [
        Texture { levels: of(0), ..good },
        Texture { levels: of(7), ..good },
        Texture { normalized: false, ..good },
    ] {
        assert!(wrong.check().unwrap_err().starts_with("levels of detail: found "), "{wrong:?}");
    }
    Texture { levels: of(6), ..good }.check().unwrap();
}
