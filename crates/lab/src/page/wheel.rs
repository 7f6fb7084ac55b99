//! Colours made from names: hues and tones in even steps of what eyes see (OKLCH).

use palette::color_difference::EuclideanDistance;
use palette::{FromColor, Oklab, Oklch, Srgb};

/// A colour on a light and on a dark page, as `rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    pub light: u32,
    pub dark: u32,
}

/// Number of hues.
const HUES: usize = 36;
/// Lightness on a light and on a dark page, from 0 to 1: far enough from the ground to be seen on it.
const TONES: [(f32, f32); 4] = [(0.62, 0.68), (0.45, 0.84), (0.54, 0.76), (0.36, 0.60)];
/// How colourful they are. More cannot be shown in every hue.
const CHROMA: f32 = 0.13;
/// How many colours there are.
pub const COUNT: usize = HUES * TONES.len();
/// From one colour to the next that is tried. It has no factor in common with their number, so all are tried.
const STRIDE: usize = 61;
/// Least distance, in OKLab, of two colours that are told apart at a glance.
pub const CLEAR: f32 = 0.09;
/// Least distance, in OKLab, of two colours that are told apart side by side.
pub const ENOUGH: f32 = 0.05;

/// The colour of a number below [`COUNT`].
fn colour(number: usize) -> Colour {
    let hue = 360.0 * (number % HUES) as f32 / HUES as f32;
    let (light, dark) = TONES[number / HUES];
    Colour { light: rgb(Oklch::new(light, CHROMA, hue)), dark: rgb(Oklch::new(dark, CHROMA, hue)) }
}

fn rgb(colour: Oklch) -> u32 {
    let colour: Srgb<u8> = Srgb::from_color(colour).into_format();
    u32::from_be_bytes([0, colour.red, colour.green, colour.blue])
}

fn lab(colour: u32) -> Oklab {
    let [_, red, green, blue] = colour.to_be_bytes();
    Oklab::from_color(Srgb::new(red, green, blue).into_format::<f32>())
}

/// How different two colours look: the less of the distances on light and on dark pages.
pub fn distance(one: Colour, other: Colour) -> f32 {
    let between = |one: u32, other: u32| lab(one).distance(lab(other));
    between(one.light, other.light).min(between(one.dark, other.dark))
}

/// A name's colour: the first of those that its letters lead to that is at least `apart` from the colours beside it, and
/// none of `taken`. Where none is, the one that is farthest from them.
pub fn of_name(name: &str, apart: f32, beside: &[Colour], taken: &[Colour]) -> Colour {
    let start = (hash(name) % COUNT as u64) as usize;
    let tried = (0..COUNT).map(|step| colour((start + step * STRIDE) % COUNT));
    let free = tried.filter(|colour| !taken.contains(colour));
    let nearest = |colour: Colour| beside.iter().map(|other| distance(colour, *other)).fold(apart, f32::min);
    let mut farthest = (colour(start), f32::NEG_INFINITY);
    for candidate in free {
        let distance = nearest(candidate);
        if distance >= apart {
            return candidate;
        }
        if distance > farthest.1 {
            farthest = (candidate, distance);
        }
    }
    farthest.0
}

/// FNV-1a of 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use palette::color_difference::Wcag21RelativeContrast;

    use super::*;

    fn contrast(one: u32, other: u32) -> f32 {
        let of = |colour: u32| {
            let [_, red, green, blue] = colour.to_be_bytes();
            Srgb::new(red, green, blue).into_format::<f32>()
        };
        of(one).relative_contrast(of(other))
    }

    #[test]
    fn every_colour_is_seen_on_its_ground() {
        // WCAG 2.1 asks for 3 to 1 of graphics; the grounds are those of the style sheet.
        for number in 0..COUNT {
            let Colour { light, dark } = colour(number);
            assert!(contrast(light, 0x00ff_ffff) >= 3.0, "{number}: {light:06x}");
            assert!(contrast(dark, 0x0014_181f) >= 3.0, "{number}: {dark:06x}");
        }
    }

    #[test]
    fn every_colour_is_tried() {
        let mut taken: Vec<Colour> = Vec::new();
        for _ in 0..COUNT {
            let colour = of_name("name", CLEAR, &[], &taken);
            assert!(!taken.contains(&colour));
            taken.push(colour);
        }
    }

    #[test]
    fn colours_side_by_side_differ() {
        let mut beside: Vec<Colour> = Vec::new();
        for number in 0..24 {
            let colour = of_name(&format!("system-{number}"), CLEAR, &beside, &[]);
            let least = beside.iter().map(|other| distance(colour, *other)).fold(1.0, f32::min);
            assert!(least >= 0.05, "{number}: {least}");
            beside.push(colour);
        }
        assert_eq!(of_name("system-0", ENOUGH, &[], &[]), beside[0]);
    }
}
