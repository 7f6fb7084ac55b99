#!/usr/bin/env python3
"""Writes what runs say into README.md and docs/workloads.md.

    scripts/examples.py              all of them
    scripts/examples.py README.md    those named

Builds the release command; STRATA=/path names another.
"""

import json
import sys

import pages

def catalogue(binary):
    entries = json.loads(pages.text(binary, "list", "workloads", "--json"))
    rows, words = [], []
    for entry in entries:
        name = entry["name"]
        kernels = ", ".join(kernel["name"] for kernel in entry["kernels"])
        papers = ", ".join(entry["papers"])
        for number, of in enumerate(entry["inputs"]):
            first = [name, entry["suite"], papers, kernels] if number == 0 else [""] * 4
            rows.append([*first, of["size"], of["input"], f"{of['thread_instructions'] / 1e6:,.1f}", f"{of['footprint_bytes'] / 2**20:,.1f}"])
        originals = ", ".join(f"{kernel['name']} for {kernel['original']}" for kernel in entry["kernels"] if kernel["original"])
        stands = f" Kernels: {originals}." if originals else ""
        differs = " Differs: " + "; ".join(entry["differences"]) + "." if entry["differences"] else ""
        words.append(f"- **{name}**: {entry['description']}{stands}{differs}")
    header = ["name|", "suite|", "papers|", "kernels|", "size|", "input|", "million thread-instr.", "MiB"]
    return {"catalogue": pages.table(header, rows), "descriptions": "\n".join(words)}


def readme(binary):
    page = pages.text(binary, "run", "gemm", "--size", "small")
    return {"example": f"```text\n{page.rstrip()}\n```"}


def main():
    writers = {"docs/workloads.md": catalogue, "README.md": readme}
    names = sys.argv[1:] or list(writers)
    if unknown := set(names) - set(writers):
        sys.exit(f"examples.py: {', '.join(unknown)}: expected some of {', '.join(writers)}")
    binary = pages.build()
    for name in names:
        pages.write(name, writers[name](binary))


if __name__ == "__main__":
    main()
