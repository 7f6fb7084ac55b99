#!/usr/bin/env python3
"""Repeats a paper's evaluation from nothing: its runs, its archive in results/, and its page in docs/.

    scripts/evaluation.py fuse                  every size of the paper's file
    scripts/evaluation.py fuse --size small     one of them
    scripts/evaluation.py fuse --pack           no run: packs what the store holds, and writes the page

Runs are kept in target/evaluation/<paper>, so one that was stopped goes on where it was. Of each size the script says how many runs
the store holds and what they took. Archives are the same to the byte for the same runs: names in order, no time, no owner. Builds the
release command; STRATA=/path names another. Needs tar and zstd.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

import claims
import pages


def run(*command):
    subprocess.run([str(word) for word in command], cwd=pages.ROOT, check=True)


def seconds(store):
    """What the store's runs took, by size: the host writes a line for each into its log."""
    took = collections.defaultdict(dict)
    log = store / "host.log"
    for line in log.read_text().splitlines() if log.exists() else []:
        if found := re.search(r"^(\w+) \S+ (\w+) .* ([\d.]+) s \d+ bytes$", line):
            key, size, time = found.groups()
            took[size][key] = float(time)
    return took


def pack(archive, store):
    """Packs a store's runs."""
    names = sorted(f"{store.name}/{path.name}" for path in store.glob("*.parquet"))
    if not names:
        sys.exit(f"{store}: found no run")
    plain = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"]
    listed = "\n".join(names)
    command = ["tar", *plain, "-C", str(store.parent), "-I", "zstd -19", "-cf", str(archive), "-T", "-"]
    subprocess.run(command, input=listed, text=True, check=True)
    print(f"{archive.relative_to(pages.ROOT)}: {len(names)} runs, {archive.stat().st_size // 1024} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper")
    parser.add_argument("--size", action="append", help="a size, in place of those of the paper's file")
    parser.add_argument("--jobs", default="0", help="runs at a time; 0 for as many as there are cores")
    parser.add_argument("--pack", action="store_true", help="run nothing")
    asked = parser.parse_args()
    paper, store = asked.paper, pages.ROOT / "target/evaluation" / asked.paper
    binary = pages.build()
    store.mkdir(parents=True, exist_ok=True)
    for size in [] if asked.pack else asked.size or claims.sizes_of(paper):
        page = store.parent / f"{paper}-{size}.html"
        jobs = [] if asked.jobs == "0" else ["--jobs", asked.jobs]
        # Choices are varied, and explanations' experiments made, at the usual size.
        part = [] if size == claims.sizes_of(paper)[0] else ["--figures"]
        run(binary, "repro", paper, "--size", size, "--store", store, *part, *jobs, "--out", page)
    archive = pages.ROOT / "results" / f"{paper}.tar.zst"
    pack(archive, store)
    for size, took in sorted(seconds(store).items()):
        print(f"{paper}, size {size}: {len(took)} runs, {sum(took.values()) / 3600:.2f} hours of one core")
    claims.page(binary, archive, check=False)


if __name__ == "__main__":
    main()
