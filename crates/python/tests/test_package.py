"""What the wheel installs."""

import importlib.metadata
import json
import subprocess
import sys

import pytest

import strata_gpu as strata
from strata_gpu import _cpu

MODERN = "processor\t: 0\nflags\t\t: fpu sse2 avx2 fma bmi1 bmi2 f16c movbe abm\n"


def test_a_processor_without_the_instructions_is_refused_by_a_sentence(tmp_path):
    assert _cpu.missing(MODERN) == []
    old = tmp_path / "cpuinfo"
    old.write_text(MODERN.replace(" avx2 fma", ""))
    with pytest.raises(ImportError, match="this processor has no avx2, fma, expected one with AVX2 and FMA"):
        _cpu.check(str(old))
    _cpu.check(str(tmp_path / "no such file"))


def test_the_check_comes_before_the_library():
    code = (
        "import builtins, io, sys\n"
        "real = builtins.open\n"
        f"builtins.open = lambda path, *rest: io.StringIO({MODERN!r}.replace('avx2', '')) if path == '/proc/cpuinfo' else real(path, *rest)\n"
        "try:\n    import strata_gpu\n"
        "except ImportError as error:\n    print(error, 'strata_gpu._native' in sys.modules)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("strata_gpu: this processor has no avx2,") and said.stdout.endswith(" False\n")


def test_it_takes_no_other_projects_name():
    files = importlib.metadata.files("strata-gpu")
    tops = {file.parts[0] for file in files if not file.parts[0].startswith("..")}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"strata_gpu"}
    assert strata.__version__ == importlib.metadata.version("strata-gpu")


def test_the_command_comes_along_with_execs_libraries(command, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import ctypes\n"
        "cuda = ctypes.CDLL('libcuda.so.1')\n"
        "count = ctypes.c_int()\n"
        "assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0\n"
        "print('devices:', count.value)\n"
        "assert ctypes.CDLL('libcudart.so.12').cudaDeviceSynchronize() == 0\n"
    )
    said = command("exec", "--", sys.executable, program)
    assert "devices: 1" in said.stdout, said.stderr
    assert json.loads(command("run", "saxpy", "--json", "-").stdout)["verdict"] == "verified"
    assert strata.SIMULATOR in command("--version").stdout


def test_plots_are_drawn_without_a_network(tmp_path):
    pytest.importorskip("altair")
    runs = {machine: strata.run("saxpy", machine=machine) for machine in ("gtx480", "volta-fuse")}
    strata.plot(runs, "cycles").save(tmp_path / "runs.svg")
    text = (tmp_path / "runs.svg").read_text()
    assert text.startswith("<svg") and "volta-fuse" in text
    comparison = strata.compare(["saxpy", "gather"], systems=["none", "dy-fuse"], sweep={"l1d.mshr_entries": [8, 16]}, store=tmp_path / "s")
    for chart in (comparison.plot("ipc"), comparison.plot("ipc", x="system"), comparison.plot("l1d-miss-rate", x="workload")):
        chart.save(tmp_path / "chart.svg")
        assert "dy-fuse" in (tmp_path / "chart.svg").read_text()
