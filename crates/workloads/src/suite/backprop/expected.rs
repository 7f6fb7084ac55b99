//! Both kernels' results, in f64.

use super::network::Network;
use super::{HIDDEN, MOMENTUM, RATE};
use crate::check::F32_ROUNDOFF;
use crate::suite::prelude::*;

const COLUMNS: usize = HIDDEN + 1;

/// What the forward pass leaves where the weights were, and the sums of every 16 inputs.
///
/// A tree over 16 rows leaves in a row the sum over as many rows, from it on, as the greatest power of two that
/// divides its number; in row 0 it is all 16. Of such a sum no product is part of more additions than the power.
pub(super) fn forward(network: &Network) -> (Vec<Near>, Vec<Near>) {
    let mut products: Vec<Near> =
        network.weights.iter().map(|&w| Near { value: f64::from(w), bound: 0.0 }).collect();
    let mut sums = Vec::new();
    let units = network.input.len();
    for first in (1..units).step_by(HIDDEN) {
        for row in 0..HIDDEN {
            let levels = if row == 0 { 4 } else { row.trailing_zeros() as usize };
            for column in 1..COLUMNS {
                let terms = (first + row..first + row + (1 << levels)).map(|unit| {
                    f64::from(network.input[unit]) * f64::from(network.weights[unit * COLUMNS + column])
                });
                let (value, size) =
                    terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                let near = Near { value, bound: gamma(levels + 1) * size };
                products[(first + row) * COLUMNS + column] = near;
                if row == 0 {
                    sums.push(near);
                }
            }
        }
    }
    (products, sums)
}

/// The weights and the changes that made them. The kernel computes in f64 too and rounds once.
pub(super) fn adjust(network: &Network, delta: &[f32]) -> (Vec<Near>, Vec<Near>) {
    let mut weights = Vec::with_capacity(network.weights.len());
    let mut previous = Vec::with_capacity(network.weights.len());
    let rounded = |value: f64, size: f64| Near { value, bound: F32_ROUNDOFF * value.abs() + 1e-15 * size };
    for (unit, &input) in network.input.iter().enumerate() {
        for (column, &error) in delta.iter().enumerate() {
            let at = unit * COLUMNS + column;
            let [old, last] = [network.weights[at], network.previous[at]].map(f64::from);
            let gradient = if column == 0 { 0.0 } else { RATE * f64::from(error) * f64::from(input) };
            let momentum = MOMENTUM * last;
            let size = gradient.abs() + momentum.abs();
            previous.push(rounded(gradient + momentum, size));
            weights.push(rounded(old + gradient + momentum, size + old.abs()));
        }
    }
    (weights, previous)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With all inputs and weights 1, row 0 of the tree counts 16, row 4 four, and odd rows themselves.
    #[test]
    fn a_tree_of_ones_counts_its_terms() {
        let mut network = Network::random(16);
        network.input.fill(1.0);
        network.weights.fill(1.0);
        let (products, sums) = forward(&network);
        assert!(sums.iter().all(|near| near.value == 16.0) && sums.len() == 16);
        let row = |row: usize| products[(row + 1) * 17 + 5].value;
        assert_eq!([row(0), row(3), row(4), row(8), row(15)], [16.0, 1.0, 4.0, 8.0, 1.0]);
        assert_eq!((products[5].value, products[17].value), (1.0, 1.0));
    }

    #[test]
    fn a_step_by_hand() {
        let mut network = Network::random(16);
        network.input[2] = 0.5;
        (network.weights[2 * 17 + 1], network.previous[2 * 17 + 1]) = (1.0, 0.25);
        let (weights, previous) = adjust(&network, &[2.0; 17]);
        assert!((previous[2 * 17 + 1].value - 0.375).abs() < 1e-12);
        assert!((weights[2 * 17 + 1].value - 1.375).abs() < 1e-12);
        assert_eq!(weights[2 * 17].value, 0.0);
    }
}
