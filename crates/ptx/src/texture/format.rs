//! Texels as bytes.

use half::f16;

/// Bytes of the largest texel: four channels of 32 bits.
pub const MAX_TEXEL_BYTES: usize = 16;

/// Type of a channel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Channel {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
}

impl Channel {
    /// Bytes of a channel.
    pub const fn bytes(self) -> usize {
        match self {
            Channel::U8 | Channel::S8 => 1,
            Channel::U16 | Channel::S16 | Channel::F16 => 2,
            Channel::U32 | Channel::S32 | Channel::F32 => 4,
        }
    }

    /// Whether it holds a floating-point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Channel::F16 | Channel::F32)
    }

    /// The integer that a full 1.0 has when read as a normalized number; none for types that cannot be.
    const fn full(self) -> Option<f32> {
        match self {
            Channel::U8 => Some(255.0),
            Channel::U16 => Some(65535.0),
            Channel::S8 => Some(127.0),
            Channel::S16 => Some(32767.0),
            Channel::U32 | Channel::S32 | Channel::F16 | Channel::F32 => None,
        }
    }

    /// Whether integers of this type can be read as normalized numbers: those of 8 and 16 bits.
    pub const fn can_normalize(self) -> bool {
        self.full().is_some()
    }
}

/// What a texel is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Type of each channel.
    pub channel: Channel,
    /// Channels: 1, 2 or 4.
    pub channels: u8,
}

impl Format {
    /// Bytes of a texel: a power of two up to [`MAX_TEXEL_BYTES`].
    pub const fn bytes(self) -> usize {
        self.channel.bytes() * self.channels as usize
    }

    /// Channel `n` of a texel in 32 bits: integers extended, floating-point numbers as f32. Channels that the format
    /// lacks are 0, the fourth too, as on a GPU.
    pub fn element(self, texel: &[u8; MAX_TEXEL_BYTES], n: usize) -> u32 {
        if n >= usize::from(self.channels) {
            return 0;
        }
        let at = n * self.channel.bytes();
        let half = u16::from_le_bytes([texel[at], texel[(at + 1) % MAX_TEXEL_BYTES]]);
        match self.channel {
            Channel::U8 => texel[at].into(),
            Channel::S8 => texel[at] as i8 as u32,
            Channel::U16 => half.into(),
            Channel::S16 => half as i16 as u32,
            Channel::F16 => f16::from_bits(half).to_f32().to_bits(),
            Channel::U32 | Channel::S32 | Channel::F32 => {
                u32::from_le_bytes([texel[at], texel[at + 1], texel[at + 2], texel[at + 3]])
            }
        }
    }

    /// Channel `n` of a texel as a number: integers of 8 and 16 bits over their largest value, the least signed one as
    /// -1 (CUDA C++ Programming Guide, "Texture Memory": read modes).
    pub fn number(self, texel: &[u8; MAX_TEXEL_BYTES], n: usize) -> f32 {
        let bits = self.element(texel, n);
        match self.channel.full() {
            _ if n >= usize::from(self.channels) => 0.0,
            Some(full) => match self.channel {
                Channel::S8 | Channel::S16 => (bits as i32 as f32 / full).max(-1.0),
                _ => bits as f32 / full,
            },
            None => f32::from_bits(bits),
        }
    }

    /// Channel `n` of a border's colour, which a GPU holds in the texels' format.
    pub(super) fn border(self, colour: [f32; 4], n: usize) -> f32 {
        let value = colour[n];
        match self.channel.full() {
            _ if n >= usize::from(self.channels) => 0.0,
            Some(full) => {
                let least = if matches!(self.channel, Channel::S8 | Channel::S16) { -1.0 } else { 0.0 };
                (value.clamp(least, 1.0) * full).round() / full
            }
            None => value,
        }
    }
}
