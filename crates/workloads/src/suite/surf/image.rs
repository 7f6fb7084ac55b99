//! A random grey image: a slope, patches with straight edges, round blobs of many sizes, and a little noise.

use crate::random::Random;

/// Grey values, row by row.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<u8>,
}

impl Image {
    pub(super) fn random(width: usize, height: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut grey: Vec<i64> = (0..width * height)
            .map(|at| 64 + (at % width * 64 / width) as i64 + (at / width * 32 / height) as i64)
            .collect();
        let area = width * height;
        for _ in 0..area / 4000 + 1 {
            patch(&mut grey, width, &mut random);
        }
        for _ in 0..area / 400 + 4 {
            blob(&mut grey, width, &mut random);
        }
        let pixels = grey.iter().map(|&g| (g + random.below(5) as i64).clamp(0, 255) as u8).collect();
        Self { width, height, pixels }
    }
}

/// Changes a rectangle's grey by the same value.
fn patch(grey: &mut [i64], width: usize, random: &mut Random) {
    let height = grey.len() / width;
    let (x, y) = (random.below(width as u64) as usize, random.below(height as u64) as usize);
    let (w, h) = (8 + random.below(40) as usize, 8 + random.below(40) as usize);
    let change = random.below(81) as i64 - 40;
    for row in y..(y + h).min(height) {
        for g in &mut grey[row * width + x..row * width + (x + w).min(width)] {
            *g += change;
        }
    }
}

/// Adds (1 - d^2 / R^2)^2 times its height around a point, for distances d below its radius R. Small ones are many.
fn blob(grey: &mut [i64], width: usize, random: &mut Random) {
    let height = grey.len() / width;
    let (x, y) = (random.below(width as u64) as i64, random.below(height as u64) as i64);
    let radius = (3 + 60 / (2 + random.below(16))) as i64;
    let top = if random.below(2) == 0 { 1 } else { -1 } * (30 + random.below(90) as i64);
    for row in (y - radius).max(0)..(y + radius).min(height as i64) {
        for column in (x - radius).max(0)..(x + radius).min(width as i64) {
            let (square, inside) = ((row - y).pow(2) + (column - x).pow(2), radius * radius);
            if square < inside {
                let share = (inside - square) * 256 / inside;
                grey[row as usize * width + column as usize] += top * share * share / 65_536;
            }
        }
    }
}
