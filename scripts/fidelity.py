#!/usr/bin/env python3
"""Writes the tables of docs/fidelity.md.

    scripts/fidelity.py                     microbenchmarks are run; programs are taken from docs/data/programs.csv
    scripts/fidelity.py --programs FOLDER   also runs the programs of FOLDER under `strata exec` and writes their cycles
                                            into docs/data/programs.csv: with loads moved ahead, and in the order of the PTX
    scripts/fidelity.py --v100 RUNS.csv     also runs the programs of RUNS.csv on `v100` and writes their cycles into
                                            docs/data/v100-programs.csv; of held-out families none
    scripts/fidelity.py --held-out RUNS.csv the same for those of held-out families, when the model stands
    scripts/fidelity.py --counters RUNS.csv also runs the kernels of RUNS.csv on `v100` and writes their watts and counters into
                                            docs/data/v100-counters.csv; those that are not in RUNS.csv keep theirs

FOLDER holds the executables that the column `command` names, linked with the shared CUDA runtime, and the files that they
read. RUNS.csv has the columns program and row of crates/lab/data/hardware/v100-programs.csv, or kernel of v100-counters.csv beside it;
and folder, executable and arguments: what is run, and where. Builds the release command; STRATA=/path names another, beside which libcuda.so and libcudart.so.11.0 stand.
"""

import math
import pathlib
import shlex
import statistics
import sys

import pages
import sentinels
import v100_counters

MICROBENCHMARKS = "docs/data/microbenchmarks.csv"
PROGRAMS = "docs/data/programs.csv"
HARDWARE = "crates/lab/data/hardware/v100-programs.csv"
V100 = "docs/data/v100-programs.csv"
# The clocks of the board whose cycles HARDWARE has (its README says whence).
BOARD = ("clocks.core_mhz=1132", "clocks.dram_mhz=850")
# What the difference of the last two launches of an example is divided by, or what it divides.
LOADS = 2048
HITS = 32 * 16 * 256
COPIED = 2 * 12 * 2**20


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
    published = pages.read_csv(MICROBENCHMARKS)
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
    """Cycles of a program on the row's machine, with values replaced further."""
    command = shlex.split(row["command"])
    sets = [word for value in [*row["sets"].split(), *more] for word in ("--set", value)]
    program = [str(pathlib.Path(folder).resolve() / command[0]), *command[1:]]
    return pages.executed(binary, folder, program, *sets)[1]["cycles"]


def programs(binary, folder):
    rows = pages.read_csv(PROGRAMS)
    if folder:
        for row in rows:
            row["strata_cycles"] = cycles(binary, folder, row)
            row["as_written_cycles"] = cycles(binary, folder, row, "sm.load_window=0")
        pages.write_csv(PROGRAMS, rows)
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


def run_on_v100(binary, runs, side):
    """Runs the programs of a file that are on one side of the split on `v100` at the clocks of the board that was measured, and keeps
    what each comes to, launch by launch as a profiler counts, beside what others came to before."""
    clocks = [word for value in BOARD for word in ("--set", value)]
    sides = {(row["program"], row["row"]): row["side"] for row in pages.read_csv(HARDWARE)}
    wanted = [row for row in pages.read_csv(pathlib.Path(runs).resolve()) if sides[row["program"], row["row"]] == side]
    rows = {(row["program"], row["row"]): row for row in pages.read_csv(V100)}
    for row in wanted:
        command = [row["executable"], *shlex.split(row["arguments"])]
        launches, whole = pages.executed(binary, row["folder"], command, "--machine", "v100", *clocks)
        overlapped = sum(launch.get("overlapped_cycles", 0) for launch in launches)
        rows[row["program"], row["row"]] = {
            **rows.get((row["program"], row["row"]), {"first_cycles": ""}),
            "program": row["program"], "row": row["row"], "launches": len(launches),
            "strata_cycles": whole["cycles"] + overlapped, "strata_elapsed_cycles": whole["cycles"]}
    pages.write_csv(V100, [rows[key] for key in sides if key in rows])


def v100():
    """Programs on `v100` beside the GPU and Accel-Sim, on each side of the split."""
    hardware = {(row["program"], row["row"]): row for row in pages.read_csv(HARDWARE)}
    rows = pages.read_csv(V100)
    heads = {"held-out": "Held out", "modelling": "Used for modelling"}
    texts = []
    for side, head in heads.items():
        cells, errors = [], []
        for row in rows:
            of = hardware[row["program"], row["row"]]
            if of["side"] != side:
                continue
            gpu, peer, ours = int(of["hardware_cycles"]), int(of["accel_sim_cycles"]), int(row["strata_cycles"])
            # A program that the first run had not has none.
            first = f"{100 * (int(row['first_cycles']) / gpu - 1):+.0f} %" if row["first_cycles"] else ""
            errors.append({"Strata": ours / gpu, "Accel-Sim": peer / gpu})
            if first:
                errors[-1]["Strata's first run"] = int(row["first_cycles"]) / gpu
            what = " ".join([of["program"].removesuffix("-rodinia-3.1"), of["arguments"]]).strip()
            cells.append([f"{what[:48]}", row["launches"], f"{gpu:,}", f"{ours:,}", f"{100 * (ours / gpu - 1):+.0f} %",
                          first, f"{peer:,}", f"{100 * (peer / gpu - 1):+.0f} %"])
        if cells:
            table = pages.table(["program|", "launches", "GPU, cycles", "Strata, cycles", "error", "first run", "Accel-Sim, cycles", "error"], cells)
            texts.append(f"**{head}**, {len(cells)} runs of {families(rows, hardware, side)} families:\n\n{table}\n\n{errors_of(errors)}")
    return "\n\n".join(texts)


def errors():
    """What the page begins with: errors on what was used for modelling, and on what was not."""
    hardware = {(row["program"], row["row"]): row for row in pages.read_csv(HARDWARE)}
    cells = []

    def line(what, beside, pairs, peer=None):
        """A row of pairs of measured and found values, and those of a peer."""
        def of(pairs):
            found = [abs(ours / theirs - 1) for ours, theirs in pairs]
            return [f"{100 * statistics.mean(found):.1f} %", f"{100 * statistics.median(found):.1f} %"]

        cells.append([what, beside, len(pairs), *of(pairs), " / ".join(of(peer)) if peer else ""])

    rows = pages.read_csv(V100)
    for side, what in {"held-out": "programs that were not used for modelling", "modelling": "programs that were"}.items():
        own = [(row, hardware[row["program"], row["row"]]) for row in rows]
        own = [(row, of, int(of["hardware_cycles"])) for row, of in own if of["side"] == side]
        runs = {"first_cycles": f"`v100`: cycles of {what}, first run", "strata_cycles": "the same, built and clocked as measured"}
        for column, name in runs.items():
            ran = [of for of in own if of[0][column]]
            line(name, "a V100", [(int(row[column]), gpu) for row, _, gpu in ran],
                 [(int(of["accel_sim_cycles"]), gpu) for _, of, gpu in ran])
    for machines in ("matched", "default"):
        own = [row for row in pages.read_csv(PROGRAMS) if row["machines"] == machines]
        line(f"`gtx480`: cycles, {machines} machines", "GPGPU-Sim", [(int(row["strata_cycles"]), int(row["peer_cycles"])) for row in own])
        line("the same in the order of the text", "GPGPU-Sim", [(int(row["as_written_cycles"]), int(row["peer_cycles"])) for row in own])
    line("`v100`: watts of kernels", "a V100", v100_counters.watts_of_all())
    return pages.table(["what|", "beside|", "runs", "mean error", "median", "Accel-Sim's"], cells)


def families(rows, hardware, side):
    found = [hardware[row["program"], row["row"]] for row in rows]
    return len({row["family"] for row in found if row["side"] == side})


def errors_of(ratios):
    """Means and medians of the errors of Strata, of its first run, and of Accel-Sim."""
    lines = []
    for who in ("Strata", "Strata's first run", "Accel-Sim"):
        found = [abs(ratio[who] - 1) for ratio in ratios if who in ratio]
        lines.append(f"- {who}: mean absolute error {100 * statistics.mean(found):.1f} %, median {100 * statistics.median(found):.1f} %.")
    return "\n".join(lines)


def parts(binary, folder=None):
    """The page's tables; programs are run if there is a folder of them."""
    compared = programs(binary, folder)
    return {"errors": errors(), "microbenchmarks": microbenchmarks(binary), "v100": v100(), "counters": v100_counters.tables(),
            "programs": compared}


def main():
    arguments = sys.argv[1:]
    given = dict([arguments]) if len(arguments) == 2 else {}
    folder, runs, held, counted = (given.get(option) for option in ("--programs", "--v100", "--held-out", "--counters"))
    if arguments and not any((folder, runs, held, counted)):
        sys.exit(f"fidelity.py: {' '.join(arguments)}\n\n{__doc__}")
    binary = pages.build()
    for file, side in ((runs, "modelling"), (held, "held-out")):
        if file:
            run_on_v100(binary, file, side)
    if counted:
        v100_counters.run(binary, counted)
    pages.write("docs/fidelity.md", parts(binary, folder))
    if folder:
        sentinels.measured("docs/fidelity.md", ["programs"], binary)
    if runs or held:
        sentinels.measured("docs/fidelity.md", ["v100"], binary)
    if counted:
        sentinels.measured("docs/fidelity.md", ["counters"], binary)


if __name__ == "__main__":
    main()
