//! Which scales are looked at, and how they lie in memory.

/// The responses at one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Pixels from sample to sample.
    pub(super) step: usize,
    /// The side of its box filter in pixels.
    pub(super) filter: usize,
    /// Where it begins in the buffer of all layers.
    pub(super) start: usize,
}

/// Three scales in a row; points are looked for in the middle one, at the samples of the top one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Triple {
    pub(super) bottom: Layer,
    pub(super) middle: Layer,
    pub(super) top: Layer,
    /// Where its marks begin in the buffer of all marks.
    pub(super) start: usize,
}

/// Pixels from sample to sample in the first octave.
const SAMPLE_STEP: usize = 2;

/// The scales of `octaves` octaves: four in the first, two more in each further one.
pub(super) fn layers(width: usize, height: usize, octaves: usize) -> Vec<Layer> {
    const FIRST: [usize; 4] = [9, 15, 21, 27];
    const FURTHER: [[usize; 2]; 4] = [[39, 51], [75, 99], [147, 195], [291, 387]];
    let first = FIRST.map(|filter| (0, filter));
    let further =
        FURTHER.iter().zip(1..).flat_map(|(filters, octave)| filters.map(|filter| (octave, filter)));
    let mut start = 0;
    let mut layers = vec![];
    for (octave, filter) in first.into_iter().chain(further).take(2 + 2 * octaves) {
        let (width, height) = ((width / SAMPLE_STEP) >> octave, (height / SAMPLE_STEP) >> octave);
        layers.push(Layer { width, height, step: SAMPLE_STEP << octave, filter, start });
        start += width * height;
    }
    layers
}

/// Two triples in each octave.
pub(super) fn triples(layers: &[Layer]) -> Vec<Triple> {
    const INTERVALS: [[usize; 4]; 5] =
        [[0, 1, 2, 3], [1, 3, 4, 5], [3, 5, 6, 7], [5, 7, 8, 9], [7, 9, 10, 11]];
    let octaves = layers.len() / 2 - 1;
    let mut start = 0;
    let mut triples = vec![];
    for interval in INTERVALS.iter().take(octaves).flat_map(|octave| octave.windows(3)) {
        let [bottom, middle, top] = [0, 1, 2].map(|at| layers[interval[at]]);
        triples.push(Triple { bottom, middle, top, start });
        start += top.width * top.height;
    }
    triples
}

impl Triple {
    /// Samples at the top layer's edges whose filters reach past the image.
    pub(super) fn border(&self) -> usize {
        self.top.filter.div_ceil(2 * self.top.step)
    }

    /// Marks of all triples up to this one's end.
    pub(super) fn end(&self) -> usize {
        self.start + self.top.width * self.top.height
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_of_two_octaves() {
        let layers = layers(64, 40, 2);
        let filters: Vec<usize> = layers.iter().map(|layer| layer.filter).collect();
        assert_eq!(filters, [9, 15, 21, 27, 39, 51]);
        assert_eq!((layers[5].width, layers[5].height, layers[5].step), (16, 10, 4));
        assert_eq!(layers[5].start, 4 * 32 * 20 + 16 * 10);
        let triples = triples(&layers);
        assert_eq!(triples.len(), 4);
        assert_eq!((triples[2].bottom.filter, triples[2].middle.filter, triples[2].top.filter), (15, 27, 39));
    }
}
