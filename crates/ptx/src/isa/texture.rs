//! What texture and surface instructions say besides their operands.

use super::types::{CacheOp, Ty};

/// How the texels of a texture or surface are addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Geometry {
    /// `.1d`
    D1,
    /// `.2d`
    D2,
    /// `.3d`
    D3,
    /// `.a1d`: a layer, then one coordinate.
    Layers1,
    /// `.a2d`: a layer, then two coordinates.
    Layers2,
    /// `.cube`: a direction in three coordinates; faces are layers.
    Cube,
    /// `.acube`: a cube, then a direction.
    Cubes,
}

impl Geometry {
    /// PTX's word.
    pub const fn word(self) -> &'static str {
        match self {
            Geometry::D1 => "1d",
            Geometry::D2 => "2d",
            Geometry::D3 => "3d",
            Geometry::Layers1 => "a1d",
            Geometry::Layers2 => "a2d",
            Geometry::Cube => "cube",
            Geometry::Cubes => "acube",
        }
    }

    /// Whether the first coordinate names a layer or a cube: an unsigned integer.
    pub const fn is_layered(self) -> bool {
        matches!(self, Geometry::Layers1 | Geometry::Layers2 | Geometry::Cubes)
    }

    /// Whether the texels are on the faces of cubes.
    pub const fn is_cube(self) -> bool {
        matches!(self, Geometry::Cube | Geometry::Cubes)
    }

    /// Coordinates that an instruction gives, the layer's included.
    pub const fn coordinates(self) -> usize {
        match self {
            Geometry::D1 => 1,
            Geometry::D2 | Geometry::Layers1 => 2,
            Geometry::D3 | Geometry::Layers2 | Geometry::Cube => 3,
            Geometry::Cubes => 4,
        }
    }

    /// Coordinates that have derivatives: all but a layer's number.
    pub const fn derivatives(self) -> usize {
        self.coordinates() - self.is_layered() as usize
    }

    /// Axes along which texels are filtered.
    pub const fn axes(self) -> usize {
        match self {
            Geometry::D1 | Geometry::Layers1 => 1,
            Geometry::D2 | Geometry::Layers2 | Geometry::Cube | Geometry::Cubes => 2,
            Geometry::D3 => 3,
        }
    }
}

/// What chooses a fetch's level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Nothing: the first level.
    Base,
    /// `.level`: a number behind the coordinates, of their type.
    Level,
    /// `.grad`: the derivatives of the coordinates in two directions of the screen, one after the other.
    Gradients,
}

/// A fetch: `tex` or `tld4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureFetch {
    /// What its coordinates mean; the texture's own geometry must be the same.
    pub geometry: Geometry,
    /// The coordinates are `.s32`: numbers of texels.
    pub integer: bool,
    /// Type of a result: u32, s32, f32 or f16, four of them; f16x2, two of them.
    pub result: Ty,
    /// `tld4`: this component of the four texels that a linear filter would blend.
    pub gather: Option<u8>,
    /// What chooses the level.
    pub detail: Detail,
}

impl TextureFetch {
    /// Results.
    pub const fn results(&self) -> usize {
        if matches!(self.result, Ty::F16x2) { 2 } else { 4 }
    }

    /// Sources behind the coordinates.
    pub const fn details(&self) -> usize {
        match self.detail {
            Detail::Base => 0,
            Detail::Level => 1,
            Detail::Gradients => 2 * self.geometry.derivatives(),
        }
    }
}

/// What `txq` and `suq` ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TextureQuery {
    Width,
    Height,
    Depth,
    ChannelType,
    ChannelOrder,
    /// Whether coordinates are normalized.
    Normalized,
    /// Layers of an array.
    Layers,
    /// Levels of detail.
    Levels,
    /// Of a level, whose number is a source of its own.
    LevelWidth,
    LevelHeight,
    LevelDepth,
}

impl TextureQuery {
    /// Whether it asks about a level.
    pub const fn is_of_level(self) -> bool {
        matches!(self, TextureQuery::LevelWidth | TextureQuery::LevelHeight | TextureQuery::LevelDepth)
    }
}

/// What a surface access does beyond the surface's edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outside {
    /// Stops the kernel.
    Trap,
    /// Goes to the nearest place inside.
    Clamp,
    /// Reads zeros, writes nothing.
    Zero,
}

/// An unformatted access to a surface, of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SurfaceMode {
    /// What its coordinates mean; the first one of an axis counts bytes. Never a cube.
    pub geometry: Geometry,
    /// Type of one element.
    pub ty: Ty,
    /// Elements a lane: 1, 2, 4.
    pub vector: u8,
    /// Beyond the edge.
    pub outside: Outside,
    /// Cache operator.
    pub cache: CacheOp,
}

impl SurfaceMode {
    /// Bytes that a lane accesses: a power of two up to 16.
    pub const fn bytes(&self) -> usize {
        self.ty.bytes() * self.vector as usize
    }
}
