"""Says where two runs of the cases differ.

    python3 scripts/ptx-values/hardware/compare.py RESULTS RESULTS [--only PATTERN] [--show N]
"""

import argparse
import base64
import gzip
import json
import re
import struct

import lines
from lines import register_class
from run import everything


def results(path):
    """By case and first line what came out, and what failed."""
    found = {}
    with gzip.open(path, "rt") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if "case" in line:
                found.setdefault(line["case"], []).append(line)
    return found


def decoded(case, parts):
    """By number of the line its vectors' results, or why there are none."""
    out = {}
    for part in parts:
        some = range(part["first"], part["first"] + part["count"])
        if "error" in part:
            out |= {n: part["error"] for n in some}
        else:
            data = base64.b64decode(part["out"][0])
            out |= dict(zip(some, lines.results(case.lines[some.start : some.stop], data)))
    return out


def nan(register, code, x):
    """Whether the bits are one or two NaNs, by the register and the types of the code."""
    words = code.split("; ")[-1].split(" ")[0]
    kind = register_class(register)
    single = lambda x: x & 0x7FFFFFFF > 0x7F800000
    half = lambda x: x & 0x7FFF > 0x7C00
    brain = lambda x: x & 0x7FFF > 0x7F80
    if kind == "d":
        return x & 2**63 - 1 > 0x7FF << 52
    if kind == "f":
        return single(x)
    if kind == "h":
        return brain(x) if "bf16" in words else half(x)
    return False


def compare_lines(name, case, a, b, show):
    wrong = 0
    a, b = decoded(case, a), decoded(case, b)
    for n, line in enumerate(case.lines):
        x, y = a.get(n, "missing"), b.get(n, "missing")
        if isinstance(x, str) or isinstance(y, str):
            print(f"{name} {line.code}: {x if isinstance(x, str) else 'ran'} | {y if isinstance(y, str) else 'ran'}"[:400])
            wrong += 1
            continue
        differ = []
        for at, (p, q) in enumerate(zip(x, y)):
            if any(u != v and not (nan(r, line.code, u) and nan(r, line.code, v)) for r, u, v in zip(line.destinations, p, q)):
                differ.append(at)
        if differ:
            wrong += 1
            print(f"{name} {line.code}: {len(differ)} of {len(x)} differ")
            for at in differ[:show]:
                hexes = lambda values: " ".join(f"{v:x}" for v in values)
                print(f"    {at}: {hexes(line.vectors[at])} = {hexes(x[at])} | {hexes(y[at])}")
    return wrong


def compare(arguments):
    a, b = results(arguments.a), results(arguments.b)
    total = wrong = 0
    for name, make in everything(arguments.only):
        if name not in a or name not in b:
            print(f"{name}: only in one" if name in a or name in b else f"{name}: in neither")
            wrong += 1
            continue
        total += 1
        case = make(name)
        if case.lines:
            wrong += compare_lines(name, case, a[name], b[name], arguments.show)
            continue
        x, y = a[name][0], b[name][0]
        if "error" in x or "error" in y:
            print(f"{name}: {x.get('error', 'ran')[:300]} | {y.get('error', 'ran')[:300]}")
            wrong += x.get("error") != y.get("error")
            continue
        if x["identity"] != y["identity"]:
            print(f"{name}: not the same case")
        for n, (p, q) in enumerate(zip(x["out"], y["out"])):
            p, q = base64.b64decode(p), base64.b64decode(q)
            p, q = ([*struct.unpack(f"<{len(d) // 4}I", d[: len(d) // 4 * 4])] for d in (p, q))
            differ = [at for at in range(len(p)) if p[at] != q[at]]
            if differ:
                wrong += 1
                print(f"{name}: output {n}: {len(differ)} of {len(p)} words differ: " + ", ".join(f"[{at}] {p[at]:x} | {q[at]:x}" for at in differ[: arguments.show]))
    print(f"{total} cases compared, {wrong} differences")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--only")
    parser.add_argument("--show", type=int, default=3)
    compare(parser.parse_args())
