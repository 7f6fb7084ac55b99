"""Short runs whose numbers tell whether the model has changed since a costly table was measured, or a notebook run.

docs/data/sentinels.csv has their numbers as they are; docs/data/measured.csv has, for each costly part of a page, the digest of
those of its machines from when it was measured. A change of the sources that moves no number leaves both alone, and so does
a new counter.
"""

import csv
import hashlib
import io

import pages

FILE = "docs/data/sentinels.csv"
MEASURED = "docs/data/measured.csv"

# Programs that compute, diverge, stream, miss on every lane, and synchronise.
WORKLOADS = ["gemm", "bfs", "saxpy", "atax", "gather", "lud"]

# Costly parts of pages, and the machines that they are about.
COSTLY = {
    "docs/performance.md": {
        "stages": ["gtx480"], "traffic": ["gtx480"], "sms": ["gtx480"], "warps": ["gtx480"], "machines": ["gtx480", "volta-fuse"],
        "small": ["gtx480"], "small stages": ["gtx480"],
        "threads": ["volta-fuse"], "time": ["gtx480"],
    },
    "docs/fidelity.md": {"programs": ["gtx480"], "v100": ["v100"], "counters": ["v100"]},
    "docs/policies.md": {"replacement": ["gtx480"], "prefetch": ["gtx480"]},
    "docs/notebooks/knee.ipynb": {"notebook": ["gtx480"]},
    "docs/notebooks/five-designs.ipynb": {"notebook": ["gtx480", "rtx3080-quarter", "stash-apu"]},
    "docs/notebooks/papers.ipynb": {"notebook": ["gtx480", "rtx3080-quarter", "stash-apu"]},
    "docs/notebooks/search.ipynb": {"notebook": ["gtx480"]},
}
COMMANDS = {
    "docs/performance.md": "scripts/performance.py",
    "docs/fidelity.md": "scripts/fidelity.py --programs FOLDER",
    "docs/policies.md": "scripts/policies.py",
    **{page: f"scripts/notebooks.py --write {page.split('/')[-1].removesuffix('.ipynb')}" for page in COSTLY if page.endswith(".ipynb")},
}

HEADER = ["machine", "workload", "cycles", "warp_instructions", "l1d_accesses", "packets", "dram_requests"]


def measure(binary):
    """The rows of today's model, as strings."""
    machines = sorted({machine for parts in COSTLY.values() for used in parts.values() for machine in used})
    rows = []
    for machine in machines:
        for workload in WORKLOADS:
            run = pages.result(binary, workload, "--size", "test", "--machine", machine)
            group = run["statistics"]
            numbers = [run["cycles"], run["warp_instructions"], group["l1d"]["accesses"], group["network.request"]["packets_out"],
                       group["dram"]["reads"] + group["dram"]["writes"]]
            rows.append([machine, workload, *map(str, numbers)])
    return rows


def text_of(header, rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def rows_of(path):
    path = pages.ROOT / path
    return list(csv.reader(path.read_text().splitlines()))[1:] if path.exists() else []


def moved(today):
    """What the file has otherwise, in words."""
    before, now = ({tuple(row[:2]): row[2:] for row in rows} for rows in (rows_of(FILE), today))
    lines = []
    for key in sorted(before.keys() | now.keys()):
        if before.get(key) == now.get(key):
            continue
        if key not in before or key not in now:
            lines.append(f"{' '.join(key)}: {'a new run' if key in now else 'not run any more'}")
            continue
        pairs = zip(HEADER[2:], before[key], now[key])
        lines.append(f"{' '.join(key)}: " + ", ".join(f"{name} {old} -> {new}" for name, old, new in pairs if old != new))
    return lines


def write(today):
    (pages.ROOT / FILE).write_text(text_of(HEADER, today))


def digest(rows, machines):
    text = text_of(HEADER, [row for row in rows if row[0] in machines])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def measured(page, parts, binary):
    """Notes that these parts of a page were measured with the model of this build."""
    today = measure(binary)
    found = {tuple(row[:2]): row[2] for row in rows_of(MEASURED)}
    found.update({(page, part): digest(today, COSTLY[page][part]) for part in parts})
    (pages.ROOT / MEASURED).write_text(text_of(["page", "part", "digest"], [[*key, found[key]] for key in sorted(found)]))


def outdated(page, today):
    """The costly parts of a page that were measured with another model."""
    found = {tuple(row[:2]): row[2] for row in rows_of(MEASURED)}
    return [part for part, machines in COSTLY[page].items() if found.get((page, part)) != digest(today, machines)]


def age(page, today):
    """What the page says of it to its readers."""
    if old := outdated(page, today):
        return f"The model has changed since some of these tables were measured, and their numbers may have moved: {', '.join(old)}."
    return "No number of the model has moved since these tables were measured."
