"""Warp's first examples: a kernel over arrays, and one over vectors with a sum."""

import numpy as np
import warp as wp


@wp.kernel
def line(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = 2.0 * a[i] + 1.0


@wp.kernel
def lengths(points: wp.array(dtype=wp.vec3), total: wp.array(dtype=float)):
    wp.atomic_add(total, 0, wp.length(points[wp.tid()]))


wp.init()
assert wp.get_device("cuda:0").is_cuda
with wp.ScopedDevice("cuda:0"):
    a = wp.array(np.arange(1000, dtype=np.float32))
    b = wp.zeros(1000, dtype=float)
    wp.launch(line, dim=1000, inputs=[a, b])
    assert np.array_equal(b.numpy(), 2 * np.arange(1000, dtype=np.float32) + 1)
    print("arrays")
    points = np.random.default_rng(1).random((500, 3), dtype=np.float32)
    total = wp.zeros(1, dtype=float)
    wp.launch(lengths, dim=500, inputs=[wp.array(points, dtype=wp.vec3), total])
    np.testing.assert_allclose(total.numpy()[0], np.linalg.norm(points, axis=1).sum(), rtol=1e-4)
    print("vectors")
