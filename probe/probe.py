#!/usr/bin/env python3
"""Runs launch files on a real GPU: are the results right, how long does each kernel take, what do the counters say.

    probe/probe.py target/bfs/launch.toml
    probe/probe.py target/exports --csv h100.csv --counters
    probe/probe.py target/exports --csv h100.csv --resume

A folder stands for every launch.toml below it. README.md beside this file says what the CSV's columns are.
"""

import argparse
import contextlib
import datetime
import json
import os
import statistics
import sys
import tempfile

import backend as device
import counters
import launch_file
from node import Refused
from process import run
from program import Program, Stopwatch
from table import Table, TableError

SIZES = ["test", "small", "paper", "stash"]


def find(paths):
    """Launch files: those named, and every launch.toml below a folder, in order."""
    files = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(path)
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            if "launch.toml" in names:
                files.append(os.path.join(folder, "launch.toml"))
    return list(dict.fromkeys(files))


def measure(path, backend, repeats):
    """Runs a launch file once to verify it and `repeats` times to time it: a row for each kernel."""
    file = launch_file.read(path)
    if all(launch.on_cpu for launch in file.launches):
        raise Refused(path, "launch", "host phases alone", "a launch on the GPU")
    name, size = split_name(file.name)
    program = Program(file, backend)
    program.run_once()
    verdict = program.verify()
    stopwatch = Stopwatch(backend, file.ptx) if repeats else None
    null_kernel_us = stopwatch.null_kernel_us() if repeats else ""
    times = [program.timed(stopwatch) for _ in range(repeats)]
    facts = program.kernel_facts()
    program.close()
    common = {
        "name": name,
        "size": size,
        "kernels": len(facts),
        "repeats": repeats,
        "null_kernel_us": null_kernel_us,
        "verified": {True: "yes", False: "no", None: ""}[verdict.verified],
        "mismatches": "" if verdict.verified is None else verdict.mismatches,
        "largest_error_over_bound": ""
        if verdict.largest_error_over_bound is None
        else verdict.largest_error_over_bound,
        "outputs_sha256": verdict.outputs_sha256,
        "expected_sha256": verdict.expected_sha256,
        "launch_sha256": file.launch_sha256,
        "ptx_sha256": file.ptx_sha256,
    }
    rows = []
    for kernel, row in facts.items():
        rows.append(common | row)
        if times:
            of_kernel = [time[kernel] for time in times]
            rows[-1] |= {"time_us_median": statistics.median(of_kernel), "time_us_min": min(of_kernel)}
    return {"rows": rows, "messages": verdict.messages}


def split_name(name):
    """An export's name, as `bfs-test`, is a workload and a size."""
    workload, _, size = name.rpartition("-")
    return (workload, size) if workload and size in SIZES else (name, "")


class Worker:
    """Does the work on a device in this process."""

    def __init__(self, options, connect=None):
        self.options = options
        self.connect = lambda: (connect or device.connect)(options.backend, options.device)

    def provenance(self):
        return device.provenance(self.connect(), self.options.device)

    def measure(self, path):
        try:
            return measure(path, self.connect(), self.options.repeats)
        except (Refused, device.BackendError, OSError, MemoryError) as error:
            return {"error": f"{type(error).__name__}: {error}" if isinstance(error, MemoryError) else str(error)}

    def count(self, path):
        raise counters.NotCounted("ncu counts another process")


class ChildWorker:
    """Does each piece of work in a process of its own: a kernel that fails takes its process's device with it."""

    def __init__(self, options):
        self.options = options

    def command(self, *arguments, repeats=None):
        options = self.options
        common = ["--backend", options.backend, "--device", str(options.device)]
        repeats = options.repeats if repeats is None else repeats
        return [sys.executable, os.path.abspath(__file__), *common, "--repeats", str(repeats), *arguments]

    def ask(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            answer = os.path.join(folder, "answer.json")
            status, output = run(self.command("--answer", answer, *arguments), self.options.timeout)
            sys.stderr.write(output if status == 0 else "")
            try:
                with open(answer) as file:
                    return json.load(file)
            except (OSError, ValueError):
                last = " ".join(output.strip().splitlines()[-3:])
                return {"error": f"its process ended with {status}: {last or 'it said nothing'}"}

    def provenance(self):
        answer = self.ask("--provenance")
        if "error" in answer:
            raise device.BackendError(answer["error"])
        return answer

    def measure(self, path):
        return self.ask(path)

    def count(self, path):
        options = self.options
        # Not timed: each launch comes once.
        return counters.count(self.command("--once", path, repeats=0), options.cache_control, options.timeout)


def now():
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def probe(path, worker, options, provenance):
    """A file's rows, and whether all went well."""
    identity = dict(zip(["launch_sha256", "ptx_sha256"], launch_file.identity(path)))
    common = {"file": path, "date_utc": now()} | identity | provenance
    answer = worker.measure(path)
    if "error" in answer:
        print(f"{path}: failed: {answer['error']}", file=sys.stderr)
        return [common | {"error": answer["error"]}], False
    rows = [common | row for row in answer["rows"]]
    for message in answer["messages"]:
        print(f"{path}: {message}", file=sys.stderr)
    if options.counters:
        merge_counters(rows, worker, path)
    return rows, rows[0]["verified"] != "no"


def merge_counters(rows, worker, path):
    try:
        counted, source = worker.count(path)
    except counters.NotCounted as reason:
        counted, source = {}, f"not counted: {reason}"
    for row in rows:
        row |= counted.get(row["kernel"], {})
        row["counters_source"] = source
    if not counted:
        print(f"{path}: {source}", file=sys.stderr)


def summary(rows):
    row = rows[0]
    time = sum(float(row["time_us_median"]) for row in rows if "time_us_median" in row)
    return f"{row['file']}: verified {row['verified'] or 'nothing'}, {len(rows)} kernels, {time:.1f} us"


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="launch files, or folders with launch.toml files below"
    )
    parser.add_argument("--csv", default="probe.csv", help="where the rows go (default: probe.csv)")
    parser.add_argument(
        "--resume", action="store_true", help="continue the CSV: programs that it has of this GPU are skipped"
    )
    parser.add_argument("--repeats", type=int, default=5, help="timed runs (default: 5)")
    parser.add_argument("--counters", action="store_true", help="run each file once more under Nsight Compute")
    parser.add_argument(
        "--cache-control", choices=["all", "none"], default="all", help="ncu's: all flushes caches before each launch"
    )
    parser.add_argument("--backend", choices=["any", *device.BACKENDS], default="any")
    parser.add_argument("--device", type=int, default=0, help="which GPU (default: 0)")
    parser.add_argument(
        "--timeout", type=float, default=1800, help="seconds for one file, and again for its counters (default: 1800)"
    )
    # How the probe calls itself.
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    parser.add_argument("--provenance", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if not options.paths and not options.provenance:
        parser.error("expected launch files or folders")
    if options.repeats < 1 and not options.once:
        parser.error(f"--repeats: found {options.repeats}, expected at least 1")
    return options


def main(argv=None, worker=None):
    options = arguments(argv)
    if options.answer or options.once:
        return child(options)
    worker = worker or ChildWorker(options)
    paths = find(options.paths)
    if not paths:
        print(f"no launch.toml below {', '.join(options.paths)}", file=sys.stderr)
        return 1
    try:
        provenance = worker.provenance()
        table = Table(options.csv, options.resume)
    except (device.BackendError, TableError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    failed = 0
    with contextlib.closing(table):
        for path in paths:
            if (*launch_file.identity(path), provenance["gpu"]) in table.done:
                print(f"{path}: in {options.csv} already")
                continue
            rows, well = probe(path, worker, options, provenance)
            table.append(rows)
            failed += not well
            if "error" not in rows[0]:
                print(summary(rows), flush=True)
    if failed:
        print(f"{failed} of {len(paths)} failed", file=sys.stderr)
    return 1 if failed else 0


def child(options):
    """One piece of work; what comes of it goes to the answer's file."""
    worker = Worker(options)
    try:
        answer = worker.provenance() if options.provenance else worker.measure(options.paths[0])
    except device.BackendError as error:
        answer = {"error": str(error)}
    if options.answer:
        with open(options.answer, "w") as file:
            json.dump(answer, file)
    elif "error" in answer:
        print(answer["error"], file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
