#!/usr/bin/env python3
"""Writes what runs say into README.md, docs/workloads.md and docs/fidelity.md.

    scripts/examples.py              all of them
    scripts/examples.py README.md    those named

Builds the release command; STRATA=/path names another.
"""

import json
import sys

import pages

# Launch file, overrides, and the peer's cycles, warp instructions and thread instructions per cycle.
PEERS = [
    ("vecadd 256 K", "vecadd-256k", ["l1d.sram.sets=32"], (21455, 180224, 256.6)),
    ("hotspot 256, 2 steps", "hotspot-256", ["l1d.sram.sets=32"], (45045, 787116, 496.7)),
    ("ATAX 256", "atax-256", ["l1d.sram.sets=32"], (175324, 184704, 33.6)),
    ("ATAX 256, L1D of 32 KB", "atax-256", [], None),
    ("2DCONV 512", "conv2d-512", ["l1d.sram.sets=32"], (37211, 425056, 357.7)),
    ("GEMM 128", "gemm-128", ["l1d.sram.sets=32"], (58578, 469504, 255.4)),
]

LATENCIES = [
    ("L1D hit", "l1"),
    ("L2 hit", "l2"),
    ("DRAM, rows mostly open", "dram"),
    ("DRAM, rows mostly closed", "dram-rows"),
]


def catalogue(binary):
    entries = json.loads(pages.text(binary, "list", "workloads", "--json"))
    rows, words = [], []
    for entry in entries:
        name = entry["name"]
        kernels = ", ".join(kernel["name"] for kernel in entry["kernels"])
        papers = ", ".join(entry["papers"])
        for number, of in enumerate(entry["inputs"]):
            first = [name, entry["suite"], papers, kernels] if number == 0 else [""] * 4
            rows.append([*first, of["size"], of["input"], f"{of['thread_instructions'] / 1e6:,.1f}", f"{of['footprint_bytes'] / 2**20:,.1f}"])
        originals = ", ".join(f"{kernel['name']} for {kernel['original']}" for kernel in entry["kernels"] if kernel["original"])
        stands = f" Kernels: {originals}." if originals else ""
        differs = " Differs: " + "; ".join(entry["differences"]) + "." if entry["differences"] else ""
        words.append(f"- **{name}**: {entry['description']}{stands}{differs}")
    header = ["name|", "suite|", "papers|", "kernels|", "size|", "input|", "million thread-instr.", "MiB"]
    return {"catalogue": pages.table(header, rows), "descriptions": "\n".join(words)}


def latency(binary, name):
    run = pages.result(binary, f"examples/latency/{name}.toml")
    short, long = (launch["cycles"] for launch in run["launches"][-2:])
    return (long - short) / 2048


def fidelity(binary):
    latencies = [[what, f"{latency(binary, name):.1f}"] for what, name in LATENCIES]
    rows = []
    for what, name, sets, peer in PEERS:
        arguments = [argument for value in sets for argument in ("--set", value)]
        run = pages.result(binary, f"examples/peers/{name}.toml", *arguments)
        theirs = (f"{peer[1]:,}", f"{peer[0]:,}", f"{peer[2]:.1f}") if peer else ("", "", "")
        rows.append([what, f"{run['warp_instructions']:,}", theirs[0], f"{run['cycles']:,}", theirs[1], f"{run['ipc']:.1f}", theirs[2]])
    header = ["program|", "warp instructions", "peer", "cycles", "peer", "IPC", "peer"]
    return {"latencies": pages.table(["load|", "cycles from issue to use"], latencies), "programs": pages.table(header, rows)}


def readme(binary):
    page = pages.text(binary, "run", "gemm", "--size", "small")
    return {"example": f"```text\n{page.rstrip()}\n```"}


def main():
    writers = {"docs/workloads.md": catalogue, "docs/fidelity.md": fidelity, "README.md": readme}
    names = sys.argv[1:] or list(writers)
    if unknown := set(names) - set(writers):
        sys.exit(f"examples.py: {', '.join(unknown)}: expected some of {', '.join(writers)}")
    binary = pages.build()
    for name in names:
        pages.write(name, writers[name](binary))


if __name__ == "__main__":
    main()
