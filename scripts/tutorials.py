#!/usr/bin/env python3
"""Runs the commands of the tutorials, page by page, and compares what they print with what the page shows.

    scripts/tutorials.py target/debug/strata            fails where a page shows something else
    scripts/tutorials.py target/debug/strata --write    writes what the commands print into the pages

A page runs in a temporary folder that has the project's examples. In a block

    ```console
    $ strata run saxpy
    saxpy on gtx480: results verified
    ...
      IPC                         ...
    ```

a line that begins with `$ ` is a command, and what follows is its output, standard error included. `...` stands for any lines,
and within a line for any text. Lines about the host are left out. A block of ```console fails holds commands that do not end with
status 0. A block whose language is followed by a name, as in ```toml mine.toml, is a file. All other blocks are not run.

What the commands need is built before: beside `strata`, or in the folder `deps` there, `libcuda.so`, and beside it `own-designs`,
which stands for `cargo run -p own-designs`.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

import pages

NAMES = ["tutorial-student", "tutorial-researcher", "tutorial-engineer", "diff", "limits", "long-programs", "critical-path", "uncertainty"]
TUTORIALS = [f"docs/{name}.md" for name in NAMES]
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
# Lines that differ from host to host, or from run to run.
OF_THE_HOST = re.compile(r"^  (speed|peak memory) ")
ANY = "..."
# Seconds that a command may take.
PATIENCE = 300

# In front of everything else in PATH. Progress depends on how fast the host is.
STRATA = """#!/bin/sh
if [ "$1" = exec ] && [ -n '{driver}' ]; then shift; set -- exec --driver '{driver}' "$@"; fi
exec '{strata}' --quiet "$@"
"""
CARGO = """#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != -- ]; do words="$words $1"; shift; done
case "$words " in
" run "*" own-designs "*) shift; exec '{designs}' --quiet "$@";;
esac
echo "tutorials.py: cargo$words: expected cargo run -p own-designs --" >&2
exit 1
"""


def tools(folder, strata):
    """The commands that the pages name, as programs that were built before."""
    beside = [folder_of / "libcuda.so" for folder_of in (strata.parent, strata.parent / "deps")]
    driver = next((str(library) for library in beside if library.exists()), "")
    folder.mkdir()
    for name, text in {"strata": STRATA, "cargo": CARGO}.items():
        path = folder / name
        path.write_text(text.format(strata=strata, driver=driver, designs=strata.with_name("own-designs")))
        path.chmod(0o755)


def commands(block):
    """The commands of a block, each with the output that is shown."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(([line], []))
        elif found and not found[-1][1] and found[-1][0][-1].endswith("\\"):
            found[-1][0].append(line)
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit(f"tutorials.py: a block begins with {line!r}, expected `$ ` and a command")
    return found


def of_all_hosts(lines):
    return [line.rstrip() for line in lines if not OF_THE_HOST.match(line)]


def line_is(shown, printed):
    """Whether a line is as shown, where `...` within it stands for any text."""
    first, *rest = shown.split(ANY)
    if not rest:
        return shown == printed
    # Each piece where it comes first leaves the most for those behind it: lines with many dots are no slower than others.
    at = len(first) if printed.startswith(first) else -1
    for piece in rest[:-1]:
        found = printed.find(piece, at) if at >= 0 else -1
        at = found + len(piece) if found >= 0 else -1
    return at >= 0 and len(printed) - len(rest[-1]) >= at and printed.endswith(rest[-1])


def alike(shown, printed):
    """Whether an output is as shown, where a line of `...` stands for any number of lines."""
    # places[n]: the shown lines so far may be the first n printed ones.
    places = {0}
    for line in shown:
        if line == ANY:
            places = set(range(min(places), len(printed) + 1)) if places else places
        else:
            places = {place + 1 for place in places if place < len(printed) and line_is(line, printed[place])}
    return len(printed) in places


def label(line):
    """What a line is called: its words up to a gap, whatever the numbers in them."""
    return re.sub(r"\d[\d .,]*", "0", re.split(r"(?<=\S)  ", line)[0])


def renewed(shown, printed):
    """The lines of an output that a page showed, as they are now. None where one cannot be found."""
    if ANY not in shown:
        return printed
    lines, at = [], 0
    for line in shown:
        if line == ANY:
            lines.append(ANY)
            continue
        candidates = range(at, len(printed)) if lines and lines[-1] == ANY else range(at, min(at + 1, len(printed)))
        same = [place for place in candidates if line_is(line, printed[place])]
        like = [place for place in candidates if label(printed[place]) == label(line)]
        if not same + like:
            return None
        at = (same + like)[0]
        lines.append(line if same and ANY in line else printed[at])
        at += 1
    return lines if alike(lines, printed) else None


def run(command, folder, environment):
    """Both outputs of a command and its status."""
    ran = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=PATIENCE,
    )
    return of_all_hosts(ran.stdout.splitlines()), ran.returncode


def play(page, strata, write):
    """Runs a page. Returns what differs."""
    path = pages.ROOT / page
    problems, text, new, end = [], path.read_text(), "", 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "project"
        folder.mkdir()
        (folder / "examples").symlink_to(pages.ROOT / "examples")
        tools(pathlib.Path(scratch) / "tools", strata)
        environment = {**os.environ, "PATH": f"{scratch}/tools:{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "80"}
        for block in BLOCK.finditer(text):
            language, word, body = block.groups()
            if language != "console":
                if word:
                    (folder / word).write_text(body)
                continue
            lines = []
            for command, shown in commands(body):
                printed, status = run("\n".join(command)[2:], folder, environment)
                named = f"{page}: {command[0]}"
                if (status != 0) != (word == "fails"):
                    problems.append(f"{named}: status {status}\n" + "\n".join(printed[-20:]))
                if write:
                    now = renewed(shown, printed)
                    if now is None:
                        problems.append(f"{named}: what the page shows is no longer there; cut it by hand:\n" + "\n".join(printed))
                    lines += [*command, *(shown if now is None else now)]
                elif not alike(of_all_hosts(shown), printed):
                    problems.append("\n".join([f"{named}: shown", *shown, "--- printed", *printed]))
            if write:
                new += text[end:block.start(3)] + "".join(f"{line}\n" for line in lines)
                end = block.end(3)
    if write:
        path.write_text(new + text[end:])
    return problems


def main():
    write = "--write" in sys.argv[1:]
    given = [argument for argument in sys.argv[1:] if argument != "--write"]
    if not given or not set(given[1:]) <= set(TUTORIALS):
        sys.exit(__doc__)
    strata = pathlib.Path(given[0]).resolve()
    problems = []
    for page in given[1:] or TUTORIALS:
        begun = time.monotonic()
        problems += play(page, strata, write)
        print(f"{page}: {time.monotonic() - begun:.0f} s", flush=True)
    if problems:
        again = f"scripts/tutorials.py {shlex.quote(given[0])} --write"
        sys.exit("\n\n".join(problems) + f"\n\ntutorials.py: the pages differ; this writes them:\n\n    {again}\n")


if __name__ == "__main__":
    main()
