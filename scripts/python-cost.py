#!/usr/bin/env python3
"""Times a run that Python calls beside the same run by the command, in pairs: what a call costs more than a process.

    VENV/bin/python scripts/python-cost.py [PAIRS]

Needs a Python with the wheel of an optimised build (scripts/wheel), whose command it times, on a quiet host. Prints the median of each and of
the differences. Interpreter and imports are done before.
"""

import pathlib
import statistics
import subprocess
import sys
import time

import strata_gpu as strata

WORKLOAD = "gemm"


def timed(work):
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    command = pathlib.Path(sys.executable).parent / "strata"

    def by_command():
        subprocess.run([command, "run", WORKLOAD, "--json", "-"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def by_python():
        strata.run(WORKLOAD, progress=False).to_dict()

    by_command()
    by_python()
    # Which comes first changes from pair to pair.
    found = []
    for number in range(pairs):
        works = [by_command, by_python]
        times = dict((work, timed(work)) for work in (works if number % 2 else works[::-1]))
        found.append((times[by_command], times[by_python]))
    medians = [statistics.median(column) for column in zip(*found)]
    more = statistics.median(python - command for command, python in found)
    print(f"{WORKLOAD} at test, median of {pairs} pairs: command {medians[0]:.0f} ms, Python {medians[1]:.0f} ms, difference {more:+.0f} ms")


if __name__ == "__main__":
    main()
