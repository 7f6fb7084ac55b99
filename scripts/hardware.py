#!/usr/bin/env python3
"""Writes what `probe/micro.py` measured on a GPU as the data that `strata validate` compares with.

    scripts/hardware.py micro.csv [MORE.csv ...] --out crates/lab/data/hardware/h200.csv

Of figures that several files have, the last file's counts; an empty one never does. Latencies from every SM to lines of the
L2 become quantiles over the SMs of each line. What all rows have in common is printed, for the README beside the data.
"""

import argparse
import csv
import re
import statistics
import sys

COLUMNS = ["family", "case", "parameters", "quantity", "unit", "median", "minimum", "maximum", "repeats"]
#: Columns that describe the GPU and the run, not a figure.
COMMON = ["gpu", "compute_capability", "sms", "core_clock_mhz", "memory_clock_mhz", "l2_bytes", "driver_version", "jit_version"]
QUANTILES = [0, 10, 25, 50, 75, 90, 100]


def read(paths, without):
    """The figures by family and case, and what the rows have in common."""
    rows, common, dates = {}, {name: set() for name in COMMON}, []
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if row["error"] or not row["median"] or (without and re.fullmatch(without, row["case"])):
                    continue
                rows[row["family"], row["case"]] = {name: row[name] for name in COLUMNS}
                for name in COMMON:
                    common[name].add(row[name])
                dates.append(row["date_utc"])
    return rows, common, dates


def parameters(row):
    return dict(pair.split("=", 1) for pair in row["parameters"].split(";"))


def quantile(values, percent):
    """The value that so many percent do not exceed."""
    values = sorted(values)
    return values[max(-(-percent * len(values) // 100), 1) - 1]


def by_line(rows):
    """Rows of the family `partitions` as quantiles over the SMs."""
    lines = {}
    for row in rows:
        lines.setdefault(parameters(row)["line"], []).append(float(row["median"]))
    for line, latencies in lines.items():
        for percent in QUANTILES:
            yield {
                "family": "partitions",
                "case": f"line-{line}-q{percent}",
                "parameters": f"line={line};quantile_percent={percent}",
                "quantity": "load latency over all SMs",
                "unit": "cycles",
                "median": f"{quantile(latencies, percent):.6g}",
                "minimum": "",
                "maximum": "",
                "repeats": len(latencies),
            }


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.csv")
    parser.add_argument("--out", required=True, metavar="FILE.csv")
    parser.add_argument("--without", metavar="PATTERN", help="leave out cases that this regular expression matches whole")
    options = parser.parse_args(argv)
    rows, common, dates = read(options.files, options.without)
    if not rows:
        print(f"{options.files[0]}: found no figure, expected at least one", file=sys.stderr)
        return 2
    of_lines = [row for row in rows.values() if row["family"] == "partitions"]
    with open(options.out, "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(row for row in rows.values() if row["family"] != "partitions")
        table.writerows(by_line(of_lines))
    for name, values in common.items():
        print(f"{name}: {', '.join(sorted(values))}")
    print(f"measured: {min(dates)} to {max(dates)}; {len(rows)} figures")
    if of_lines:
        spread = statistics.median(float(row["maximum"]) - float(row["minimum"]) for row in of_lines)
        print(f"spread of a latency from an SM to a line over repeats: {spread:.3g} cycles in the median")
    return 0


if __name__ == "__main__":
    sys.exit(main())
