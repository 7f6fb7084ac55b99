#!/usr/bin/env python3
"""Measures the figures of exported microbenchmarks on a real GPU.

    strata validate gtx480 --export target/micro      here
    probe/micro.py target/micro --csv h200.csv        there

The folder holds launch files and `figures.csv`, which says what is read from each. Rows are on disk as soon as a launch
file is done. README.md beside this file says what the CSV's columns are.
"""

import argparse
import contextlib
import csv
import datetime
import json
import os
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

import backend as device
import launch_file
from node import Refused
from program import DELAY_CLOCKS, SHARED_WITHOUT_OPT_IN, Stopwatch
from values import Zeros, generate

FIGURES = "figures.csv"
#: The buffer that kernels write their clock readings to.
CLOCKS = "clocks"
#: Bytes of a launch file's buffers. These are zeros, which cost the host nothing, so they may be larger than elsewhere.
MOST_BYTES = 128 << 30
#: How readings begin that are a quantile of single pairs; the percentage follows.
QUANTILE = "cycles-quantile-"
#: After so many failures in a row the rest of a family is left out: each costs a new process.
PATIENCE = 3
#: Clocks that the delay kernel waits longer for each launch that the host queues behind it.
DELAY_PER_LAUNCH = 25_000
COLUMNS = [
    "family", "case", "parameters", "quantity", "unit", "median", "minimum", "maximum", "repeats",
    "gpu", "compute_capability", "sms", "core_clock_mhz", "memory_clock_mhz", "l2_bytes", "driver_version", "jit_version",
    "date_utc", "error",
]  # fmt: skip


class Span:
    """A launch, and where it wrote clock readings."""

    def __init__(self, row, which):
        self.launch, self.pair, self.pairs = (int(row[f"{which}_{what}"]) for what in ("launch", "pair", "pairs"))

    def each(self, clocks):
        return clocks[2 * self.pair : 2 * (self.pair + self.pairs)].reshape(-1, 2)

    def cycles(self, clocks):
        """From the first beginning to the last end."""
        pairs = self.each(clocks)
        return float(int(pairs[:, 1].max()) - int(pairs[:, 0].min()))

    def quantile(self, clocks, percent):
        """The cycles that so many percent of the pairs do not exceed: the first of the sorted ones of which that is true."""
        pairs = self.each(clocks)
        lengths = np.sort(pairs[:, 1] - pairs[:, 0])
        return float(lengths[max(-(-percent * len(lengths) // 100), 1) - 1])


class Figure:
    """A row of figures.csv."""

    def __init__(self, row):
        self.row = row
        self.file = row["file"]
        self.work = float(row["work"])
        self.long = Span(row, "long")
        self.short = Span(row, "short") if row["short_launch"] else None
        self.spans = [span for span in (self.short, self.long) if span]

    @property
    def timed(self):
        """The launches whose times count."""
        return {span.launch for span in self.spans} if "time" in self.row["reading"] else set()

    def value(self, clocks, times_us):
        """The figure of one run; None where the longer span was not longer."""
        if self.row["reading"].startswith(QUANTILE):
            return self.long.quantile(clocks, int(self.row["reading"].removeprefix(QUANTILE))) / self.work
        # Shorter before longer; there may be no shorter one.
        cycles = lambda: self.more([span.cycles(clocks) for span in self.spans])
        nanoseconds = lambda: self.more([1e3 * times_us[span.launch] for span in self.spans])
        above, below = {
            "cycles-per-work": lambda: (cycles(), self.work),
            "work-per-cycle": lambda: (self.work, cycles()),
            "time-per-work": lambda: (nanoseconds(), self.work),
            "work-per-time": lambda: (self.work, nanoseconds()),
            "cycles-per-time": lambda: (cycles(), nanoseconds() / 1e3),
        }[self.row["reading"]]()
        return above / below if above > 0 and below > 0 else None

    @staticmethod
    def more(spans):
        return spans[-1] - (spans[0] if len(spans) > 1 else 0.0)


def read_figures(folder):
    """The figures of each launch file, in the table's order."""
    with open(os.path.join(folder, FIGURES), newline="") as file:
        files = {}
        for row in csv.DictReader(file):
            files.setdefault(row["file"], []).append(Figure(row))
        return files


class NoRoom(Exception):
    """A buffer does not fit into the GPU's memory."""


class Runner:
    """Runs launch files on a device. Modules stay loaded, since many files share one."""

    def __init__(self, backend, delay):
        self.backend, self.delay = backend, delay
        self.modules, self.kernels, self.opted_in = {}, {}, {}
        self.stopwatch = None

    def module(self, file):
        key = file.ptx_sha256
        if key not in self.modules:
            self.modules[key] = self.backend.load(file.ptx)
        return key, self.modules[key]

    def kernel(self, file, name, shared):
        key, module = self.module(file)
        if (key, name) not in self.kernels:
            self.kernels[key, name] = self.backend.kernel(module, name)
        kernel = self.kernels[key, name]
        static = self.backend.kernel_attribute(kernel, device.STATIC_SHARED_BYTES)
        if static + shared > max(SHARED_WITHOUT_OPT_IN, self.opted_in.get((key, name), 0)):
            self.backend.allow_dynamic_shared(kernel, shared)
            self.opted_in[key, name] = static + shared
        return kernel

    def measure(self, path, figures, repeats):
        """A row for each figure."""
        file = read_large(path)
        timed = set().union(*(figure.timed for figure in figures))
        if timed and self.stopwatch is None:
            self.stopwatch = Stopwatch(self.backend, file.ptx)
        allocated = []
        addresses = [self.place(file, buffer, allocated) for buffer in file.buffers]
        clocks_at = next(i for i, buffer in enumerate(file.buffers) if buffer.name == CLOCKS)
        queues = [self.queue(file, launch, addresses) for launch in file.launches]
        runs = [self.run(file, queues, timed, addresses[clocks_at], clocks_at, figures) for _ in range(repeats)]
        # After a failure the process ends instead: its device takes no more calls.
        for address in allocated:
            self.backend.free(address)
        return [row(figure, [run[i] for run in runs]) for i, figure in enumerate(figures)]

    def place(self, file, buffer, allocated):
        if buffer.variable:
            address, _ = self.backend.variable(self.module(file)[1], buffer.name)
        else:
            try:
                address = self.backend.alloc(buffer.bytes)
            except device.BackendError as error:
                # This call alone leaves the device as it was.
                for address in allocated:
                    self.backend.free(address)
                raise NoRoom(f"no room for {buffer.bytes} bytes: {error}") from None
            allocated.append(address)
        if isinstance(buffer.contents, Zeros):
            self.backend.fill(address, 0, buffer.bytes)
        else:
            self.backend.upload(address, generate(buffer.contents, buffer.type, buffer.count))
        return address

    def queue(self, file, launch, addresses):
        """What queues a launch as often as it comes."""
        kernel = self.kernel(file, launch.kernel, launch.dynamic_shared_bytes)
        arguments = [
            argument.scalar
            if argument.buffer is None
            else self.backend.address_bytes(addresses[argument.buffer] + argument.byte_offset)
            for argument in launch.arguments
        ]

        def queue():
            for _ in range(launch.repeat):
                self.backend.launch(kernel, launch.grid, launch.block, launch.dynamic_shared_bytes, arguments)

        return queue

    def run(self, file, queues, timed, at, clocks_index, figures):
        """All launches once, and the figures of that."""
        times = {}
        for index, queue in enumerate(queues):
            if index in timed:
                times[index] = self.time(queue, file.launches[index].repeat)
            else:
                queue()
        self.backend.synchronize()
        clocks = np.empty(file.buffers[clocks_index].count, np.uint64)
        self.backend.download(at, clocks)
        return [figure.value(clocks, times) for figure in figures]

    def time(self, queue, repeat):
        watch = self.stopwatch
        watch.spin(self.delay + (DELAY_PER_LAUNCH * repeat if self.delay else 0))
        self.backend.record(watch.start)
        queue()
        self.backend.record(watch.end)
        return self.backend.elapsed_us(watch.start, watch.end)


def read_large(path):
    """A launch file whose buffers may be larger than launch files allow elsewhere."""
    limits = launch_file.BUFFER_BYTES, launch_file.TOTAL_BYTES
    launch_file.BUFFER_BYTES = launch_file.TOTAL_BYTES = MOST_BYTES
    try:
        return launch_file.read(path)
    finally:
        launch_file.BUFFER_BYTES, launch_file.TOTAL_BYTES = limits


def row(figure, values):
    common = {key: figure.row[key] for key in ("family", "case", "parameters", "quantity", "unit")}
    values = [value for value in values if value is not None]
    if not values:
        return common | {"error": "the longer span took no longer than the shorter one"}
    brief = lambda value: f"{value:.6g}"
    return common | {
        "median": brief(statistics.median(values)),
        "minimum": brief(min(values)),
        "maximum": brief(max(values)),
        "repeats": len(values),
    }


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def child(options):
    """Measures the files that standard input names; says on standard output what it begins and what it found."""
    say = lambda message: print(json.dumps(message), flush=True)
    files = read_figures(options.folder)
    try:
        backend = device.connect(options.backend, options.device)
        say({"provenance": device.provenance(backend, options.device)})
    except device.BackendError as error:
        say({"fatal": str(error)})
        return 2
    runner = Runner(backend, options.delay)
    for name in map(str.strip, sys.stdin):
        say({"begin": name})
        try:
            rows = runner.measure(os.path.join(options.folder, name), files[name], options.repeats)
        except (Refused, OSError, MemoryError) as error:
            say({"failed": f"{type(error).__name__}: {error}"})
            continue
        except NoRoom as error:
            say({"skipped": str(error)})
            continue
        except device.BackendError as error:
            say({"failed": str(error)})
            # A device that a kernel has failed on takes no more calls.
            return 1
        say({"rows": rows})
    return 0


class Parent:
    """Has children measure, one after the other: each goes on behind the file that the one before failed with."""

    def __init__(self, options, table):
        self.options, self.table = options, table
        self.failures = 0
        #: The family that failed last, and how often in a row.
        self.failing = (None, 0)
        self.common = {}

    def run(self, files, names, until):
        while names and time.monotonic() < until:
            done = self.one(files, names, until)
            if done == 0:
                return False
            names = self.without_hopeless(files, names[done:])
        if names:
            print(f"time is up: {len(names)} launch files are left, from {names[0]} on", file=sys.stderr)
        return True

    def without_hopeless(self, files, names):
        """Leaves out what remains of a family that fails again and again."""
        family, times = self.failing
        if times < PATIENCE:
            return names
        hopeless = [name for name in names if files[name][0].row["family"] == family]
        for name in hopeless:
            self.fail(files, name, f"left out after {PATIENCE} failures of its family in a row")
        return [name for name in names if name not in set(hopeless)]

    def one(self, files, names, until):
        """How many files one child took."""
        command = [sys.executable, os.path.abspath(__file__), self.options.folder, "--child"]
        command += ["--backend", self.options.backend, "--device", str(self.options.device)]
        command += ["--repeats", str(self.options.repeats), "--delay", str(self.options.delay)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        begun, open_file, watch = 0, None, None

        def rearm():
            nonlocal watch
            if watch:
                watch.cancel()
            limit = max(min(self.options.timeout, until - time.monotonic()), 0.1)
            watch = threading.Timer(limit, process.kill)
            watch.daemon = True
            watch.start()

        rearm()
        feeder = threading.Thread(target=feed, args=(process, names), daemon=True)
        feeder.start()
        for line in process.stdout:
            rearm()
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "provenance" in message:
                self.common = {key: message["provenance"].get(key, "") for key in COLUMNS} | {"error": ""}
                self.common = {key: value for key, value in self.common.items() if value != ""}
            elif "fatal" in message:
                print(message["fatal"], file=sys.stderr)
            elif "begin" in message:
                begun, open_file = begun + 1, message["begin"]
            elif "rows" in message:
                self.put(message["rows"])
                self.failing = (None, 0)
                open_file = None
            elif "skipped" in message:
                self.skip(files, open_file, message["skipped"])
                open_file = None
            elif "failed" in message:
                self.fail(files, open_file, message["failed"])
                open_file = None
        process.wait()
        watch.cancel()
        if open_file:
            self.fail(files, open_file, f"its process ended with {process.returncode}")
        return begun

    def put(self, rows):
        for row in rows:
            self.table.writerow(self.common | {"date_utc": now()} | row)
        self.options.out.flush()

    def fail(self, files, name, reason):
        self.failures += 1
        family = files[name][0].row["family"]
        self.failing = (family, self.failing[1] + 1 if self.failing[0] == family else 1)
        self.skip(files, name, reason)

    def skip(self, files, name, reason):
        """Says why there are no figures."""
        print(f"{name}: {reason}", file=sys.stderr)
        keys = ("family", "case", "parameters", "quantity", "unit")
        self.put([{key: figure.row[key] for key in keys} | {"error": reason} for figure in files[name]])


def feed(process, names):
    with contextlib.suppress(OSError), process.stdin:
        process.stdin.write("".join(f"{name}\n" for name in names))


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", help=f"launch files with {FIGURES}")
    parser.add_argument("--csv", default="micro.csv", help="where the rows go (default: micro.csv)")
    parser.add_argument("--families", help="only these, separated by commas")
    parser.add_argument("--match", help="only launch files whose names contain this")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each launch file (default: 5)")
    parser.add_argument("--seconds", type=float, default=3600, help="stop after so long (default: 3600)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one launch file (default: 60)")
    parser.add_argument(
        "--delay", type=int, default=DELAY_CLOCKS, help=f"clocks that a timed launch is held back (default: {DELAY_CLOCKS})"
    )
    parser.add_argument("--backend", choices=["any", *device.BACKENDS], default="any")
    parser.add_argument("--device", type=int, default=0, help="which GPU (default: 0)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats: found {options.repeats}, expected at least 1")
    return options


def main(argv=None):
    options = arguments(argv)
    if options.child:
        return child(options)
    until = time.monotonic() + options.seconds
    try:
        files = read_figures(options.folder)
    except (OSError, KeyError, ValueError) as error:
        print(f"{os.path.join(options.folder, FIGURES)}: {error}", file=sys.stderr)
        return 2
    families = options.families.split(",") if options.families else None
    wanted = lambda name: (not families or files[name][0].row["family"] in families) and (options.match or "") in name
    names = [name for name in files if wanted(name)]
    if not names:
        print("no launch file is of these families", file=sys.stderr)
        return 2
    with open(options.csv, "w", newline="") as out:
        options.out = out
        table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        table.writeheader()
        parent = Parent(options, table)
        if not parent.run(files, names, until):
            return 2
    return 1 if parent.failures else 0


if __name__ == "__main__":
    sys.exit(main())
