"""Hardware counters through Nsight Compute, where there is one and it may count."""

import csv
import os
import re
import shutil
import tempfile
from collections import defaultdict

from process import run

#: Column to metric, and how the launches of a kernel come together: their sum, their largest, or their mean weighted by
#: cycles. A sector is 32 bytes.
COUNTERS = {
    "cycles": ("sm__cycles_elapsed.max", "sum"),
    "warp_instructions": ("smsp__inst_executed.sum", "sum"),
    "thread_instructions": ("smsp__thread_inst_executed.sum", "sum"),
    "l1_global_load_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sum"),
    "l1_global_load_sector_hits": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sum"),
    "l2_sectors": ("lts__t_sectors.sum", "sum"),
    "l2_read_sectors": ("lts__t_sectors_op_read.sum", "sum"),
    "l2_write_sectors": ("lts__t_sectors_op_write.sum", "sum"),
    "dram_read_bytes": ("dram__bytes_read.sum", "sum"),
    "dram_write_bytes": ("dram__bytes_write.sum", "sum"),
    "launch_registers": ("launch__registers_per_thread", "largest"),
    "occupancy_percent": ("sm__warps_active.avg.pct_of_peak_sustained_active", "mean"),
}

#: How ncu's refusal of a metric that the device does not have begins.
UNKNOWN_METRIC = "failed to find metric"


class NotCounted(Exception):
    """Why there are no counters."""


def count(command, cache_control, timeout):
    """Runs a command under ncu: kernel to its columns, and what counted."""
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NotCounted("ncu is not on the PATH")
    metrics = [metric for metric, _ in COUNTERS.values()]
    for _ in range(len(metrics)):
        status, text = profile(ncu, metrics, cache_control, command, timeout)
        refusals = [line.replace("\\", "") for line in text.splitlines() if UNKNOWN_METRIC in line.lower()]
        unknown = {metric for metric in metrics if any(metric in line for line in refusals)}
        if status == 0 or not unknown:
            break
        # A device without one of them still counts the others.
        metrics = [metric for metric in metrics if metric not in unknown]
    rows = report(text)
    if status != 0 or not rows:
        raise NotCounted(reason(status, text))
    version = re.search(r"Version (\S+)", run([ncu, "--version"], 60)[1])
    source = (
        f"ncu {version[1] if version else 'of unknown version'}, --cache-control {cache_control} --clock-control none"
    )
    return merge(rows), source


def profile(ncu, metrics, cache_control, command, timeout):
    """ncu's exit status and what it wrote. Clocks stay as they are, so that cycles and times are of one machine."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "ncu.log")
        options = ["--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled"]
        options += ["--cache-control", cache_control, "--clock-control", "none", "--log-file", log]
        status, output = run([ncu, *options, "--metrics", ",".join(metrics), *command], timeout)
        try:
            with open(log, errors="replace") as file:
                return status, file.read() + "\n" + output
        except OSError:
            return status, output


def reason(status, text):
    lines = [text_.removeprefix("==ERROR==").strip() for text_ in text.splitlines() if text_.startswith("==ERROR==")]
    if not lines:
        lines = [text_.strip() for text_ in text.splitlines() if text_.strip()][-1:]
    return (
        f"ncu ended with {status}: {' '.join(lines)[:400]}" if lines else f"ncu ended with {status} and counted nothing"
    )


def report(text):
    """Rows of ncu's CSV as metric to value, each with `kernel`: one row a launch, whichever page it printed."""
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith('"ID",')]
    if not starts:
        return []
    table = [line for line in lines[starts[0] :] if line.startswith('"')]
    rows = list(csv.DictReader(table))
    launches = {}
    for row in rows:
        if not (row.get("ID") or "").strip():
            continue  # The units of the raw page.
        launch = launches.setdefault(row["ID"], {"kernel": row["Kernel Name"]})
        if "Metric Name" in row:
            launch[row["Metric Name"]] = row["Metric Value"]
        else:
            launch |= row
    return list(launches.values())


def value(text):
    """A number that may have thousands separators; None for anything else."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def merge(rows):
    """Launches of a kernel together: kernel to its columns."""
    by_kernel = defaultdict(list)
    for row in rows:
        by_kernel[row["kernel"].split("(")[0].strip()].append(row)
    return {kernel: combined(launches) for kernel, launches in by_kernel.items()}


def combined(launches):
    columns = {}
    weights = [value(launch.get(COUNTERS["cycles"][0])) or 1.0 for launch in launches]
    for column, (metric, how) in COUNTERS.items():
        values = [value(launch.get(metric)) for launch in launches]
        if None in values:
            continue
        if how == "sum":
            columns[column] = round(sum(values))
        elif how == "largest":
            columns[column] = round(max(values))
        else:
            columns[column] = sum(v * w for v, w in zip(values, weights)) / sum(weights)
    return columns
