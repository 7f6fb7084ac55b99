#!/usr/bin/env python3
"""Runs the notebooks of docs/notebooks with Jupyter's executor, and compares what they show with what they have.

    scripts/notebooks.py                    runs all, and fails where one shows something else or draws by a network
    scripts/notebooks.py --write [NAME...]  runs these, or all, and keeps what they show

Needs a Python with strata_gpu, nbclient and ipykernel. Notebooks that were run with another model are told by scripts/documents.py.
"""

import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

import nbclient
import nbformat

import pages
import sentinels

FOLDER = "docs/notebooks"

# What differs between runs or hosts: parts of a summary, and ids that a drawing makes up.
OF_THE_HOST = re.compile(r'^  (speed|peak memory) .*$|(?<=id=")[^"]*(?=")|url\(#[^)]*\)', re.M)


def execute(path):
    """A notebook, run in a folder of its own."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources=resources).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            # Progress bars.
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return book


def shown(book):
    """What a notebook shows, without what is about the host."""
    found = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {"text/plain": output.get("text", "")})
            found.append({kind: OF_THE_HOST.sub("", "".join(text)) for kind, text in data.items()})
    return found


def loads(book):
    """What a notebook would fetch when it is shown."""
    links = re.compile(r'(?:src|href|xlink:href)="(https?:[^"]+)"|\b(?:require|import)\(["\'](https?:[^"\']+)')
    texts = (text for output in shown(book) for kind, text in output.items() if kind != "text/plain")
    return [next(filter(None, found)) for text in texts for found in links.findall(text)]


def main():
    write = "--write" in sys.argv[1:]
    names = [argument for argument in sys.argv[1:] if argument != "--write"]
    known = sorted((pages.ROOT / FOLDER).glob("*.ipynb"))
    if unknown := set(names) - {path.stem for path in known}:
        sys.exit(f"notebooks.py: {', '.join(sorted(unknown))}: expected some of {', '.join(path.stem for path in known)}")
    chosen = [path for path in known if not names or path.stem in names]
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, book in zip(chosen, pool.map(execute, chosen)):
            page = f"{FOLDER}/{path.name}"
            if links := loads(book):
                wrong.append(page)
                print(f"{page}: loads {', '.join(links[:3])}")
            if write:
                nbformat.write(book, path)
                sentinels.measured(page, ["notebook"], pages.build("dev"))
                print(f"{page}: written")
            elif shown(book) != shown(nbformat.read(path, as_version=4)):
                wrong.append(page)
                print(f"{page}: shows something else than it has")
    if wrong:
        sys.exit(f"notebooks.py: this runs them again:\n\n    scripts/notebooks.py --write {' '.join(sorted({pathlib.Path(page).stem for page in wrong}))}\n")
    print(f"{len(chosen)} notebooks show what they have")


if __name__ == "__main__":
    main()
