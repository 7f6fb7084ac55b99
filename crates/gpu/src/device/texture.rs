//! Textures, surfaces and arrays of a card.
//!
//! A card keeps what handles refer to beside device memory, as a GPU does in its texture header tables;
//! kernels see only handles. Headers change between launches. Texels lie in device memory, in buffers or
//! arrays; an array is a buffer whose layout only this file and the texture unit know.

use std::sync::Arc;

use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Format, Header, Image, Layout, Texture};
use strata_workloads::{DeviceError, DevicePtr};

use super::card::{Backend, Card};

/// Alignment of an array, and of a row of a one-dimensional array. CUDA Driver API,
/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT`.
const ARRAY_ALIGN: u64 = 512;

/// Why a texture, surface or array could not be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTexture {
    /// The shape or the sampling mode is invalid; the text says why.
    #[error("{0}")]
    Shape(String),
    /// There is no room, or the memory named does not belong to the card.
    #[error(transparent)]
    Memory(#[from] DeviceError),
}

/// The shape of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    /// Format of a texel.
    pub format: Format,
    /// Dimensionality, which decides how texels are addressed.
    pub geometry: Geometry,
    /// Width of a row in texels.
    pub width: u32,
    /// Rows; 1 for one-dimensional arrays.
    pub height: u32,
    /// Slices, layers or faces; 1 where there are none.
    pub depth: u32,
}

impl ArrayShape {
    /// Its texels, in no place yet. Arrays with two or more axes are stored in blocks, those with one row by row.
    fn image(&self) -> Image {
        let ArrayShape { format, geometry, width, height, depth } = *self;
        let mut image = Image { base: 0, format, geometry, width, height, depth, layout: Layout::Blocks };
        if geometry.axes() == 1 {
            image.layout = Layout::Rows { pitch: image.row_bytes().next_multiple_of(ARRAY_ALIGN) };
        }
        image
    }

    /// Most levels of detail of such an array.
    pub fn most_levels(&self) -> u32 {
        self.image().most_levels().max(1)
    }
}

impl<B: Backend> Card<B> {
    /// Creates a texture and returns its handle.
    ///
    /// # Errors
    /// See [`BadTexture`].
    pub fn create_texture(&mut self, texture: Texture) -> Result<u64, BadTexture> {
        self.check_texture(&texture)?;
        Ok(self.keep(Header::Texture(texture)))
    }

    /// Creates a surface and returns its handle.
    ///
    /// # Errors
    /// See [`BadTexture`].
    pub fn create_surface(&mut self, image: Image) -> Result<u64, BadTexture> {
        self.check_image(&image)?;
        Ok(self.keep(Header::Surface(image)))
    }

    fn keep(&mut self, header: Header) -> u64 {
        let headers = Arc::make_mut(&mut self.headers);
        let handle = headers.reserve();
        headers.set(handle, header);
        handle
    }

    /// The texture or surface that a handle refers to.
    pub fn header(&self, handle: u64) -> Option<&Header> {
        self.headers.get(handle)
    }

    /// Invalidates a handle. Returns false if it was not valid.
    pub fn destroy_header(&mut self, handle: u64) -> bool {
        Arc::make_mut(&mut self.headers).clear(handle).is_some()
    }

    /// Binds a texture to a module's texture reference; [`Card::reference`] gives the handle.
    ///
    /// # Errors
    /// See [`BadTexture`]; the earlier binding then stays.
    pub fn bind_texture(&mut self, reference: u64, texture: Texture) -> Result<(), BadTexture> {
        self.check_texture(&texture)?;
        Arc::make_mut(&mut self.headers).set(reference, Header::Texture(texture));
        Ok(())
    }

    /// Binds a surface to a module's surface reference; [`Card::reference`] gives the handle.
    ///
    /// # Errors
    /// See [`BadTexture`]; the earlier binding then stays.
    pub fn bind_surface(&mut self, reference: u64, image: Image) -> Result<(), BadTexture> {
        self.check_image(&image)?;
        Arc::make_mut(&mut self.headers).set(reference, Header::Surface(image));
        Ok(())
    }

    fn check_texture(&self, texture: &Texture) -> Result<(), BadTexture> {
        texture.check().map_err(BadTexture::Shape)?;
        Ok(self.heap().find(DevicePtr(texture.image.base), texture.bytes()).map(|_| ())?)
    }

    fn check_image(&self, image: &Image) -> Result<(), BadTexture> {
        image.check().map_err(BadTexture::Shape)?;
        Ok(self.heap().find(DevicePtr(image.base), image.bytes()).map(|_| ())?)
    }

    /// Allocates a zeroed array. Arrays with two or more axes are stored in blocks, so that neighbours in any
    /// direction share lines; arrays with one axis are stored row by row.
    ///
    /// # Errors
    /// See [`BadTexture`].
    pub fn alloc_array(&mut self, name: &str, shape: ArrayShape) -> Result<Image, BadTexture> {
        self.alloc_levels(name, shape, 1)
    }

    /// Allocates a zeroed array with levels of detail: [`Image::level`] of what is returned gives each.
    ///
    /// # Errors
    /// See [`BadTexture`].
    pub fn alloc_levels(&mut self, name: &str, shape: ArrayShape, levels: u32) -> Result<Image, BadTexture> {
        let mut image = shape.image();
        image.check().map_err(BadTexture::Shape)?;
        let most = image.most_levels();
        if !(1..=most).contains(&levels) {
            return Err(BadTexture::Shape(format!("levels of detail: found {levels}, expected 1 to {most}")));
        }
        let last = image.level(levels - 1);
        image.base = self.alloc_aligned(name, last.base + last.bytes(), ARRAY_ALIGN)?.0;
        Ok(image)
    }

    /// Writes bytes to a row of an image, starting at byte `x` of the row.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range exceeds the row, or the image's memory has been freed.
    pub fn write_row(
        &mut self,
        image: &Image,
        (x, y, z): (u64, u32, u32),
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let mut done = 0;
        for (at, bytes) in pieces(image, (x, y, z), data.len() as u64)? {
            self.write(at, &data[done..done + bytes])?;
            done += bytes;
        }
        Ok(())
    }

    /// Reads bytes from a row of an image, starting at byte `x` of the row.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range exceeds the row, or the image's memory has been freed.
    pub fn read_row(
        &mut self,
        image: &Image,
        (x, y, z): (u64, u32, u32),
        data: &mut [u8],
    ) -> Result<(), DeviceError> {
        let mut done = 0;
        for (at, bytes) in pieces(image, (x, y, z), data.len() as u64)? {
            self.read(at, &mut data[done..done + bytes])?;
            done += bytes;
        }
        Ok(())
    }
}

/// The contiguous runs of memory that make up part of a row.
fn pieces(
    image: &Image,
    (x, y, z): (u64, u32, u32),
    bytes: u64,
) -> Result<impl Iterator<Item = (DevicePtr, usize)> + use<>, DeviceError> {
    let end = x.checked_add(bytes).filter(|end| *end <= image.row_bytes());
    let Some(end) = end.filter(|_| y < image.height && z < image.depth) else {
        return Err(DeviceError::OutOfBounds { ptr: DevicePtr(image.base), bytes });
    };
    // Length of a contiguous run within a row.
    let run = if image.layout == Layout::Blocks { 16 } else { u64::MAX };
    let (image, mut at) = (*image, x);
    Ok(std::iter::from_fn(move || {
        let length = (end - at).min(run - at % run);
        let piece = (length > 0).then(|| (DevicePtr(image.address(at, y, z)), length as usize));
        at += length;
        piece
    }))
}
