//! What the device does until points are found.

use super::image::Image;
use super::layers::{Layer, Triple};
use super::size::{Surf, THRESHOLD};
use crate::DevicePtr;
use crate::mapreduce::scan::scan;
use crate::suite::prelude::*;

/// Threads of a CTA that works on an array of two dimensions.
const BLOCK: [u32; 3] = [16, 16, 1];

/// Words of the two rows of `scan_rows`: 64 sums after 32 zeros each.
const OWN_ROWS: usize = 2 * (32 + 64);

/// What lies on the device.
pub(super) struct Buffers {
    pub(super) integral: DevicePtr,
    pub(super) responses: DevicePtr,
    pub(super) laplacians: DevicePtr,
    pub(super) positions: DevicePtr,
    pub(super) scales: DevicePtr,
    pub(super) signs: DevicePtr,
}

impl Surf {
    /// Scans and transposes twice: first rows, then columns.
    pub(super) fn integrate(&self, host: &mut Host<'_>, image: &Image) -> Result<DevicePtr, DeviceError> {
        let (w, h) = (self.width, self.height);
        let pixels: Vec<i32> = image.pixels.iter().map(|&pixel| pixel.into()).collect();
        let source = host.buffer("image", &pixels)?;
        let mut zeros = |name: &str| host.zeros::<i32>(name, w * h);
        let (rows, turned) = (zeros("rows")?, zeros("turned")?);
        let (columns, integral) = (zeros("columns")?, zeros("integral")?);
        let own_rows = host.temporaries::<i32>("own_rows", w.max(h) * OWN_ROWS)?;
        for (w, h, from, sums, to) in [(w, h, source, rows, turned), (h, w, turned, columns, integral)] {
            let args = [&args![int(w), from, sums][..], &own_rows].concat();
            host.launch("scan_rows", [1, int(h) as u32, 1], [64, 1, 1], &args)?;
            host.launch(
                "transpose",
                [ctas(w, BLOCK[0]), ctas(h, BLOCK[1]), 1],
                BLOCK,
                args![int(h), int(w), sums, to],
            )?;
        }
        Ok(integral)
    }

    /// The responses of all layers.
    pub(super) fn respond(&self, host: &mut Host<'_>, buffers: &Buffers) -> Result<(), DeviceError> {
        for layer in self.layers() {
            let at = |buffer: DevicePtr| buffer.offset(4 * layer.start as u64);
            let args = args![
                buffers.integral,
                int(self.width),
                int(self.height),
                at(buffers.responses),
                at(buffers.laplacians),
                int(layer.width),
                int(layer.height),
                int(layer.step),
                int(layer.filter),
            ];
            host.launch("hessian_determinant", tiles(layer), BLOCK, args)?;
        }
        Ok(())
    }

    /// Marks the samples that are points, and writes them at the places that prefix sums give them.
    pub(super) fn find(&self, host: &mut Host<'_>, buffers: &Buffers) -> Result<(), DeviceError> {
        let triples = self.triples();
        let samples = triples.last().map_or(0, Triple::end);
        let marks = host.zeros::<i32>("marks", samples)?;
        let places = host.zeros::<i32>("places", samples)?;
        let response = |layer: Layer| buffers.responses.offset(4 * layer.start as u64);
        for triple in &triples {
            let Triple { bottom, middle, top, start } = *triple;
            let args = args![
                response(top),
                int(top.width),
                int(top.height),
                int(triple.border()),
                response(middle),
                int(middle.width),
                response(bottom),
                int(bottom.width),
                THRESHOLD,
                marks.offset(4 * start as u64),
            ];
            host.launch("suppress_non_maxima", tiles(middle), BLOCK, args)?;
        }
        scan(host, "points", samples, marks, places)?;
        for Triple { bottom, middle, top, start } in triples {
            let args = args![
                response(top),
                int(top.width),
                int(top.height),
                int(top.step),
                response(middle),
                buffers.laplacians.offset(4 * middle.start as u64),
                int(middle.width),
                int(middle.filter),
                response(bottom),
                int(bottom.width),
                int(bottom.filter),
                marks.offset(4 * start as u64),
                places.offset(4 * start as u64),
                buffers.positions,
                buffers.scales,
                buffers.signs,
            ];
            host.launch("write_points", tiles(middle), BLOCK, args)?;
        }
        Ok(())
    }
}

/// The CTAs that cover a layer.
fn tiles(layer: Layer) -> [u32; 3] {
    [ctas(layer.width, BLOCK[0]), ctas(layer.height, BLOCK[1]), 1]
}
