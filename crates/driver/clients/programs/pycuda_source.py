"""PyCUDA compiles CUDA C by nvcc, for its SourceModule and for its arrays."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

twice = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }").get_function("twice")
values = np.arange(256, dtype=np.float32)
twice(cuda.InOut(values), block=(256, 1, 1))
assert np.array_equal(values, 2 * np.arange(256))
print("SourceModule")
array = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
assert np.array_equal((2 * array + 1).get(), 2 * np.arange(1000) + 1)
assert gpuarray.sum(array).get() == 499_500
print("gpuarray")
