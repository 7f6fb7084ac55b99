//! What handles stand for.

use super::description::{Read, Texture};
use super::format::Channel;
use super::image::Image;
use crate::isa::{Geometry, TextureQuery};

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Header {
    /// To be fetched from.
    Texture(Texture),
    /// To be read and written.
    Surface(Image),
}

impl Header {
    /// Its texels.
    pub fn image(&self) -> &Image {
        match self {
            Header::Texture(texture) => &texture.image,
            Header::Surface(image) => image,
        }
    }

    /// The answer of `txq` or `suq`. Types and orders of channels are numbered as in OpenCL, which PTX refers to ("Channel
    /// Data Type and Channel Order Fields").
    /// `level` is the number of the level that is asked about; the last answers for numbers beyond it.
    pub fn answer(&self, query: TextureQuery, level: u32) -> u32 {
        let levels = if let Header::Texture(texture) = self { texture.levels.count } else { 1 };
        let level = if query.is_of_level() { level.min(levels - 1) } else { 0 };
        let image = &self.image().level(level);
        let normalized = matches!(self, Header::Texture(texture) if texture.normalized);
        let layered = image.geometry.is_layered();
        match query {
            TextureQuery::Width | TextureQuery::LevelWidth => image.width,
            TextureQuery::Height | TextureQuery::LevelHeight => image.height,
            TextureQuery::Depth | TextureQuery::LevelDepth if image.geometry == Geometry::D3 => image.depth,
            TextureQuery::Depth | TextureQuery::LevelDepth => 1,
            TextureQuery::Layers if image.geometry == Geometry::Cubes => image.depth / 6,
            TextureQuery::Layers if layered => image.depth,
            TextureQuery::Layers => 1,
            TextureQuery::Levels => levels,
            TextureQuery::Normalized => normalized.into(),
            TextureQuery::ChannelOrder => match image.format.channels {
                1 => 0x10b0,
                2 => 0x10b2,
                _ => 0x10b5,
            },
            TextureQuery::ChannelType => {
                let read = matches!(self, Header::Texture(texture) if texture.read == Read::Normalized);
                match (image.format.channel, read) {
                    (Channel::S8, true) => 0x10d0,
                    (Channel::S16, true) => 0x10d1,
                    (Channel::U8, true) => 0x10d2,
                    (Channel::U16, true) => 0x10d3,
                    (Channel::S8, false) => 0x10d7,
                    (Channel::S16, false) => 0x10d8,
                    (Channel::S32, _) => 0x10d9,
                    (Channel::U8, false) => 0x10da,
                    (Channel::U16, false) => 0x10db,
                    (Channel::U32, _) => 0x10dc,
                    (Channel::F16, _) => 0x10dd,
                    (Channel::F32, _) => 0x10de,
                }
            }
        }
    }
}

/// Handles and what they stand for. A handle is never used again, and 0 is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headers {
    /// By handle.
    live: Vec<(u64, Header)>,
    handles: u64,
}

impl Headers {
    /// No handles.
    pub const NONE: &'static Headers = &Headers { live: Vec::new(), handles: 0 };

    /// A handle that stands for nothing yet.
    pub fn reserve(&mut self) -> u64 {
        self.handles += 1;
        self.handles
    }

    /// Says what a handle stands for from now on; one that was never reserved stays nothing.
    pub fn set(&mut self, handle: u64, header: Header) {
        if (1..=self.handles).contains(&handle) {
            match self.live.binary_search_by_key(&handle, |(known, _)| *known) {
                Ok(place) => self.live[place].1 = header,
                Err(place) => self.live.insert(place, (handle, header)),
            }
        }
    }

    /// The handle stands for nothing any more; what it stood for.
    pub fn clear(&mut self, handle: u64) -> Option<Header> {
        let place = self.find(handle)?;
        Some(self.live.remove(place).1)
    }

    /// Place of a handle among those that stand for something.
    #[inline]
    pub fn find(&self, handle: u64) -> Option<usize> {
        self.live.binary_search_by_key(&handle, |(known, _)| *known).ok()
    }

    /// What the handle at a place stands for.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn at(&self, place: usize) -> &Header {
        &self.live[place].1
    }

    /// What a handle stands for.
    pub fn get(&self, handle: u64) -> Option<&Header> {
        self.find(handle).map(|place| self.at(place))
    }

    /// What any instruction needs: the place of a handle that stands for something.
    ///
    /// # Errors
    /// A sentence when it stands for nothing.
    pub fn any(&self, handle: u64) -> Result<usize, String> {
        self.find(handle).ok_or_else(|| format!("handle {handle:#x} is of no live texture or surface"))
    }

    /// What a fetch needs: the place of a texture of a geometry.
    ///
    /// # Errors
    /// A sentence when the handle is none of such a texture.
    pub fn texture(&self, handle: u64, geometry: Geometry) -> Result<usize, String> {
        let place = self.any(handle)?;
        match self.at(place) {
            Header::Texture(texture) if texture.image.geometry == geometry => Ok(place),
            other => Err(mismatch(handle, other, "texture", geometry)),
        }
    }

    /// What a surface access needs: the place of a surface of a geometry.
    ///
    /// # Errors
    /// A sentence when the handle is none of such a surface.
    pub fn surface(&self, handle: u64, geometry: Geometry) -> Result<usize, String> {
        let place = self.any(handle)?;
        match self.at(place) {
            Header::Surface(image) if same_slices(image.geometry, geometry) => Ok(place),
            other => Err(mismatch(handle, other, "surface", geometry)),
        }
    }
}

/// Cubes are accessed as their faces: layers (CUDA C++ Programming Guide, "Cubemap Surfaces").
fn same_slices(surface: Geometry, instruction: Geometry) -> bool {
    surface == instruction || surface.is_cube() && instruction == Geometry::Layers2
}

fn mismatch(handle: u64, found: &Header, expected: &str, geometry: Geometry) -> String {
    let kind = if matches!(found, Header::Texture(_)) { "texture" } else { "surface" };
    format!(
        "handle {handle:#x} is of a {kind} of geometry {}, expected a {expected} of geometry {}",
        found.image().geometry.word(),
        geometry.word()
    )
}
