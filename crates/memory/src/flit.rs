//! Flits, the units in which network ports move packets: one per cycle.

use crate::parameters::ParameterError;

/// The size of a flit, with a precomputed reciprocal to divide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlitSize {
    bytes: u32,
    /// `ceil(2^32 / bytes)`, for division by multiplication.
    reciprocal: u64,
}

impl FlitSize {
    /// Makes a flit size from 1 to 4096 bytes.
    ///
    /// # Errors
    /// Fails if `bytes` is out of that range.
    pub fn new(bytes: u32) -> Result<FlitSize, ParameterError> {
        if !(1..=4096).contains(&bytes) {
            return Err(ParameterError::new("flit_bytes", format!("found {bytes}, expected 1 to 4096")));
        }
        Ok(FlitSize { bytes, reciprocal: (1u64 << 32).div_ceil(u64::from(bytes)) })
    }

    /// The flit size in bytes.
    pub fn bytes(self) -> u32 {
        self.bytes
    }

    /// Number of flits in a packet of `bytes` wire bytes (below 64 KiB).
    #[inline]
    pub fn flits(self, bytes: u32) -> u32 {
        // Exact while (bytes + flit) * flit < 2^32.
        ((u64::from(bytes + self.bytes - 1) * self.reciprocal) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flit_has_a_size() {
        assert_eq!(FlitSize::new(0).unwrap_err().field, "flit_bytes");
        assert_eq!(FlitSize::new(4097).unwrap_err().field, "flit_bytes");
    }

    #[test]
    fn flits_round_up() {
        for size in [1, 7, 32, 40, 4096] {
            let flit = FlitSize::new(size).unwrap();
            for bytes in 1..2000 {
                assert_eq!(flit.flits(bytes), bytes.div_ceil(size), "{bytes} bytes in flits of {size}");
            }
        }
    }
}
