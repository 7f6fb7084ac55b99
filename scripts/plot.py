"""Draws what `strata compare` measures of a few programs on three systems: docs/pictures/ipc.svg."""

import json
import tempfile

import pages
import svg

FILE = "docs/pictures/ipc.svg"
WIDTH, HEIGHT, SHOWN = 800, 416, 600

WORKLOADS = ["atax", "bicg", "gesummv", "bfs", "gather"]
# The systems, and what each is.
SYSTEMS = {"l1-sram": "32 KB of SRAM", "by-nvm": "128 KB of STT-MRAM", "dy-fuse": "a mix of both"}

LEFT, RIGHT, TOP, BOTTOM = 64, 776, 118, 370
BAR, GAP = 38, 3


def measured():
    """The question, and the arguments that ask it."""
    return ["compare", *WORKLOADS, "--systems", ",".join(SYSTEMS), "--metric", "ipc"]


def numbers(binary):
    """IPC by workload and system."""
    with tempfile.TemporaryDirectory() as store:
        text = pages.text(binary, *measured(), "--store", store, "--json", "-", "--quiet")
    return {(row["workload"], row["system"]): row["value"] for row in json.loads(text)["numbers"]}


def step(most):
    """The distance of the axis's lines: the roundest that gives at least three."""
    return max(unit for unit in (1, 2, 5, 10, 20, 50, 100, 200, 500) if 3 * unit <= most)


def ipc(binary):
    """The drawing."""
    values = numbers(binary)
    unit = step(max(values.values()))
    top = unit * -(-max(values.values()) // unit)
    height = lambda value: value / top * (BOTTOM - TOP)
    parts = [svg.text(24, 42, "IPC with three L1 data caches", 22, "bold")]
    for series, (at, (system, what)) in enumerate(zip((24, 250, 522), SYSTEMS.items()), 1):
        parts.append(svg.rect(at, 64, 16, 16, f"series-{series}", radius=3))
        words = f'<tspan class="mono">{system}</tspan><tspan dx="8" class="muted">{what}</tspan>'
        parts.append(f'<text x="{at + 24}" y="78" font-size="16">{words}</text>')
    for line in range(0, int(top) + 1, unit):
        y = BOTTOM - height(line)
        parts.append(svg.path(f"M{LEFT} {svg.number(y)}H{RIGHT}", "edge", 1))
        parts.append(svg.text(LEFT - 10, y + 6, str(line), 16, "end muted"))
    group = (RIGHT - LEFT) / len(WORKLOADS)
    for place, workload in enumerate(WORKLOADS):
        middle = LEFT + group * (place + 0.5)
        for series, system in enumerate(SYSTEMS, 1):
            value = values[workload, system]
            x = middle + (series - 1 - len(SYSTEMS) / 2) * (BAR + GAP)
            parts.append(svg.rect(x, BOTTOM - height(value), BAR, height(value), f"series-{series}", radius=2))
            parts.append(svg.text(x + BAR / 2, BOTTOM - height(value) - 7, f"{value:.1f}", 16, "middle"))
        parts.append(svg.text(middle, BOTTOM + 28, workload, 18, "mono middle"))
    shown = "; ".join(
        f"{workload}: " + ", ".join(f"{values[workload, system]:.1f} with {system}" for system in SYSTEMS) for workload in WORKLOADS
    )
    description = f"Thread-instructions a cycle. {shown}. Measured by: strata {' '.join(measured())}."
    return svg.document(WIDTH, HEIGHT, SHOWN, "IPC of five programs with three L1 data caches", description, parts)
