//! The network, and what the host computes of it between the kernels.

use super::HIDDEN;
use crate::random::Random;

/// What the output unit should give.
const TARGET: f32 = 0.1;

/// Unit 0 of the input and of the hidden layer is the bias.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) input: Vec<f32>,
    /// A row per input unit, a column per hidden unit; column 0 is not used.
    pub(super) weights: Vec<f32>,
    /// The last change of each weight.
    pub(super) previous: Vec<f32>,
    /// From each hidden unit to the one output unit.
    output_weights: Vec<f32>,
}

impl Network {
    pub(super) fn random(inputs: usize) -> Self {
        let mut random = Random::new(0xbac);
        let mut input: Vec<f32> = (0..=inputs).map(|_| random.unit()).collect();
        input[0] = 1.0;
        let mut matrix = |scale: f32| -> Vec<f32> {
            let columns = HIDDEN + 1;
            let value = |at: usize| if at.is_multiple_of(columns) { 0.0 } else { random.signed() * scale };
            (0..(inputs + 1) * columns).map(value).collect()
        };
        let (weights, previous) = (matrix(1.0 / 64.0), matrix(1.0 / 256.0));
        Self { input, weights, previous, output_weights: Random::new(0xbad).signed_vec(HIDDEN + 1) }
    }

    /// From the sums of every 16 inputs: hidden units, output unit, its error, and the errors of the hidden units.
    pub(super) fn hidden_errors(&self, partial_sums: &[f32]) -> Vec<f32> {
        let mut hidden = [1.0_f32; HIDDEN + 1];
        for j in 1..=HIDDEN {
            let inputs = partial_sums.chunks_exact(HIDDEN).fold(0.0, |sum, partial| sum + partial[j - 1]);
            hidden[j] = squash(inputs + self.weights[j]);
        }
        let output = squash(hidden.iter().zip(&self.output_weights).fold(0.0, |sum, (h, w)| sum + h * w));
        let output_error = output * (1.0 - output) * (TARGET - output);
        let errors = hidden.iter().zip(&self.output_weights).map(|(h, w)| h * (1.0 - h) * output_error * w);
        errors.collect()
    }
}

/// The logistic function.
fn squash(x: f32) -> f32 {
    (1.0 / (1.0 + exp(-f64::from(x)))) as f32
}

/// e^x by its series and six squarings: the same bits on every machine, which no library promises.
fn exp(x: f64) -> f64 {
    let part = x / 64.0;
    let series = (1..20).rev().fold(1.0, |sum, n| 1.0 + sum * part / f64::from(n));
    (0..6).fold(series, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right() {
        for x in [-30.0, -1.5, 0.0, 0.25, 8.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "{x}");
        }
    }

    /// Units without input give 1/2; the hidden bias is saturated and has no error.
    #[test]
    fn errors_of_a_network_of_zeros() {
        let zeros = || vec![0.0; 17 * 17];
        let mut output_weights = vec![0.0; 17];
        output_weights[3] = 1.0;
        output_weights[4] = -1.0;
        let network = Network { input: vec![0.0; 17], weights: zeros(), previous: zeros(), output_weights };
        let errors = network.hidden_errors(&[0.0; 16]);
        assert_eq!((errors[0], errors[3], errors[4]), (0.0, 0.25 * -0.1, 0.25 * 0.1));
    }
}
