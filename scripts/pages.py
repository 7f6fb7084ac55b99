"""Generated parts of the documentation, between markers:

    <!-- generated: name -->
    ...
    <!-- end of generated -->
"""

import csv
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build(profile="release"):
    """The command, built by a profile of Cargo.toml; STRATA names another."""
    if binary := os.environ.get("STRATA"):
        return binary
    # With the features of the whole workspace where that is what tests have built anyway.
    what = ["--workspace", "--bin", "strata"] if profile == "dev" else ["-p", "strata"]
    subprocess.run(["cargo", "build", "--profile", profile, "--locked", *what], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(target / ("debug" if profile == "dev" else profile) / "strata")


def text(binary, *arguments):
    """What a command writes to standard output."""
    run = subprocess.run([binary, *arguments], cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"strata {' '.join(arguments)}: {run.stderr.strip()}")
    return run.stdout


def result(binary, *arguments):
    """A run's JSON. Its results are right, or this script ends."""
    found = json.loads(text(binary, "run", *arguments, "--json", "-"))
    if found["verified"] is False:
        sys.exit(f"strata run {' '.join(arguments)}: {found['problems']}")
    return found


def executed(binary, folder, command, *more):
    """What `strata exec` says of a program: its launches, and the run."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        # Some programs read past their buffers, as hardware lets them.
        options = ["--threads", "1", "--bounds", "page", "--json", out.name]
        run = subprocess.run([binary, "exec", *options, *more, "--", *command],
                             cwd=folder, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{shlex.join(command)}: {run.stderr.strip()[-400:]}")
        *launches, whole = [json.loads(line) for line in pathlib.Path(out.name).read_text().splitlines()]
    return launches, whole


def read_csv(path):
    """The rows of a file of the project."""
    with open(ROOT / path, newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path, rows):
    with open(ROOT / path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table(header, rows):
    """Markdown. A header that ends in `|` is of a column of words, any other of numbers."""
    titles = [title.rstrip("|") for title in header]
    rules = ["---" if title.endswith("|") else "---:" for title in header]
    lines = [titles, rules, *[[str(cell) for cell in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def rows(table):
    """The rows of a Markdown table, which text may follow: cells by the titles of their columns."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def number(cell):
    return float(cell.replace(",", ""))


BEGIN, END = "<!-- generated: {} -->", "<!-- end of generated -->"


def part(page, name):
    """A generated part of a page as it stands."""
    text = (ROOT / page).read_text()
    begin = BEGIN.format(name)
    if begin not in text:
        sys.exit(f"{page}: found no {begin}")
    return text.split(begin)[1].split(END)[0].strip()


def write(page, parts, check=False, whole=True):
    """Replaces generated parts of a page, or fails where one would change. Parts and markers must match, unless it is
    not the whole page; its age is scripts/documents.py's.
    """
    path = ROOT / page
    old = path.read_text()
    names = set(re.findall(r"<!-- generated: (.+?) -->", old)) - {"age"}
    if missing := (set(parts) - {"age"}) ^ names if whole else set(parts) - names - {"age"}:
        sys.exit(f"{page}: generated parts and markers differ in {', '.join(sorted(missing))}")
    new = old
    for name, text in parts.items():
        begin = BEGIN.format(name)
        start = new.index(begin) + len(begin)
        stop = new.index(END, start)
        new = f"{new[:start]}\n\n{text.strip()}\n\n{new[stop:]}"
    if new != old and check:
        sys.exit(f"{page}: not what {sys.argv[0]} writes")
    if new != old:
        path.write_text(new)
    print(f"{page}: {'written' if new != old else 'unchanged'}")
