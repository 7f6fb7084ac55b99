#!/usr/bin/env python3
"""Lays every subset of the five papers' systems over one machine, for ten workloads, and writes what each brings into docs/all-five.md.

    scripts/all_five.py            makes the runs that target/evaluation/all-five lacks, packs them, and writes the page
    scripts/all_five.py --pack     no run: packs what the store holds, and writes the page
    scripts/all_five.py --check    no run: fails where the page is not what results/comparisons/all-five.tar.zst holds

Every run is checked against the reference executor's results, as the workloads' are. Needs tar and zstd. Builds the release command;
STRATA=/path names another.
"""

import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile

import evaluation
import pages

SYSTEMS = ["dy-fuse", "hi-end", "bypass-shared", "morpheus-all", "stash-flush"]
WORKLOADS = ["implicit", "pollution", "reuse", "lud", "backprop", "nw", "pathfinder", "sgemm", "stencil", "surf"]
# Morpheus's kernel takes 64 registers; a thread's parameters are loads, so that lanes and L1Ds have some in every program.
SETS = ["hi-end:sm.registers_per_thread=64", "hi-end:sm.register_file.register_cache.register_bits=6",
        "lsu.read_only=as-global"]
# Whose energies are added up: what the five replace, what is between, and memory. CPU cores have none, so there is no whole.
PARTS = ["register_file", "tiny_cache", "tiny_cache_fills", "coalescer", "l1d", "shared_memory", "scratchpad", "network_requests",
         "network_replies", "l2", "morpheus", "dram"]
OPTIONAL = {"tiny_cache", "tiny_cache_fills", "scratchpad", "morpheus"}
# What is shown: a title and the metric.
METRICS = {
    "Time": "cycles",
    "Energy": " + ".join(f"energy.{part}_pj{'?' * (part in OPTIONAL)}" for part in PARTS),
    "Network traffic": "network.request.flit_hops + network.reply.flit_hops",
    "DRAM traffic": "dram.read_bytes + dram.written_bytes",
    "L1D lifetime": "lifetime.l1d.hottest_months",
    "Register file lifetime": "register-file-lifetime",
}
REFUSED = [
    ["machine", "check", "apu-all", "--system", "hi-end", "--system", "morpheus-all"],
    ["machine", "check", "apu-all", "--system", "tcbase", "--system", "stash-flush"],
]
# Why a stash costs time here: programs with and without it, on the machine and with short ways to memory.
SHORT = ["--set", "llc.rop_latency_cycles=1", "--set", "network.interface_cycles=4", "--set", "dram.controller_latency_cycles=1"]
WHY = [("implicit", []), ("implicit@stash", []), ("nw", []), ("nw@stash", []), ("nw", SHORT), ("nw@stash", SHORT)]
PAGE = "docs/all-five.md"
ARCHIVE = pages.ROOT / "results/comparisons/all-five.tar.zst"


def command(store, *more):
    words = ["compare", *WORKLOADS, "--machine", "apu-all", "--factorial", ",".join(SYSTEMS)]
    for set_ in SETS:
        words += ["--set", set_]
    words += ["--in-version", "stash-flush:stash"]
    for metric in METRICS.values():
        words += ["--metric", metric]
    return [*words, "--store", str(store), *more]


def error(binary, words):
    """What a command that is refused says."""
    run = subprocess.run([binary, *words], cwd=pages.ROOT, capture_output=True, text=True)
    if run.returncode == 0:
        sys.exit(f"strata {shlex.join(words)}: accepted, expected a refusal")
    return run.stderr.strip()


def why(binary):
    rows = []
    for name, sets in WHY:
        system = ["--system", "stash-flush"] if name.endswith("@stash") else []
        run = pages.result(binary, name, "--size", "test", "--machine", "apu-all", *system, *sets)
        l2 = run["statistics"]["l2"]
        reads = next((f"{phase['cycles']:,}" for phase in run.get("host_phases", []) if phase["kernel"] == "cpu_read"), "")
        rows.append([f"`{name}`", " ".join(sets[1::2]), f"{run['cycles']:,}", reads, f"{l2['read_partial_hits']:,}"])
    return pages.table(["program|", "with|", "cycles", "of which CPU cores read", "LLC: reads of sectors with bytes missing"], rows)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def by(found, kind, key):
    """Values by title of the metric, then by `key`, then by workload; those that are."""
    titles = dict(zip(dict.fromkeys(row["metric"] for row in found[kind]), METRICS, strict=True))
    values = {title: {} for title in METRICS}
    for row in found[kind]:
        if row["value"] is not None:
            values[titles[row["metric"]]].setdefault(row[key], {})[row["workload"]] = row["value"]
    return values


def parts(found):
    effects, numbers = by(found, "effects", "of"), by(found, "numbers", "system")
    shown = lambda values: f"{mean(values):.3f} ({min(values):.2f} to {max(values):.2f})" if values else ""
    every = lambda of: [shown(list(effects[metric].get(of, {}).values())) for metric in METRICS]
    pairs = [of for of in effects["Time"] if " x " in of]
    time = numbers["Time"]
    everything, nothing = time["+".join(SYSTEMS)], time["apu-all"]
    by_workload = [[f"`{name}`", *(f"{effects['Time'][of][name]:.3f}" for of in SYSTEMS),
                    f"{everything[name] / nothing[name]:.3f}"] for name in WORKLOADS]
    refused = sorted({row["system"] for row in found["numbers"] if row["workload"] == WORKLOADS[0]} - set(time))
    return {
        "subsets": f"Of {2 ** len(SYSTEMS)} subsets {len(time)} run" + (f"; refused: {', '.join(refused)}." if refused else "."),
        "effects": pages.table(["system|", *METRICS], [[f"`{of}`", *every(of)] for of in SYSTEMS]),
        "interactions": pages.table(["systems|", *METRICS], [[of, *every(of)] for of in pairs]),
        "time": pages.table(["program|", *SYSTEMS, "all five"], by_workload),
    }


def main():
    asked = sys.argv[1:]
    if asked not in ([], ["--pack"], ["--check"]):
        sys.exit(__doc__)
    binary = pages.build()
    store = pages.ROOT / "target/evaluation/all-five"
    if not asked:
        subprocess.run([binary, *command(store)], cwd=pages.ROOT, check=True, stdout=subprocess.DEVNULL)
    if asked != ["--check"]:
        ARCHIVE.parent.mkdir(exist_ok=True)
        evaluation.pack(ARCHIVE, store)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "xf", ARCHIVE, "-C", folder], check=True)
        unpacked = pathlib.Path(folder) / store.name
        text = pages.text(binary, *command(unpacked, "--no-run", "--simulator", "any", "--json", "-"))
    found = json.loads(text)
    shown = shlex.join(["strata", *command("strata-store")])
    refused = "\n".join(f"$ strata {shlex.join(words)}\n{error(binary, words)}" for words in REFUSED)
    pages.write(PAGE, {"refused": f"```text\n{refused}\n```", "command": f"```console\n{shown}\n```", "why": why(binary), **parts(found)}, check=asked == ["--check"])


if __name__ == "__main__":
    main()
