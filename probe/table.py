"""The CSV: its columns, appended row by row."""

import csv
import io
import os
from collections import Counter

from counters import COUNTERS

COLUMNS = [
    "file", "name", "size", "kernel", "kernels", "launches", "grid", "block",
    "registers", "static_shared_bytes", "dynamic_shared_bytes", "local_bytes",
    "time_us_median", "time_us_min", "repeats", "null_kernel_us",
    "verified", "mismatches", "largest_error_over_bound", "outputs_sha256", "expected_sha256",
    *COUNTERS, "counters_source",
    "gpu", "compute_capability", "sms", "core_clock_mhz", "memory_clock_mhz", "l2_bytes",
    "driver_version", "jit_version", "backend", "date_utc", "launch_sha256", "ptx_sha256", "error",
]  # fmt: skip

#: What says which program was measured, and where.
KEY = ["launch_sha256", "ptx_sha256", "gpu"]


class TableError(Exception):
    """A CSV that rows cannot be added to."""


def line(values):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def cell(value):
    """A value in one line, so that a row is a line."""
    if isinstance(value, float):
        return f"{value:.9g}"
    return " ".join(str(value).split())


class Table:
    """A CSV file open for appending."""

    def __init__(self, path, resume):
        self.path = path
        self.done = set()
        exists = os.path.exists(path) and os.path.getsize(path) > 0
        if exists and not resume:
            raise TableError(f"{path}: found a file that exists, expected a new one, or --resume to continue it")
        if exists:
            self.continue_()
        self.file = open(path, "ab")
        if not exists:
            self.put(line(COLUMNS))

    def continue_(self):
        """Finds what is complete; a last line that was cut short goes."""
        with open(self.path, "rb+") as file:
            data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            rows = list(csv.reader(io.StringIO(whole.decode(), newline="")))
            if not rows or rows[0] != COLUMNS:
                found = ",".join(rows[0]) if rows else "no header"
                raise TableError(f"{self.path}: found columns {found}, expected {','.join(COLUMNS)}")
            file.truncate(len(whole))
        counts = Counter()
        for cells in rows[1:]:
            row = dict(zip(COLUMNS, cells))
            if not row["error"]:
                key = tuple(row[column] for column in KEY)
                counts[key, row["kernels"]] += 1
        self.done = {key for (key, kernels), count in counts.items() if count >= int(kernels)}

    def append(self, rows):
        """Adds a file's rows, which are on disk when this returns."""
        for row in rows:
            unknown = row.keys() - set(COLUMNS)
            assert not unknown, f"{unknown} are not columns"
        self.put("".join(line(cell(row.get(column, "")) for column in COLUMNS) for row in rows))

    def put(self, text):
        self.file.write(text.encode())
        self.file.flush()
        os.fsync(self.file.fileno())

    def close(self):
        self.file.close()
