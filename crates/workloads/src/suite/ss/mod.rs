//! Mars's Similarity Score: documents compared two by two, the most similar first.

mod expected;

use super::prelude::*;
use crate::mapreduce::text::Zipf;
use crate::mapreduce::{BLOCK, MAP_GROUP, MapReduce, Shape, mars_differences};

pub(super) const WORKLOAD: Workload = Workload {
    name: "ss",
    suite: "Mars",
    papers: &["fuse"],
    description: "Scores every two documents by the angle between their feature vectors: a thread a pair reads two \
                  rows of a matrix, one of them shared with its neighbours; then the pairs are sorted by score.",
    kernels: &MAP_GROUP,
    differences: mars_differences![
        "the matrix holds counts of words with Zipf's frequencies, some common to all documents and some of its own \
         topic, not uniform random integers",
        "rows of the matrix are padded to whole float4",
        "keys are empty and values have no room for the score, which map does not write there",
        "scores are compared exactly: Mars takes those closer than 1e-7 as equal, which is not an order",
    ],
    inputs: &[
        input(Size::Test, "25 documents of 30 features", || {
            Box::new(Ss { documents: 25, features: 30, scored: Part::All })
        }),
        input(Size::Small, "160 documents of 126 features", || {
            Box::new(Ss { documents: 160, features: 126, scored: Part::All })
        }),
        input(Size::Paper, "1024 documents of 256 features", || {
            Box::new(Ss { documents: 1024, features: 256, scored: Part::All })
        }),
        suite_input(
            "1024 documents of 256 features",
            "Mars, SS_BIN/run.sh: SimilarityScore 1024 256",
            Piece::Input(
                "the first 65,536 of the 523,776 pairs of documents: 256 of 2,046 CTAs of map, and what they emit",
            ),
            || Box::new(Ss { documents: 1024, features: 256, scored: Part::First(65_536) }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Sums of 256 products of counts up to this are integers that f32 holds.
const MOST: f32 = 99.0;

#[derive(Debug)]
struct Ss {
    documents: usize,
    features: usize,
    /// The pairs of documents that get a score.
    scored: Part,
}

impl Ss {
    /// Elements from row to row: rows begin where their reads by four may.
    fn stride(&self) -> usize {
        self.features.next_multiple_of(4)
    }

    /// How often each document has each word: half its words are drawn from a vocabulary common to all, half from
    /// that of its topic.
    fn matrix(&self) -> Vec<f32> {
        let mut random = Random::new(0x55);
        let zipf = Zipf::new(self.features);
        let mut matrix = vec![0.0; self.documents * self.stride()];
        for row in matrix.chunks_exact_mut(self.stride()) {
            let topic = 8 * random.below(16) as usize;
            for _ in 0..100 + random.below(200) {
                let common = zipf.draw(&mut random);
                let own = (topic + zipf.draw(&mut random)) % self.features;
                for word in [common, own] {
                    row[word] = MOST.min(row[word] + 1.0);
                }
            }
        }
        matrix
    }

    /// Every two documents, in order, as far as they get a score.
    fn pairs(&self) -> Vec<[i32; 2]> {
        let n = int(self.documents);
        let scored = self.scored.of(self.documents * (self.documents - 1) / 2);
        (0..n).flat_map(|first| (first + 1..n).map(move |second| [first, second])).take(scored).collect()
    }
}

impl Body for Ss {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let matrix = self.matrix();
        let ranking = self.ranking(&matrix);

        let features = host.buffer("features", &matrix)?;
        let job = MapReduce { label: "scores", input: args![features], block: BLOCK };
        let pairs = self.pairs();
        let values: Vec<i32> =
            pairs.iter().flat_map(|&[first, second]| [first, second, int(self.features)]).collect();
        let records = job.records(host, pairs.len(), &[], &values)?;
        let scored = job.map(host, records, pairs.len(), Shape { key_bytes: 4, value_bytes: 8 })?;
        let groups = job.group(host, scored, ranking.firsts.len())?;

        job.check_groups(host, groups, &ranking.scores, &ranking.documents, &ranking.firsts)
    }
}
