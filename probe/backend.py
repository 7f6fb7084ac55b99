"""What the probe needs of a device. `cuda_python.py` and `cupy_backend.py` give it on a GPU.

Addresses, modules, kernels and events are whatever the backend likes; addresses can be added to. Everything runs on one
stream, in order.
"""

import ctypes
import importlib
import shutil
import subprocess

#: CUDA driver API, cuda.h: CUdevice_attribute and CUfunction_attribute.
CLOCK_RATE_KHZ = 13
MULTIPROCESSOR_COUNT = 16
MEMORY_CLOCK_RATE_KHZ = 36
L2_CACHE_BYTES = 38
COMPUTE_CAPABILITY_MAJOR = 75
COMPUTE_CAPABILITY_MINOR = 76
STATIC_SHARED_BYTES = 1
LOCAL_BYTES = 3
REGISTERS = 4
MAX_DYNAMIC_SHARED_BYTES = 8

BACKENDS = {"cuda-python": "cuda_python", "cupy": "cupy_backend"}


class BackendError(Exception):
    """A call that the device or its driver refused."""


class Backend:
    """A device. A subclass raises BackendError whenever a call fails."""

    #: As `--backend` calls it, and its version.
    name = ""
    version = ""

    def load(self, ptx):
        """Compiles a module: bytes of PTX to a module."""
        raise NotImplementedError

    def kernel(self, module, name):
        raise NotImplementedError

    def variable(self, module, name):
        """A module variable's address and size in bytes; None for a size that the backend cannot tell."""
        raise NotImplementedError

    def kernel_attribute(self, kernel, attribute):
        raise NotImplementedError

    def allow_dynamic_shared(self, kernel, bytes_):
        """Opts in to more shared memory than 48 KiB a CTA."""
        raise NotImplementedError

    def device_attribute(self, attribute):
        raise NotImplementedError

    def device_name(self):
        raise NotImplementedError

    def driver_api_version(self):
        """The newest CUDA version that the driver knows, as 1000 * major + 10 * minor. Its JIT compiles the PTX."""
        raise NotImplementedError

    def alloc(self, bytes_):
        raise NotImplementedError

    def free(self, address):
        raise NotImplementedError

    def upload(self, address, array):
        """Copies a contiguous array to the device; done when it returns."""
        raise NotImplementedError

    def download(self, address, array):
        """Fills a contiguous array from the device."""
        raise NotImplementedError

    def fill(self, address, byte, bytes_):
        raise NotImplementedError

    def launch(self, kernel, grid, block, dynamic_shared_bytes, arguments):
        """Queues a launch; each argument is the bytes of one parameter."""
        raise NotImplementedError

    def event(self):
        raise NotImplementedError

    def record(self, event):
        raise NotImplementedError

    def elapsed_us(self, start, end):
        """Microseconds between two events, after waiting for the second."""
        raise NotImplementedError

    def synchronize(self):
        raise NotImplementedError

    def address_bytes(self, address):
        """An address as a kernel's parameter."""
        return int(address).to_bytes(8, "little")


class ParameterArray:
    """The array of pointers to arguments that cuLaunchKernel takes. It must outlive the call."""

    def __init__(self, arguments):
        # Copies, aligned as any parameter may have to be.
        self.words = [(ctypes.c_uint64 * (len(argument) // 8 + 1))() for argument in arguments]
        for words, argument in zip(self.words, arguments):
            ctypes.memmove(words, argument, len(argument))
        self.pointers = (ctypes.c_void_p * max(len(self.words), 1))(*map(ctypes.addressof, self.words))

    @property
    def address(self):
        return ctypes.addressof(self.pointers)


def connect(name, ordinal):
    """The backend called `name`, or the first that can be imported, on a device."""
    reasons = []
    for candidate in BACKENDS if name == "any" else [name]:
        try:
            module = importlib.import_module(BACKENDS[candidate])
        except Exception as error:  # A broken installation raises whatever it likes.
            reasons.append(f"{candidate}: {type(error).__name__}: {error}")
            continue
        return module.connect(ordinal)
    raise BackendError("no backend can be imported; " + "; ".join(reasons))


def provenance(backend, ordinal=0):
    """The CSV's columns that say what measured."""
    version = backend.driver_api_version()
    megahertz = lambda attribute: f"{backend.device_attribute(attribute) / 1000:g}"
    return {
        "gpu": backend.device_name(),
        "compute_capability": f"{backend.device_attribute(COMPUTE_CAPABILITY_MAJOR)}.{backend.device_attribute(COMPUTE_CAPABILITY_MINOR)}",
        "sms": backend.device_attribute(MULTIPROCESSOR_COUNT),
        "core_clock_mhz": megahertz(CLOCK_RATE_KHZ),
        "memory_clock_mhz": megahertz(MEMORY_CLOCK_RATE_KHZ),
        "l2_bytes": backend.device_attribute(L2_CACHE_BYTES),
        "driver_version": driver_version(ordinal),
        "jit_version": f"driver JIT of CUDA {version // 1000}.{version % 1000 // 10}",
        "backend": f"{backend.name} {backend.version}",
    }


def driver_version(ordinal):
    """The driver package's version, which the driver API does not tell; empty where nothing does."""
    if shutil.which("nvidia-smi"):
        command = ["nvidia-smi", f"--id={ordinal}", "--query-gpu=driver_version", "--format=csv,noheader"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            return done.stdout.strip()
        except (OSError, subprocess.SubprocessError):
            pass
    try:
        with open("/proc/driver/nvidia/version") as file:
            return " ".join(file.readline().split(":", 1)[-1].split())
    except OSError:
        return ""
