"""CuPy: arithmetic by elements, a reduction, a kernel in CUDA C, fused functions, a scan and a sort."""

import cupy
import numpy as np

x = cupy.arange(1000, dtype=cupy.float32)
y = 2 * x + 1
assert np.array_equal(y.get(), 2 * np.arange(1000) + 1)
print("elementwise")
assert float(y.sum()) == 1_000_000
print("reduction")
kernel = cupy.RawKernel(
    r"""extern "C" __global__ void count(float *a, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) a[i] += i;
    }""",
    "count",
)
kernel((4,), (256,), (x, np.int32(1000)))
assert np.array_equal(x.get(), 2 * np.arange(1000))
print("RawKernel")


@cupy.fuse()
def fused(a, b):
    return cupy.sqrt(a) * b + a


np.testing.assert_allclose(fused(x, y).get(), np.sqrt(x.get()) * y.get() + x.get(), rtol=1e-5)
print("fuse")
assert np.array_equal(cupy.cumsum(cupy.arange(1000)).get(), np.cumsum(np.arange(1000)))
print("scan")
values = np.random.default_rng(1).random(3000, dtype=np.float32)
assert np.array_equal(cupy.sort(cupy.asarray(values)).get(), np.sort(values))
print("sort")
