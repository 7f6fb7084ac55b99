"""Writes vectors that a GPU has computed into crates/ptx/tests, where a test runs them.

    python3 scripts/ptx-values/hardware/keep.py RESULTS_OF_A_GPU RESULTS_OF_STRATA "CARD, DRIVER, DATE"

hardware.txt: one thread's instructions, those of a warp, and accesses to memory. hardware_matrices.txt: products of matrices.
Approximations are left out, as docs/ptx.md gives their distance instead; so are the few forms that a GPU computes against the
ISA's text (`AGAINST_THE_TEXT`), where Strata keeps to the text, if the two differ.
"""

import pathlib
import re
import sys

from compare import decoded, results
from run import everything

TESTS = pathlib.Path(__file__).resolve().parents[3] / "crates/ptx/tests"
# Vectors of a line whose threads do not see each other, by the beginning of a case's name.
KEPT = {"lanes": 4, "open": 4, "memory": 3}
APPROXIMATE = r"\.(approx|full)\b"
AGAINST_THE_TEXT = r"^(v(add|sub|absdiff|min|max|shl|shr|set|mad)\.|bf[ei]\.[usb]64|cvt\.r[mp]\.ftz\.(sat\.)?f16\.f32)"
# Sums of inexact products: those of 8 bits, and of f16 in Volta's shape, a GPU rounds in a way that is not known.
INEXACT, OWN_ROUNDING = r"^(mma|sparse)-(any|edges)", r"\.e\dm\d\.|m8n8k4\.\w+\.\w+\.f(16|32)"


def subnormal(x):
    return 0 < x & 0x7FFFFFFF < 0x800000


def settled(code, vector, value):
    """Whether both the ISA and a GPU's caches say what comes out: sums in global memory may flush, and pick a NaN of two."""
    everything = [*vector, *value]
    if re.search(r"(atom|red)\.[a-z.:]*add\.(v\d\.)?f32", code):
        return not any(subnormal(x & 2**32 - 1) or subnormal(x >> 32) for x in everything)
    return not re.search(r"(atom|red)\.[a-z.:]*add\.f64", code) or not any(x & 2**63 - 1 > 0x7FF << 52 for x in everything)


def picked(vectors, values, count):
    """Some vectors, those with rare results first, in their order."""
    seen = {}
    for at, value in enumerate(values):
        seen.setdefault(tuple(value), []).append(at)
    order = sorted((numbers[0] for numbers in seen.values()), key=lambda at: (len(seen[tuple(values[at])]), at))
    # Half of the rare ones are alike: spread over them.
    step = max(1, len(order) // count)
    return sorted(order[::step][:count])


def written(code, sources, destinations, pairs):
    show = lambda values: " ".join(f"{x:x}" for x in values)
    return " | ".join([f"{code} : {' '.join(sources)} = {' '.join(destinations)}", *(f"{show(a)} = {show(b)}" for a, b in pairs)])


def main():
    gpu, strata, provenance = results(sys.argv[1]), results(sys.argv[2]), sys.argv[3]
    out, left = {"hardware.txt": [], "hardware_matrices.txt": []}, {}
    seen = set()
    for name, make in everything():
        case = make(name)
        if not case.lines:
            continue
        found, ours = decoded(case, gpu[name]), decoded(case, strata[name])
        for n, line in enumerate(case.lines):
            values = found[n]
            first = line.code.split(" ")[0]
            if isinstance(values, str) or re.search(APPROXIMATE, line.code) or "activemask" in line.code:
                continue
            if re.match(INEXACT, name) and re.search(OWN_ROUNDING, line.code):
                continue
            if re.match(AGAINST_THE_TEXT, line.code) and values != ours[n]:
                left[first.split(".")[0]] = left.get(first.split(".")[0], 0) + 1
                continue
            kind = re.match(r"open|[a-z]+-[a-z]*", name)[0]
            if (line.code, kind) in seen:
                continue
            seen.add((line.code, kind))
            if kept := KEPT.get(name.split("-")[0]):
                both = [at for at in range(len(values)) if settled(line.code, line.vectors[at], values[at])]
                chosen = [[both[at] for at in picked([line.vectors[at] for at in both], [values[at] for at in both], kept)]]
            elif name.startswith(("sparse", "mma")):
                # A warp; of the sparse ones not all selectors, of whole numbers not all kinds.
                if ".sp::ordered" in first and not line.code.endswith(" 0") or ".satfinite" in first and name.startswith("sparse"):
                    continue
                chosen = [range(32)]
            else:
                chosen = [range(32 * warp, 32 * warp + 32) for warp in (0, 2)]
            for some in chosen:
                text = written(line.code, line.sources, line.destinations, [(line.vectors[at], values[at]) for at in some])
                out["hardware_matrices.txt" if name.startswith(("sparse", "mma")) else "hardware.txt"].append(text)
    for file, text in out.items():
        head = f"# What a GPU computed: {provenance}. Run and written by scripts/ptx-values/hardware.\n"
        if file == "hardware.txt" and left:
            head += "# Left out, being at odds with the ISA's text: " + ", ".join(f"{word} ({count})" for word, count in sorted(left.items())) + ".\n"
        head += "# instructions : sources = destinations | values of the sources = of the destinations, a vector a lane | ...\n"
        (TESTS / file).write_text(head + "\n".join(text) + "\n")
        print(f"{file}: {len(text)} lines, {(TESTS / file).stat().st_size} bytes")


if __name__ == "__main__":
    main()
