//! Template matching by its definition, place by place.

use super::{Heartwall, KEPT_SHARE, State};
use crate::check::F32_ROUNDOFF;
use crate::suite::prelude::*;

/// One template and where it is searched.
struct Search<'a> {
    template: &'a [f32],
    /// Rows of the template.
    n: usize,
    window: Vec<f32>,
    /// Rows of the surroundings.
    m: usize,
    /// Whether all pixels are integers of 1 to 63, so that sums of products of them are exact in f32.
    exact: bool,
    sum: Bounded,
    /// The template's standard deviation times the root of its pixels less one.
    deviation: Bounded,
}

impl Search<'_> {
    /// The pixels of the template.
    fn pixels(&self) -> Bounded {
        Bounded::exact((self.n * self.n) as f64)
    }

    /// The normalised correlation with the template's lower right corner at a place of the surroundings, or beyond.
    fn correlation(&self, row: usize, column: usize) -> Bounded {
        let &Self { n, m, template, ref window, .. } = self;
        let overlap = |place: usize| (place + 1).saturating_sub(n)..m.min(place + 1);
        let (mut sum, mut squares) = (0.0, 0.0);
        // Of products, and of the partial sums: every addition is off by at most a roundoff of what it gives.
        let (mut products, mut partial_sums) = (0.0, 0.0);
        for x in overlap(column).rev() {
            let first = overlap(row).start;
            let window = &window[x * m..][overlap(row)];
            let template = &template[(x + n - 1 - column) * n + first + n - 1 - row..][..window.len()];
            for (&w, &t) in window.iter().zip(template).rev() {
                let (w, t) = (f64::from(w), f64::from(t));
                sum += w;
                squares += w * w;
                products += w * t;
                partial_sums += w * t + products;
            }
        }
        let error = if self.exact { 0.0 } else { 1.001 * F32_ROUNDOFF * partial_sums };
        let sum = Bounded::exact(sum);
        let covariance = Bounded::new(products, error) - sum * self.sum / self.pixels();
        let deviation = (Bounded::exact(squares) - sum * sum / self.pixels()).sqrt();
        covariance / (deviation * self.deviation)
    }
}

impl Heartwall {
    /// The pixels of a frame around a place, column by column.
    fn around(&self, frame: &[f32], [row, column]: [i32; 2], radius: usize) -> Vec<f32> {
        let radius = radius as i32;
        let rows = row - radius..=row + radius;
        let columns = column - radius..=column + radius;
        let pixel = |row: i32, column: i32| frame[column as usize * self.frame[0] + row as usize];
        columns.flat_map(|column| rows.clone().map(move |row| pixel(row, column))).collect()
    }

    fn search<'a>(&self, frame: &[f32], state: &'a State, point: usize) -> Search<'a> {
        let n = self.template_rows();
        let template = &state.templates[point * n * n..][..n * n];
        let exact = template.iter().all(|pixel| pixel.fract() == 0.0);
        let bounded = |sum: Bounded| if exact { Bounded::exact(sum.value()) } else { sum };
        // The kernel adds lines up, then their sums.
        let line = |index: &dyn Fn(usize) -> usize| -> Bounded {
            (0..n).map(|at| Bounded::from(template[index(at)])).sum()
        };
        let square_line = |index: &dyn Fn(usize) -> usize| -> Bounded {
            (0..n).map(|at| Bounded::from(template[index(at)])).map(|pixel| pixel * pixel).sum()
        };
        let sum = bounded((0..n).map(|column| line(&|row| column * n + row)).sum());
        let squares = bounded((0..n).map(|row| square_line(&|column| column * n + row)).sum());
        let pixels = Bounded::exact((n * n) as f64);
        let mean = sum / pixels;
        let variance = squares / pixels - mean * mean;
        let deviation = Bounded::exact((n * n - 1) as f64).sqrt() * variance.sqrt();
        let window = self.around(frame, [state.rows[point], state.columns[point]], self.window_radius);
        Search { template, n, window, m: self.window_rows(), exact, sum, deviation }
    }

    /// The correlations of all points at all places.
    pub(super) fn correlations(&self, frame: &[f32], state: &State) -> Vec<Near> {
        let points = state.rows.len();
        let mut correlations = vec![];
        for point in 0..self.followed.of(points) {
            let search = self.search(frame, state, point);
            for column in 0..self.places() {
                correlations.extend((0..self.places()).map(|row| search.correlation(row, column).near()));
            }
        }
        then_as_before(correlations, &vec![0.0; points * self.places().pow(2)])
    }

    /// Where a point is in a frame: the best place within reach of its last one.
    fn find(&self, frame: &[f32], number: usize, state: &State, point: usize) -> [i32; 2] {
        let search = self.search(frame, state, point);
        let center = (self.window_radius + self.template_radius) as i32;
        let last = point * self.frames + number - 1;
        let [row, column] = [
            state.track_rows[last] - state.rows[point] + center,
            state.track_columns[last] - state.columns[point] + center,
        ];
        let reach = self.reach as i32;
        let near = |place: i32| place - reach / 2..place - reach / 2 + reach;
        let places = near(column).flat_map(|column| near(row).map(move |row| [row, column]));
        let mut found: Vec<(Bounded, [i32; 2])> = places
            .map(|[row, column]| (search.correlation(row as usize, column as usize).abs(), [row, column]))
            .collect();
        found.sort_by(|a, b| b.0.value().total_cmp(&a.0.value()));
        let (best, [row, column]) = found[0];
        let surely = found[1..].iter().all(|(other, _)| other.less(best) == Some(true));
        assert!(surely, "point {point} of frame {number}: two places are as good, as far as f32 can tell");
        [state.rows[point] + row - center, state.columns[point] + column - center]
    }

    /// Follows all points to a frame, and gives the templates after it.
    pub(super) fn follow(&self, frame: &[f32], number: usize, state: &mut State) -> Vec<Near> {
        let elements = self.template_rows().pow(2);
        let mut templates = vec![];
        for point in 0..self.followed.of(state.rows.len()) {
            let now = point * self.frames + number;
            let place = match number {
                0 => [state.rows[point], state.columns[point]],
                _ => self.find(frame, number, state, point),
            };
            [state.track_rows[now], state.track_columns[now]] = place;

            let seen = self.around(frame, place, self.template_radius);
            let before = &state.templates[point * elements..][..elements];
            if number == 0 {
                templates.extend(seen.iter().map(|&pixel| Bounded::from(pixel).near()));
            } else if number.is_multiple_of(self.update_period) {
                [state.rows[point], state.columns[point]] = place;
                templates.extend(before.iter().zip(&seen).map(|(&old, &new)| updated(old, new)));
            } else {
                templates.extend(before.iter().map(|&pixel| Bounded::from(pixel).near()));
            }
        }
        then_as_before(templates, &state.templates)
    }
}

/// The old pixel's share is rounded to f32, the rest is done in f64, and the sum is rounded again.
fn updated(old: f32, new: f32) -> Near {
    let kept = Bounded::from(KEPT_SHARE) * Bounded::from(old);
    let added = (1.0 - f64::from(KEPT_SHARE)) * f64::from(new);
    (kept + Bounded::new(added, 1e-15 * added)).near()
}

#[cfg(test)]
mod tests {
    use super::super::sequence::Sequence;
    use super::*;

    /// Templates 3 x 3, surroundings 7 x 7.
    fn small() -> Heartwall {
        Heartwall {
            frame: [12, 10],
            points: [0, 0],
            frames: 2,
            update_period: 1,
            template_radius: 1,
            window_radius: 3,
            reach: 4,
            followed: Part::All,
        }
    }

    #[test]
    fn a_point_is_found_where_its_template_is() {
        let heartwall = small();
        let mut random = Random::new(1);
        let frame: Vec<f32> = (0..120).map(|_| (1 + random.below(63)) as f32).collect();
        let mut state = State {
            rows: vec![6],
            columns: vec![4],
            track_rows: vec![6, 0],
            track_columns: vec![4, 0],
            templates: heartwall.around(&frame, [5, 5], 1),
        };
        let search = heartwall.search(&frame, &state, 0);
        // At the template's own place the correlation is n / sqrt(n^2 - 1): one with the other definition of variance.
        let best = search.correlation(3 + 1 - 1, 3 + 1 + 1);
        assert!((best.value() - 3.0 / 8.0_f64.sqrt()).abs() < 1e-12 && best.error() < 1e-5);
        let templates = heartwall.follow(&frame, 1, &mut state);
        assert_eq!((state.track_rows[1], state.track_columns[1]), (5, 5));
        assert_eq!((state.rows[0], state.columns[0]), (5, 5));
        assert!(
            templates
                .iter()
                .zip(&state.templates)
                .all(|(near, &old)| (near.value - f64::from(old)).abs() < 1e-5)
        );
    }

    #[test]
    fn points_follow_the_tissue() {
        let heartwall = Heartwall {
            frame: [203, 180],
            points: [3, 5],
            frames: 4,
            update_period: 2,
            template_radius: 8,
            window_radius: 13,
            reach: 10,
            followed: Part::All,
        };
        let sequence = Sequence::new(heartwall.frame);
        let (rows, columns) = sequence.points(heartwall.points);
        let mut state = State {
            rows: rows.clone(),
            columns: columns.clone(),
            track_rows: vec![0; 32],
            track_columns: vec![0; 32],
            templates: vec![0.0; 8 * 17 * 17],
        };
        for number in 0..4 {
            let templates = heartwall.follow(&sequence.frame(number), number, &mut state);
            state.templates = templates.iter().map(|near| near.value as f32).collect();
        }
        let moved = |place: i32, middle: i32, down: i32| middle + down + (place - middle) * 64 / 67;
        for point in 0..8 {
            let off = state.track_rows[point * 4 + 3] - moved(rows[point], 101, 3);
            let aside = state.track_columns[point * 4 + 3] - moved(columns[point], 90, 0);
            assert!(off.abs() <= 1 && aside.abs() <= 1, "point {point} is {off}, {aside} off");
        }
    }

    /// Where only the surroundings' first pixel is under the template's last.
    #[test]
    fn a_corner_by_hand() {
        let heartwall = small();
        let frame: Vec<f32> = (0..120).map(|at| (at % 7 + 1) as f32).collect();
        let state = State {
            rows: vec![6],
            columns: vec![5],
            track_rows: vec![],
            track_columns: vec![],
            templates: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        };
        let corner = f64::from(frame[2 * 12 + 3]);
        let covariance = corner * 9.0 - corner * 45.0 / 9.0;
        let deviation = (corner * corner * 8.0 / 9.0).sqrt() * (8.0_f64 * 60.0 / 9.0).sqrt();
        let found = heartwall.search(&frame, &state, 0).correlation(0, 0);
        assert!((found.value() - covariance / deviation).abs() < 1e-12);
    }
}
