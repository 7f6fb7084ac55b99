//! A synthetic ultrasound sequence: speckle that moves with the wall of a heart.

use crate::random::Random;

/// Every frame is made anew from the tissue of the first.
#[derive(Debug)]
pub(super) struct Sequence {
    rows: i64,
    columns: i64,
    /// Brightness at rest, column by column.
    tissue: Vec<i32>,
}

impl Sequence {
    /// The wall is a bright ring around dark blood. Speckle is as large as three pixels and half as strong as the
    /// brightness around it.
    pub(super) fn new([rows, columns]: [usize; 2]) -> Self {
        let mut random = Random::new(0x4ea);
        let noise: Vec<i32> = (0..(rows + 2) * (columns + 2)).map(|_| random.below(64) as i32).collect();
        let mut this = Self { rows: rows as i64, columns: columns as i64, tissue: vec![] };
        let [inner, outer] = this.radii();
        for column in 0..columns {
            for row in 0..rows {
                let around = |c: usize| noise[(column + c) * (rows + 2) + row..][..3].iter().sum::<i32>();
                let speckle = around(0) + around(1) + around(2) - 283;
                let [down, right] = [row as i64 - this.rows / 2, column as i64 - this.columns / 2];
                let square = down * down + right * right;
                let brightness = match () {
                    () if square < inner * inner => 10,
                    () if square < outer * outer => 36,
                    () => 20,
                };
                this.tissue.push(brightness + brightness * speckle / 110);
            }
        }
        this
    }

    /// The radii of the wall.
    fn radii(&self) -> [i64; 2] {
        let side = self.rows.min(self.columns);
        [side * 15 / 100, side * 22 / 100]
    }

    /// The rows and the columns of so many points inside and outside on the wall.
    pub(super) fn points(&self, counts: [usize; 2]) -> (Vec<i32>, Vec<i32>) {
        let circle = |(radius, count): (i64, usize)| {
            let count = count as i64;
            (0..count).map(move |number| {
                // A quarter of a circle as a rational function, turned.
                let (quarter, part) = (4 * number / count, 4 * number % count);
                let square = count * count + part * part;
                let [x, y] = [count * count - part * part, 2 * count * part].map(|c| radius * c / square);
                match quarter {
                    0 => [x, y],
                    1 => [-y, x],
                    2 => [-x, -y],
                    _ => [y, -x],
                }
            })
        };
        let places: Vec<[i64; 2]> = self.radii().into_iter().zip(counts).flat_map(circle).collect();
        let row = |[down, _]: &[i64; 2]| (self.rows / 2 + down) as i32;
        let column = |[_, right]: &[i64; 2]| (self.columns / 2 + right) as i32;
        (places.iter().map(row).collect(), places.iter().map(column).collect())
    }

    /// A frame, column by column: integers of 1 to 63. From frame to frame everything contracts by a 64th and moves a
    /// row down, and there is a little noise.
    pub(super) fn frame(&self, number: usize) -> Vec<f32> {
        let mut random = Random::new(0xf0 + number as u64);
        let number = number as i64;
        let rest = |place: i64, size: i64, moved: i64| {
            (size / 2 + (place - size / 2 - moved) * (64 + number) / 64).clamp(0, size - 1)
        };
        let mut frame = Vec::with_capacity(self.tissue.len());
        for column in 0..self.columns {
            for row in 0..self.rows {
                let at = rest(column, self.columns, 0) * self.rows + rest(row, self.rows, number);
                let value = self.tissue[at as usize] + random.below(3) as i32 - 1;
                frame.push(value.clamp(1, 63) as f32);
            }
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_is_brighter_than_blood() {
        let sequence = Sequence::new([200, 180]);
        let (frame, [inner, outer]) = (sequence.frame(0), sequence.radii());
        let mean = |from: i64, to: i64| {
            let values: Vec<f32> =
                (from..to).map(|right| frame[((90 + right) * 200 + 100) as usize]).collect();
            values.iter().sum::<f32>() / values.len() as f32
        };
        assert!(mean(inner, outer) > 2.0 * mean(0, inner));
        assert!(frame.iter().all(|&value| (1.0..=63.0).contains(&value) && value.fract() == 0.0));
    }

    #[test]
    fn points_lie_on_the_wall() {
        let sequence = Sequence::new([609, 590]);
        let (rows, columns) = sequence.points([20, 31]);
        assert_eq!((rows.len(), columns.len()), (51, 51));
        let radius = |n: usize| f64::from((rows[n] - 304).pow(2) + (columns[n] - 295).pow(2)).sqrt();
        assert!((0..20).all(|n| (radius(n) - 88.0).abs() < 1.5));
        assert!((20..51).all(|n| (radius(n) - 129.0).abs() < 1.5));
    }
}
