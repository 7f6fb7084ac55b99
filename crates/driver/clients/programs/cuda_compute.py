"""cuda.compute reduces and sorts CuPy's arrays."""

import cupy
import cuda.compute
import numpy as np
from cuda.compute import OpKind, SortOrder

n = 1000
values = cupy.arange(n, dtype=cupy.int32)
total = cupy.zeros(1, dtype=cupy.int32)
cuda.compute.reduce_into(d_in=values, d_out=total, num_items=n, op=OpKind.PLUS, h_init=np.array([0], dtype=np.int32))
assert int(total.get()[0]) == n * (n - 1) // 2
print("reduce")
keys = np.random.default_rng(1).integers(0, 10_000, n, dtype=np.int32)
found = cupy.zeros(n, dtype=cupy.int32)
cuda.compute.radix_sort(d_in_keys=cupy.asarray(keys), d_out_keys=found, num_items=n, order=SortOrder.ASCENDING)
assert np.array_equal(found.get(), np.sort(keys))
print("sort")
