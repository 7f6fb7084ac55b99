"""What would this GPU program cost on that memory hierarchy?

    import numpy as np, strata_gpu as strata

    strata.run("gemm", size="small", machine="gtx480", set={"l1d.ways": 8}).ipc

    kernel = strata.Kernel(ptx, "scale")
    x = np.ones(4096, np.float32)
    kernel(x, 2.0, grid=32, block=128, machine="volta-fuse").cycles

Everything runs in this process, in the library that the `strata` command is made of, and gives the command's numbers.
"""

from importlib.metadata import version as _version

from . import _cpu

_cpu.check()

from ._native import SIMULATOR, StrataError, Table
from .catalogue import doors, machines, metrics, papers, policies, systems, workloads
from .checkpoint import Place, checkpoint
from .compare import Comparison, compare
from .cuda import compile_cuda, cuda
from .errors import Cancelled, NotFinished, WrongResults
from .figure import Figure, figure
from .kernel import Kernel, Launch, program
from .machine import Machine
from .plot import plot
from .program import Program
from .result import Result
from .run import run
from .search import Front, search
from .store import Store

__version__ = _version("strata-gpu")

__all__ = [
    "SIMULATOR", "Cancelled", "Comparison", "Figure", "Front", "Kernel", "Launch", "Machine", "NotFinished", "Place", "Program",
    "Result", "Store", "StrataError", "Table", "WrongResults", "checkpoint", "compare", "compile_cuda", "cuda", "doors", "figure", "machines", "metrics",
    "papers", "plot", "policies", "program", "run", "search", "systems", "workloads",
]
