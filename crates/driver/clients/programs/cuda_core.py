"""cuda.core compiles a kernel to PTX and to a cubin, and launches both."""

import ctypes

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""


def checked(result):
    error, *values = result
    assert error == driver.CUresult.CUDA_SUCCESS, error
    return values[0] if values else None


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    n = 1000
    a = np.arange(n, dtype=np.float32)
    b = 3 * a
    places = [checked(driver.cuMemAlloc(a.nbytes)) for _ in range(3)]
    for place, values in zip(places, (a, b)):
        checked(driver.cuMemcpyHtoD(place, values.ctypes.data, values.nbytes))
    for kind in ("ptx", "cubin"):
        checked(driver.cuMemsetD8(places[2], 0, a.nbytes))
        program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}"))
        kernel = program.compile(kind).get_kernel("add")
        launch(stream, LaunchConfig(grid=4, block=256), kernel, *map(int, places), ctypes.c_int(n))
        stream.sync()
        c = np.zeros_like(a)
        checked(driver.cuMemcpyDtoH(c.ctypes.data, places[2], c.nbytes))
        assert np.array_equal(c, a + b), kind
        print(kind)


main()
