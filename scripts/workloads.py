#!/usr/bin/env python3
"""Measures workloads on the reference executor and writes measured.toml beside each, then docs/characteristics.md.

    scripts/workloads.py             every size that a workload's measured.toml lacks
    scripts/workloads.py gemm bfs    all sizes of those named
    scripts/workloads.py --page      nothing is run: the page only

Paper sizes take minutes. Builds the release command; STRATA=/path names another.
"""

import csv
import json
import sys
import tomllib

import pages

SUITE = pages.ROOT / "crates/workloads/src/suite"
TABLE_II = pages.ROOT / "crates/lab/data/papers/fuse-table-ii.csv"
SIZES = ["test", "small", "paper", "suite", "stash", "morpheus"]
COUNTS = ["inputs_hash", "footprint_bytes", "launches", "warp_instructions", "thread_instructions"]
# The sizes that the page has.
SHOWN = ["small", "paper", "suite"]
SPACES = ["global", "local", "shared", "constant"]
CLASSES = ["WM", "read-intensive", "WORM", "WORO"]


def toml(value):
    """A value of a profile as TOML in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key) if '-' in key else key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[\n" + "".join(f"    {toml(item)},\n" for item in value) + "]"
    return json.dumps(value)


def section(profile):
    """What measured.toml keeps of a profile: counts, no ratios."""
    lines = [f"[{profile['size']}]"]
    lines += [f"{key} = {toml(profile[key])}" for key in COUNTS]
    for space in SPACES:
        counts = {key: value for key, value in profile[space].items() if key != "accesses_per_instruction"}
        lines.append(f"{space} = {toml(counts)}")
    for what in ["lines", "accesses"]:
        lines.append(f"{what}_by_class = {toml({row['class']: row[what] for row in profile['line_classes']})}")
    lines.append(f"kernels = {toml(profile['kernels'])}")
    return "\n".join(lines) + "\n"


def measure(binary, entry, sizes):
    """Profiles these sizes; measured.toml keeps what it has of the others."""
    name = entry["name"]
    path = SUITE / name / "measured.toml"
    kept = {part.split("]")[0]: "[" + part for part in path.read_text().split("\n[")[1:]} if path.stat().st_size else {}
    for size in sizes:
        profile = json.loads(pages.text(binary, "workload", "profile", name, "--size", size))
        kept[size] = section(profile)
        print(f"{name}: {size} {profile['thread_instructions']:,}", flush=True)
    parts = [kept[size].rstrip("\n") + "\n" for size in SIZES if size in kept]
    path.write_text("# Written by scripts/workloads.py.\n\n" + "\n".join(parts))


def read(name):
    return tomllib.loads((SUITE / name / "measured.toml").read_text())


def bytes_(count):
    for unit in ["B", "KiB", "MiB", "GiB"]:
        if count < 999.5:
            return f"{count:.0f} {unit}" if count >= 99.5 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1024


def ratio(dividend, divisor, digits=1):
    return f"{dividend / divisor:.{digits}f}" if divisor else ""


def instructions(space):
    return space["loads"] + space["stores"] + space["atomics"]


def apki(run, per="thread_instructions"):
    return 1000 * (run["global"]["accesses"] + run["local"]["accesses"]) / run[per]


def shares(run):
    total = sum(run["lines_by_class"].values())
    return [f"{100 * run['lines_by_class'][name] / total:.0f} %" for name in CLASSES]


def fuse_table(entries):
    """FUSE's workloads beside its Table II and Fig. 6."""
    published = {row["workload"]: row for row in csv.DictReader(TABLE_II.open())}
    rows, worm = [], {}
    for name, row in published.items():
        for size in SHOWN:
            if size not in (run := read(name)):
                continue
            run = run[size]
            total = sum(run["lines_by_class"].values())
            worm.setdefault(size, []).append(run["lines_by_class"]["WORM"] / total)
            rows.append([name, row["paper_name"], size, row["apki"], f"{apki(run):.1f}", f"{apki(run, 'warp_instructions'):.0f}", *shares(run)])
    for size, values in worm.items():
        rows.append([f"mean of {len(values)}", "", size, "", "", "", "", "", f"{100 * sum(values) / len(values):.0f} %", ""])
    header = ["workload|", "in the paper|", "size|", "APKI, Table II", "APKI measured", "per thousand warp-instructions", "WM", "read-intensive", "WORM", "WORO"]
    return pages.table(header, rows)


def all_table(entries):
    rows = []
    for entry in entries:
        run = read(entry["name"])
        for size in SHOWN:
            if size not in run:
                continue
            of = run[size]
            shared = max(kernel["shared_bytes"] for kernel in of["kernels"])
            registers = sorted({kernel["registers"] for kernel in of["kernels"]})
            span = f"{registers[0]}" if len(registers) == 1 else f"{registers[0]} to {registers[-1]}"
            rows.append([
                entry["name"], size, f"{of['launches']:,}", f"{of['warp_instructions'] / 1e6:,.1f}", f"{of['thread_instructions'] / 1e6:,.0f}",
                bytes_(of["footprint_bytes"]), bytes_(128 * sum(of["lines_by_class"].values())),
                ratio(of["global"]["accesses"], instructions(of["global"])), ratio(100 * instructions(of["shared"]), of["warp_instructions"]),
                ratio(of["shared"]["accesses"], instructions(of["shared"]), 2), bytes_(shared) if shared else "", span,
                ratio(of["thread_instructions"], of["warp_instructions"]),
            ])
    header = [
        "workload|", "size|", "launches", "million warp-instr.", "million thread-instr.", "allocated", "touched", "lines a global instr.",
        "shared instr. %", "passes a shared instr.", "shared a CTA", "registers", "lanes an instr.",
    ]
    return pages.table(header, rows)


def page(binary):
    """The page's tables, of what is measured."""
    entries = json.loads(pages.text(binary, "list", "workloads", "--json"))
    return {"fuse": fuse_table(entries), "all": all_table(entries)}


def main():
    names = sys.argv[1:]
    page_only = names == ["--page"]
    if any(name.startswith("-") for name in names) and not page_only:
        sys.exit(__doc__)
    binary = pages.build()
    entries = json.loads(pages.text(binary, "list", "workloads", "--json"))
    known = {entry["name"] for entry in entries}
    if not page_only and (unknown := set(names) - known):
        sys.exit(f"workloads.py: no workload {', '.join(sorted(unknown))}")
    for entry in entries:
        lacking = [size for size in entry["sizes"] if size not in read(entry["name"])]
        sizes = entry["sizes"] if entry["name"] in names else [] if names or page_only else lacking
        if sizes:
            measure(binary, entry, sizes)
    if all(read(entry["name"]) for entry in entries):
        pages.write("docs/characteristics.md", page(binary))


if __name__ == "__main__":
    main()
