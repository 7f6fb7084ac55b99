//! |phi|^2 and Q, voxel by voxel in f64.

use std::f64::consts::PI;

use super::Inputs;
use crate::check::F32_ROUNDOFF;
use crate::suite::prelude::*;

/// The error of sin.approx and cos.approx from -pi to pi: 2^-20.5, rounded up (PTX ISA, `sin`).
const FAST_SINE_ERROR: f64 = 6.75e-7;

impl Inputs {
    /// |phi|^2, which f32 holds.
    pub(super) fn phi_mag(&self) -> Vec<f32> {
        self.phi_real
            .iter()
            .zip(&self.phi_imaginary)
            .map(|(real, imaginary)| real * real + imaginary * imaginary)
            .collect()
    }

    /// The real and the imaginary part of Q.
    ///
    /// The scalar product k.x is exact; the device rounds 2 pi and the angle, which is at most pi. Sines and
    /// cosines have slopes of at most 1, so they are off by as much as the angle and their own error.
    pub(super) fn q(&self) -> (Vec<Near>, Vec<Near>) {
        let phi_mag = self.phi_mag();
        let [x, y, z] = &self.voxels;
        let [kx, ky, kz] = &self.samples;
        let mut real = Vec::with_capacity(x.len());
        let mut imaginary = Vec::with_capacity(x.len());
        for ((x, y), z) in x.iter().zip(y).zip(z) {
            let (mut sum_cos, mut sum_sin) = (Bounded::ZERO, Bounded::ZERO);
            for (((kx, ky), kz), weight) in kx.iter().zip(ky).zip(kz).zip(&phi_mag) {
                let angle = 2.0 * PI * f64::from(kx * x + ky * y + kz * z);
                let error = FAST_SINE_ERROR + 2.1 * F32_ROUNDOFF * angle.abs();
                let (sin, cos) = angle.sin_cos();
                let weight = Bounded::from(*weight);
                sum_cos += weight * Bounded::new(cos, error);
                sum_sin += weight * Bounded::new(sin, error);
            }
            real.push(sum_cos.near());
            imaginary.push(sum_sin.near());
        }
        (real, imaginary)
    }
}

#[cfg(test)]
mod tests {
    use super::super::MriQ;
    use super::*;

    #[test]
    fn one_sample_by_hand() {
        let one = |value: f32| vec![value];
        let inputs = Inputs {
            voxels: [one(0.5), one(0.25), one(0.0)],
            samples: [one(0.25), one(0.5), one(0.25)],
            phi_real: one(0.5),
            phi_imaginary: one(-1.0),
        };
        assert_eq!(inputs.phi_mag(), [1.25]);
        // The angle is 2 pi / 4.
        let (real, imaginary) = inputs.q();
        assert!(real[0].value.abs() < 1e-15 && (imaginary[0].value - 1.25).abs() < 1e-15);
    }

    #[test]
    fn angles_stay_within_pi_and_scalar_products_are_exact() {
        let inputs = MriQ { voxels: [32, 32, 4], samples: 100, chunk: 100 }.inputs();
        for (k, voxel) in (0..100).flat_map(|k| (0..4096).step_by(31).map(move |voxel| (k, voxel))) {
            let pairs = [0, 1, 2].map(|axis| (inputs.samples[axis][k], inputs.voxels[axis][voxel]));
            let exact: f64 = pairs.iter().map(|&(k, x)| f64::from(k) * f64::from(x)).sum();
            let found: f32 = pairs.iter().map(|&(k, x)| k * x).sum();
            assert!(exact.abs() <= 0.5 && f64::from(found) == exact, "{found} for {exact}");
        }
    }
}
