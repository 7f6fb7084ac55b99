"""The device through CuPy's bindings of the CUDA driver and runtime."""

import cupy
import numpy as np
from cupy.cuda import driver, runtime

from backend import Backend, BackendError, ParameterArray

#: The legacy default stream.
STREAM = 0


def connect(ordinal):
    return CuPy(ordinal)


def call(function, *arguments):
    try:
        return function(*arguments)
    except (runtime.CUDARuntimeError, driver.CUDADriverError) as error:
        raise BackendError(f"{function.__name__}: {error}") from None


class CuPy(Backend):
    name = "cupy"
    version = cupy.__version__

    def __init__(self, ordinal):
        self.ordinal = ordinal
        call(runtime.setDevice, ordinal)
        # The runtime makes its context with the first call that needs one.
        call(runtime.free, 0)

    def load(self, ptx):
        return call(driver.moduleLoadData, ptx + b"\0")

    def kernel(self, module, name):
        return call(driver.moduleGetFunction, module, name)

    def variable(self, module, name):
        return call(driver.moduleGetGlobal, module, name), None

    def kernel_attribute(self, kernel, attribute):
        return call(driver.funcGetAttribute, attribute, kernel)

    def allow_dynamic_shared(self, kernel, bytes_):
        call(driver.funcSetAttribute, kernel, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes_)

    def device_attribute(self, attribute):
        # The runtime's cudaDeviceAttr has the driver's numbers.
        return call(runtime.deviceGetAttribute, attribute, self.ordinal)

    def device_name(self):
        return call(runtime.getDeviceProperties, self.ordinal)["name"].decode()

    def driver_api_version(self):
        return call(runtime.driverGetVersion)

    def alloc(self, bytes_):
        return call(runtime.malloc, bytes_)

    def free(self, address):
        call(runtime.free, address)

    def upload(self, address, array):
        if array.nbytes:
            call(
                runtime.memcpy,
                address,
                np.ascontiguousarray(array).ctypes.data,
                array.nbytes,
                runtime.memcpyHostToDevice,
            )

    def download(self, address, array):
        call(runtime.memcpy, array.ctypes.data, address, array.nbytes, runtime.memcpyDeviceToHost)

    def fill(self, address, byte, bytes_):
        if bytes_:
            call(runtime.memset, address, byte, bytes_)

    def launch(self, kernel, grid, block, dynamic_shared_bytes, arguments):
        parameters = ParameterArray(arguments)
        call(driver.launchKernel, kernel, *grid, *block, dynamic_shared_bytes, STREAM, parameters.address, 0)

    def event(self):
        return call(runtime.eventCreate)

    def record(self, event):
        call(runtime.eventRecord, event, STREAM)

    def elapsed_us(self, start, end):
        call(runtime.eventSynchronize, end)
        return 1000 * call(runtime.eventElapsedTime, start, end)

    def synchronize(self):
        call(runtime.deviceSynchronize)
