//! Rodinia's HotSpot: a thermal stencil, several time steps per launch in overlapping shared-memory tiles.

use super::{Body, Size, Workload, int};
use crate::check::{F32_ROUNDOFF, Near};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "hotspot",
    suite: "Rodinia",
    papers: &["morpheus", "tinycache"],
    description: "Temperatures of a chip over time: each CTA loads a 16 x 16 tile, steps it in shared memory \
                  between barriers, and writes back the middle that is still right.",
    kernels: &["hotspot"],
    differences: &[
        "temperatures and power are random in the range of Rodinia's files: 323 to 342 K, 0 to 0.01 W",
        "the stencil's constants are computed by the host",
    ],
    inputs: ["40 x 56 cells, 5 steps", "512 x 512 cells, 4 steps", "1024 x 1024 cells, 12 steps"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Hotspot { rows: 40, columns: 56, steps: 5 },
            Size::Small => Hotspot { rows: 512, columns: 512, steps: 4 },
            Size::Paper => Hotspot { rows: 1024, columns: 1024, steps: 12 },
        })
    },
};

/// The kernel's TILE.
const TILE: usize = 16;
/// Time steps per launch, Rodinia's pyramid height.
const PYRAMID: usize = 2;
/// Kelvin, as Rodinia has it.
const AMBIENT: f32 = 80.0;

#[derive(Debug)]
struct Hotspot {
    rows: usize,
    columns: usize,
    steps: usize,
}

/// The stencil's constants.
#[derive(Clone, Copy, Debug)]
struct Constants {
    dt_over_cap: f32,
    rx_inverse: f32,
    ry_inverse: f32,
    rz_inverse: f32,
}

impl Hotspot {
    /// Rodinia's chip: 16 mm x 16 mm x 0.5 mm of silicon, and the time step that keeps a cell's change by
    /// heating below 1 mK.
    fn constants(&self) -> Constants {
        const SIDE: f32 = 0.016;
        const THICKNESS: f32 = 0.0005;
        /// J / (m^3 K), and the factor that fits the capacitance.
        const SPECIFIC_HEAT: f32 = 1.75e6;
        const CAPACITANCE_FACTOR: f32 = 0.5;
        /// W / (m K).
        const CONDUCTIVITY: f32 = 100.0;
        /// W / m^2.
        const MAX_POWER_DENSITY: f32 = 3.0e6;
        const PRECISION: f32 = 0.001;

        let height = SIDE / self.rows as f32;
        let width = SIDE / self.columns as f32;
        let capacitance = CAPACITANCE_FACTOR * SPECIFIC_HEAT * THICKNESS * width * height;
        let max_slope = MAX_POWER_DENSITY / (CAPACITANCE_FACTOR * THICKNESS * SPECIFIC_HEAT);
        Constants {
            dt_over_cap: PRECISION / max_slope / capacitance,
            rx_inverse: 2.0 * CONDUCTIVITY * THICKNESS * height / width,
            ry_inverse: 2.0 * CONDUCTIVITY * THICKNESS * width / height,
            rz_inverse: CONDUCTIVITY * height * width / THICKNESS,
        }
    }

    /// All steps over the whole chip, without tiles.
    ///
    /// A step's result is a combination of five temperatures with weights that are positive and sum to at most
    /// one, so errors add up and do not grow. One step itself rounds about a dozen times, on terms none of which
    /// exceeds 4 k T with k = dt/cap x conductance < 1/4, plus T: 32 roundings of the highest temperature cover it.
    fn expected(&self, temperature: &[f32], power: &[f32]) -> Vec<Near> {
        let &Self { rows, columns, steps } = self;
        let Constants { dt_over_cap, rx_inverse, ry_inverse, rz_inverse } = self.constants();
        let [k, rx, ry, rz, ambient] =
            [dt_over_cap, rx_inverse, ry_inverse, rz_inverse, AMBIENT].map(f64::from);
        assert!(k * (2.0 * rx + 2.0 * ry + rz) <= 1.0, "the time step is too long for cells this small");

        let mut now: Vec<f64> = temperature.iter().map(|&t| f64::from(t)).collect();
        let mut next = now.clone();
        for _ in 0..steps {
            for row in 0..rows {
                for column in 0..columns {
                    let at = row * columns + column;
                    let t = now[at];
                    let north = if row > 0 { now[at - columns] } else { t };
                    let south = if row + 1 < rows { now[at + columns] } else { t };
                    let west = if column > 0 { now[at - 1] } else { t };
                    let east = if column + 1 < columns { now[at + 1] } else { t };
                    let flow = (north - t + (south - t)) * ry + (west - t + (east - t)) * rx;
                    next[at] = t + k * (f64::from(power[at]) + flow + (ambient - t) * rz);
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        let bound = 32.0 * steps as f64 * F32_ROUNDOFF * HOTTEST;
        now.into_iter().map(|value| Near { value, bound }).collect()
    }
}

/// Above every temperature that occurs, in Kelvin.
const HOTTEST: f64 = 350.0;

impl Body for Hotspot {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let cells = self.rows * self.columns;
        let mut random = Random::new(0x407);
        let temperature: Vec<f32> = (0..cells).map(|_| 323.0 + 19.0 * random.unit()).collect();
        let power: Vec<f32> = (0..cells).map(|_| 0.01 * random.unit()).collect();
        let d_power = alloc_with(device, "power", &power)?;
        let mut source = alloc_with(device, "temperature_0", &temperature)?;
        let mut target = alloc_zeroed(device, "temperature_1", 4 * cells as u64)?;

        let c = self.constants();
        let mut left = self.steps;
        while left > 0 {
            let steps = left.min(PYRAMID);
            let useful = TILE - 2 * steps;
            let tiles = |cells: usize| int(cells.div_ceil(useful)) as u32;
            let args = [
                Arg::I32(int(self.rows)),
                Arg::I32(int(self.columns)),
                Arg::I32(int(steps)),
                Arg::Ptr(d_power),
                Arg::Ptr(source),
                Arg::Ptr(target),
                Arg::F32(c.dt_over_cap),
                Arg::F32(c.rx_inverse),
                Arg::F32(c.ry_inverse),
                Arg::F32(c.rz_inverse),
                Arg::F32(AMBIENT),
            ];
            let grid = [tiles(self.columns), tiles(self.rows), 1];
            device.launch("hotspot", grid, [TILE as u32, TILE as u32, 1], 0, &args)?;
            std::mem::swap(&mut source, &mut target);
            left -= steps;
        }

        let mut outcome = Outcome::default();
        let found = outcome.download::<f32>(device, "temperature", source, cells)?;
        let expected = self.expected(&temperature, &power);
        outcome.comparisons.push(Comparison::near("temperature", &found, &expected));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_at_ambient_temperature_without_power_stays() {
        let hotspot = Hotspot { rows: 3, columns: 4, steps: 5 };
        let found = hotspot.expected(&[AMBIENT; 12], &[0.0; 12]);
        assert!(found.iter().all(|near| near.value == f64::from(AMBIENT)));
    }

    #[test]
    fn heat_flows_to_neighbours_and_is_kept_but_for_the_surface() {
        let hotspot = Hotspot { rows: 512, columns: 512, steps: 1 };
        let mut temperature = vec![AMBIENT; 512 * 512];
        let middle = 256 * 512 + 256;
        temperature[middle] = AMBIENT + 16.0;
        let found = hotspot.expected(&temperature, &vec![0.0; 512 * 512]);
        let above = |at: usize| found[at].value - f64::from(AMBIENT);
        let neighbours = [middle - 512, middle - 1, middle + 1, middle + 512].map(above);
        assert!(neighbours.iter().all(|&t| (0.1..4.0).contains(&t)), "{neighbours:?}");
        let total = above(middle) + neighbours.iter().sum::<f64>();
        assert!((15.9..16.0).contains(&total), "{total} of 16 left");
    }
}
