#!/usr/bin/env python3
"""Measures what a warp instruction costs on the host and writes the tables of docs/performance.md.

    scripts/performance.py            everything, some thirty minutes
    scripts/performance.py --no-time  without the tables of host times and threads, for a busy machine
    scripts/performance.py --threads  only the table of what more threads would gain, some fifteen minutes
    scripts/performance.py --check    writes nothing; counts some programs, and fails if one takes over 2 % more than the page says

Needs valgrind and addr2line (binutils). Builds the command with the profile that is handed out; STRATA=/path names another.

Instructions are counted by callgrind, address by address. An address belongs to the innermost function of
Strata that was inlined there, and a call of memcpy, malloc and their like to its caller: the standard
library's code counts for whoever uses it.
"""

import collections
import itertools
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import pages
import sentinels

# Which part of the simulator a source file is: the first pattern that its path, and `:function` behind it,
# contains.
STAGES = [
    ("fetch", "sm/src/fetch", "memory/src/read_only"),
    ("issue, scoreboard, control flow", "sm/src/issue", "sm/src/quiet", "sm/src/scoreboard", "sm/src/scheduler", "sm/src/warps",
     "sm/src/control", "sm/src/barriers", "ptx/src/simt", "isa/instruction.rs", "isa/op.rs", "sm/src/statistics"),
    ("write-back", "backend.rs:write_back", "backend.rs:finish_instruction", "execute.rs:retire", "execute.rs:advance",
     "execute.rs:next_row", "execute.rs:took_row", "execute.rs:pop_writing", "execute.rs:push_writing",
     "register_file/mod.rs:offer_write", "execute.rs:finish_memory", "execute.rs:write_predicates"),
    ("operand collection", "sm/src/collector", "baseline/register_file", "designs/src/hi_end", "backend.rs:collect_operands"),
    ("execution", "sm/src/execute", "sm/src/backend", "ptx/src/exec", "warp/src"),
    ("load/store unit, coalescing", "sm/src/lsu"),
    ("L1D", "baseline/l1d", "designs/src/chassis", "designs/src/fuse"),
    ("network", "baseline/network", "memory/src/flit", "sm/src/inject", "memory/src/packet"),
    ("L2", "baseline/l2", "memory/src/partition", "memory/src/atomic", "memory/src/slice_map", "memory/src/address_map"),
    ("DRAM", "memory/src/dram"),
    ("parts of caches: tags, MSHRs, bytes", "memory/src/tags", "memory/src/mshr", "memory/src/replacement",
     "memory/src/line", "memory/src/bits", "memory/src/address"),
    ("SM: order of its parts, skipping", "sm/src/sm.rs", "sm/src/cta", "sm/src/dispatch", "sm/src/launch", "sm/src/"),
    ("engine: windows, links, queues", "engine/src/simulation", "engine/src/link", "engine/src/island",
     "engine/src/wheel", "engine/src/queue", "engine/src/slab", "engine/src/time", "engine/src/",
     "gpu/src/part"),
]
# What is done once a run, not once an instruction; among it, making and clearing the parts of the machine.
ONCE = "once a run"
MAKERS = (":zeros", "scratchpad.rs:new", "tags.rs:with_buffers", "tags.rs:add_buffers", "simt.rs:new", "barriers.rs:new", "cache.rs:new", "credits.rs:new")

# Functions of libc that belong to their callers.
HELPERS = re.compile(r"^_*(mem(cpy|move|set|cmp)|bcmp|malloc|calloc|realloc|free|posix_memalign|aligned_alloc)")

# The profile of the build that is handed out.
PROFILE = "dist"

# Programs of every kind: computing, divergent, streaming, bound by memory.
CHECKED = ["gemm", "bfs", "saxpy", "atax", "gather", "lud"]

SMS = [1, 2, 4, 8, 15, 30, 60]
WARP_SLOTS = [8, 16, 24, 32, 48]
THREADS = [2, 4, 8, 16, 64]
ROUNDS = 4


def stage_of(place):
    if place.endswith(MAKERS):
        return ONCE
    for name, *patterns in STAGES:
        if any(pattern in place for pattern in patterns):
            return name
    return ONCE


class Symbols:
    """Addresses of one binary to stages."""

    def __init__(self, binary):
        self.binary, self.known = binary, {}

    def resolve(self, addresses):
        new = [address for address in addresses if address not in self.known]
        if not new:
            return
        run = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", self.binary],
                             input="\n".join(map(hex, new)), capture_output=True, text=True, check=True)
        address, frames = None, []
        lines = iter([*run.stdout.splitlines(), "0x0"])
        for line in lines:
            if re.fullmatch(r"0x[0-9a-f]+", line):
                if address is not None:
                    self.known[address] = self.stage(frames)
                address, frames = int(line, 16), []
            else:
                frames.append((line, next(lines)))

    @staticmethod
    def stage(frames):
        for function, place in frames:
            if found := re.search(r"crates/(\w+/src/[^:]+)", place):
                return stage_of(f"{found.group(1)}:{function.split('::')[-1]}")
        return ONCE


def count(binary, arguments):
    """Instructions by address in the binary, of helpers at their call sites; and those of everything."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run(
            ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no",
             f"--callgrind-out-file={out}", binary, "run", *arguments, "--threads", "1"],
            cwd=pages.ROOT, capture_output=True, check=True)
        return read(out, binary)


def read(out, binary):
    costs, total = collections.Counter(), 0
    mine, callee = False, None
    called_object = current_object = None
    call = False
    for line in out.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            current_object = called_object = line[3:]
            mine = current_object == binary
        elif line.startswith("fn="):
            called_object = current_object
        elif line.startswith("cob="):
            called_object = line[4:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("calls="):
            call = True
        elif line.startswith("summary:"):
            total = int(line.split()[1])
        elif line.startswith("0x"):
            address, _, cost = line.split()
            helper = called_object != binary and callee is not None and HELPERS.match(callee)
            if mine and (not call or helper):
                costs[int(address, 16)] += int(cost)
            if call:
                call, callee, called_object = False, None, current_object
    return costs, total


def profile(binary, symbols, arguments):
    """Host instructions by stage, and the run's JSON."""
    costs, total = count(binary, arguments)
    symbols.resolve(list(costs))
    stages = collections.Counter()
    for address, cost in costs.items():
        stages[symbols.known[address]] += cost
    stages[ONCE] += total - sum(stages.values())
    return stages, pages.result(binary, *arguments, "--threads", "1")


def share(stages, run):
    """Host instructions a warp instruction, without what is done once."""
    return (sum(stages.values()) - stages[ONCE]) / run["warp_instructions"]


def workloads(binary):
    return [entry["name"] for entry in json.loads(pages.text(binary, "list", "workloads", "--json"))]


def user_seconds(binary, arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = pages.result(binary, *arguments, "--threads", "1")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, run


def stages_table(runs):
    names = list(runs)
    rows = []
    for stage in [name for name, *_ in STAGES]:
        cells = [runs[name][0][stage] / runs[name][1]["warp_instructions"] for name in names]
        rows.append([stage, *[f"{cell:,.0f}" for cell in cells]])
    rows.append(["**together**", *[f"**{share(*runs[name]):,.0f}**" for name in names]])
    rows.append(["once a run, millions", *[f"{runs[name][0][ONCE] / 1e6:,.0f}" for name in names]])
    return pages.table(["stage|", *names], rows)


def traffic_table(runs):
    rows = []
    for name, (stages, run) in runs.items():
        warp, group = run["warp_instructions"], run["statistics"]
        rows.append([
            name,
            f"{share(stages, run):,.0f}",
            f"{warp / run['cycles']:.2f}",
            f"{(sum(stages.values()) - stages[ONCE]) / run['cycles']:,.0f}",
            f"{group['l1d']['accesses'] / warp:.2f}",
            f"{group['network.request']['packets_out'] / warp:.2f}",
            f"{(group['dram']['reads'] + group['dram']['writes']) / warp:.2f}",
        ])
    rows.sort(key=lambda row: float(row[1].replace(",", "")))
    return pages.table(["workload|", "host instructions a warp instruction", "warp IPC", "host instructions a cycle",
                        "L1D accesses", "packets", "DRAM requests"], rows)


def sweep_table(binary, symbols, title, key, values, workload, *more):
    rows = []
    for value in values:
        stages, run = profile(binary, symbols, [workload, "--set", f"{key}={value}", *more])
        rows.append([value, f"{run['cycles']:,}", f"{share(stages, run):,.0f}",
                     f"{(sum(stages.values()) - stages[ONCE]) / run['cycles']:,.0f}"])
    return pages.table([title, "cycles", "host instructions a warp instruction", "host instructions a cycle"], rows)


def machines_table(binary, symbols):
    """The same program on a small and on a large machine."""
    rows = []
    for name in ["gemm", "2dconv", "3dconv"]:
        costs = []
        for machine in ["gtx480", "volta-fuse"]:
            costs.append(share(*profile(binary, symbols, [name, "--size", "small", "--machine", machine])))
        small, large = costs
        rows.append([name, f"{small:,.0f}", f"{large:,.0f}", f"{large / small:.2f}"])
    return pages.table(["workload, size small|", "gtx480", "volta-fuse", "ratio"], rows)


def time_table(binary):
    rows = []
    for name in workloads(binary):
        seconds, run = min((user_seconds(binary, [name, "--size", "small"]) for _ in range(2)), key=lambda pair: pair[0])
        warp = run["warp_instructions"]
        rows.append([name, f"{warp / 1e6:.1f}", f"{run['cycles'] / 1e6:.2f}", f"{seconds:.2f}", f"{warp / seconds / 1e3:,.0f}",
                     f"{run['cycles'] / seconds / 1e3:,.0f}", f"{run['simulation']['peak_memory_bytes'] / 2**20:.0f}"])
    return pages.table(["workload|", "million warp instructions", "million cycles", "user seconds",
                        "thousand warp instructions a second", "thousand cycles a second", "MiB"], rows)


def two_threads(binary, names):
    """What two threads gain over one on this host, by workload: the least of some runs of each.

    All workloads have their turn in each round, so a time in which the host is busy falls on one run of each.
    """
    least = collections.defaultdict(lambda: float("inf"))
    for _, name, threads in itertools.product(range(ROUNDS), names, [1, 2]):
        run = pages.result(binary, name, "--size", "small", "--machine", "volta-fuse", "--threads", str(threads))
        least[name, threads] = min(least[name, threads], run["simulation"]["seconds"])
    return {name: least[name, 1] / least[name, 2] for name in names}


def threads_table(binary):
    """What more threads would gain on a machine of 84 SMs, the workloads that gain most first."""
    rows, good, good_if_free = [], 0, 0
    measured = two_threads(binary, workloads(binary))
    for name in measured:
        run = pages.result(binary, name, "--size", "small", "--machine", "volta-fuse", "--schedule")
        schedule = run["simulation"]["schedule"]
        spans = {span["threads"]: span["speed_up"] for span in schedule["threads"]}
        sixteen = next(span for span in schedule["threads"] if span["threads"] == 16)
        working = sixteen["seconds"] - schedule["windows"] * sixteen["seconds_per_window"]
        good += sixteen["speed_up"] >= 12
        good_if_free += schedule["seconds"] / working >= 12
        parts = {kind: part["share"] for kind, part in schedule["parts"].items()}
        network = parts["network.request"] + parts["network.reply"]
        microseconds = 1e6 * schedule["seconds"] / schedule["windows"]
        rows.append([name, f"{measured[name]:.1f}", *[f"{spans[threads]:.1f}" for threads in THREADS], f"{100 * schedule['longest_share']:.0f} %",
                     f"{100 * parts['sm']:.0f} %", f"{100 * parts['partition']:.0f} %", f"{100 * network:.0f} %",
                     f"{microseconds:,.0f}"])
    rows.sort(key=lambda row: -float(row[5]))
    table = pages.table(["workload|", "2 threads, measured", *[f"{threads} threads" for threads in THREADS], "longest island", "SMs", "partitions",
                         "network", "us a window"], rows)
    return (f"{table}\n\n{good} of {len(rows)} gain 12 or more on 16 threads; {good_if_free} would if windows cost nothing beside "
            f"their work. Measured, two threads gain 1.8 or more on {sum(gain >= 1.8 for gain in measured.values())}, "
            f"and the least is {min(measured.values()):.2f}.")


def compiler():
    """The compiler's name and version, as in "rustc 1.95"."""
    words = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()
    return f"{words[0]} {'.'.join(words[1].split('.')[:2])}"


def generated(page, part):
    """A generated part of the page as it stands."""
    return re.search(f"<!-- generated: {part} -->(.*?)<!-- end of generated -->", page, re.S).group(1)


def check(binary, symbols):
    """Compares programs of every kind with the page."""
    page = (pages.ROOT / "docs/performance.md").read_text()
    table = generated(page, "traffic")
    committed = {row[1]: int(row[2].replace(",", "")) for row in re.finditer(r"^\| (\S+) \| ([\d,]+) \|", table, re.M)}
    print(f"{compiler()}, {os.environ.get('STRATA') or f'profile {PROFILE}'}")
    # Another compiler emits other instructions.
    most = 1.02 if compiler() in page else 1.10
    slower = []
    for name in CHECKED:
        cost = share(*profile(binary, symbols, [name]))
        print(f"{name}: {cost:,.0f} host instructions a warp instruction, {committed[name]:,} in docs/performance.md")
        if cost > most * committed[name]:
            slower.append(name)
    if slower:
        sys.exit(f"performance.py: more than {most - 1:.0%} above docs/performance.md: {', '.join(slower)}")


def main():
    if unknown := set(sys.argv[1:]) - {"--no-time", "--threads", "--check"}:
        sys.exit(f"performance.py: {' '.join(unknown)}\n\n{__doc__}")
    binary = str(pathlib.Path(pages.build(PROFILE)).resolve())
    symbols = Symbols(binary)
    if "--check" in sys.argv:
        return check(binary, symbols)
    page = pages.ROOT / "docs/performance.md"
    if "--threads" in sys.argv:
        kept = re.findall(r"<!-- generated: (.+?) -->", page.read_text())
        parts = {part: generated(page.read_text(), part) for part in kept}
        pages.write("docs/performance.md", {**parts, "threads": threads_table(binary)})
        return sentinels.measured("docs/performance.md", ["threads"], binary)
    runs = {name: profile(binary, symbols, [name]) for name in workloads(binary)}
    parts = {
        "stages": stages_table({name: runs[name] for name in ["gemm", "2dconv", "saxpy", "atax", "gather"]}),
        "traffic": traffic_table(runs),
        "sms": sweep_table(binary, symbols, "SMs", "gpu.sms", SMS, "gemm", "--set", "network.topology=crossbar"),
        "machines": machines_table(binary, symbols),
        "compiler": f"Counted with {compiler()}, profile `{PROFILE}`.",
        "warps": sweep_table(binary, symbols, "warp slots", "sm.warp_slots", WARP_SLOTS, "2dconv"),
    }
    # What depends on how long something takes.
    for part, table in [("time", time_table), ("threads", threads_table)]:
        parts[part] = generated(page.read_text(), part) if "--no-time" in sys.argv else table(binary)
    pages.write("docs/performance.md", parts)
    kept = {"compiler"} | ({"time", "threads"} if "--no-time" in sys.argv else set())
    sentinels.measured("docs/performance.md", parts.keys() - kept, binary)


if __name__ == "__main__":
    main()
