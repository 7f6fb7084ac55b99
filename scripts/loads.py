#!/usr/bin/env python3
"""Compares the order that Strata gives loads with the order that ptxas gives them.

Writes docs/loads.md. Needs an example (`cargo build -p strata-ptx --example instructions`), ptxas (`pip install
nvidia-cuda-nvcc-cu12==12.9.86`, or `PTXAS=/path/to/ptxas`), and an nvdisasm that still knows sm_70, which is one of CUDA 13.0 or
earlier (`pip download --no-deps triton==2.2.0` has one in its archive, or `NVDISASM=/path/to/nvdisasm`). Arguments are PTX files; by
default the workloads' kernels. Machine code is counted and not kept.
"""

import collections
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITE = ROOT / "crates/workloads/src/suite"
MACHINES = ROOT / "crates/gpu/machines"
TARGET = "sm_70"

# One instruction: `kind` is `global`, `local`, `shared` (loads of those spaces), `constant`, `branch` or `other`; `begins` whether
# control may come here from elsewhere.
Instruction = collections.namedtuple("Instruction", "kind begins guarded reads writes constants")
Kernel = collections.namedtuple("Kernel", "registers spills code")

LOADS = {"LDG": "global", "LD": "global", "LDL": "local", "LDS": "shared", "LDSM": "shared"}
BRANCHES = {"BRA", "BRX", "JMP", "JMX", "CALL", "RET", "BREAK", "BSYNC"}
CONTROL = BRANCHES | {"EXIT", "BSSY", "BMOV"}


def tool(name, variable, wheel):
    beside = pathlib.Path(sysconfig.get_paths()["purelib"]) / wheel / name
    for candidate in (os.environ.get(variable), str(beside), shutil.which(name)):
        if candidate and pathlib.Path(candidate).exists():
            return candidate
    sys.exit(f"{name} was not found: set {variable} (the head of {sys.argv[0]} says where it comes from)")


def version(path):
    text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    return re.search(r"release ([\d.]+)", text).group(1)


def registers_of(op, operands):
    """The registers that a SASS instruction names, widened to those that its form implies: for each operand a set."""
    name, modifiers = op.split(".")[0], op.split(".")[1:]
    width = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    found = []
    for place, operand in enumerate(operands):
        named = set()
        for register in re.findall(r"\bR(\d+)\b", operand):
            rows = 1
            if operand.strip().startswith("["):
                rows = 2 if "E" in modifiers else 1
            elif name in LOADS or name.startswith(("ST", "ATOM", "RED")):
                rows = width
            elif re.fullmatch(r"D(ADD|MUL|FMA|SETP|MNMX)", name):
                rows = 2
            elif name == "IMAD" and "WIDE" in modifiers and (place == 0 or place == len(operands) - 1):
                rows = 2
            named.update(range(int(register), int(register) + rows))
        found.append(named)
    return found


def read_sass(text):
    """Kernel name -> Kernel, of what nvdisasm prints. Subroutines for divisions and the like, which follow a kernel, are left out."""
    kernels, kernel, begins = {}, None, False
    for line in text.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.([^,\s]+)", line):
            kernel = kernels[match.group(1)] = Kernel([0], 0, [])
            begins, inside = True, True
        elif kernel is None:
            continue
        elif match := re.search(r"SHI_REGISTERS=(\d+)", line):
            kernel.registers[0] = int(match.group(1))
        elif re.match(r"\s*\$.*:", line):
            inside = False
        elif re.match(r"\.L_\S+:", line):
            begins = True
        elif inside and (match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@(!?\w+)\s+)?([A-Z][\w.]*)\s*([^;]*);", line)):
            guard, op, rest = match.groups()
            name = op.split(".")[0]
            if name == "NOP" or guard == "!PT":
                continue
            operands = rest.split(",") if rest.strip() else []
            found = registers_of(op, operands)
            kind = LOADS.get(name, "constant" if name == "LDC" else "other")
            if name in BRANCHES:
                kind = "branch"
            written = found[:1] if kind not in ("branch", "other") else []
            read = found[len(written):]
            kernel.code.append(Instruction(
                kind, begins, bool(guard) and name not in CONTROL, set().union(*read), set().union(*written),
                "c[0x" in rest and name != "LDC",
            ))
            begins = False
    # What stands behind the last instruction that anything reaches is a branch to itself.
    for kernel in kernels.values():
        if kernel.code and kernel.code[-1].kind == "branch" and kernel.code[-1].begins:
            kernel.code.pop()
    return {name: kernel._replace(registers=kernel.registers[0]) for name, kernel in kernels.items()}


def assembled(ptxas, nvdisasm, path, folder, target=TARGET):
    source, image = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(re.sub(r"(?m)^(\s*\.target\s+)\w+", rf"\g<1>{target}", path.read_text()))
    subprocess.run([ptxas, f"-arch={target}", source, "-o", image], check=True)
    text = subprocess.run([nvdisasm, "-c", image], capture_output=True, text=True, check=True).stdout
    return read_sass(text)


def options(machine, **changes):
    """How a machine file has kernels compiled (`Machine::compile_options`), as arguments of the example."""
    file = tomllib.loads((MACHINES / f"{machine}.toml").read_text())
    sm = {key: value["value"] for key, value in file["sm"].items() if isinstance(value, dict) and "value" in value}
    found = {
        "max_registers": sm["registers_per_thread"],
        "sm_registers": sm["registers"],
        "sm_threads": sm["warp_slots"] * 32,
        "register_unit": sm["register_unit"] // 32,
        "load_window": sm["load_window"],
    } | changes
    return [f"{key}={value}" for key, value in found.items()]


def compiled(paths, arguments):
    """(path, kernel name) -> Kernel, as Strata compiles it."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    example = target / "debug/examples/instructions"
    run = subprocess.run([example, *arguments, *paths], capture_output=True, text=True)
    sys.stderr.write(run.stderr)
    kernels = {}
    rows = lambda text: {int(row) for row in text.split(",") if row}
    for line in run.stdout.splitlines():
        match line.split("\t"):
            case [path, name, registers, spills]:
                kernel = kernels[pathlib.Path(path), name] = Kernel(int(registers), int(spills), [])
            case [_, kind, begins, guarded, reads, writes]:
                guarded = guarded == "1" and kind != "branch"
                kernel.code.append(Instruction(kind, begins == "1", guarded, rows(reads), rows(writes), False))
    return kernels


def blocks(code):
    block = []
    for instruction in code:
        if instruction.begins and block:
            yield block
            block = []
        block.append(instruction)
        if instruction.kind == "branch":
            yield block
            block = []
    if block:
        yield block


class Loads:
    """What the order of a kernel's code does to its loads."""

    def __init__(self, kernel):
        self.registers, self.spills = kernel.registers, kernel.spills
        self.count = self.waits = self.others = self.distance = 0
        for block in blocks(kernel.code):
            on_the_way = set()
            for at, instruction in enumerate(block):
                if on_the_way & (instruction.reads | instruction.writes):
                    self.waits += 1
                    on_the_way = set()
                if instruction.kind in LOADS.values():
                    self.count += 1
                    on_the_way |= instruction.writes
                    first = next((
                        use for use in range(at + 1, len(block))
                        if instruction.writes & (block[use].reads | block[use].writes)
                    ), len(block))
                    between = block[at + 1:first]
                    self.distance += len(between)
                    self.others += sum(other.kind in LOADS.values() for other in between)
            self.waits += bool(on_the_way)
        self.instructions = len(kernel.code)
        self.predicated = sum(instruction.guarded for instruction in kernel.code)
        self.constants = sum(instruction.kind == "constant" for instruction in kernel.code)
        self.folded = sum(instruction.constants for instruction in kernel.code)

    @property
    def overlap(self):
        return self.count / self.waits if self.waits else 0

    @property
    def away(self):
        """Instructions between a load and its first use."""
        return self.distance / self.count if self.count else 0

    @property
    def predication(self):
        return self.predicated / self.instructions


def agreement(ours, theirs, measure):
    """The mean over kernels of the smaller of both values by the larger."""
    pairs = [(1 + measure(ours[kernel]), 1 + measure(theirs[kernel])) for kernel in ours]
    return statistics.mean(min(pair) / max(pair) for pair in pairs)


def per_wait(kernels):
    return sum(kernel.count for kernel in kernels) / sum(kernel.waits for kernel in kernels)


def summary(columns, theirs):
    """A line for each way to compile, over the kernels that ptxas leaves as many loads as the text has."""
    for label, ours in columns.items():
        same = [kernel for kernel in ours if kernel in theirs and 0 < ours[kernel].count == theirs[kernel].count]
        ours, beside = {kernel: ours[kernel] for kernel in same}, {kernel: theirs[kernel] for kernel in same}
        overlap = {kernel: min(ours[kernel].overlap, beside[kernel].overlap) / max(ours[kernel].overlap, beside[kernel].overlap)
                   for kernel in same}
        yield (f"| {label} | {len(same)} | {per_wait(ours.values()):.2f} | {per_wait(beside.values()):.2f} "
               f"| {statistics.mean(overlap.values()):.2f} | {agreement(ours, beside, lambda kernel: kernel.away):.2f} "
               f"| {statistics.correlation([ours[kernel].overlap for kernel in same], [beside[kernel].overlap for kernel in same]):.2f} "
               f"| {statistics.median(ours[kernel].registers / beside[kernel].registers for kernel in same):.2f} |")


# Threads that an SM holds (CUDA C++ Programming Guide, technical specifications per compute capability); each has 65,536 registers.
THREADS = {"sm_70": 2048, "sm_75": 1024, "sm_86": 1536}


def full(threads):
    return 65536 // threads // 8 * 8


def main():
    paths = [pathlib.Path(path).resolve() for path in sys.argv[1:]] or sorted(SUITE.glob("*/kernel.ptx"))
    ptxas, nvdisasm = tool("ptxas", "PTXAS", "nvidia/cuda_nvcc/bin"), tool("nvdisasm", "NVDISASM", "nvidia/cu13/bin")
    by_target = {target: {} for target in THREADS}
    with tempfile.TemporaryDirectory() as folder:
        for target, kernels in by_target.items():
            for path in paths:
                found = assembled(ptxas, nvdisasm, path, pathlib.Path(folder), target)
                kernels |= {(path, name): Loads(kernel) for name, kernel in found.items()}
    theirs = by_target[TARGET]
    ways = {
        "order of the text": options("volta-fuse", load_window=0),
        "`volta-fuse`, `v100`": options("volta-fuse"),
        "`gtx480`": options("gtx480"),
    }
    columns = {
        label: {key: Loads(kernel) for key, kernel in compiled(paths, way).items()} for label, way in ways.items()
    }
    volta, fermi = columns["`volta-fuse`, `v100`"], columns["`gtx480`"]
    beside = {kernel: theirs[kernel] for kernel in volta if kernel in theirs}
    equal = sum(volta[kernel].count == kernel_of.count for kernel, kernel_of in beside.items())
    out = [
        "# The order of loads: Strata and ptxas",
        "",
        f"`scripts/loads.py` wrote this page with ptxas {version(ptxas)} for {TARGET} and nvdisasm {version(nvdisasm)}. It counts loads of global,",
        "local and shared memory; those of constants and parameters are apart.",
        "",
        "*Loads per wait*: a walk over a basic block in order. The first instruction that reads or writes a register of a load",
        "that has not come is a wait, and with it all loads before it have come; so is the end of the block. The kernel's loads divided",
        "by its waits say how many overlap, if all take equally long. *Distance*: instructions between a load and the first that",
        "needs its value, or the end of the block. Both are of the code as it stands: a loop's body counts once.",
        "",
        "## Agreement",
        "",
        f"Over the kernels for which both have as many loads, {equal} of {len(beside)}: of the others not the same loops are unrolled. *Agreement* is the mean over",
        "kernels of the smaller value by the larger, 1 where all are equal (of distances with one added).",
        "",
        "| Strata's order | kernels | loads per wait | of ptxas | agreement | agreement of distances | correlation of loads per wait | median ratio of registers |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *summary(columns, theirs),
        "",
        "## What ptxas gives an order up for",
        "",
        "ptxas keeps to the registers with which an SM is *full*, that is, holds as many threads as it can. Loads overlap less for it, but keep what overlap",
        "registers leave. Where an SM holds fewer threads, the same kernels have more registers and more loads on the way:",
        "",
        "| target | threads of an SM | registers when full | kernels with fewer | as many | more | most registers | loads per wait |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for target, kernels in by_target.items():
        bound = full(THREADS[target])
        counts = [kernel.registers for kernel in kernels.values()]
        out.append(f"| {target} | {THREADS[target]} | {bound} | {sum(count < bound for count in counts)} "
                   f"| {counts.count(bound)} | {sum(count > bound for count in counts)} | {max(counts)} | {per_wait(kernels.values()):.2f} |")
    share = lambda kernels: sum(kernel.predicated for kernel in kernels.values()) / sum(kernel.instructions for kernel in kernels.values())
    out += [
        "",
        "So does Strata: loads move up as long as the rows that are live keep an SM full. Where a kernel needs more in any order, ptxas gives it more than it",
        "needs: `sgemm_nt` 56 registers, where 41 would do and an SM would be full with 32. It goes to 64 (lbm's kernel alone has more in ptxas 11.8), with which an SM",
        "of 65,536 holds a CTA of 1,024 threads, the most there can be. That is Strata's bound for such kernels: of those that were tried (what is needed; 48; 56; 64;",
        "none) loads per wait agree best with it, 0.90 in the mean. No ptxas that can be had makes code for Fermi: that `gtx480` keeps to 20 registers, where 1,536 threads",
        "fill it, and then to 32, is by analogy.",
        "",
        "## What is not done",
        "",
        f"- *Predication*: ptxas makes guarded instructions of short branches, {share(beside):.1%} of its instructions; Strata keeps the branches, and "
        f"{share(volta):.1%} are",
        "  guarded, as in the text. A branch ends a block, so loads behind it stay there: with `surf`'s `hessian_determinant` none overlap.",
        f"- *Constants as operands*: {sum(kernel.folded for kernel in beside.values()):,} of ptxas's instructions have an operand from constant memory, and "
        f"{sum(kernel.constants for kernel in beside.values())}",
        f"  load from there. Strata makes operands of scalar parameters only; {sum(kernel.constants for kernel in volta.values())} instructions load from constant or parameter memory.",
        "- *Unrolling*: Strata unrolls by ptxas's rules as far as they were found (docs/assembler.md); these are the loops of one block alone.",
        "",
        "## Kernels",
        "",
        "Of each group: ptxas, `volta-fuse`, `gtx480`; of *constant loads* and *predicated* the first two.",
        "",
        "| workload | kernel | loads | loads per wait | distance | registers | predicated | constant loads |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for key, ours in volta.items():
        if key not in theirs:
            continue
        three = (theirs[key], ours, fermi[key])
        row = lambda form, measure, of=three: " / ".join(format(measure(kernel), form) for kernel in of)
        out.append(
            f"| {key[0].parent.name} | {key[1]} | {row('d', lambda kernel: kernel.count)} | {row('.2f', lambda kernel: kernel.overlap)} "
            f"| {row('.1f', lambda kernel: kernel.away)} | {row('d', lambda kernel: kernel.registers)} "
            f"| {row('.1%', lambda kernel: kernel.predication, three[:2])} | {row('d', lambda kernel: kernel.constants, three[:2])} |"
        )
    (ROOT / "docs/loads.md").write_text("\n".join(out) + "\n")
    print("\n".join(out))


if __name__ == "__main__":
    main()
