"""Kernels in Python by numba-cuda, each checked with numpy: what a user writes first, on the modelled GPU with its time."""

import contextlib
import os
import sys
import tempfile
import unittest
import warnings

import numpy as np
from numba import cuda, float32, int32
from numba.cuda.types import float16

# The PTX version of the newest compiler is newer than the version of the API that the library answers for.
warnings.simplefilter("ignore")

SIDE = 8


@contextlib.contextmanager
def written():
    """What is written to standard output meanwhile, by the library too."""
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        os.dup2(file.fileno(), 1)
        found = []
        try:
            yield found
        finally:
            cuda.synchronize()
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            found.append(file.read().decode())


class Subset(unittest.TestCase):
    def test_vectors_are_added(self):
        @cuda.jit
        def add(a, b, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = a[i] + b[i]

        a = np.arange(1000, dtype=np.float32)
        b = np.linspace(0, 1, 1000, dtype=np.float32)
        out = np.zeros_like(a)
        add[8, 128](a, b, out)
        np.testing.assert_array_equal(out, a + b)

    def test_matrices_are_multiplied_in_shared_memory(self):
        @cuda.jit
        def multiply(a, b, out):
            a_tile = cuda.shared.array((SIDE, SIDE), float32)
            b_tile = cuda.shared.array((SIDE, SIDE), float32)
            x, y = cuda.grid(2)
            i, j = cuda.threadIdx.x, cuda.threadIdx.y
            total = float32(0)
            for tile in range(a.shape[1] // SIDE):
                a_tile[j, i] = a[y, tile * SIDE + i]
                b_tile[j, i] = b[tile * SIDE + j, x]
                cuda.syncthreads()
                for k in range(SIDE):
                    total += a_tile[j, k] * b_tile[k, i]
                cuda.syncthreads()
            out[y, x] = total

        random = np.random.default_rng(1)
        a = random.random((24, 32), dtype=np.float32)
        b = random.random((32, 16), dtype=np.float32)
        out = np.zeros((24, 16), np.float32)
        multiply[(16 // SIDE, 24 // SIDE), (SIDE, SIDE)](a, b, out)
        np.testing.assert_allclose(out, a @ b, rtol=1e-5)

    def test_sums_are_reduced(self):
        @cuda.reduce
        def total(a, b):
            return a + b

        values = np.arange(1234, dtype=np.float64)
        self.assertEqual(total(values), values.sum())

    def test_atomics_count(self):
        @cuda.jit
        def count(values, bins, largest):
            i = cuda.grid(1)
            if i < values.size:
                cuda.atomic.add(bins, values[i] % bins.size, 1)
                cuda.atomic.max(largest, 0, values[i])

        values = np.random.default_rng(2).integers(0, 10_000, 777).astype(np.int32)
        bins, largest = np.zeros(16, np.int32), np.zeros(1, np.int32)
        count[7, 128](values, bins, largest)
        np.testing.assert_array_equal(bins, np.bincount(values % 16, minlength=16))
        self.assertEqual(largest[0], values.max())

    def test_lanes_shuffle_and_vote(self):
        @cuda.jit
        def scan(values, out, even):
            i = cuda.threadIdx.x
            value = values[i]
            distance = 1
            while distance < 32:
                other = cuda.shfl_up_sync(0xFFFFFFFF, value, distance)
                if i >= distance:
                    value += other
                distance *= 2
            out[i] = value
            ballot = cuda.ballot_sync(0xFFFFFFFF, values[i] % 2 == 0)
            if i == 0:
                even[0] = cuda.popc(ballot)

        values = np.random.default_rng(3).integers(0, 100, 32).astype(np.int32)
        out, even = np.zeros(32, np.int32), np.zeros(1, np.int32)
        scan[1, 32](values, out, even)
        np.testing.assert_array_equal(out, np.cumsum(values))
        self.assertEqual(even[0], (values % 2 == 0).sum())

    def test_halves(self):
        @cuda.jit
        def polynomial(x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] * x[i] + float16(0.5)

        x = np.linspace(-2, 2, 100).astype(np.float16)
        out = np.zeros_like(x)
        polynomial[1, 128](x, out)
        # A compiler may fuse: at most one rounding apart.
        np.testing.assert_allclose(out, x * x + np.float16(0.5), rtol=1e-3)

    def test_kernels_print(self):
        @cuda.jit
        def speak(n):
            if cuda.threadIdx.x == 0:
                print("of", n, "threads, block", cuda.blockIdx.x)

        with written() as found:
            speak[2, 32](32)
        self.assertEqual(sorted(found[0].splitlines()), ["of 32 threads, block 0", "of 32 threads, block 1"])

    def test_local_memory(self):
        @cuda.jit
        def reverse(values, out):
            kept = cuda.local.array(10, int32)
            i = cuda.grid(1)
            for k in range(10):
                kept[k] = values[(i + k) % values.size]
            total = 0
            for k in range(10):
                total = total * 3 + kept[9 - k]
            out[i] = total

        values = np.arange(64, dtype=np.int32)
        out = np.zeros(64, np.int32)
        reverse[2, 32](values, out)
        expected = np.zeros(64, np.int32)
        for k in range(10):
            expected = expected * 3 + np.roll(values, -(9 - k))
        np.testing.assert_array_equal(out, expected)

    def test_streams_and_events(self):
        @cuda.jit
        def double(values):
            i = cuda.grid(1)
            if i < values.size:
                values[i] *= 2

        first, second = cuda.stream(), cuda.stream()
        values = np.arange(256, dtype=np.float32)
        pinned = cuda.pinned_array(256, np.float32)
        pinned[:] = values
        start, middle, end = cuda.event(), cuda.event(), cuda.event()
        there = cuda.to_device(pinned, stream=first)
        start.record(first)
        double[2, 128, first](there)
        middle.record(first)
        middle.wait(second)
        double[2, 128, second](there)
        end.record(second)
        there.copy_to_host(pinned, stream=second)
        second.synchronize()
        np.testing.assert_array_equal(pinned, 4 * values)
        if os.environ.get("STRATA_MODE") != "functional":
            # Simulated time: some microseconds for each launch.
            self.assertGreater(cuda.event_elapsed_time(start, middle), 1e-4)
            self.assertGreater(cuda.event_elapsed_time(start, end), cuda.event_elapsed_time(start, middle))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
