"""Two builds beside each other: what the first cycles of all workloads at `small` cost."""

import math

import pages

PAGE = "docs/performance.md"

# Those that the page shows.
SHOWN = ["gemm", "gaussian", "bfs", "gather", "atax"]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(before, now):
    rows = [[name, f"{before[name].cost:,.0f}", f"{now[name].cost:,.0f}", f"{now[name].cost / before[name].cost:.3f}"] for name in now]
    return pages.table(["workload|", "before", "now", "ratio"], rows)


def mean(before, now):
    ratios = {name: now[name].cost / before[name].cost for name in now}
    least, most = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
    return (f"The ratio is {geometric_mean(ratios.values()):.3f} in the geometric mean of {len(ratios)} workloads, least "
            f"{ratios[least]:.3f} ({least}) and most {ratios[most]:.3f} ({most}).")


def moved(before, now):
    """The workloads whose statistics differ."""
    return [name for name in now if now[name].statistics != before[name].statistics]


def part(before, now, cycles, commit):
    """What the page says."""
    shown = [name for name in SHOWN if name in now]
    some = table({name: before[name] for name in shown}, {name: now[name] for name in shown})
    return (f"Since commit {commit}, with the same results: host instructions a warp instruction in the first {cycles:,} cycles at "
            f"`small`.\n\n{some}\n\n{mean(before, now)}")


def against(other, this, names, cycles, commit):
    """Counts both builds, and prints what each workload costs with them. With a commit, writes the page's part."""
    names = names or [name for name in this.binary.workloads() if name in other.binary.workloads()]
    bounds = dict.fromkeys(names, cycles)
    before, now = other.pieces(bounds), this.pieces(bounds)
    print(f"{table(before, now)}\n\n{mean(before, now)}")
    if differing := moved(before, now):
        print(f"Statistics differ: {', '.join(differing)}")
    if commit and differing:
        raise SystemExit("comparison.py: only builds with the same results are compared on the page")
    if commit:
        pages.write(PAGE, {"before": part(before, now, cycles, commit)}, whole=False)
