//! Parboil's histo: a saturating histogram, its middle in shared memory and the rest in global memory.

mod expected;
mod image;

use super::prelude::*;
use crate::DevicePtr;

pub(super) const WORKLOAD: Workload = Workload {
    name: "histo",
    suite: "Parboil",
    papers: &["fuse", "morpheus"],
    description: "A histogram of a million 8-bit counts: atomics on packed counts in shared memory where the \
                  input is dense, global atomics elsewhere, and a sum over partial histograms of all CTAs.",
    kernels: &[
        kernel("histo_prescan", "histo_prescan_kernel"),
        kernel("histo_intermediates", "histo_intermediates_kernel"),
        kernel("histo_main", "histo_main_kernel"),
        kernel("histo_final", "histo_final_kernel"),
    ],
    differences: &[
        "the image is synthetic: repeated patterns with normal noise, uniform streets between them, 0.4 % \
         strays",
        "the number of CTAs that share the input (Parboil: 14) and of those that sample it (64) are \
         parameters",
        "the partial histograms are not cleared before each run: every word that is read was written",
        "lines beyond the image are guarded against, so that its height need not be a multiple of 16",
        "carries of an overflow are followed by a loop, not by nested conditions",
    ],
    inputs: &[
        input(Size::Test, "67 x 131 pixels, 72 x 1024 bins, 1 run", || {
            Box::new(Histo { width: 67, height: 131, bins: [72, 1024], samplers: 2, parts: 3, runs: 1 })
        }),
        input(Size::Small, "498 x 520 pixels, 512 x 1024 bins, 2 runs", || {
            Box::new(Histo { width: 498, height: 520, bins: [512, 1024], samplers: 16, parts: 14, runs: 2 })
        }),
        input(Size::Paper, "996 x 1040 pixels, 996 x 1024 bins, 20 runs (Parboil: default)", || {
            Box::new(Histo { width: 996, height: 1040, bins: [996, 1024], samplers: 64, parts: 14, runs: 20 })
        }),
        suite_input(
            "996 x 1040 pixels, 996 x 1024 bins",
            "Parboil 2.5, histo, data set default: histo 20 4",
            Piece::Launches("the first 4 of 20 runs: 16 launches"),
            || {
                Box::new(Histo {
                    width: 996,
                    height: 1040,
                    bins: [996, 1024],
                    samplers: 64,
                    parts: 14,
                    runs: 4,
                })
            },
        ),
        input(Size::Morpheus, "498 x 520 pixels, 512 x 1024 bins, 3 runs", || {
            Box::new(Histo { width: 498, height: 520, bins: [512, 1024], samplers: 16, parts: 14, runs: 3 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernel's RANGE_BINS, PRESCAN_THREADS and LINES.
const RANGE_BINS: usize = 24 * 1024;
const PRESCAN_THREADS: u32 = 512;
const LINES: usize = 16;
/// Parboil's blocks.
const MAIN_BLOCK: u32 = 768;
const FINAL_BLOCK: u32 = 512;
/// CTAs of the final kernel for each of the main kernel's parts.
const FINAL_CTAS: u32 = 3;

#[derive(Debug)]
struct Histo {
    /// The image's, in pixels.
    width: usize,
    height: usize,
    /// The histogram's width and height. Its middle lies in whole ranges.
    bins: [usize; 2],
    /// CTAs that sample the image: each thread of them has a pixel at least.
    samplers: u32,
    /// CTAs that share the image in the main kernel.
    parts: u32,
    /// Times the histogram is computed.
    runs: usize,
}

/// The buffers on the device.
#[derive(Debug)]
struct Buffers {
    input: DevicePtr,
    ranges: DevicePtr,
    places: DevicePtr,
    partial: DevicePtr,
    outside: DevicePtr,
    overflow: DevicePtr,
    histogram: DevicePtr,
}

impl Histo {
    fn bin_count(&self) -> usize {
        self.bins[0] * self.bins[1]
    }

    /// Pixels from one line to the next of the input: even.
    fn pitch(&self) -> usize {
        self.width.next_multiple_of(2)
    }

    /// The image with padded lines, as the device has it.
    fn padded(&self, image: &[u32]) -> Vec<u32> {
        let mut padded = vec![0; self.pitch() * self.height.next_multiple_of(LINES)];
        for (to, from) in padded.chunks_exact_mut(self.pitch()).zip(image.chunks_exact(self.width)) {
            to[..self.width].copy_from_slice(from);
        }
        padded
    }

    /// Computes the histogram once.
    fn once(&self, host: &mut Host<'_>, d: &Buffers) -> Result<(), DeviceError> {
        let pixels = self.width * self.height;
        host.write(d.ranges, &[u32::MAX, 0])?;
        let args = args![d.input, int(pixels), d.ranges];
        host.launch("histo_prescan", [self.samplers, 1, 1], [PRESCAN_THREADS, 1, 1], args)?;
        let ranges = host.read::<u32>(d.ranges, 2)?;
        // A range at the end of the histogram may be cut off, and one beyond it does not exist.
        let last = (self.bin_count() / RANGE_BINS) as u32 - 1;
        let highest = ranges[1].min(last);
        let lowest = ranges[0].min(highest);

        let pair_pitch = self.pitch() / 2;
        let args = args![d.input, self.height as u32, self.width as u32, pair_pitch as u32, d.places];
        let grid = [ctas(self.height, LINES as u32), 1, 1];
        host.launch("histo_intermediates", grid, [pair_pitch as u32, 1, 1], args)?;

        let bins = self.bin_count() as u32;
        let args = args![d.places, pixels as u32, lowest, highest, bins, d.partial, d.outside, d.overflow];
        let grid = [self.parts, highest - lowest + 1, 1];
        host.launch("histo_main", grid, [MAIN_BLOCK, 1, 1], args)?;

        let args = args![lowest, highest, bins, self.parts, d.partial, d.outside, d.overflow, d.histogram];
        host.launch("histo_final", [FINAL_CTAS * self.parts, 1, 1], [FINAL_BLOCK, 1, 1], args)
    }
}

impl Body for Histo {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let image = self.image();
        let padded = self.padded(&image);
        let bins = self.bin_count();
        let buffers = Buffers {
            input: host.buffer("input", &padded)?,
            ranges: host.zeros::<u32>("ranges", 2)?,
            places: host.zeros::<u32>("places", image.len())?,
            partial: host.zeros::<u32>("partial", self.parts as usize * bins / 4)?,
            // Racing threads overshoot 255 by more or less; the final kernel saturates and clears.
            outside: host.unordered::<u16>("outside", bins)?,
            overflow: host.zeros::<u32>("overflow", bins)?,
            histogram: host.zeros::<u8>("histogram", bins)?,
        };
        for _ in 0..self.runs {
            self.once(host, &buffers)?;
        }

        host.near::<u32>("ranges", buffers.ranges, self.expected_ranges(&padded))?;
        host.exact("histogram", buffers.histogram, &self.expected(&image))?;
        Ok(())
    }
}
