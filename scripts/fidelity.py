#!/usr/bin/env python3
"""Writes the tables of docs/fidelity.md.

    scripts/fidelity.py                     microbenchmarks are run; programs are taken from docs/data/programs.csv
    scripts/fidelity.py --programs FOLDER   also runs the programs of FOLDER under `strata exec` and writes their cycles
                                            into docs/data/programs.csv: with loads moved ahead, and in the order of the PTX

FOLDER holds the executables that the column `command` names, linked with the shared CUDA runtime, and the files that they
read. Builds the release command; STRATA=/path names another, beside which libcuda.so and libcudart.so.11.0 stand.
"""

import csv
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile

import pages
import sentinels

MICROBENCHMARKS = "docs/data/microbenchmarks.csv"
PROGRAMS = "docs/data/programs.csv"
# What the difference of the last two launches of an example is divided by, or what it divides.
LOADS = 2048
HITS = 32 * 16 * 256
COPIED = 2 * 12 * 2**20


def rows_of(path):
    with open(pages.ROOT / path, newline="") as file:
        return list(csv.DictReader(file))


def last_two(binary, machine, example):
    run = pages.result(binary, f"examples/latency/{example}.toml", "--machine", machine)
    short, long = (launch["cycles"] for launch in run["launches"][-2:])
    return long - short, run


def measure(binary, machine, example, unit):
    cycles, run = last_two(binary, machine, example)
    if example == "hits":
        return HITS / cycles
    if example == "copy":
        return COPIED / cycles * run["core_mhz"] / 1e3
    return cycles / LOADS


def given(row):
    low, high = row["low"], row["high"]
    return high if low in ("", high) else f"{low} to {high}"


def microbenchmarks(binary):
    published = rows_of(MICROBENCHMARKS)
    keys = list(dict.fromkeys((row["machine"], row["row"], row["example"], row["unit"]) for row in published))
    rows, notes = [], {}
    for machine, what, example, unit in keys:
        cells = {"hardware": "", "peer": ""}
        for row in published:
            if (row["machine"], row["row"]) == (machine, what):
                note = notes.setdefault(row["source"], len(notes) + 1)
                cells[row["kind"]] = f"{given(row)} ({note})"
        rows.append([machine, what, unit, f"{measure(binary, machine, example, unit):.2f}", cells["hardware"], cells["peer"]])
    table = pages.table(["machine|", "what|", "unit|", "Strata", "published", "GPGPU-Sim"], rows)
    return table + "\n\n" + "\n".join(f"{number}. {source}." for source, number in notes.items())


def cycles(binary, folder, row, *more):
    """Cycles of a program under `strata exec` on the row's machine, with values replaced further."""
    command = shlex.split(row["command"])
    sets = [word for value in [*row["sets"].split(), *more] for word in ("--set", value)]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        program = [str(pathlib.Path(folder).resolve() / command[0]), *command[1:]]
        # Some programs read past their buffers, as hardware lets them.
        options = ["--threads", "1", "--bounds", "page", "--json", out.name]
        run = subprocess.run([binary, "exec", *options, *sets, "--", *program],
                             cwd=folder, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{row['program']}: {run.stderr.strip()[-400:]}")
        launches = [json.loads(line) for line in pathlib.Path(out.name).read_text().splitlines()]
    return launches[-1]["cycles"]


def programs(binary, folder):
    rows = rows_of(PROGRAMS)
    if folder:
        for row in rows:
            row["strata_cycles"] = cycles(binary, folder, row)
            row["as_written_cycles"] = cycles(binary, folder, row, "sm.load_window=0")
        with open(pages.ROOT / PROGRAMS, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    cells, ratios = [], {}
    for row in rows:
        ours, written, peer = (int(row[name]) for name in ("strata_cycles", "as_written_cycles", "peer_cycles"))
        ratios.setdefault(row["machines"], []).append((ours / peer, written / peer))
        cells.append([row["program"], row["machines"], f"{peer:,}", f"{ours:,}", f"{ours / peer:.2f}",
                      f"{written:,}", f"{written / peer:.2f}"])
    table = pages.table(["program|", "machines|", "GPGPU-Sim, cycles", "Strata, cycles", "ratio",
                         "Strata as written, cycles", "ratio"], cells)
    return table + "\n\n" + "\n".join(summary(machines, found) for machines, found in ratios.items() if len(found) > 1)


def summary(machines, ratios):
    def of(ratios):
        error = sum(abs(ratio - 1) for ratio in ratios) / len(ratios)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        return f"mean absolute error {100 * error:.1f} %, geometric mean of the ratios {mean:.2f}"

    ours, written = zip(*ratios)
    return f"- {machines}, {len(ratios)} programs: {of(ours)}; as written {of(written)}."


def parts(binary, folder=None):
    """The page's tables; programs are run if there is a folder of them."""
    return {"microbenchmarks": microbenchmarks(binary), "programs": programs(binary, folder)}


def main():
    arguments = sys.argv[1:]
    folder = arguments[1] if len(arguments) == 2 and arguments[0] == "--programs" else None
    if arguments and folder is None:
        sys.exit(f"fidelity.py: {' '.join(arguments)}\n\n{__doc__}")
    binary = pages.build()
    pages.write("docs/fidelity.md", parts(binary, folder))
    if folder:
        sentinels.measured("docs/fidelity.md", ["programs"], binary)


if __name__ == "__main__":
    main()
