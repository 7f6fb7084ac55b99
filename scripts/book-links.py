#!/usr/bin/env python3
"""Preprocessor of mdBook: makes the project's links those of the book.

The pages link to files of the project, for whoever reads them there. In the book, a link to one of its pages leads to that
page; a link to another file of the project, which the book does not hold, becomes its text. A link to a file that does not
exist is refused. A picture lies in the book where it lies in docs.
"""

import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INCLUDE = re.compile(r"\{\{#include (\S+)\}\}\s*")
# Code first, in which brackets are no link.
LINK = re.compile(r"^```.*?^```$|(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)|`[^`]*`", re.M | re.S)


def chapters(items):
    for item in items:
        if chapter := item.get("Chapter") if isinstance(item, dict) else None:
            yield chapter
            yield from chapters(chapter["sub_items"])


def source(path):
    """The file that a chapter's text stands in: its own, or the one that it includes and nothing else."""
    file = DOCS / path
    include = INCLUDE.fullmatch(file.read_text())
    return (file.parent / include.group(1)).resolve() if include else file


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    pages = [chapter for chapter in chapters(book["items"]) if chapter["path"]]
    where = {source(page["path"]): page["path"] for page in pages}
    lost = []

    def link(file, page, match):
        mark, text, target = match.groups()
        if target is None:
            return match.group(0)
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return match.group(0)
        found = (file.parent / path).resolve()
        if found in where:
            to = os.path.relpath(where[found], pathlib.Path(page).parent)
            return f"[{text}]({to}{'#' + anchor if anchor else ''})"
        if mark and found.exists() and found.is_relative_to(DOCS):
            return f"![{text}]({os.path.relpath(found, (DOCS / page).parent)})"
        if not found.exists():
            lost.append(f"{file.relative_to(ROOT)}: {target}: no such file")
        return text

    for file, path in where.items():
        page = next(page for page in pages if page["path"] == path)
        page["content"] = LINK.sub(lambda match: link(file, path, match), page["content"])
    if lost:
        sys.exit("links of the book that lead nowhere:\n" + "\n".join(lost))
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
