#!/usr/bin/env python3
"""Measures what replacement and prefetch policies do, for docs/policies.md: docs/data/replacement.csv and docs/data/prefetch.csv.

    scripts/policies.py                 both, of every workload at `small`, which takes a quarter of an hour
    scripts/policies.py replacement     one of them: `replacement` or `prefetch`

The examples `miss_rates` and `prefetches` of strata-gpu measure; EXAMPLES=/folder names one that has them, and they are built otherwise.
`scripts/documents.py` checks that the page says what these files do, and runs two workloads at `test` again with the command. Builds the
release command; STRATA=/path names another.
"""

import os
import pathlib
import subprocess
import sys

import pages
import sentinels

PAGE = "docs/policies.md"
REPLACEMENT, PREFETCH = "docs/data/replacement.csv", "docs/data/prefetch.csv"
MACHINE, SIZE, QUICK_SIZE = "gtx480", "small", "test"
# From those that read most lines again to those that read hardly any.
WORKLOADS = ["gemm", "backprop", "spmv", "lud", "bfs", "hotspot", "atax", "kmeans", "histo", "gather"]
QUICK = ["bfs", "kmeans"]
POLICIES = ["lru", "fifo", "random", "tree-plru", "srrip", "brrip", "drrip", "ship"]
PREFETCHERS = ["none", "next-line", "stride", "stream"]
CACHES = {"l1d": "L1D", "llc": "LLC"}
# What became of the lines that were prefetched.
FATES = ["issued", "useful", "late", "unused", "harmful"]


def measured(example):
    """What an example prints of every workload: CSV."""
    command = ["cargo", "run", "--quiet", "--release", "--locked", "-p", "strata-gpu", "--example", example, "--"]
    if folder := os.environ.get("EXAMPLES"):
        command = [str(pathlib.Path(folder) / example)]
    out = subprocess.run([*command, MACHINE, SIZE, *WORKLOADS], cwd=pages.ROOT, capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"{example}: {out.stderr.strip()}")
    return out.stdout


# What is measured, by the part of the page: the example, and the file that has what it prints.
MEASURES = {"replacement": ("miss_rates", REPLACEMENT), "prefetch": ("prefetches", PREFETCH)}


def measure(binary, part):
    example, path = MEASURES[part]
    (pages.ROOT / path).write_text(measured(example))
    sentinels.measured(PAGE, [part], binary)
    print(f"{path}: written")


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def replacement_table(cache, known, workloads, size, columns):
    """Load-miss rates. `known` has loads and misses by cache, workload, size and policy."""
    lines = []
    for workload in workloads:
        counts = [known[cache, workload, size, policy] for policy in columns]
        lines.append([workload, f"{counts[0][0]:,}", *(share(misses, loads) for loads, misses in counts)])
    titles = [f"`{name}`" if name in POLICIES else name for name in columns]
    return pages.table([f"{CACHES[cache]}|", "loads", *titles], lines)


def prefetch_table(cache, rows, workloads):
    """Cycles relative to none, and of the lines that were prefetched the shares that were useful and harmful."""
    known = {tuple(row[:4]): list(map(int, row[4:10])) for row in rows}
    size, lines = rows[0][2], []
    for workload in workloads:
        (base, *_), line = known[cache, workload, size, "none"], [workload]
        for policy in PREFETCHERS[1:]:
            cycles, issued, useful, _, _, harmful = known[cache, workload, size, policy]
            change = round(100 * (cycles / base - 1), 1) + 0.0
            line += [f"{change:+.1f} %", f"{issued:,}", share(useful, issued), share(harmful, issued)]
        lines.append(line)
    head = [title for policy in PREFETCHERS[1:] for title in (f"`{policy}`: cycles", "issued", "useful", "harmful")]
    return pages.table([f"{CACHES[cache]}|", *head], lines)


def quick(binary):
    """What two workloads do in the L1D at the smallest size, run now."""
    known, prefetched = {}, []
    for workload in QUICK:
        run = lambda key: pages.result(binary, workload, "--size", QUICK_SIZE, "--machine", MACHINE, "--set", key)
        for policy in POLICIES:
            group = run(f"l1d.replacement={policy}")["statistics"]["l1d"]
            misses = group["load_misses"]
            known["l1d", workload, QUICK_SIZE, policy] = (group["load_hits"] + group["load_partial_hits"] + misses, misses)
        for policy in PREFETCHERS:
            found = run(f"l1d.prefetch={policy}")
            group = found["statistics"].get("l1d_prefetch", {})
            fates = (group.get(fate, 0) for fate in FATES)
            prefetched.append(["l1d", workload, QUICK_SIZE, policy, found["cycles"], *fates])
    replaced = replacement_table("l1d", known, QUICK, QUICK_SIZE, POLICIES)
    return f"{replaced}\n\n{prefetch_table('l1d', prefetched, QUICK)}"


def parts(binary):
    """The generated parts of the page."""
    replaced, prefetched = sentinels.rows_of(REPLACEMENT), sentinels.rows_of(PREFETCH)
    known = {tuple(row[:4]): tuple(map(int, row[4:6])) for row in replaced}
    columns = [*POLICIES, "fewest"]
    versions = " and ".join(f"`{version}`" for version in sorted({row[-1] for row in [*replaced, *prefetched]}))
    found = {
        f"replacement in the {name}": replacement_table(cache, known, WORKLOADS, SIZE, columns) for cache, name in CACHES.items()
    }
    found |= {f"prefetch in the {name}": prefetch_table(cache, prefetched, WORKLOADS) for cache, name in CACHES.items()}
    return {**found, "measured": f"Measured on `{MACHINE}` at size `{SIZE}` with simulator {versions}.", "quick": quick(binary)}


def main():
    named = sys.argv[1:] or list(MEASURES)
    if set(named) - MEASURES.keys():
        sys.exit(__doc__)
    binary = pages.build()
    for part in named:
        measure(binary, part)
    pages.write(PAGE, {**parts(binary), "age": sentinels.age(PAGE, sentinels.measure(binary))}, whole=False)


if __name__ == "__main__":
    main()
