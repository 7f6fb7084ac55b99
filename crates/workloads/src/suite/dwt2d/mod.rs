//! Rodinia's DWT2D: the 5/3 wavelet transform of a colour image, several levels.

mod expected;
mod image;

use self::image::Image;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "dwt2d",
    suite: "Rodinia",
    papers: &["morpheus"],
    description: "Integer lifting of JPEG 2000: bytes are separated into three images, and for each image and level \
                  every CTA slides a window of 64 to 192 columns down in shared memory, coalesced on both sides, \
                  with barriers between the steps of the lifting.",
    kernels: &[
        kernel("dwt2d_split", "c_CopySrcToComponents"),
        kernel("dwt2d_forward_192", "fdwt53Kernel<192, 8>"),
        kernel("dwt2d_forward_128", "fdwt53Kernel<128, 8>"),
        kernel("dwt2d_forward_64", "fdwt53Kernel<64, 8>"),
    ],
    differences: &[
        "the image is synthetic: shades, shapes with sharp edges, stripes and noise",
        "the low band goes back to the input by the host between levels, not by a copy on the device",
        "mirroring at the lower edge is computed from the row instead of turning back a pointer",
        "one variant checks for the right and the lower edge, where the original has two",
        "the numbers of strips and colours are parameters: the original's 15 and 3 but for the test",
    ],
    inputs: &[
        input(Size::Test, "one colour of 965 x 20 pixels, 3 levels", || {
            Box::new(Dwt2d { columns: 965, rows: 20, levels: 3, strips: 1, colours: 1 })
        }),
        input(Size::Small, "1000 x 250 pixels, 3 levels", || {
            Box::new(Dwt2d { columns: 1000, rows: 250, levels: 3, strips: 15, colours: 3 })
        }),
        input(Size::Paper, "1024 x 1024 pixels, 3 levels", || {
            Box::new(Dwt2d { columns: 1024, rows: 1024, levels: 3, strips: 15, colours: 3 })
        }),
        input(Size::Morpheus, "384 x 384 pixels, 3 levels", || {
            Box::new(Dwt2d { columns: 384, rows: 384, levels: 3, strips: 15, colours: 3 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 256;
/// The rows of a window's step.
const ROWS: usize = 8;

#[derive(Debug)]
struct Dwt2d {
    columns: usize,
    rows: usize,
    levels: usize,
    /// Into how many strips an image is cut, one above the other, at most.
    strips: usize,
    /// How many of the three colours are transformed.
    colours: usize,
}

impl Dwt2d {
    /// One level: the entry with the window for an image this wide.
    fn launch(
        &self,
        host: &mut Host<'_>,
        [image, bands]: [crate::DevicePtr; 2],
        [columns, rows]: [usize; 2],
    ) -> Result<(), DeviceError> {
        let (entry, width) = match columns {
            960.. => ("dwt2d_forward_192", 192),
            480.. => ("dwt2d_forward_128", 128),
            _ => ("dwt2d_forward_64", 64),
        };
        let steps = rows.div_ceil(ROWS * self.strips);
        let grid = [ctas(columns, width), ctas(rows, (ROWS * steps) as u32), 1];
        let args = args![image, bands, int(columns), int(rows), int(steps)];
        host.launch(entry, grid, [width, 1, 1], args)
    }
}

impl Body for Dwt2d {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { columns, rows, levels, .. } = self;
        let pixels = columns * rows;
        let image = Image::synthetic(columns, rows);
        let grid = ctas(pixels, BLOCK);
        let mut bytes = image.bytes.clone();
        bytes.resize(3 * (BLOCK * grid) as usize, 0);
        let d_pixels = host.buffer("pixels", &bytes)?;
        let mut d_colours = vec![];
        for name in ["red", "green", "blue"] {
            d_colours.push(host.zeros::<i32>(name, pixels)?);
        }
        let args = args![d_pixels, d_colours[0], d_colours[1], d_colours[2], int(pixels)];
        host.launch("dwt2d_split", [grid, 1, 1], [BLOCK, 1, 1], args)?;

        let names = ["red_bands", "green_bands", "blue_bands"];
        for (colour, name) in names.into_iter().enumerate().take(self.colours) {
            let d_bands = host.zeros::<i32>(name, pixels)?;
            let mut size = [columns, rows];
            for level in 0..levels {
                if level > 0 {
                    size = size.map(|length| length.div_ceil(2));
                    let low = host.read::<i32>(d_bands, size[0] * size[1])?;
                    host.write(d_colours[colour], &low)?;
                }
                self.launch(host, [d_colours[colour], d_bands], size)?;
            }
            host.exact(name, d_bands, &expected::transform(&image.colour(colour), [columns, rows], levels))?;
        }
        Ok(())
    }
}
