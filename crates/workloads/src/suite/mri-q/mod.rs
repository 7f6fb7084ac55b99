//! Parboil's MRI-Q: sines and cosines over k-space samples in constant memory.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "mri-q",
    suite: "Parboil",
    papers: &["morpheus"],
    description: "Q of an MRI reconstruction, a thread per voxel: all threads read the same k-space samples \
                  from constant memory and add their sines and cosines; global memory is touched only at the \
                  ends.",
    kernels: &[kernel("compute_phi_mag", "ComputePhiMag_GPU"), kernel("compute_q", "ComputeQ_GPU")],
    differences: &[
        "the two samples of an unrolled step come from the compiler, and an odd sample is the last, not the \
         first",
        "voxels are the points of a regular grid in [-1/2, 1/2), samples uniform random within 1/3 of the \
         origin in each coordinate, so that angles stay within pi, where the error of the fast sine is known",
        "the fast sine and cosine do not flush denormal numbers",
        "phi is uniform random in multiples of 2^-10",
    ],
    inputs: &[
        input(Size::Test, "8 x 8 x 12 voxels, 67 samples, 32 per launch", || {
            Box::new(MriQ { voxels: [8, 8, 12], samples: 67, chunk: 32 })
        }),
        input(Size::Small, "16 x 16 x 32 voxels, 700 samples", || {
            Box::new(MriQ { voxels: [16, 16, 32], samples: 700, chunk: CHUNK })
        }),
        input(Size::Paper, "32 x 32 x 32 voxels, 3072 samples (Parboil: small)", || {
            Box::new(MriQ { voxels: [32; 3], samples: 3072, chunk: CHUNK })
        }),
        input(Size::Morpheus, "16 x 16 x 34 voxels, 512 samples", || {
            Box::new(MriQ { voxels: [16, 16, 34], samples: 512, chunk: CHUNK })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernel's CHUNK.
const CHUNK: usize = 1024;
/// Parboil's blocks.
const PHI_MAG_BLOCK: u32 = 512;
const Q_BLOCK: u32 = 256;

#[derive(Debug)]
struct MriQ {
    /// Along x, y and z; in all a multiple of `Q_BLOCK`.
    voxels: [usize; 3],
    samples: usize,
    /// Samples per launch, at most `CHUNK`.
    chunk: usize,
}

/// What the program reads from its file.
#[derive(Debug)]
struct Inputs {
    /// Coordinates of the voxels: x, y, z.
    voxels: [Vec<f32>; 3],
    /// Coordinates of the samples: x, y, z.
    samples: [Vec<f32>; 3],
    phi_real: Vec<f32>,
    phi_imaginary: Vec<f32>,
}

impl MriQ {
    /// Coordinates of voxels are multiples of 2^-5 at least, those of samples of 2^-10: f32 holds their
    /// products and the sums of these exactly, as it does |phi|^2.
    fn inputs(&self) -> Inputs {
        let [nx, ny, nz] = self.voxels;
        let count = nx * ny * nz;
        let line = |n: usize, stride: usize| {
            (0..count).map(|voxel| ((voxel / stride % n) as f32 - (n / 2) as f32) / 32.0).collect()
        };
        let mut random = Random::new(0x317);
        let mut multiples = |bound: i32| -> Vec<f32> {
            let width = 2 * bound as u64 + 1;
            (0..self.samples).map(|_| (random.below(width) as i32 - bound) as f32 / 1024.0).collect()
        };
        Inputs {
            voxels: [line(nx, 1), line(ny, nx), line(nz, nx * ny)],
            samples: [multiples(341), multiples(341), multiples(341)],
            phi_real: multiples(1024),
            phi_imaginary: multiples(1024),
        }
    }
}

impl Body for MriQ {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let inputs = self.inputs();
        let phi_real = host.buffer("phi_real", &inputs.phi_real)?;
        let phi_imaginary = host.buffer("phi_imaginary", &inputs.phi_imaginary)?;
        let d_phi_mag = host.zeros::<f32>("phi_mag", self.samples)?;
        let args = args![int(self.samples), phi_real, phi_imaginary, d_phi_mag];
        host.launch(
            "compute_phi_mag",
            [ctas(self.samples, PHI_MAG_BLOCK), 1, 1],
            [PHI_MAG_BLOCK, 1, 1],
            args,
        )?;
        let phi_mag = host.exact("phi_mag", d_phi_mag, &inputs.phi_mag())?;

        let count = inputs.voxels[0].len();
        let x = host.buffer("x", &inputs.voxels[0])?;
        let y = host.buffer("y", &inputs.voxels[1])?;
        let z = host.buffer("z", &inputs.voxels[2])?;
        let q_real = host.zeros::<f32>("q_real", count)?;
        let q_imaginary = host.zeros::<f32>("q_imaginary", count)?;
        // The host puts coordinates and |phi|^2 side by side, as Parboil's does.
        let [kx, ky, kz] = &inputs.samples;
        let samples: Vec<f32> = (0..self.samples).flat_map(|k| [kx[k], ky[k], kz[k], phi_mag[k]]).collect();
        for chunk in samples.chunks(4 * self.chunk) {
            host.variable("samples", chunk)?;
            let args = args![int(chunk.len() / 4), x, y, z, q_real, q_imaginary];
            host.launch("compute_q", [ctas(count, Q_BLOCK), 1, 1], [Q_BLOCK, 1, 1], args)?;
        }

        let (real, imaginary) = inputs.q();
        host.near::<f32>("q_real", q_real, real)?;
        host.near::<f32>("q_imaginary", q_imaginary, imaginary)?;
        Ok(())
    }
}
