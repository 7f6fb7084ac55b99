//! Rodinia's Gaussian elimination: for each column one launch for the multipliers and one for the rows below.

mod expected;

use self::expected::{Eliminated, Elimination};
use super::prelude::*;
use crate::{Comparison, DevicePtr};

pub(super) const WORKLOAD: Workload = Workload {
    name: "gaussian",
    suite: "Rodinia",
    papers: &["fuse"],
    description: "Forward elimination of a dense system: CTAs of 4 x 4 threads whose lanes step through rows, \
                  so that a warp's accesses lie a row apart; the pivot row is read by all.",
    kernels: &[kernel("gaussian_fan1", "Fan1"), kernel("gaussian_fan2", "Fan2")],
    differences: &[
        "the matrix is random in [-1, 1) with a dominant diagonal, so that errors stay bounded without \
         pivoting; Rodinia's is 10 exp(-|i - j| / 100)",
        "the right-hand side is random, not all ones",
        "back substitution, which Rodinia does on the host, is left out",
        "kernels take only the arguments that they use",
    ],
    inputs: &[
        input(Size::Test, "30 x 30", || Box::new(Gaussian { n: 30, steps: Steps::All })),
        input(Size::Small, "130 x 130", || Box::new(Gaussian { n: 130, steps: Steps::All })),
        input(Size::Paper, "384 x 384 (Rodinia: 208 and 1024)", || {
            Box::new(Gaussian { n: 384, steps: Steps::All })
        }),
        suite_input(
            "1024 x 1024",
            "Rodinia 3.1, data/gaussian/matrix1024.txt, the largest of its matrices",
            Piece::Launches("8 of 1,023 steps, 128 apart: 16 launches; the host eliminates between them"),
            || Box::new(Gaussian { n: 1024, steps: Steps::Every(128) }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Rodinia's block for the multipliers.
const FAN1_BLOCK: u32 = 512;
/// The side of Rodinia's block for the rows.
const FAN2_SIDE: u32 = 4;

/// The steps that the device makes. A step has less to do the later it comes.
#[derive(Clone, Copy, Debug)]
enum Steps {
    All,
    /// One of so many, the middle one; the host makes the others.
    Every(usize),
}

#[derive(Debug)]
struct Gaussian {
    n: usize,
    steps: Steps,
}

/// A matrix, a right-hand side, and how often each row was taken from those below it so far.
#[derive(Clone, Debug)]
struct System {
    multipliers: Vec<f32>,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl System {
    fn new(a: Vec<f32>, b: Vec<f32>) -> Self {
        Self { multipliers: vec![0.0; a.len()], a, b }
    }

    /// Every diagonal element exceeds the rest of its row and of its column.
    fn random(n: usize) -> Self {
        let mut random = Random::new(0x6a);
        let mut a = random.signed_vec(n * n);
        for i in 0..n {
            a[i * n + i] = n as f32;
        }
        Self::new(a, random.signed_vec(n))
    }

    /// Clears a column.
    fn eliminate(&mut self, n: usize, step: usize) {
        let (done, below) = self.a.split_at_mut((step + 1) * n);
        let pivot_row = &done[step * n..];
        for (row, i) in below.chunks_exact_mut(n).zip(step + 1..) {
            let multiplier = row[step] / pivot_row[step];
            for (x, &pivot) in row.iter_mut().zip(pivot_row).skip(step) {
                *x -= multiplier * pivot;
            }
            self.b[i] -= multiplier * self.b[step];
            self.multipliers[i * n + step] = multiplier;
        }
    }
}

/// A system on the device.
#[derive(Clone, Copy, Debug)]
struct OnDevice {
    n: usize,
    multipliers: DevicePtr,
    a: DevicePtr,
    b: DevicePtr,
}

impl OnDevice {
    fn new(host: &mut Host<'_>, n: usize, system: &System) -> Result<Self, DeviceError> {
        let multipliers = host.zeros::<f32>("multipliers", n * n)?;
        let a = host.buffer("a", &system.a)?;
        let b = host.buffer("b", &system.b)?;
        Ok(Self { n, multipliers, a, b })
    }

    /// Clears a column.
    fn eliminate(self, host: &mut Host<'_>, step: usize) -> Result<(), DeviceError> {
        let Self { n, multipliers, a, b } = self;
        let args = args![multipliers, a, int(n), int(step)];
        host.launch("gaussian_fan1", [ctas(n, FAN1_BLOCK), 1, 1], [FAN1_BLOCK, 1, 1], args)?;
        let side = ctas(n, FAN2_SIDE);
        let args = args![multipliers, a, b, int(n), int(step)];
        host.launch("gaussian_fan2", [side, side, 1], [FAN2_SIDE, FAN2_SIDE, 1], args)
    }

    fn write(self, host: &mut Host<'_>, system: &System) -> Result<(), DeviceError> {
        host.write(self.multipliers, &system.multipliers)?;
        host.write(self.a, &system.a)?;
        host.write(self.b, &system.b)
    }

    fn read(self, host: &mut Host<'_>) -> Result<System, DeviceError> {
        let elements = self.n * self.n;
        let multipliers = host.read(self.multipliers, elements)?;
        Ok(System { multipliers, a: host.read(self.a, elements)?, b: host.read(self.b, self.n)? })
    }

    fn compare(self, host: &mut Host<'_>, expected: Eliminated) -> Result<(), DeviceError> {
        host.near::<f32>("multipliers", self.multipliers, expected.multipliers)?;
        host.near::<f32>("a", self.a, expected.a)?;
        host.near::<f32>("b", self.b, expected.b)?;
        Ok(())
    }
}

impl Body for Gaussian {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let n = self.n;
        let mut system = System::random(n);
        let device = OnDevice::new(host, n, &system)?;
        let Steps::Every(distance) = self.steps else {
            for step in 0..n - 1 {
                device.eliminate(host, step)?;
            }
            return device.compare(host, Elimination::whole(n, &system));
        };

        let mut next = 0;
        for step in (distance / 2..n - 1).step_by(distance) {
            (next..step).for_each(|step| system.eliminate(n, step));
            next = step + 1;
            device.write(host, &system)?;
            device.eliminate(host, step)?;

            let mut expected = Elimination::new(n, &system);
            expected.step(step);
            let expected = expected.near();
            system = device.read(host)?;
            // The first step that goes wrong is compared, else the last.
            let right = Comparison::near("a", &system.a, &expected.a).passed()
                && Comparison::near("b", &system.b, &expected.b).passed();
            if !right || step + distance >= n - 1 {
                return device.compare(host, expected);
            }
        }
        unreachable!("a system has more than {distance} rows");
    }
}
