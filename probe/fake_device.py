"""A device for tests: memory is bytes on the host, kernels are Python functions known by name, time is made up."""

import struct

import numpy as np

from backend import MAX_DYNAMIC_SHARED_BYTES, REGISTERS, STATIC_SHARED_BYTES, Backend, BackendError

FIRST_ADDRESS = 0x10000
DELAY_US = 50.0
MEMORY_BYTES = 8 << 20


class FakeDevice(Backend):
    name = "fake"
    version = "1"

    def __init__(self, kernels, variables=None, static_shared=0):
        self.kernels, self.static_shared = kernels, static_shared
        self.memory = np.full(MEMORY_BYTES, 0xAA, np.uint8)
        self.next = FIRST_ADDRESS
        self.live = set()
        self.variables = {name: (self.reserve(bytes_), bytes_) for name, bytes_ in (variables or {}).items()}
        self.now = 0.0
        self.opted_in = {}
        self.launched = []

    def reserve(self, bytes_):
        address = self.next
        self.next += (bytes_ + 255) // 256 * 256
        if self.next - FIRST_ADDRESS > MEMORY_BYTES:
            raise BackendError("alloc: out of memory")
        return address

    def at(self, address, bytes_):
        start = address - FIRST_ADDRESS
        assert 0 <= start and start + bytes_ <= MEMORY_BYTES, "an address outside the memory"
        return self.memory[start : start + bytes_]

    def array(self, address, dtype, count):
        """Memory as a kernel sees it."""
        dtype = np.dtype(dtype)
        return self.at(address, count * dtype.itemsize).view(dtype)

    def load(self, ptx):
        if b"broken" in ptx:
            raise BackendError("load: broken PTX")
        return ptx

    def kernel(self, module, name):
        assert name.encode() in module
        return name

    def variable(self, module, name):
        if name not in self.variables:
            raise BackendError(f"variable: no {name}")
        return self.variables[name]

    def kernel_attribute(self, kernel, attribute):
        return {REGISTERS: 10, STATIC_SHARED_BYTES: self.static_shared}.get(attribute, 0)

    def allow_dynamic_shared(self, kernel, bytes_):
        self.opted_in[kernel] = bytes_

    def device_attribute(self, attribute):
        assert attribute != MAX_DYNAMIC_SHARED_BYTES
        return 1000 + attribute

    def device_name(self):
        return "Fake, 1"

    def driver_api_version(self):
        return 12090

    def alloc(self, bytes_):
        address = self.reserve(bytes_)
        self.live.add(address)
        return address

    def free(self, address):
        self.live.remove(address)

    def upload(self, address, array):
        self.at(address, array.nbytes)[:] = np.frombuffer(array.tobytes(), np.uint8)

    def download(self, address, array):
        array.view(np.uint8)[:] = self.at(address, array.nbytes)

    def fill(self, address, byte, bytes_):
        self.at(address, bytes_)[:] = byte

    def launch(self, kernel, grid, block, dynamic_shared_bytes, arguments):
        if kernel == "strata_probe_delay":
            [clocks] = struct.unpack("<Q", arguments[0])
            self.now += DELAY_US if clocks else 1.0
            return
        self.launched.append((kernel, grid, block, dynamic_shared_bytes))
        self.now += float(np.prod(grid))
        self.kernels[kernel](self, *arguments)

    def event(self):
        return [None]

    def record(self, event):
        event[0] = self.now

    def elapsed_us(self, start, end):
        return end[0] - start[0]

    def synchronize(self):
        pass


def integer(bytes_):
    return int.from_bytes(bytes_, "little", signed=True)


def single(bytes_):
    return np.frombuffer(bytes_, "<f4")[0]


def vector_add(device, n, a, b, c):
    n = integer(n)
    a, b, c = (device.array(integer(p), "<f4", n) for p in (a, b, c))
    c[:] = a + b


def saxpy(device, n, a, x, y):
    n = integer(n)
    x, y = (device.array(integer(p), "<f4", n) for p in (x, y))
    y[:] = single(a) * x + y


def gemm(device, rows, columns, inner, alpha, beta, a, b, c):
    rows, columns, inner = map(integer, (rows, columns, inner))
    a = device.array(integer(a), "<f4", rows * inner).reshape(rows, inner)
    b = device.array(integer(b), "<f4", inner * columns).reshape(inner, columns)
    c = device.array(integer(c), "<f4", rows * columns).reshape(rows, columns)
    c[:] = single(alpha) * (a @ b) + single(beta) * c


def add_one(device, address):
    """Adds 1 to the u32 at the address."""
    device.array(integer(address), "<u4", 1)[:] += 1


def nothing(device, *_):
    pass
