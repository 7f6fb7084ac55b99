#!/usr/bin/env python3
"""Follows every link between the pages of a book that mdBook built, and every one to a picture: the file must be there, and so
must the anchor.

    scripts/book-check.py FOLDER
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if name := attributes.get("id"):
            self.anchors.add(name)
        if link := attributes.get({"a": "href", "img": "src"}.get(tag, "")):
            self.links.append(link)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    # One page of all the others, whose anchors are theirs, and what 404 shows stand nowhere in particular.
    files = [file for file in folder.rglob("*.html") if file.name not in ("print.html", "404.html", "toc.html")]
    pages = {file: Page(file.read_text()) for file in files}
    followed, lost = 0, []
    for file, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (file.parent / urllib.parse.unquote(url.path)).resolve() if url.path else file
            followed += 1
            if not target.is_file():
                lost.append(f"{file.relative_to(folder)}: {link}: no such page")
            elif url.fragment and target in pages and urllib.parse.unquote(url.fragment) not in pages[target].anchors:
                lost.append(f"{file.relative_to(folder)}: {link}: no such anchor")
    if lost or not followed:
        sys.exit("\n".join(lost) or f"{folder}: no links, expected those of a book")
    print(f"{len(pages)} pages, {followed} links lead somewhere")


if __name__ == "__main__":
    main()
