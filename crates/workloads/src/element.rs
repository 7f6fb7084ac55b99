//! Numbers as a device's memory holds them, and copies of arrays of them.

use crate::{Device, DeviceError, DevicePtr};

/// A number with a fixed little-endian layout in device memory.
pub trait Element: Copy + PartialOrd + std::fmt::Debug {
    /// Its size in bytes.
    const BYTES: usize;
    /// What a launch file calls it.
    const NAME: &'static str;
    /// Writes it to the first [`Self::BYTES`] bytes of `to`.
    fn put(self, to: &mut [u8]);
    /// Reads it from the first [`Self::BYTES`] bytes of `from`.
    fn get(from: &[u8]) -> Self;
    /// Whether the bits are the same: a NaN is the same as itself, and zero is not the same as minus zero.
    fn same(self, other: Self) -> bool;
    /// The nearest f64.
    fn to_f64(self) -> f64;
}

macro_rules! elements {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            const BYTES: usize = size_of::<$ty>();
            const NAME: &'static str = stringify!($ty);
            fn put(self, to: &mut [u8]) {
                to[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
            }
            fn get(from: &[u8]) -> Self {
                Self::from_le_bytes(from[..Self::BYTES].try_into().expect("the slice has the type's length"))
            }
            fn same(self, other: Self) -> bool {
                self.to_le_bytes() == other.to_le_bytes()
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}
elements!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// Evaluates an expression with the element type that has a name.
macro_rules! with_element {
    ($name:expr, $element:ident => $then:expr) => {
        with_element!($name, $element => $then; u8 i8 u16 i16 u32 i32 u64 i64 f32 f64)
    };
    ($name:expr, $element:ident => $then:expr; $($ty:ident)*) => {
        match $name {
            $(stringify!($ty) => { type $element = $ty; $then })*
            other => unreachable!("no element is called {other}"),
        }
    };
}
pub(crate) use with_element;

/// Host memory that a copy needs at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// The values' bytes.
pub(crate) fn to_bytes<T: Element>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * T::BYTES];
    for (value, place) in values.iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
        value.put(place);
    }
    bytes
}

/// The bytes' values; a rest shorter than one value is left out.
pub(crate) fn from_bytes<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::BYTES).map(T::get).collect()
}

/// Copies `values` to a device, a piece at a time.
pub(crate) fn upload<T: Element>(
    device: &mut dyn Device,
    to: DevicePtr,
    values: &[T],
) -> Result<(), DeviceError> {
    let mut at = to;
    for chunk in values.chunks(CHUNK_BYTES / T::BYTES) {
        let bytes = to_bytes(chunk);
        device.upload(at, &bytes)?;
        at = at.offset(bytes.len() as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(to_bytes(&[0x0102_0304_u32, 5]), [4, 3, 2, 1, 5, 0, 0, 0]);
        assert_eq!(from_bytes::<i16>(&[0xfe, 0xff, 1]), [-2]);
        assert_eq!(from_bytes::<f32>(&to_bytes(&[-1.5_f32])), [-1.5]);
    }
}
