//! What a texture is: its texels and how they are read.

use super::image::{Image, Layout};

/// What a coordinate beyond the edge means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// The texture repeats. Normalized coordinates only; others are clamped.
    Wrap,
    /// The texel at the edge.
    Clamp,
    /// The texture repeats, every second time reversed. Normalized coordinates only; others are clamped.
    Mirror,
    /// The border's colour.
    Border,
}

/// How many texels a fetch blends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// One.
    Point,
    /// Two along each axis.
    Linear,
}

/// What an integer texel is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// As it is.
    Element,
    /// As a number from 0 or -1 to 1.
    Normalized,
}

/// A texture: texels and how they are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// The texels.
    pub image: Image,
    /// For each axis.
    pub addressing: [Addressing; 3],
    /// What is blended.
    pub filter: Filter,
    /// What a texel is read as.
    pub read: Read,
    /// Coordinates run from 0 to 1, not to the number of texels.
    pub normalized: bool,
    /// The border's colour.
    pub border: [f32; 4],
    /// Its levels of detail; `image` is the first.
    pub levels: Levels,
}

impl Texture {
    /// Whether a fetch gives floating-point numbers.
    pub fn gives_floats(&self) -> bool {
        self.image.format.channel.is_float() || self.read == Read::Normalized
    }

    /// Whether there can be such a texture.
    ///
    /// # Errors
    /// What is wrong, what was found and what was expected.
    pub fn check(&self) -> Result<(), String> {
        self.image.check()?;
        self.levels.check(self)?;
        let channel = self.image.format.channel;
        if self.read == Read::Normalized && !channel.is_float() && !channel.can_normalize() {
            return Err(format!("normalized read: found channels of {channel:?}, expected 8 or 16 bits"));
        }
        if !self.gives_floats() && self.filter == Filter::Linear {
            return Err(format!(
                "linear filter: found elements of {channel:?}, expected floating-point numbers"
            ));
        }
        if !self.gives_floats() && self.border != [0.0; 4] {
            return Err(format!(
                "border: found {:?} for elements of {channel:?}, expected zeros",
                self.border
            ));
        }
        if self.image.geometry.is_cube() && !self.normalized {
            return Err("cube: found coordinates that are not normalized, expected normalized ones".into());
        }
        Ok(())
    }

    /// Bytes from the first of its image to the last of its levels.
    pub fn bytes(&self) -> u64 {
        let last = self.image.level(self.levels.count - 1);
        last.base - self.image.base + last.bytes()
    }

    /// What lies beyond the edge of an axis for a kind of coordinates.
    pub(super) fn beyond(&self, axis: usize, integer: bool) -> Addressing {
        let repeats = matches!(self.addressing[axis], Addressing::Wrap | Addressing::Mirror);
        if self.image.layout == Layout::Linear {
            Addressing::Border
        } else if self.image.geometry.is_cube() || repeats && (integer || !self.normalized) {
            Addressing::Clamp
        } else {
            self.addressing[axis]
        }
    }
}

/// The levels of detail of a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// How many there are.
    pub count: u32,
    /// Whether the nearest is read or the two around a place between them are blended.
    pub filter: Filter,
    /// What is added to a fetch's level.
    pub bias: f32,
    /// The lowest level that is read.
    pub least: f32,
    /// The highest level that is read.
    pub most: f32,
}

impl Levels {
    /// One level.
    pub const ONE: Levels = Levels { count: 1, filter: Filter::Point, bias: 0.0, least: 0.0, most: 0.0 };

    /// Whether a texture can have them.
    ///
    /// # Errors
    /// What is wrong, what was found and what was expected.
    pub(super) fn check(&self, texture: &Texture) -> Result<(), String> {
        let most = texture.image.most_levels();
        if !(1..=most).contains(&self.count) {
            return Err(format!("levels of detail: found {}, expected 1 to {most}", self.count));
        }
        if self.count == 1 {
            return Ok(());
        }
        if !texture.normalized {
            return Err(
                "levels of detail: found coordinates that are not normalized, expected normalized ones"
                    .into(),
            );
        }
        if !texture.gives_floats() && self.filter == Filter::Linear {
            return Err(format!(
                "linear filter between levels: found elements of {:?}, expected floating-point numbers",
                texture.image.format.channel
            ));
        }
        Ok(())
    }
}
