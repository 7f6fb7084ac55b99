//! The size of an image, and the layers of responses that follow from it.

use super::layers::{Layer, Triple, layers, triples};

/// clSURF's 0.0001 for grey values up to 1, here for values up to 255.
pub(super) const THRESHOLD: f32 = 6.5;

#[derive(Debug)]
pub(super) struct Surf {
    pub width: usize,
    pub height: usize,
    pub octaves: usize,
}

impl Surf {
    pub fn layers(&self) -> Vec<Layer> {
        layers(self.width, self.height, self.octaves)
    }

    pub fn triples(&self) -> Vec<Triple> {
        triples(&self.layers())
    }
}
