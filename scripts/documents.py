#!/usr/bin/env python3
"""Writes what a build says into the documents: README.md, pages and pictures of docs, docs/data/sentinels.csv.

    scripts/documents.py                  all that costs seconds
    scripts/documents.py README.md ...    those named
    scripts/documents.py --check          writes nothing; fails where a document differs from what the build says, and names the command

What differs between runs or hosts (speed, memory) is not compared. Tables that cost more are measured by scripts of their own. They
carry the numbers of some short runs from when they were measured (docs/data/measured.csv), which move when the model does and not when
only its sources do. Where these have moved, the page's part `age` says so to its readers. Papers' pages name the version of the
simulator themselves (scripts/claims.py). Builds the command with the dev profile, since numbers are those of any other; STRATA=/path
names another.
"""

import concurrent.futures
import importlib
import json
import re
import subprocess
import sys
import tempfile

import catalogue
import fidelity
import pages
import picture
import plot
import policies
import scheduling
import sentinels
import workloads

stash_workloads = importlib.import_module("stash-workloads")

# Lines of a summary that are about the host.
OF_THE_HOST = re.compile(r"^  (speed|peak memory) .*$", re.M)


def block(text):
    return f"```text\n{text.rstrip()}\n```"


def output(binary, *arguments, status=0, folder=pages.ROOT):
    """Both outputs of a command that ends with a status."""
    run = subprocess.run([binary, *arguments], cwd=folder, capture_output=True, text=True)
    if run.returncode != status:
        sys.exit(f"strata {' '.join(arguments)}: status {run.returncode}, expected {status}: {run.stderr.strip()}")
    return run.stdout + run.stderr


# The lines of a summary that README shows.
SHOWN = ["gemm", "cycles", "instructions", "IPC", "issued", "waiting for memory", "load/store unit full", "L1D    ", "L2", "DRAM  "]


def head(text, labels):
    """The first line that begins with each of the labels, in order; `...` stands for the others."""
    lines, wanted = [], list(labels)
    for line in text.splitlines():
        if wanted and line.strip().startswith(wanted[0]):
            wanted.pop(0)
            lines.append(line)
        elif not lines or lines[-1] != "...":
            lines.append("...")
    if wanted:
        sys.exit(f"documents.py: a summary has no line {wanted[0].strip()}")
    return "\n".join(lines)


def readme(binary):
    return {"example": block(head(pages.text(binary, "run", "gemm", "--size", "small"), SHOWN))}


def races(binary):
    lines = output(binary, "run", "bfs", "--races", status=1).splitlines()
    return {"races": block("\n".join([*lines[:4], "..."]))}


def machines(binary):
    refused = [output(binary, "run", "gemm", "--set", key, status=2) for key in ("l1d.way=8", "l1d.stt.ways=2")]
    short = [re.sub(r"(expected one of the keys[^:]*:).*", r"\1 ...", error.strip(), flags=re.S) for error in refused]
    return {"unknown key": block("\n".join(short))}


def launch_files(binary):
    with tempfile.TemporaryDirectory() as folder:
        output(binary, "new", "mine", folder=folder)
        summary = output(binary, "run", "mine.toml", "--show", "y", folder=folder)
    return {"show": block("\n".join(line for line in summary.splitlines() if line.startswith("  holds ")))}


# The quick parts of each page, by who makes them.
WRITERS = {
    "README.md": readme,
    "docs/workloads.md": catalogue.tables,
    "docs/inputs.md": catalogue.inputs,
    "docs/characteristics.md": workloads.page,
    "docs/fidelity.md": fidelity.parts,
    "docs/stash-workloads.md": stash_workloads.parts,
    "docs/races.md": races,
    "docs/machines.md": machines,
    "docs/launch-files.md": launch_files,
    "docs/performance.md": lambda binary: {},
    "docs/policies.md": lambda binary: {**policies.parts(binary), **scheduling.parts(binary)},
}


# Files that are written whole.
PICTURES = {picture.FILE: picture.machine, plot.FILE: plot.ipc}


def alike(part):
    """A part without what is about the host."""
    return OF_THE_HOST.sub("", part).strip()


def keep_host(old, new):
    """A new part with the old one's lines about the host, which are those of an optimised build on a quiet one."""
    lines = iter([found.group(0) for found in OF_THE_HOST.finditer(old)])
    return OF_THE_HOST.sub(lambda found: next(lines, found.group(0)), new)


def stale(page, parts):
    """The parts that a page has otherwise."""
    return [name for name, part in parts.items() if alike(pages.part(page, name)) != alike(part)]


def main():
    check = "--check" in sys.argv[1:]
    names = [argument for argument in sys.argv[1:] if argument != "--check"]
    known = [*WRITERS, *PICTURES, sentinels.FILE]
    if unknown := set(names) - set(known):
        sys.exit(f"documents.py: {', '.join(sorted(unknown))}: expected some of {', '.join(known)}\n\n{__doc__}")
    names = names or known
    binary = pages.build("dev")
    today = sentinels.measure(binary)
    moved = sentinels.moved(today)
    for line in moved:
        print(f"{sentinels.FILE}: {line}")
    if not check and sentinels.FILE in names:
        sentinels.write(today)

    def made(page):
        parts = WRITERS[page](binary)
        return page, {**parts, "age": sentinels.age(page, today)} if page in sentinels.COSTLY else parts

    differs = [sentinels.FILE] if moved and sentinels.FILE in names else []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for page, parts in pool.map(made, [name for name in names if name in WRITERS]):
            changed = stale(page, parts)
            if check and changed:
                differs.append(page)
                print(f"{page}: {', '.join(changed)}: not what this build says")
            elif not check:
                pages.write(page, {name: keep_host(pages.part(page, name), parts[name]) for name in changed}, whole=False)
    for name in [name for name in names if name in PICTURES]:
        drawn, file = PICTURES[name](binary), pages.ROOT / name
        is_stale = not file.exists() or file.read_text() != drawn
        if check and is_stale:
            differs.append(name)
            print(f"{name}: not what this build says")
        elif not check:
            file.write_text(drawn)
            print(f"{name}: {'written' if is_stale else 'unchanged'}")
    for page in sentinels.COSTLY:
        if old := sentinels.outdated(page, today):
            print(f"{page}: measured with another model: {', '.join(old)}; {sentinels.COMMANDS[page]} measures again")
    if check and differs:
        sys.exit(f"documents.py: out of date; this writes them:\n\n    scripts/documents.py {' '.join(differs)}\n")
    if check:
        print(f"{len(names)} documents say what this build says")


if __name__ == "__main__":
    main()
