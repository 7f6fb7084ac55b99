//! Rodinia's Heart Wall: tracks points of a beating heart in ultrasound frames by template matching.

mod expected;
mod sequence;
mod shape;

use self::sequence::Sequence;
use super::prelude::*;
use crate::Comparison;

pub(super) const WORKLOAD: Workload = Workload {
    name: "heartwall",
    suite: "Rodinia",
    papers: &["hi-end"],
    description: "Template matching, a CTA per point: a convolution that reads the template from shared memory and the \
                  surroundings from global memory, cumulative sums by one thread per line, and many short phases \
                  between barriers that leave their results in global memory.",
    kernels: &[kernel("heartwall", "kernel")],
    differences: &[
        "the sequence is synthetic: speckle on a contracting ring, pixels integers of 1 to 63, not a video file",
        "inner and outer points are one list, and lie on two circles",
        "pointers are parameters with a matrix per point instead of an array of structures in constant memory",
        "rows and columns count from 0",
        "two frames of the 104 (one convolution is 870 million products); Rodinia's run takes 20",
        "the sizes of template and surroundings and the frames between updates are smaller for test and small",
    ],
    inputs: &[
        input(Size::Test, "3 points, 3 frames, templates 7 x 7 in 11 x 11", || {
            Box::new(Heartwall {
                frame: [61, 53],
                points: [1, 2],
                frames: 3,
                update_period: 1,
                template_radius: 3,
                window_radius: 5,
                reach: 6,
                followed: Part::All,
            })
        }),
        input(Size::Small, "8 points, 4 frames, templates 17 x 17 in 27 x 27", || {
            Box::new(Heartwall {
                frame: [203, 180],
                points: [3, 5],
                frames: 4,
                update_period: 2,
                template_radius: 8,
                window_radius: 13,
                reach: 10,
                followed: Part::All,
            })
        }),
        input(Size::Paper, "51 points, 2 frames of 609 x 590, templates 51 x 51 in 81 x 81", || {
            Box::new(RODINIA)
        }),
        suite_input(
            "51 points, frames of 609 x 590, templates 51 x 51 in 81 x 81",
            "Rodinia 3.1, cuda/heartwall/run: heartwall test.avi 20",
            Piece::Ctas(
                "the first 2 of 20 frames, a launch each, and of them the first 4 of 51 CTAs: a CTA has 5 million warp-instructions",
            ),
            || Box::new(Heartwall { followed: Part::First(4), ..RODINIA }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Rodinia's video and sizes, of which two frames run.
const RODINIA: Heartwall = Heartwall {
    frame: [609, 590],
    points: [20, 31],
    frames: 2,
    update_period: 10,
    template_radius: 25,
    window_radius: 40,
    reach: 10,
    followed: Part::All,
};

const BLOCK: u32 = 256;
/// How much of a template stays when it is updated.
const KEPT_SHARE: f32 = 0.87;

#[derive(Debug)]
struct Heartwall {
    /// Rows and columns.
    frame: [usize; 2],
    /// How many on the inner and on the outer circle.
    points: [usize; 2],
    frames: usize,
    /// The frames from one update of the templates to the next.
    update_period: usize,
    /// A template has twice as many rows and columns, and one.
    template_radius: usize,
    /// The same of the surroundings in which it is searched.
    window_radius: usize,
    /// Across how many rows and columns a point may move between frames.
    reach: usize,
    /// The points that are followed, a CTA each.
    followed: Part,
}

/// What is known of the points before a frame.
#[derive(Debug)]
struct State {
    /// The middle of the surroundings.
    rows: Vec<i32>,
    columns: Vec<i32>,
    /// Where the points were found, a row per point and a column per frame.
    track_rows: Vec<i32>,
    track_columns: Vec<i32>,
    /// A matrix per point, column by column.
    templates: Vec<f32>,
}

impl Body for Heartwall {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let sequence = Sequence::new(self.frame);
        let (rows, columns) = sequence.points(self.points);
        let points = rows.len();
        let squared = |length: usize| points * length * length;
        let (template, window) = (squared(self.template_rows()), squared(self.window_rows()));
        let (places, padded) = (squared(self.places()), squared(self.padded_rows()));
        let strips = points * self.places() * self.padded_rows();

        host.variable("sizes", &self.sizes())?;
        host.variable("kept_share", &[KEPT_SHARE])?;
        let d_frame = host.zeros::<f32>("frame", self.frame[0] * self.frame[1])?;
        let d_rows = host.buffer("rows", &rows)?;
        let d_columns = host.buffer("columns", &columns)?;
        let d_track_rows = host.zeros::<i32>("track_rows", points * self.frames)?;
        let d_track_columns = host.zeros::<i32>("track_columns", points * self.frames)?;
        let d_templates = host.zeros::<f32>("templates", template)?;
        let matrices = [
            ("windows", window),
            ("convolutions", places),
            ("padded", padded),
            ("below", strips),
            ("strips", strips),
            ("right", places),
            ("sums", places),
            ("squares", window),
            ("correlations", places),
            ("template_squares", template),
            ("masks", places),
            ("masked_correlations", places),
        ];
        let mut d_matrices = vec![];
        for (name, elements) in matrices {
            d_matrices.push(host.zeros::<f32>(name, elements)?);
        }
        let d_correlations = d_matrices[8];

        let mut state = State {
            rows,
            columns,
            track_rows: vec![0; points * self.frames],
            track_columns: vec![0; points * self.frames],
            templates: vec![0.0; template],
        };
        for number in 0..self.frames {
            let frame = sequence.frame(number);
            host.write(d_frame, &frame)?;
            let mut args = args![int(number), d_frame, d_rows, d_columns].to_vec();
            args.extend([d_track_rows, d_track_columns, d_templates].map(Arg::from));
            args.extend(d_matrices.iter().copied().map(Arg::from));
            host.launch("heartwall", [self.followed.of(points) as u32, 1, 1], [BLOCK, 1, 1], &args)?;

            // Each frame is checked from where the device began it. The first that goes wrong is compared, else the
            // last.
            let last = number + 1 == self.frames;
            let correlations = if last { self.correlations(&frame, &state) } else { vec![] };
            let templates = self.follow(&frame, number, &mut state);
            let track_rows = host.read::<i32>(d_track_rows, points * self.frames)?;
            let track_columns = host.read::<i32>(d_track_columns, points * self.frames)?;
            state.templates = host.read(d_templates, template)?;
            let right = track_rows == state.track_rows
                && track_columns == state.track_columns
                && Comparison::near("templates", &state.templates, &templates).passed();
            if !right || last {
                host.exact("track_rows", d_track_rows, &state.track_rows)?;
                host.exact("track_columns", d_track_columns, &state.track_columns)?;
                host.near::<f32>("templates", d_templates, templates)?;
                if last {
                    host.near::<f32>("correlations", d_correlations, correlations)?;
                }
                break;
            }
        }
        Ok(())
    }
}
