//! How large the matrices are.

use super::Heartwall;
use crate::suite::prelude::*;

impl Heartwall {
    pub(super) fn template_rows(&self) -> usize {
        2 * self.template_radius + 1
    }

    pub(super) fn window_rows(&self) -> usize {
        2 * self.window_radius + 1
    }

    /// In how many places in each direction the template overlaps the surroundings.
    pub(super) fn places(&self) -> usize {
        self.template_rows() + self.window_rows() - 1
    }

    pub(super) fn padded_rows(&self) -> usize {
        self.window_rows() + 2 * self.template_rows()
    }

    /// The kernel's structure of sizes.
    pub(super) fn sizes(&self) -> Vec<i32> {
        let (template, window, places, padded) =
            (self.template_rows(), self.window_rows(), self.places(), self.padded_rows());
        let sizes = [
            self.frame[0],
            self.frames,
            self.update_period,
            self.template_radius,
            template,
            template * template,
            self.window_radius,
            window,
            window * window,
            places,
            places * places,
            padded,
            padded * padded,
            places * padded,
            self.reach,
        ];
        sizes.map(int).to_vec()
    }
}
