#!/usr/bin/env python3
"""Reads a result that `strata` stored with pandas, and fails where a number is not what `strata` says.

    scripts/store-in-pandas.py target/debug/strata

Needs the packages `pandas` and `pyarrow` (PyPI).
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import pandas


def main():
    strata = sys.argv[1]
    ask = lambda *arguments: subprocess.run([strata, *arguments], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        ask("compare", "saxpy", "--store", folder)
        (file,) = pathlib.Path(folder).glob("*.parquet")
        table = pandas.read_parquet(file)
    types = {name: str(table[name].dtype) for name in ("launch", "count", "real")}
    assert types == {"launch": "Int32", "count": "UInt64", "real": "float64"}, types
    whole = table[table["launch"].isna()]
    run = whole[whole["group"] == "run"].set_index("counter")["count"]
    expected = json.loads(ask("run", "saxpy", "--json", "-"))
    assert run["cycles"] == expected["cycles"], (run["cycles"], expected["cycles"])
    hashed = int(expected["statistics_hash"], 16)
    assert int(run["statistics_hash"]) == hashed, (hex(run["statistics_hash"]), expected["statistics_hash"])
    assert hashed >= 2**53, f"{hashed:#x} is as exact as a float; expected a hash of more bits"


if __name__ == "__main__":
    main()
