"""Watts and counters of kernels on `v100` beside those of a Quadro GV100; scripts/fidelity.py calls it.

Each program launches its kernel some times in a row. The first launch finds cold caches, as a profiler leaves them that flushes before each;
its counters are compared. The last is one of a loop, as in which power was measured; its watts are compared. A second run in which an
access is a sector (SECTORS) counts sectors at the L1D, which otherwise counts lines.
"""

import pathlib
import shlex
import statistics
import sys
import tempfile

import pages

HARDWARE = "crates/lab/data/hardware/v100-counters.csv"
DATA = "docs/data/v100-counters.csv"
SECTOR_BYTES = 32
SECTORS = ("--set", f"lsu.segment_bytes={SECTOR_BYTES}")
# A launch's counters come as a timeline whose only span is the launch.
SPAN = 10**12
# Smaller counts are a few lines of code or parameters, and in no mean.
FEW = 1000

# Structures by the columns of the table of watts; leakage has one of its own.
PARTS = {
    "SM": ["front_end", "execution", "register_file", "instruction_cache", "constant_cache", "read_only_cache", "coalescer", "texture_unit"],
    "L1D, shared": ["l1d", "shared_memory"],
    "TLBs": ["l1_tlb", "l2_tlb", "gmmu"],
    "network": ["network_requests", "network_replies"],
    "L2": ["l2"],
    "DRAM": ["dram"],
}


def store_hit_share(launch):
    """Of the L1D's stores, those that hit; of whole lines, since the second sector of a line finds what the first has left."""
    return launch["l1d.store_hits"] / launch["l1d.stores"] if launch["l1d.stores"] else 0


# Counter: what of the published file it adds up, and what counts it here: in the plain run, or with sectors.
COUNTERS = {
    "L1 read sectors": (["l1_read_hit_sectors", "l1_read_miss_sectors"], lambda plain, sectors: sectors["l1d.loads"]),
    "L1 read miss sectors": (["l1_read_miss_sectors"], lambda plain, sectors: plain["l1d.fill_bytes"] / SECTOR_BYTES),
    "L1 write sectors": (["l1_write_hit_sectors", "l1_write_miss_sectors"], lambda plain, sectors: sectors["l1d.stores"]),
    "L1 write hit sectors": (["l1_write_hit_sectors"], lambda plain, sectors: store_hit_share(plain) * sectors["l1d.stores"]),
    "L2 read sectors": (["l2_read_hit_sectors", "l2_read_miss_sectors"], lambda plain, sectors: plain["l1d.fill_bytes"] / SECTOR_BYTES),
    "L2 read miss sectors": (["l2_read_miss_sectors"], lambda plain, sectors: plain["l2.fetch_bytes"] / SECTOR_BYTES),
    "L2 write sectors": (["l2_write_hit_sectors", "l2_write_miss_sectors"], lambda plain, sectors: sectors["l2.writes"]),
    "DRAM read sectors": (["dram_read_sectors"], lambda plain, sectors: plain["dram.read_bytes"] / SECTOR_BYTES),
    "DRAM write sectors": (["dram_write_sectors"], lambda plain, sectors: plain["dram.written_bytes"] / SECTOR_BYTES),
    "shared instructions": (["shared_instructions"], lambda plain, sectors: plain["lsu.shared_instructions"]),
    "constant requests": (["constant_requests"], lambda plain, sectors: plain["lsu.constant_lines"]),
    "idle SMs": (["idle_sms"], lambda plain, sectors: 80 * (1 - plain["sm.cycles_active"] / plain["sm.cycles"])),
    "cycles": (["elapsed_cycles"], lambda plain, sectors: plain["cycles"]),
}
# Those that the second run counts; a kernel whose row says no in a column `sectors` has none.
OF_SECTORS = ["L1 read sectors", "L1 write sectors", "L1 write hit sectors", "L2 write sectors"]
# Counted from 0 to 80, so a ratio would say little.
DIFFERENCES = ["idle SMs"]


def launches(binary, row, entry, *more):
    """The launches of a kernel: counters by group and name, cycles, and energy."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        command = [row["executable"], *shlex.split(row["arguments"])]
        said, _ = pages.executed(binary, row["folder"], command, "--machine", "v100", "--compute-capability", "7.0",
                                 "--timeline", out.name, "--span", str(SPAN), *more)
        counted = {int(line["launch"]): line for line in pages.read_csv(out.name)}
    found = []
    for launch in (launch for launch in said if launch["kernel"] == entry):
        line = counted[launch["launch"]]
        counters = {name: float(line[name]) for name in line if "." in name}
        found.append({**counters, **launch, "cycles": launch["cycles"] + launch.get("overlapped_cycles", 0)})
    if not found:
        sys.exit(f"{row['executable']}: found launches of {', '.join(sorted({launch['kernel'] for launch in said}))}, expected some of {entry}")
    return found


def watts(launch):
    """Watts of a launch: all, and dynamic and leaking ones by structure."""
    energy = launch["energy"]
    each_pj = energy["watts"] / energy["pj"]
    yield "all", energy["watts"]
    for name, structure in sorted(energy["structures"].items()):
        for kind in ("dynamic", "leakage"):
            yield f"{name} {kind}", structure[f"{kind}_pj"] * each_pj


def measured(binary, row, hardware):
    """Rows of the data file for one kernel."""
    plain = launches(binary, row, hardware["entry"])
    sectors = launches(binary, row, hardware["entry"], *SECTORS) if row.get("sectors") != "no" else [None]
    common = {"kernel": hardware["kernel"], "program": hardware["program"], "arguments": hardware["arguments"],
              "entry": hardware["entry"], "launches": len(plain)}
    for name, value in watts(plain[-1]):
        published = float(hardware["watts_mean"]) if name == "all" else None
        yield {**common, **compared("watts", name, value, published)}
    yield {**common, **compared("counter", "cycles in a loop", plain[-1]["cycles"], float(hardware["elapsed_cycles"]))}
    for name, (columns, count) in COUNTERS.items():
        if name in OF_SECTORS and sectors == [None]:
            continue
        published = sum(float(hardware[column]) for column in columns)
        yield {**common, **compared("counter", name, count(plain[0], sectors[0]), published)}


def compared(kind, name, ours, published):
    cells = {"kind": kind, "name": name, "strata": f"{ours:.10g}", "v100": "", "ratio": ""}
    if published is not None:
        cells |= {"v100": f"{published:.10g}", "ratio": f"{ours / published:.4f}" if published else ""}
    return cells


def run(binary, runs):
    """Runs the kernels of a file and writes what they come to; those that are not in it keep their rows."""
    wanted = {row["kernel"]: row for row in pages.read_csv(pathlib.Path(runs).resolve())}
    kernels = pages.read_csv(HARDWARE)
    if unknown := wanted.keys() - {hardware["kernel"] for hardware in kernels}:
        sys.exit(f"{runs}: kernel {', '.join(sorted(unknown))}: expected some of {', '.join(row['kernel'] for row in kernels)}")
    found = {hardware["kernel"]: list(measured(binary, wanted[hardware["kernel"]], hardware))
             for hardware in kernels if hardware["kernel"] in wanted}
    for row in pages.read_csv(DATA) if (pages.ROOT / DATA).exists() else []:
        if row["kernel"] not in wanted:
            found.setdefault(row["kernel"], []).append(row)
    pages.write_csv(DATA, [row for hardware in kernels for row in found.get(hardware["kernel"], [])])


def by_kernel():
    """The data file: by kernel, kind and name."""
    found = {}
    for row in pages.read_csv(DATA):
        found.setdefault(row["kernel"], {})[row["kind"], row["name"]] = row
    return found


def watts_of_all():
    """Watts that were found and measured, kernel by kernel."""
    rows = [rows["watts", "all"] for rows in by_kernel().values()]
    return [(float(row["strata"]), float(row["v100"])) for row in rows]


def power(kernels):
    """The table of watts, and their error."""
    cells, errors = [], []
    for name, rows in kernels.items():
        watts = {part: float(row["strata"]) for (kind, part), row in rows.items() if kind == "watts"}
        ours, gpu = watts["all"], float(rows["watts", "all"]["v100"])
        errors.append(abs(ours / gpu - 1))
        rest = watts["rest leakage"]
        leakage = sum(value for part, value in watts.items() if part.endswith("leakage")) - rest
        dynamic = [sum(watts[f"{structure} dynamic"] for structure in names) for names in PARTS.values()]
        cells.append([name, f"{gpu:.1f}", f"{ours:.1f}", f"{100 * (ours / gpu - 1):+.0f} %", *[f"{value:.1f}" for value in [rest, leakage, *dynamic]]])
    header = ["kernel|", "GPU, W", "Strata, W", "error", "rest", "leakage", *PARTS]
    return pages.table(header, cells), statistics.mean(errors)


def is_compared(row):
    return row is not None and (float(row["v100"]) >= FEW or row["name"] in DIFFERENCES)


def counters(kernels):
    """The table of counters, and the error of each."""
    cells = []
    for name, rows in kernels.items():
        shown = [rows.get(("counter", counter)) for counter in COUNTERS]
        cells.append([name, *[cell(row) if is_compared(row) else "" for row in shown]])
    return pages.table(["kernel|", *COUNTERS], cells), {counter: error(kernels, counter) for counter in COUNTERS}


def cell(row):
    ours, gpu = float(row["strata"]), float(row["v100"])
    return f"{ours:.1f} ({gpu:.1f})" if row["name"] in DIFFERENCES else f"{ours / gpu:.2f}"


def error(kernels, counter):
    """How far a counter is off in the mean, in words."""
    rows = [rows.get(("counter", counter)) for rows in kernels.values()]
    pairs = [(float(row["strata"]), float(row["v100"])) for row in rows if is_compared(row)]
    if counter in DIFFERENCES:
        return f"{statistics.mean(abs(ours - gpu) for ours, gpu in pairs):.1f} SMs of {len(pairs)} kernels"
    return f"{100 * statistics.mean(abs(ours / gpu - 1) for ours, gpu in pairs):.1f} % of {len(pairs)}"


def tables():
    """The generated part of docs/fidelity.md."""
    kernels = by_kernel()
    watts_table, watts_error = power(kernels)
    counter_table, errors = counters(kernels)
    lines = [f"Mean absolute error of the watts of {len(kernels)} kernels: {100 * watts_error:.1f} %. Of the counters, of a launch:", "",
             *[f"- {counter}: {off}" for counter, off in errors.items()], "", watts_table, "", counter_table]
    return "\n".join(lines)
