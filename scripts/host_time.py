"""The parts of docs/performance.md that depend on how long something takes on the host."""

import collections
import itertools
import resource
import subprocess

import pages

THREADS = [2, 4, 8, 16, 64]
ROUNDS = 4


def user_seconds(binary, arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = pages.result(binary.path, *arguments, "--threads", "1")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, run


def time_table(binary):
    rows = []
    for name in binary.workloads():
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
        run = pages.result(binary.path, name, "--size", "small", "--machine", "volta-fuse", "--threads", str(threads))
        least[name, threads] = min(least[name, threads], run["simulation"]["seconds"])
    return {name: least[name, 1] / least[name, 2] for name in names}


def threads_table(binary):
    """What more threads would gain on a machine of 84 SMs, the workloads that gain most first."""
    rows, good, good_if_free = [], 0, 0
    measured = two_threads(binary, binary.workloads())
    for name in measured:
        run = pages.result(binary.path, name, "--size", "small", "--machine", "volta-fuse", "--schedule")
        schedule = run["simulation"]["schedule"]
        spans = {span["threads"]: span["speed_up"] for span in schedule["threads"]}
        sixteen = next(span for span in schedule["threads"] if span["threads"] == 16)
        working = sixteen["seconds"] - schedule["windows"] * sixteen["seconds_per_window"]
        good += sixteen["speed_up"] >= 12
        good_if_free += schedule["seconds"] / working >= 12
        parts = {kind: part["share"] for kind, part in schedule["parts"].items()}
        network = parts["network.request"] + parts["network.reply"]
        microseconds = 1e6 * schedule["seconds"] / schedule["windows"]
        rows.append([name, f"{measured[name]:.1f}", *[f"{spans[threads]:.1f}" for threads in THREADS],
                     f"{100 * schedule['longest_share']:.0f} %", f"{100 * parts['sm']:.0f} %", f"{100 * parts['partition']:.0f} %",
                     f"{100 * network:.0f} %", f"{microseconds:,.0f}"])
    rows.sort(key=lambda row: -float(row[5]))
    table = pages.table(["workload|", "2 threads, measured", *[f"{threads} threads" for threads in THREADS], "longest island", "SMs",
                         "partitions", "network", "us a window"], rows)
    return (f"{table}\n\n{good} of {len(rows)} gain 12 or more on 16 threads; {good_if_free} would if windows cost nothing beside "
            f"their work. Measured, two threads gain 1.8 or more on {sum(gain >= 1.8 for gain in measured.values())}, "
            f"and the least is {min(measured.values()):.2f}. {windows_sentence(pages.rows(table))}")


def windows_sentence(rows):
    """How much work windows have in which 16 threads gain much, and in which they gain little."""
    work = [(pages.number(row["us a window"]), pages.number(row["16 threads"])) for row in rows]
    much = [microseconds for microseconds, gain in work if gain >= 12]
    less = [microseconds for microseconds, gain in work if gain < 12]
    little = [microseconds for microseconds, gain in work if gain < 4]
    if not much or not little:
        return ""
    return (f"All that have over {max(less):,.0f} us of work in a window gain 12 or more on 16 threads, and none with under "
            f"{min(much):,.0f} us does; those that gain less than 4 have at most {max(little):,.0f} us.")


def compiler():
    """The compiler's name and version, as in "rustc 1.95"."""
    words = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()
    return f"{words[0]} {'.'.join(words[1].split('.')[:2])}"
