//! Programs to run: CUDA C, its PTX, inputs and independently computed results.
