"""Adds up the rows of a matrix by the CUDA driver API: nothing but Python, and a libcuda.so.1 that the loader finds."""

import ctypes
import pathlib
import struct
import sys

ROWS, COLUMNS = 512, 256

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    if status := getattr(cuda, name)(*arguments):
        sys.exit(f"{name}: error {status}")


def buffer(byte_count):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(byte_count))
    return address


device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
name = ctypes.create_string_buffer(100)
call("cuDeviceGetName", name, len(name), device)
call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
ptx = pathlib.Path(__file__).with_name("row_sums.ptx").read_bytes()
call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx))
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"by_warp")

matrix, sums = buffer(4 * ROWS * COLUMNS), buffer(4 * ROWS)
ones = struct.pack(f"{ROWS * COLUMNS}f", *[1.0] * (ROWS * COLUMNS))
call("cuMemcpyHtoD_v2", matrix, ones, ctypes.c_size_t(len(ones)))
values = [ctypes.c_int(ROWS), ctypes.c_int(COLUMNS), matrix, sums]
arguments = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
call("cuLaunchKernel", kernel, ROWS // 4, 1, 1, 128, 1, 1, 0, None, arguments, None)

found = ctypes.create_string_buffer(4 * ROWS)
call("cuMemcpyDtoH_v2", found, sums, ctypes.c_size_t(len(found)))
is_right = all(total == COLUMNS for total in struct.unpack(f"{ROWS}f", found.raw))
print(f"{name.value.decode()}: {'every row adds up' if is_right else 'WRONG'}")
