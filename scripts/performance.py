#!/usr/bin/env python3
"""Measures what a warp instruction costs on the host and writes the tables of docs/performance.md.

    scripts/performance.py                  all of them, half an hour on two cores
    scripts/performance.py --no-time        without the tables of host times and threads, for a busy machine; ten minutes
    scripts/performance.py PART ...         those named
    scripts/performance.py --check          writes nothing; counts some programs and pieces of larger ones, and fails where one takes
                                            over 2 % more than the page says
    scripts/performance.py --against OTHER  compares this build with another: all workloads at `small`, their first 100,000 cycles;
                                            with --no-time or PART, measures those as well

Needs valgrind, addr2line and readelf (binutils). Builds the command with the profile that is handed out; STRATA=/path names another.
Builds need debug lines, as that profile's have.
"""

import argparse
import concurrent.futures
import functools
import os
import sys

import callgrind
import comparison
import fit
import host_time
import pages
import sentinels

PAGE = "docs/performance.md"

# The profile of the build that is handed out.
PROFILE = "dist"

# Programs of every kind: computing, divergent, streaming, bound by memory.
CHECKED = ["gemm", "bfs", "saxpy", "atax", "gather", "lud"]

# What is counted of larger runs: so many of their first cycles.
SMALL = {"gemm": 60_000, "gaussian": 150_000, "bfs": 100_000, "gather": 100_000, "spmv": 100_000, "atax": 250_000}

# The columns of the tables by stage.
STAGES_AT_TEST = ["gemm", "2dconv", "saxpy", "atax", "gather"]
STAGES_AT_SMALL = ["gemm", "gaussian", "bfs", "gather", "atax"]

SMS = [1, 2, 4, 8, 15, 30, 60]
WARP_SLOTS = [8, 16, 24, 32, 48]

COST = "host instructions a warp instruction"


class Measured:
    """The parts of the page that are counted, of one build. What several need is counted once."""

    def __init__(self, binary, counts, jobs):
        self.binary, self.counts, self.jobs = binary, counts, jobs

    def all(self, runs):
        """Counts of runs, several at a time: each its arguments and, where it is bounded, its cycles."""
        def count(run):
            arguments, cycles = run
            found = self.counts.count(self.binary, *arguments, cycles=cycles)
            bound = f", {cycles:,} cycles" if cycles else ""
            print(f"{' '.join(arguments)}{bound}: {found.cost:,.0f}", file=sys.stderr, flush=True)
            return found

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(count, runs))

    def programs(self, names):
        """Programs at `test`."""
        return dict(zip(names, self.all([([name], None) for name in names])))

    def pieces(self, cycles):
        """Pieces of programs at `small`."""
        return dict(zip(cycles, self.all([([name, "--size", "small"], bound) for name, bound in cycles.items()])))

    @functools.cached_property
    def test(self):
        return self.programs(self.binary.workloads())

    @functools.cached_property
    def small(self):
        return self.pieces(SMALL)

    def sweep(self, title, key, values, workload, *more):
        runs = self.all([([workload, "--set", f"{key}={value}", *more], None) for value in values])
        rows = [[value, f"{run.cycles:,}", f"{run.cost:,.0f}", f"{run.host / run.cycles:,.0f}"] for value, run in zip(values, runs)]
        return pages.table([title, "cycles", COST, "host instructions a cycle"], rows)

    def machines(self):
        """The same program on a small and on a large machine."""
        names, machines = ["gemm", "2dconv", "3dconv"], ["gtx480", "volta-fuse"]
        runs = self.all([([name, "--size", "small", "--machine", machine], None) for name in names for machine in machines])
        rows = []
        for name, small, large in zip(names, runs[::2], runs[1::2]):
            rows.append([name, f"{small.cost:,.0f}", f"{large.cost:,.0f}", f"{large.cost / small.cost:.2f}"])
        return pages.table(["workload, size small|", *machines, "ratio"], rows)

    def parts(self):
        """What makes each part of the page."""
        return {
            "compiler": lambda: f"Counted with {host_time.compiler()}, profile `{PROFILE}`.",
            "stages": lambda: stages_table({name: self.test[name] for name in STAGES_AT_TEST}),
            "traffic": lambda: traffic_table(self.test),
            "small": lambda: small_table(self.small),
            "small stages": lambda: stages_table({name: self.small[name] for name in STAGES_AT_SMALL}),
            "sms": lambda: self.sweep("SMs", "gpu.sms", SMS, "gemm", "--set", "network.topology=crossbar"),
            "warps": lambda: self.sweep("warp slots", "sm.warp_slots", WARP_SLOTS, "2dconv"),
            "machines": self.machines,
            "time": lambda: host_time.time_table(self.binary),
            "threads": lambda: host_time.threads_table(self.binary),
        }


def stages_table(runs):
    rows = []
    for stage in callgrind.STAGES:
        rows.append([stage, *[f"{run.stages[stage] / run.warp_instructions:,.0f}" for run in runs.values()]])
    rows.append(["**together**", *[f"**{run.cost:,.0f}**" for run in runs.values()]])
    rows.append(["once a run, millions", *[f"{run.once / 1e6:,.0f}" for run in runs.values()]])
    return pages.table(["stage|", *runs], rows)


def traffic_table(runs):
    rows = []
    for name, run in sorted(runs.items(), key=lambda pair: pair[1].cost):
        warp = run.warp_instructions
        rows.append([name, f"{run.cost:,.0f}", f"{warp / run.cycles:.2f}", f"{run.host / run.cycles:,.0f}",
                     f"{run.l1d_accesses / warp:.2f}", f"{run.packets / warp:.2f}", f"{run.dram_requests / warp:.2f}"])
    return pages.table(["workload|", COST, "warp IPC", "host instructions a cycle", "L1D accesses", "packets", "DRAM requests"], rows)


def small_table(runs):
    rows = []
    for name, run in runs.items():
        # With few requests, their share of the cost is not what they cost.
        bound_by_dram = run.dram_requests > run.warp_instructions / 2
        rows.append([name, f"{SMALL[name]:,}", f"{run.warp_instructions:,}", f"{run.cost:,.0f}", f"{run.dram_requests:,}",
                     f"{run.host / run.dram_requests:,.0f}" if bound_by_dram else ""])
    return pages.table(["workload|", "cycles", "warp instructions", COST, "DRAM requests", "host instructions a DRAM request"], rows)


def committed(traffic, small):
    """What the page says that programs at `test` and pieces of larger runs cost, from its tables."""
    costs = {row["workload"]: pages.number(row[COST]) for row in pages.rows(traffic)}
    pieces = {piece(row["workload"], int(pages.number(row["cycles"]))): pages.number(row[COST]) for row in pages.rows(small)}
    return costs | pieces


def piece(name, cycles):
    return f"{name} at small, {cycles:,} cycles"


def compare(said, found, most):
    """A line for each cost that was found beside what the page says, and what is wrong: costs over `most` times those, or none said."""
    lines, wrong = [], []
    for name, cost in found.items():
        if name not in said:
            wrong.append(f"{name}: {PAGE} has no such entry")
            continue
        more = cost / said[name] - 1
        lines.append(f"{name}: {cost:,.0f} {COST}, {said[name]:,.0f} in {PAGE}, {more:+.1%}")
        if cost > most * said[name]:
            wrong.append(f"{name}: {more:.1%} above {PAGE}")
    return lines, wrong


def check(measured):
    """Compares programs of every kind, and pieces of larger runs, with the page."""
    said = committed(pages.part(PAGE, "traffic"), pages.part(PAGE, "small"))
    print(f"{host_time.compiler()}, {os.environ.get('STRATA') or f'profile {PROFILE}'}")
    # Another compiler emits other instructions.
    most = 1.02 if host_time.compiler() in pages.part(PAGE, "compiler") else 1.10
    programs = measured.programs(CHECKED)
    found = {name: run.cost for name, run in programs.items()}
    found |= {piece(name, SMALL[name]): run.cost for name, run in measured.small.items()}
    lines, wrong = compare(said, found, most)
    print("\n".join(lines))
    if wrong:
        sys.exit("\n".join([f"performance.py: at most {most - 1:.0%} more is allowed", *wrong]))


def write(measured, names):
    """Measures parts of the page, and writes them."""
    parts = {name: make() for name, make in measured.parts().items() if name in names}
    traffic = parts.get("traffic") or pages.part(PAGE, "traffic")
    pages.write(PAGE, {**parts, "limit": fit.sentence(pages.rows(traffic))}, whole=False)
    sentinels.measured(PAGE, parts.keys() & sentinels.COSTLY[PAGE].keys(), measured.binary.path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="generated parts of the page to measure; all without one")
    parser.add_argument("--no-time", action="store_true", help="leave out what depends on how long something takes")
    parser.add_argument("--check", action="store_true", help="compare with the page")
    parser.add_argument("--against", metavar="OTHER", help="compare with this build")
    parser.add_argument("--cycles", type=int, default=100_000, help="first cycles of each workload that --against counts")
    parser.add_argument("--workloads", type=lambda text: text.split(","), help="those that --against counts, with commas; all without")
    parser.add_argument("--since", metavar="COMMIT", help="write what --against finds into the page, and that OTHER is this commit's")
    parser.add_argument("--counts", metavar="FILE", help="a file to keep counts in, so that none of the same build is done again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="counts at a time; one a core without")
    asked = parser.parse_args()
    binary, counts = callgrind.Binary(pages.build(PROFILE)), callgrind.Counts(asked.counts)
    measured = Measured(binary, counts, asked.jobs)
    if unknown := set(asked.parts) - measured.parts().keys() - {"limit"}:
        parser.error(f"{', '.join(sorted(unknown))}: expected some of {', '.join(measured.parts())}")
    if asked.check:
        check(measured)
        return
    if asked.against:
        other = Measured(callgrind.Binary(asked.against), counts, asked.jobs)
        comparison.against(other, measured, asked.workloads, asked.cycles, asked.since)
        if not asked.parts and not asked.no_time:
            return
    timed = {"time", "threads"} if asked.no_time else set()
    write(measured, (set(asked.parts) or measured.parts().keys()) - timed)


if __name__ == "__main__":
    main()
