//! What a buffer holds: generated, written out, or from a file.

use super::number::{Number, Type};
use crate::random::Random;

/// What a buffer begins with or should end with.
#[derive(Debug)]
pub(super) enum Contents {
    Zeros,
    Constant(Number),
    /// `start + step * index`.
    Ramp {
        start: Number,
        step: Number,
    },
    /// Integers from `low` to `high`, both included; floats from `low` up to `high`.
    Uniform {
        seed: u64,
        low: Number,
        high: Number,
    },
    /// Little-endian elements.
    Bytes(Vec<u8>),
}

impl Contents {
    /// The bytes from the first element on, a piece at a time.
    pub(super) fn pieces(&self, ty: Type) -> Pieces<'_> {
        let seed = if let Self::Uniform { seed, .. } = self { *seed } else { 0 };
        Pieces { contents: self, ty, index: 0, random: Random::new(seed) }
    }

    /// The value at an index of a ramp.
    pub(super) fn ramp(start: Number, step: Number, index: usize) -> Number {
        match (start, step) {
            // |step| < 2^64 and index < 2^32 (a buffer's limit), so that nothing overflows.
            (Number::Int(start), Number::Int(step)) => Number::Int(start + step * index as i128),
            _ => Number::Float(start.as_f64() + step.as_f64() * index as f64),
        }
    }
}

/// See [`Contents::pieces`].
#[derive(Debug)]
pub(super) struct Pieces<'a> {
    contents: &'a Contents,
    ty: Type,
    index: usize,
    random: Random,
}

impl Pieces<'_> {
    /// Fills `piece`, whose length is a multiple of the type's, with what follows the last piece.
    pub(super) fn fill(&mut self, piece: &mut [u8]) {
        let bytes = self.ty.bytes();
        if let Contents::Bytes(all) = self.contents {
            piece.copy_from_slice(&all[self.index * bytes..][..piece.len()]);
            self.index += piece.len() / bytes;
            return;
        }
        for place in piece.chunks_exact_mut(bytes) {
            let number = self.next();
            self.ty.put(number, place);
        }
    }

    fn next(&mut self) -> Number {
        self.index += 1;
        match *self.contents {
            Contents::Zeros => Number::Int(0),
            Contents::Constant(number) => number,
            Contents::Ramp { start, step } => Contents::ramp(start, step, self.index - 1),
            Contents::Uniform { low: Number::Int(low), high: Number::Int(high), .. }
                if !self.ty.is_float() =>
            {
                let choices = high - low + 1;
                // All 2^64 values of a 64-bit type are one choice more than a u64 counts.
                let offset = match u64::try_from(choices) {
                    Ok(choices) => self.random.below(choices),
                    Err(_) => self.random.bits(),
                };
                Number::Int(low + i128::from(offset))
            }
            Contents::Uniform { low, high, .. } => {
                let unit = (self.random.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0);
                let (low, high) = (low.as_f64(), high.as_f64());
                Number::Float(low * (1.0 - unit) + high * unit)
            }
            Contents::Bytes(_) => unreachable!("bytes are copied, not generated"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::from_bytes;

    fn generate(contents: &Contents, ty: Type, pieces: &[usize]) -> Vec<u8> {
        let mut generator = contents.pieces(ty);
        let mut all = vec![];
        for &count in pieces {
            let mut piece = vec![0xaa; count * ty.bytes()];
            generator.fill(&mut piece);
            all.extend(piece);
        }
        all
    }

    #[test]
    fn pieces_do_not_show() {
        let uniform = Contents::Uniform { seed: 3, low: Number::Int(-5), high: Number::Int(5) };
        let ramp = Contents::Ramp { start: Number::Int(7), step: Number::Int(-2) };
        for contents in [uniform, ramp, Contents::Bytes((0..40).collect())] {
            assert_eq!(
                generate(&contents, Type::I16, &[1, 4, 15]),
                generate(&contents, Type::I16, &[20]),
                "{contents:?}"
            );
        }
    }

    #[test]
    fn generated_values_are_these() {
        let ramp = Contents::Ramp { start: Number::Int(1), step: Number::Float(0.5) };
        assert_eq!(from_bytes::<f32>(&generate(&ramp, Type::F32, &[4])), [1.0, 1.5, 2.0, 2.5]);
        let all = Contents::Uniform { seed: 0, low: Number::Int(0), high: Number::Int(u64::MAX.into()) };
        assert_eq!(from_bytes::<u64>(&generate(&all, Type::U64, &[1])), [Random::new(0).bits()]);
        let dice = Contents::Uniform { seed: 0, low: Number::Int(1), high: Number::Int(6) };
        let mut seen = generate(&dice, Type::U8, &[200]);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
    }
}
