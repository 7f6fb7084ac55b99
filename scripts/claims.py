#!/usr/bin/env python3
"""Writes the published and measured numbers of a paper into its page, docs/<paper>.md, from the results that come along.

    scripts/claims.py             every paper that results/ has runs of
    scripts/claims.py --check     writes nothing; fails where a page differs, or where an explanation does not fit its runs

Nothing is simulated: the runs in results/<paper>.tar.zst are looked up with today's machines, systems and workloads, so it
also fails when one of these has changed and its results are no longer found. Runs at size paper may be older: they are
looked up by the names of workload and system, and the page says which version they are of. Needs tar and zstd. Builds the
release command; STRATA=/path names another.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import pages

VERDICTS = ["reproduced", "direction", "far", "contradicted", "not measured"]


def found(binary, archive, check):
    """What `strata claims` says of an archive's paper: claims at size small and paper, tables, sensitivities."""
    paper = archive.name.split(".")[0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "xf", archive, "-C", folder], check=True)
        store = ["--store", str(pathlib.Path(folder) / paper), "--simulator", "any", "--json"]
        ask = lambda *more: json.loads(pages.text(binary, "claims", paper, *store, *more))
        small = ask("--size", "small", *(["--check"] if check else []))
        large = ask("--size", "paper", "--by-name")
        tables = ask("--size", "small", "--show", "tables")
        return paper, small, large, tables, ask("--size", "small", "--show", "sensitivity")


def versions(rows):
    """The versions of the simulator behind some rows."""
    return ", ".join(f"`{version}`" for version in sorted({version for row in rows for version in row["versions"]}))


def summary(small, large):
    lines = []
    for verdict in VERDICTS:
        lines.append([verdict, *(sum(row["verdict"] == verdict for row in rows) for rows in (small, large))])
    text = pages.table([f"of {len(small)} published numbers|", "small", "paper"], lines)
    if versions(small) == versions(large):
        return f"{text}\n\nMeasured with simulator {versions(small)}."
    return (
        f"{text}\n\nAt size small, with the machines and systems of today: simulator {versions(small)}. At size paper, with "
        f"those of an older version: simulator {versions(large)}. What a page says of a number at size paper holds for that "
        "version until it is measured again."
    )


def hangs_on(sensitivities):
    """A table a choice that moves something; the others in a sentence."""
    parts, still, open_ = [], [], []
    for of in sensitivities:
        if of["moves"] is False:
            still.append(of["title"])
            continue
        if not any(text for choice in of["choices"][1:] for text in choice["texts"]):
            open_.append(of["title"])
            continue
        head = ["|", *(f"`{claim['id']}`" for claim in of["claims"])]
        lines = [["published", *(claim["published_text"] for claim in of["claims"])]]
        for place, choice in enumerate(of["choices"]):
            label = f"{choice['label']} (ours)" if place == 0 else choice["label"]
            if any(choice["texts"]):
                lines.append([label, *(text or "not measured" for text in choice["texts"])])
        parts.append(f"**{of['title']}.** {of['source']}\n\n{pages.table(head, lines)}")
    if still:
        parts.append(f"These move nothing by more than a tenth of what is published: {'; '.join(still)}.")
    if open_:
        parts.append(f"Not measured yet: {'; '.join(open_)}.")
    return "\n\n".join(parts)


def all_rows(small, large):
    head = ["claim|", "where|", "what|", "published", "taken as|", "small", "verdict|", "paper", "verdict|"]
    lines = []
    for row, other in zip(small, large, strict=True):
        first = [f"`{row['id']}`", row["where"], row["what"], row["published_text"]]
        lines.append(
            [
                *first,
                row["definition"] or other["definition"] or "",
                row["measured_text"] or "",
                row["verdict"],
                other["measured_text"] or "",
                other["verdict"] if other["measured_text"] else "",
            ]
        )
        others = {reading["name"]: reading for reading in other["readings"]}
        for reading in row["readings"] or other["readings"]:
            here = reading if row["readings"] else None
            there = others.get(reading["name"])
            cells = [cell for of in (here, there) for cell in ((of["text"] or "", of["verdict"]) if of else ("", ""))]
            lines.append(["", "", "", "", reading["name"], *cells])
    return pages.table(head, lines)


def number(value):
    """Three digits that count."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def tables(grids):
    parts = []
    for grid in grids:
        lines = [[row["name"], *map(number, row["cells"])] for row in grid["rows"]]
        parts.append(f"**{grid['title']}**\n\n{pages.table(['workload|', *grid['columns']], lines)}")
    return "\n\n".join(parts)


def explanations(small):
    explained = [row for row in small if row["measured"] is not None and row["explanation"]]
    return "\n\n".join(f"**`{row['id']}`** ({row['verdict']}) {row['explanation']}" for row in explained)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    binary = pages.build()
    for archive in sorted((pages.ROOT / "results").glob("*.tar.zst")):
        paper, small, large, grids, sensitivities = found(binary, archive, check)
        parts = {
            "hangs on": hangs_on(sensitivities),
            "summary": summary(small, large),
            "claims": all_rows(small, large),
            "tables": tables(grids),
            "explanations": explanations(small),
        }
        pages.write(f"docs/{paper}.md", parts, check=check)


if __name__ == "__main__":
    main()
