//! Something like an ultrasound image.

use crate::random::Random;

/// Grey values, whole numbers from 0 to 255, column by column: a background that brightens slowly from corner
/// to corner, dark and bright discs with sharp edges, and speckle, which is stronger where the image is
/// brighter.
pub(super) fn ultrasound(rows: usize, columns: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let side = rows.min(columns) as u64;
    let discs: Vec<Disc> = (0..6)
        .map(|number| Disc {
            row: random.below(rows as u64),
            column: random.below(columns as u64),
            radius: side / 12 + random.below(side / 6 + 1),
            grey: if number % 2 == 0 { 30 } else { 190 },
        })
        .collect();

    let mut image = Vec::with_capacity(rows * columns);
    for column in 0..columns as u64 {
        for row in 0..rows as u64 {
            let background = 70 + 50 * (row + column) / (rows + columns) as u64;
            let disc = discs.iter().find(|disc| disc.covers(row, column));
            let grey = disc.map_or(background, |disc| disc.grey);
            // Three draws, so that strong speckle is rare; 3/4 to 5/4 in all.
            let speckle = 384 + (0..3).map(|_| random.below(86)).sum::<u64>();
            image.push((grey * speckle / 512).min(255) as f32);
        }
    }
    image
}

#[derive(Debug)]
struct Disc {
    row: u64,
    column: u64,
    radius: u64,
    grey: u64,
}

impl Disc {
    fn covers(&self, row: u64, column: u64) -> bool {
        let (down, right) = (row.abs_diff(self.row), column.abs_diff(self.column));
        down * down + right * right <= self.radius * self.radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_dark_and_bright_areas_and_all_are_speckled() {
        let image = ultrasound(120, 100, 1);
        assert_eq!(image.len(), 12_000);
        assert!(image.iter().all(|&grey| (0.0..256.0).contains(&grey) && grey.fract() == 0.0));
        let dark = image.iter().filter(|&&grey| grey < 40.0).count();
        let bright = image.iter().filter(|&&grey| grey > 150.0).count();
        assert!(dark > 100 && bright > 100, "{dark} dark, {bright} bright");
        let flat = image.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(flat < 2400, "{flat}");
    }
}
