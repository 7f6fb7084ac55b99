"""The device through cuda-python's bindings of the CUDA driver API."""

import importlib.metadata

import numpy as np

try:
    from cuda.bindings import driver
except ImportError:  # Before 12.6.
    from cuda import cuda as driver

from backend import Backend, BackendError, ParameterArray

LOG_BYTES = 1 << 14


def connect(ordinal):
    return CudaPython(ordinal)


def call(function, *arguments):
    """Calls a function of the driver API and gives what it returns beside its status."""
    try:
        status, *results = function(*arguments)
    except (RuntimeError, OSError) as error:  # The driver's library is not there, or lacks the function.
        raise BackendError(f"{function.__name__}: {error}") from error
    if status != driver.CUresult.CUDA_SUCCESS:
        raise BackendError(f"{function.__name__}: {status.name}")
    return results[0] if len(results) == 1 else tuple(results)


class CudaPython(Backend):
    name = "cuda-python"

    def __init__(self, ordinal):
        packages = ["cuda-bindings", "cuda-python"]
        self.version = next(filter(None, map(installed, packages)), "of unknown version")
        call(driver.cuInit, 0)
        self.device = call(driver.cuDeviceGet, ordinal)
        self.context = call(driver.cuDevicePrimaryCtxRetain, self.device)
        call(driver.cuCtxSetCurrent, self.context)
        self.stream = driver.CUstream(0)

    def load(self, ptx):
        text = ptx + b"\0"
        try:
            return call(driver.cuModuleLoadData, text)
        except BackendError as error:
            raise BackendError(f"{error}{compiler_log(text)}") from None

    def kernel(self, module, name):
        return call(driver.cuModuleGetFunction, module, name.encode())

    def variable(self, module, name):
        address, bytes_ = call(driver.cuModuleGetGlobal, module, name.encode())
        return int(address), int(bytes_)

    def kernel_attribute(self, kernel, attribute):
        return call(driver.cuFuncGetAttribute, driver.CUfunction_attribute(attribute), kernel)

    def allow_dynamic_shared(self, kernel, bytes_):
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call(driver.cuFuncSetAttribute, kernel, attribute, bytes_)

    def device_attribute(self, attribute):
        return call(driver.cuDeviceGetAttribute, driver.CUdevice_attribute(attribute), self.device)

    def device_name(self):
        return call(driver.cuDeviceGetName, 256, self.device).split(b"\0")[0].decode()

    def driver_api_version(self):
        return call(driver.cuDriverGetVersion)

    def alloc(self, bytes_):
        return int(call(driver.cuMemAlloc, bytes_))

    def free(self, address):
        call(driver.cuMemFree, address)

    def upload(self, address, array):
        if array.nbytes:
            call(driver.cuMemcpyHtoD, address, np.ascontiguousarray(array).ctypes.data, array.nbytes)

    def download(self, address, array):
        call(driver.cuMemcpyDtoH, array.ctypes.data, address, array.nbytes)

    def fill(self, address, byte, bytes_):
        if bytes_:
            call(driver.cuMemsetD8, address, byte, bytes_)

    def launch(self, kernel, grid, block, dynamic_shared_bytes, arguments):
        parameters = ParameterArray(arguments)
        call(driver.cuLaunchKernel, kernel, *grid, *block, dynamic_shared_bytes, self.stream, parameters.address, 0)

    def event(self):
        return call(driver.cuEventCreate, 0)

    def record(self, event):
        call(driver.cuEventRecord, event, self.stream)

    def elapsed_us(self, start, end):
        call(driver.cuEventSynchronize, end)
        return 1000 * call(driver.cuEventElapsedTime, start, end)

    def synchronize(self):
        call(driver.cuCtxSynchronize)


def compiler_log(text):
    """What the driver's compiler says of PTX that it refuses."""
    log = bytearray(LOG_BYTES)
    option = driver.CUjit_option
    names = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    try:
        driver.cuModuleLoadDataEx(text, len(names), names, [log, LOG_BYTES])
    except Exception as error:  # The message is a help; without it the refusal stands.
        return f" (no log: {error})"
    message = " ".join(log.split(b"\0")[0].decode(errors="replace").split())
    return f": {message}" if message else ""


def installed(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
