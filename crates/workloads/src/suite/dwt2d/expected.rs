//! The transform by its definition: every line of samples on its own (ITU-T T.800, annex F.4.8), first the columns,
//! then the rows. Divisions round towards zero, as the original's do, where the standard's round down.

/// All levels; the bands of a level follow each other, and the first is replaced by those of the next level.
pub(super) fn transform(image: &[i32], [columns, rows]: [usize; 2], levels: usize) -> Vec<i32> {
    let mut transformed = image.to_vec();
    for x in 0..columns {
        let column: Vec<i32> = (0..rows).map(|y| image[y * columns + x]).collect();
        (0..).zip(lift(&column)).for_each(|(y, value): (usize, i32)| transformed[y * columns + x] = value);
    }
    for row in transformed.chunks_exact_mut(columns) {
        let lifted = lift(row);
        row.copy_from_slice(&lifted);
    }

    let mut bands = Vec::with_capacity(image.len());
    for [first_x, first_y] in [[0, 0], [1, 0], [0, 1], [1, 1]] {
        for row in transformed.chunks_exact(columns).skip(first_y).step_by(2) {
            bands.extend(row.iter().skip(first_x).step_by(2));
        }
    }
    if levels > 1 {
        let low = [columns.div_ceil(2), rows.div_ceil(2)];
        let end = low[0] * low[1];
        let next = transform(&bands[..end], low, levels - 1);
        bands[..end].copy_from_slice(&next);
    }
    bands
}

/// Odd samples less their neighbours' average, then even samples plus a quarter of the odd ones beside them.
fn lift(line: &[i32]) -> Vec<i32> {
    let mut lifted = line.to_vec();
    // Beyond an end, the line goes back the way it came.
    let sum = |line: &[i32], at: usize| {
        let before = at.abs_diff(1);
        let after = if at + 1 < line.len() { at + 1 } else { at - 1 };
        line[before] + line[after]
    };
    for odd in (1..line.len()).step_by(2) {
        lifted[odd] -= sum(line, odd) / 2;
    }
    for even in (0..line.len()).step_by(2) {
        lifted[even] += (sum(&lifted, even) + 2) / 4;
    }
    lifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_by_hand() {
        // Odd: 4 - (1 + 9) / 2 = -1, 7 - (9 + 9) / 2 = -2. Even: 1 + (-1 - 1 + 2) / 4, 9 + (-1 - 2 + 2) / 4.
        assert_eq!(lift(&[1, 4, 9, 7]), [1, -1, 9, -2]);
        assert_eq!(lift(&[0, 8, 0]), [4, 8, 4]);
    }

    #[test]
    fn an_even_area_has_only_a_low_band() {
        let bands = transform(&[7; 6 * 5], [6, 5], 2);
        let lowest = 2 * 2;
        assert!(
            bands[..lowest].iter().all(|&value| value == 7)
                && bands[lowest..].iter().all(|&value| value == 0)
        );
    }
}
