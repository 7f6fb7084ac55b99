"""tinygrad multiplies matrices and adds up what is positive."""

import os

os.environ["DEV"] = "CUDA"
import numpy as np
from tinygrad import Device, Tensor

assert Device.DEFAULT == "CUDA", Device.DEFAULT
rows = np.arange(256, dtype=np.float32).reshape(16, 16) - 100
tensor = Tensor(rows)
found = (tensor @ tensor.T).relu().sum(axis=0).numpy()
np.testing.assert_allclose(found, np.maximum(rows @ rows.T, 0).sum(0), rtol=1e-5)
print("matrix product")
