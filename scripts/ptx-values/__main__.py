"""Writes what instructions compute into crates/ptx/tests, found without Strata.

    python3 scripts/ptx-values PTXAS NVDISASM

exact.txt: the PTX ISA's text in integers and fractions without bounds (`exact.py`). vendor.txt: the constants to which the
vendor's assembler folds the same instructions (`vendor.py`); it and the disassembler come from PyPI (nvidia-cuda-nvcc,
nvidia-cuda-nvdisasm). Where the two disagree, the vendor's folding is at odds with the vendor's text: such vectors are left out
of vendor.txt and counted at its top. Approximate instructions are in neither: their results are bounded, not defined.
"""

import pathlib
import re
import subprocess
import sys

import exact
import vendor
from vectors import BITS, instructions, parts, register_class

TESTS = pathlib.Path(__file__).resolve().parents[2] / "crates/ptx/tests"
# Instructions of a form, and vectors of one.
MOST, KEPT = 24, 3


def said(code, vector):
    """What the ISA's text gives, as the registers hold it."""
    destinations, sources = parts(code)
    if ";" in code:
        found = [exact.chain(code, zip(sources, vector))[destinations[0]]]
    else:
        words, operands = code.split(" ", 1)
        found = exact.expected(words, operands, destinations, sources, vector)
    if found is None:
        return None
    mask = lambda d: 2 ** BITS[register_class(d)] - 1
    return [x if x == exact.NAN else x & mask(d) for x, d in zip(found, destinations)]


def line(code, pairs):
    destinations, sources = parts(code)
    show = lambda values: " ".join(x if x == exact.NAN else f"{x:x}" for x in values)
    header = f"{code} : {' '.join(sources)} = {' '.join(destinations)}"
    return " | ".join([header, *(f"{show(vector)} = {show(values)}" for vector, values in pairs)])


def unlike(a, b):
    return any(x != exact.NAN and x != y for x, y in zip(a, b))


def main():
    tools = sys.argv[1:3]
    version = lambda tool: re.findall(r"V(\d+\.\d+\.\d+)", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)[0]
    everything = list(instructions(MOST))
    lines = {"exact": [], "vendor": []}
    odd = {}
    for start in range(0, len(everything), 24):
        batch = everything[start : start + 24]
        kernels = [vendor.kernel(f"k{n}", code, vectors) for n, (code, vectors) in enumerate(batch)]
        stored = vendor.folded(kernels, tools)
        for n, (code, vectors) in enumerate(batch):
            destinations, _ = parts(code)
            known = [(vector, said(code, vector)) for vector in vectors]
            if pairs := [pair for pair in known if pair[1] is not None][:KEPT]:
                lines["exact"].append(line(code, pairs))
            approximate = re.search(r"\.(approx|full)\b", code)
            pairs = []
            for at, (vector, text) in enumerate(known):
                constants = stored.get(f"k{n}", {})
                values = [constants.get(vendor.STRIDE * at + vendor.PLACE * k) for k in range(len(destinations))]
                if None in values or approximate or text is None and "16x2" in code:
                    continue
                values = [x & 2 ** BITS[register_class(d)] - 1 for x, d in zip(values, destinations)]
                if text is not None and unlike(text, values):
                    odd.setdefault(code.split(" ")[0], []).append((vector, values, text))
                    continue
                # Which NaN comes out is not defined.
                values = [exact.NAN if text and text[k] == exact.NAN else x for k, x in enumerate(values)]
                if (vector, values) not in pairs:
                    pairs.append((vector, values))
            if pairs:
                lines["vendor"].append(line(code, pairs[:KEPT]))
    format_ = "# instructions : sources = destinations | values of the sources = of the destinations | ...\n"
    head = "# What the PTX ISA's text gives, in integers and fractions without bounds; `nan` is any NaN.\n"
    (TESTS / "exact.txt").write_text(head + "# Written by scripts/ptx-values.\n" + format_ + "\n".join(lines["exact"]) + "\n")
    head = f"# The constants to which the vendor's assembler folds: ptxas {version(tools[0])}, nvdisasm {version(tools[1])}, both from PyPI.\n"
    left = ", ".join(f"{words} ({len(found)})" for words, found in sorted(odd.items())) or "nothing"
    head += f"# Left out, being at odds with the ISA's text: {left}.\n# Written by scripts/ptx-values.\n"
    (TESTS / "vendor.txt").write_text(head + format_ + "\n".join(lines["vendor"]) + "\n")
    for words, found in odd.items():
        print(words, [[f"{x:x}" for x in vector] for vector, _, _ in found[:1]], found[0][1:], file=sys.stderr)
    print(", ".join(f"{name}: {len(text)} lines" for name, text in lines.items()))


if __name__ == "__main__":
    main()
