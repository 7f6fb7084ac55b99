#!/usr/bin/env python3
"""Preprocessor of mdBook: puts notebooks, as they were last run, into the chapters that name them.

    {{#notebook knee.ipynb}}

Needs nbconvert, which makes Markdown of a notebook. Drawings become parts of the page.
"""

import base64
import json
import pathlib
import re
import sys
import urllib.parse

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
NOTEBOOK = re.compile(r"^\{\{#notebook (\S+)\}\}$", re.M)
# nbconvert marks what a cell shows by indenting it; in the book it is a block like any other.
SHOWN = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.M)


def markdown(path):
    import nbconvert

    text, resources = nbconvert.MarkdownExporter().from_filename(path)
    blocks = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    text = "".join(block if block.startswith("```") else SHOWN.sub(shown, block) for block in blocks)
    for name, data in resources.get("outputs", {}).items():
        kind = "svg+xml" if name.endswith(".svg") else "png"
        drawing = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
        text = text.replace(f"]({urllib.parse.quote(name)})", f"]({drawing})")
    return text.replace("![svg]", "![what the cell above draws]").replace("![png]", "![what the cell above draws]")


def shown(match):
    lines = [line[4:] for line in match.group(0).strip("\n").splitlines()]
    return "\n```text\n" + "\n".join(lines) + "\n```\n" if any(lines) else match.group(0)


def chapters(items):
    for item in items:
        if chapter := item.get("Chapter") if isinstance(item, dict) else None:
            yield chapter
            yield from chapters(chapter["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    for chapter in chapters(book["items"]):
        if chapter["path"]:
            folder = (DOCS / chapter["path"]).parent
            chapter["content"] = NOTEBOOK.sub(lambda match: markdown(folder / match.group(1)), chapter["content"])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
