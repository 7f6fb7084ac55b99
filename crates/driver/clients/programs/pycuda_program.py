"""Uses PyCUDA as its documentation shows it, with PTX of our own, and checks every value with numpy.

PyCUDA hands arguments over in one piece (the `extra` of cuLaunchKernel), packed as `struct` packs them.
"""

import pathlib
import unittest

import numpy as np
import pycuda.driver as cuda

PTX = (pathlib.Path(__file__).parent / "kernels.ptx").read_bytes() + b"\0"
N = 1000


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cuda.init()
        cls.device = cuda.Device(0)
        cls.context = cls.device.make_context()
        cls.module = cuda.module_from_buffer(PTX)

    @classmethod
    def tearDownClass(cls):
        cls.context.pop()
        cls.context.detach()

    def test_the_device_says_what_it_is(self):
        self.assertEqual(cuda.Device.count(), 1)
        self.assertTrue(self.device.name().startswith("Strata "))
        self.assertEqual(self.device.compute_capability(), (8, 0))
        self.assertGreater(self.device.total_memory(), 1 << 28)
        self.assertEqual(self.device.get_attribute(cuda.device_attribute.WARP_SIZE), 32)
        self.assertEqual(self.device.get_attributes()[cuda.device_attribute.MAX_THREADS_PER_BLOCK], 1024)
        free, total = cuda.mem_get_info()
        self.assertLessEqual(free, total)

    def test_arguments_are_packed_with_their_alignment(self):
        x = np.arange(N, dtype=np.float32)
        y = np.linspace(0, 1, N, dtype=np.float32)
        expected = np.float32(2.5) * x + y + np.float32(0.5)
        saxpy = self.module.get_function("saxpy")
        # A float before a pointer: four bytes of padding.
        saxpy(np.float32(2.5), cuda.In(x), cuda.InOut(y), np.uint32(N), block=(128, 1, 1), grid=(8, 1))
        np.testing.assert_allclose(y, expected, rtol=1e-6)

    def test_prepared_calls_and_streams(self):
        words = (np.arange(N, dtype=np.uint32) * np.uint32(2654435761)).astype(np.uint32)
        words_there = cuda.mem_alloc(words.nbytes)
        total_there = cuda.mem_alloc(4)
        stream = cuda.Stream()
        cuda.memcpy_htod_async(words_there, words, stream)
        cuda.memset_d32_async(total_there, 0, 1, stream)
        kernel = self.module.get_function("sum").prepare("PPI")
        start, end = cuda.Event(), cuda.Event()
        start.record(stream)
        kernel.prepared_async_call((8, 1), (128, 1, 1), stream, total_there, words_there, N)
        end.record(stream)
        stream.synchronize()
        total = np.zeros(1, np.uint32)
        cuda.memcpy_dtoh(total, total_there)
        self.assertEqual(total[0], words.sum(dtype=np.uint32))
        self.assertTrue(end.query())
        self.assertGreaterEqual(start.time_till(end), 0)

    def test_dynamic_shared_memory_and_attributes(self):
        words = np.arange(256, dtype=np.uint32)
        out = np.zeros_like(words)
        turn = self.module.get_function("turn")
        turn(cuda.Out(out), cuda.In(words), block=(128, 1, 1), grid=(2, 1), shared=512)
        np.testing.assert_array_equal(out, words.reshape(2, 128)[:, ::-1].ravel())
        self.assertEqual(self.module.get_function("sum").shared_size_bytes, 16)
        self.assertGreater(turn.num_regs, 0)

    def test_variables_of_a_module(self):
        bias, size = self.module.get_global("bias")
        self.assertEqual(size, 4)
        value = np.zeros(1, np.float32)
        cuda.memcpy_dtoh(value, bias)
        self.assertEqual(value[0], 0.5)

    def test_pinned_and_managed_memory(self):
        y = cuda.pagelocked_zeros(N, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
        x = cuda.managed_zeros(N, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
        x[:] = np.arange(N)
        saxpy = self.module.get_function("saxpy")
        there = np.intp(y.base.get_device_pointer())
        saxpy(np.float32(-1), x, there, np.uint32(N), block=(128, 1, 1), grid=(8, 1))
        self.context.synchronize()
        np.testing.assert_array_equal(y, 0.5 - np.arange(N, dtype=np.float32))

    def test_what_is_wrong_is_told(self):
        with self.assertRaises(cuda.LogicError):
            cuda.module_from_buffer(b".version 7.0\n.target sm_70\n.entry k( { ret; }\0")
        with self.assertRaises(cuda.LogicError):
            self.module.get_function("nothing")
        with self.assertRaises(cuda.Error):
            cuda.mem_alloc(1 << 60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
