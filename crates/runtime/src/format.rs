//! Formats of array and texture elements. The runtime describes them by bits per channel, the driver by kind
//! and number of channels.

use strata_abi::driver::Array3dDescriptor;

use crate::client::Channels;
use crate::error::{Answer, Error};

/// Kinds of channels: values of `cudaChannelFormatKind`.
const SIGNED: u32 = 0;
const UNSIGNED: u32 = 1;
const FLOAT: u32 = 2;

/// The driver's formats: kind of a channel, bits of a channel, `CUarray_format`.
const FORMATS: [(u32, u32, u32); 8] = [
    (UNSIGNED, 8, 0x01),
    (UNSIGNED, 16, 0x02),
    (UNSIGNED, 32, 0x03),
    (SIGNED, 8, 0x08),
    (SIGNED, 16, 0x09),
    (SIGNED, 32, 0x0a),
    (FLOAT, 16, 0x10),
    (FLOAT, 32, 0x20),
];

/// Converts to the driver's format and number of channels. There must be one, two or four channels of the
/// same size.
pub fn of(channels: Channels) -> Answer<(u32, u32)> {
    let Channels { x, y, z, w, kind } = channels;
    let count = match [x, y, z, w].map(|bits| bits != 0) {
        [true, false, false, false] => 1,
        [true, true, false, false] if x == y => 2,
        [true, true, true, true] if x == y && x == z && x == w => 4,
        _ => return Err(Error::InvalidChannelDescriptor),
    };
    let format = FORMATS.iter().find(|(of_kind, bits, _)| (*of_kind, *bits) == (kind, x));
    format.map(|(_, _, format)| (*format, count)).ok_or(Error::InvalidChannelDescriptor)
}

/// Converts to the runtime's channels.
pub fn channels(format: u32, count: u32) -> Answer<Channels> {
    let found = FORMATS.iter().find(|(_, _, known)| *known == format);
    let (kind, bits, _) = *found.ok_or(Error::InvalidChannelDescriptor)?;
    let bits_of = |channel| if channel < count { bits } else { 0 };
    Ok(Channels { x: bits_of(0), y: bits_of(1), z: bits_of(2), w: bits_of(3), kind })
}

/// Whether a format holds integers.
pub fn is_integer(format: u32) -> bool {
    FORMATS.iter().any(|(kind, _, known)| *known == format && *kind != FLOAT)
}

/// Size of an array's element in bytes; 0 if the format is unknown.
pub fn element_bytes(of: &Array3dDescriptor) -> u64 {
    let bits = FORMATS.iter().find(|(_, _, format)| *format == of.format).map_or(0, |(_, bits, _)| *bits);
    u64::from(bits / 8 * of.channels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_that_the_driver_has() {
        let float4 = Channels { x: 32, y: 32, z: 32, w: 32, kind: FLOAT };
        assert_eq!(of(float4), Ok((0x20, 4)));
        for (kind, bits, format) in FORMATS {
            for count in [1, 2, 4] {
                let channels = channels(format, count).unwrap();
                assert_eq!((of(channels), channels.x, channels.kind), (Ok((format, count)), bits, kind));
            }
        }
        let three = Channels { w: 0, ..float4 };
        let mixed = Channels { x: 8, y: 16, z: 0, w: 0, kind: UNSIGNED };
        let half = Channels { x: 8, y: 0, z: 0, w: 0, kind: FLOAT };
        for wrong in [three, mixed, half] {
            assert_eq!(of(wrong), Err(Error::InvalidChannelDescriptor));
        }
    }
}
