"""Dr.Jit traces arithmetic over arrays and adds it up."""

import drjit as dr
import numpy as np
from drjit.cuda import Float

x = dr.arange(Float, 1000)
y = dr.sqrt(x) * 2 + 1
expected = 2 * np.sqrt(np.arange(1000)) + 1
np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)
print("arithmetic")
np.testing.assert_allclose(dr.sum(y).numpy(), expected.sum(), rtol=1e-5)
print("sum")
