"""Counts host instructions of runs with Valgrind's callgrind, by the part of the simulator that they belong to.

Instructions are counted address by address. An address belongs to the innermost function of Strata that was inlined there, and a call
of memcpy, malloc and their like to its caller: the standard library's code counts for whoever uses it.
"""

import collections
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import pages

# Which part of the simulator a place is, a source file with `:function` behind it: the longest pattern that it contains.
STAGES = {
    "fetch": ["sm/src/fetch", "memory/src/read_only"],
    "issue, scoreboard, control flow": [
        "sm/src/issue", "sm/src/quiet", "sm/src/scoreboard", "sm/src/scheduler", "sm/src/warps", "sm/src/control", "sm/src/barriers",
        "sm/src/statistics", "sm/src/micro", "ptx/src/simt", "ptx/src/isa/"],
    "write-back": [
        "backend.rs:write_back", "backend.rs:finish_instruction", "execute.rs:advance", "execute.rs:next_row", "execute.rs:took_row",
        "execute.rs:finish_memory", "execute.rs:write_predicates", "register_file/mod.rs:offer_write", "register_banks.rs:offer_write",
        "register_banks.rs:write"],
    "operand collection": [
        "sm/src/collector", "baseline/register_file", "designs/src/hi_end", "backend.rs:collect_operands", "memory/src/register_banks",
        "memory/src/doors/register_file"],
    "execution": ["sm/src/execute", "sm/src/backend", "sm/src/token", "ptx/src/exec", "warp/src"],
    "load/store unit, coalescing": ["sm/src/lsu"],
    "L1D": ["baseline/l1d", "designs/src/", "memory/src/doors/l1d"],
    "network": ["baseline/network", "memory/src/flit", "sm/src/inject", "memory/src/packet"],
    "L2": [
        "baseline/l2", "designs/src/chassis/llc", "memory/src/partition", "memory/src/atomic", "memory/src/slice_map",
        "memory/src/address_map", "memory/src/doors/llc"],
    "DRAM": ["memory/src/dram"],
    "parts of caches: tags, MSHRs, bytes": ["memory/src/"],
    "SM: order of its parts, skipping": ["sm/src/", "gpu/src/multiprocessor"],
    "engine: windows, links, queues": ["engine/src/", "gpu/src/part"],
}
# What is done once a run, not once an instruction: all that a run of one cycle does, and of longer ones what no pattern matches
# and making and clearing parts of the machine, which some are when they are first used.
ONCE = "once a run"
MAKERS = (":zeros", "scratchpad.rs:new", "tags.rs:with_buffers", "tags.rs:add_buffers", "frames.rs:new", "tray.rs:make", "simt/mod.rs:new",
          "barriers.rs:new", "cache.rs:new", "credits.rs:new")

# How a run says that its bound has ended it: a launch, or a phase on the host.
STOPPED = re.compile("reached the cycle limit|not finished after")

# Functions of libc that belong to their callers.
HELPERS = re.compile(r"^_*(mem(cpy|move|set|cmp)|bcmp|malloc|calloc|realloc|free|posix_memalign|aligned_alloc)")


@functools.cache
def stage_of(place):
    if place.endswith(MAKERS):
        return ONCE
    found = [(len(pattern), stage) for stage, patterns in STAGES.items() for pattern in patterns if pattern in place]
    return max(found)[1] if found else ONCE


@dataclasses.dataclass
class Count:
    """What a run takes: host instructions by place, without those of the same run's first cycle; all of them; and its numbers."""

    places: dict
    total: int
    cycles: int
    warp_instructions: int
    l1d_accesses: int
    packets: int
    dram_requests: int
    statistics: str

    @functools.cached_property
    def stages(self):
        """Host instructions by stage, without what is done once."""
        found = collections.Counter()
        for place, cost in self.places.items():
            found[stage_of(place)] += cost
        found.pop(ONCE, None)
        return found

    @property
    def host(self):
        """Host instructions, without what is done once."""
        return sum(self.stages.values())

    @property
    def once(self):
        return self.total - self.host

    @property
    def cost(self):
        """Host instructions a warp instruction."""
        return self.host / self.warp_instructions


def place_of(frames):
    """The place of an address, from its functions and their lines, innermost first; empty if it is not Strata's."""
    for function, line in frames:
        if found := re.search(r"crates/(\w+/src/[^:]+)", line):
            return f"{found.group(1)}:{function.split('::')[-1]}"
    # Instructions of no line have the name of the function alone.
    if found := frames and re.match(r"<?strata_(\w+)::((?:[a-z]\w*::)*)", frames[-1][0]):
        return f"{found.group(1)}/src/{found.group(2).replace('::', '/').rstrip('/')}"
    return ""


class Binary:
    """A build of the command, and the places of its addresses."""

    def __init__(self, path):
        self.path = str(pathlib.Path(path).resolve())
        self.places, self.lock = {}, threading.Lock()

    @functools.cached_property
    def digest(self):
        """Of the file, which must have debug lines."""
        sections = subprocess.run(["readelf", "--sections", "--wide", self.path], capture_output=True, text=True, check=True).stdout
        if ".debug_line" not in sections:
            sys.exit(f"{self.path}: no debug lines; profile dist has them")
        return hashlib.sha256(pathlib.Path(self.path).read_bytes()).hexdigest()[:16]

    def resolve(self, addresses):
        with self.lock:
            new = [address for address in addresses if address not in self.places]
            if not new:
                return
            run = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", self.path],
                                 input="\n".join(map(hex, new)), capture_output=True, text=True, check=True)
            address, frames = None, []
            lines = iter([*run.stdout.splitlines(), "0x0"])
            for line in lines:
                if re.fullmatch(r"0x[0-9a-f]+", line):
                    if address is not None:
                        self.places[address] = sys.intern(place_of(frames))
                    address, frames = int(line, 16), []
                else:
                    frames.append((line, next(lines)))

    def run(self, arguments, cycles):
        """Host instructions by place, those of everything, and the JSON of a run, which may end before its program does."""
        with tempfile.TemporaryDirectory() as folder:
            out, result = pathlib.Path(folder) / "out", pathlib.Path(folder) / "json"
            bound = ["--max-cycles", str(cycles)] if cycles else []
            command = ["run", *arguments, *bound, "--threads", "1", "--json", str(result)]
            ended = subprocess.run(
                ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no",
                 f"--callgrind-out-file={out}", self.path, *command],
                cwd=pages.ROOT, capture_output=True, text=True)
            run = json.loads(result.read_text()) if result.exists() else {}
            stopped = ended.returncode == 2 and STOPPED.search(str(run.get("stopped")))
            if ended.returncode != 0 and not stopped:
                sys.exit(f"strata {' '.join(command)}: {ended.stderr.strip()}")
            if run["verified"] is False:
                sys.exit(f"strata {' '.join(command)}: {run['problems']}")
            costs, total = read(out.read_text(errors="replace"), self.path)
        self.resolve(list(costs))
        places = collections.Counter()
        for address, cost in costs.items():
            places[self.places[address]] += cost
        return places, total, run

    def count(self, *arguments, cycles=None):
        """Counts a run, or its first cycles."""
        places, total, run = self.run(arguments, cycles)
        if cycles and run["warp_instructions"] == 0:
            # The bound has ended the phase on the host with which some short programs begin.
            places, total, run = self.run(arguments, None)
        first, _, _ = self.run(arguments, 1)
        places.subtract(first)
        group = run["statistics"]
        return Count(
            places={place: cost for place, cost in places.items() if place and cost},
            total=total,
            cycles=run["cycles"],
            warp_instructions=run["warp_instructions"],
            l1d_accesses=group["l1d"]["accesses"],
            packets=group["network.request"]["packets_out"],
            dram_requests=group["dram"]["reads"] + group["dram"]["writes"],
            statistics=run["statistics_hash"],
        )

    def workloads(self):
        return [entry["name"] for entry in json.loads(pages.text(self.path, "list", "workloads", "--json"))]


def read(text, binary):
    """What callgrind wrote: instructions by address in the binary, of helpers at their call sites; and those of everything."""
    costs, total = collections.Counter(), 0
    mine, callee = False, None
    called_object = current_object = None
    call = False
    for line in text.splitlines():
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


class Counts:
    """Counts that are kept in a file, by binary and what was run, so that none is done twice."""

    def __init__(self, path):
        self.path, self.lock = path and pathlib.Path(path), threading.Lock()
        self.kept = json.loads(self.path.read_text()) if self.path and self.path.exists() else {}

    def count(self, binary, *arguments, cycles=None):
        key = " ".join([binary.digest, *arguments, str(cycles)])
        if key not in self.kept:
            found = binary.count(*arguments, cycles=cycles)
            with self.lock:
                self.kept[key] = dataclasses.asdict(found)
                if self.path:
                    beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
                    beside.write_text(json.dumps(self.kept))
                    beside.replace(self.path)
        return Count(**self.kept[key])
