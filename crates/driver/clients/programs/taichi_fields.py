"""Taichi fills a field and adds it up."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cuda)
# Taichi goes on with the CPU, in silence, where CUDA is not complete.
assert ti.lang.impl.current_cfg().arch == ti.cuda, ti.lang.impl.current_cfg().arch
field = ti.field(ti.f32, shape=1000)


@ti.kernel
def fill():
    for i in field:
        field[i] = 2.0 * i + 1.0


@ti.kernel
def total() -> ti.f32:
    found = 0.0
    for i in field:
        found += field[i]
    return found


fill()
assert np.array_equal(field.to_numpy(), 2 * np.arange(1000, dtype=np.float32) + 1)
print("field")
assert total() == 1_000_000
print("sum")
