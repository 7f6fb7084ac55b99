#!/usr/bin/env python3
"""Compares the registers that Strata gives each kernel with those that ptxas gives it.

Writes docs/registers.md. Needs ptxas (`pip install nvidia-cuda-nvcc-cu12`, or `PTXAS=/path/to/ptxas`) and a built
example (`cargo build -p strata-ptx --example registers`). Arguments are PTX files; by default the
workloads' kernels.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITE = ROOT / "crates/workloads/src/suite"


def find_ptxas():
    wheel = pathlib.Path(sysconfig.get_paths()["purelib"]) / "nvidia/cuda_nvcc/bin/ptxas"
    for candidate in (os.environ.get("PTXAS"), str(wheel), shutil.which("ptxas")):
        if candidate and pathlib.Path(candidate).exists():
            return candidate
    sys.exit("ptxas was not found: pip install nvidia-cuda-nvcc-cu12, or set PTXAS")


def ptxas_registers(ptxas, path):
    """Kernel name -> registers; the file's own target decides the architecture."""
    target = re.search(r"^\s*\.target\s+(sm_\w+)", path.read_text(), re.M).group(1)
    run = subprocess.run(
        [ptxas, "-v", f"-arch={target}", str(path), "-o", os.devnull], capture_output=True, text=True, check=True
    )
    found, kernel = {}, None
    for line in run.stderr.splitlines() + run.stdout.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = match.group(1)
        elif match := re.search(r"Used (\d+) registers", line):
            found[kernel] = int(match.group(1))
    return found


def warps(registers):
    return min(64, 65536 // (32 * -(-registers // 8) * 8))


def main():
    paths = [pathlib.Path(p).resolve() for p in sys.argv[1:]] or sorted(SUITE.glob("*/kernel.ptx"))
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    example = target / "debug/examples/registers"
    ours = subprocess.run([str(example), *map(str, paths)], capture_output=True, text=True)
    sys.stderr.write(ours.stderr)
    ptxas = find_ptxas()
    reference = {path: ptxas_registers(ptxas, path) for path in paths}
    rows = []
    for line in ours.stdout.splitlines():
        path, kernel, virtual, physical, spills = line.split("\t")
        theirs = reference[pathlib.Path(path)].get(kernel)
        if theirs is not None:
            rows.append((pathlib.Path(path).parent.name, kernel, int(virtual), int(physical), int(spills), theirs))
    ratios = [physical / theirs for _, _, _, physical, _, theirs in rows]
    away = statistics.median(abs(ratio - 1) for ratio in ratios)
    alike = sum(warps(physical) == warps(theirs) for _, _, _, physical, _, theirs in rows)
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"release ([\d.]+)", version).group(1)
    out = [
        "# Registers per thread: Strata and ptxas",
        "",
        f"`scripts/registers.py` wrote this page with ptxas {version}. *Virtual* counts the registers of the PTX text in",
        "32-bit units; both physical counts include what an assembler reserves. *Warps* is how many fit an SM with 65,536",
        "registers, allocated in units of eight per thread: Strata / ptxas.",
        "",
        "One parameter of Strata's allocator, `SPREAD`, was fitted to ptxas on fifteen of these kernels. It is the number of rows beyond",
        "the minimum over which values are spread, as long as that costs no warp. Unlike ptxas, Strata does not predicate short branches",
        "or keep warp-uniform values in uniform registers.",
        "",
        f"{len(rows)} kernels; median ratio {statistics.median(ratios):.2f}; median distance from ptxas {away:.0%}; "
        f"the same number of warps in {alike}.",
        "",
        "| workload | kernel | virtual | Strata | ptxas | ratio | warps | spilled bytes |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for (path, kernel, virtual, physical, spills, theirs), ratio in zip(rows, ratios):
        out.append(f"| {path} | {kernel} | {virtual} | {physical} | {theirs} | {ratio:.2f} "
                   f"| {warps(physical)} / {warps(theirs)} | {spills} |")
    (ROOT / "docs/registers.md").write_text("\n".join(out) + "\n")
    print("\n".join(out))


if __name__ == "__main__":
    main()
