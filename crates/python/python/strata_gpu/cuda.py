"""CUDA C, compiled to PTX by NVRTC."""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
from collections.abc import Iterable

from ._native import StrataError
from .kernel import Kernel


def cuda(source: str, name: str | None = None, *, arch: str = "compute_80", options: Iterable[str] = ()) -> Kernel:
    """A kernel of a CUDA C text: `cuda('extern "C" __global__ void scale(float *x, float a) {...}')`.

    `name` may be left out where the text has one kernel. It is as PTX has it, so that of a kernel that is not `extern "C"` is mangled.
    Needs NVRTC: `pip install 'strata-gpu[cuda]'`, or a CUDA toolkit.
    """
    return Kernel(compile_cuda(source, arch=arch, options=options), name)


def compile_cuda(source: str, *, arch: str = "compute_80", options: Iterable[str] = ()) -> str:
    """The PTX of a CUDA C text. An error has the compiler's log."""
    nvrtc = library()
    program = ctypes.c_void_p()
    succeed(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    try:
        words = [f"--gpu-architecture={arch}".encode(), *(option.encode() for option in options)]
        failed = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
        if failed:
            raise StrataError(f"CUDA C: {text(nvrtc, program, 'ProgramLog').strip()}")
        return text(nvrtc, program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    """What the compiler has made."""
    size = ctypes.c_size_t()
    succeed(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    succeed(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode()


def succeed(nvrtc: ctypes.CDLL, code: int) -> None:
    """Raises an error of NVRTC's."""
    if code:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise StrataError(f"NVRTC: {nvrtc.nvrtcGetErrorString(code).decode()}")


def library() -> ctypes.CDLL:
    """NVRTC: PyPI's, else one that the loader or a toolkit has."""
    for path in candidates():
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise StrataError("CUDA C needs NVRTC, expected `pip install 'strata-gpu[cuda]'` or a CUDA toolkit")


def candidates() -> Iterable[str]:
    """Where NVRTC may lie, the likeliest first."""
    for package in ("nvidia.cuda_nvrtc", "nvidia.cu13", "nvidia.cu12"):
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in (spec.submodule_search_locations or []) if spec else []:
            yield from sorted(glob.glob(os.path.join(folder, "lib", "libnvrtc.so.*")))
    yield from ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
    for home in filter(None, (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")):
        yield from sorted(glob.glob(os.path.join(home, "lib64", "libnvrtc.so*")))
