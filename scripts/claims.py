#!/usr/bin/env python3
"""Writes the published and measured numbers of a paper into its page, docs/<paper>.md, from the results that come along.

    scripts/claims.py             every paper that results/ has runs of
    scripts/claims.py --check     writes nothing; fails where a page differs, or where an explanation does not fit its runs

Nothing is simulated: the runs in results/<paper>.tar.zst are looked up with today's machines, systems and workloads, so it
also fails when one of these has changed and its results are no longer found. The sizes are those of the paper's file, the
usual one first. Runs at the second may be older: where machines or systems have changed since, they are looked up by the names of
workload and system, and the page says which version they are of. Needs tar and zstd. Builds the release command; STRATA=/path names another.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import pages

VERDICTS = ["reproduced", "direction", "far", "contradicted", "not measured"]


def sizes_of(paper):
    """The sizes at which a paper's results are published, the usual one first."""
    text = (pages.ROOT / "crates/lab/data/papers" / f"{paper}.toml").read_text()
    return tomllib.loads(text).get("sizes", ["small", "paper"])


def found(binary, archive, check):
    """What `strata claims` says of an archive's paper: claims by size, sizes whose runs are older, tables, sensitivities."""
    paper = archive.name.split(".")[0]
    usual, *others = sizes_of(paper)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "xf", archive, "-C", folder], check=True)
        store = ["--store", str(pathlib.Path(folder) / paper), "--simulator", "any", "--json"]
        ask = lambda *more: json.loads(pages.text(binary, "claims", paper, *store, *more))
        claims = {usual: ask("--size", usual, *(["--check"] if check else []))}
        older = []
        for size in others:
            claims[size], by_name = ask("--size", size), ask("--size", size, "--by-name")
            if count_of_measured(by_name) > count_of_measured(claims[size]):
                claims[size] = by_name
                older.append(size)
        tables = ask("--size", usual, "--show", "tables")
        return paper, claims, older, tables, ask("--size", usual, "--show", "sensitivity")


def count_of_measured(rows):
    return sum(row["measured"] is not None for row in rows)


def versions(rows):
    """The versions of the simulator behind some rows."""
    return ", ".join(f"`{version}`" for version in sorted({version for row in rows for version in row["versions"]}))


def summary(claims, older):
    lines = []
    for verdict in VERDICTS:
        lines.append([verdict, *(sum(row["verdict"] == verdict for row in rows) for rows in claims.values())])
    rows = next(iter(claims.values()))
    text = pages.table([f"of {len(rows)} published numbers|", *claims], lines)
    today = [row for size, rows in claims.items() if size not in older for row in rows]
    if not older:
        return f"{text}\n\nMeasured with simulator {versions(today)}."
    sizes = " and ".join(size for size in claims if size not in older)
    text += f"\n\nAt size {sizes}, with the machines and systems of today: simulator {versions(today)}."
    for size in older:
        text += (
            f" At size {size}, with those of an older version: simulator {versions(claims[size])}. What a page says of a number at "
            f"size {size} holds for that version until it is measured again."
        )
    return text


def depends_on(sensitivities):
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


def all_rows(claims):
    head = ["claim|", "where|", "what|", "published", "taken as|"]
    for size in claims:
        head += [size, "verdict|"]
    lines = []
    for rows in zip(*claims.values(), strict=True):
        usual, *others = rows
        first = [f"`{usual['id']}`", usual["where"], usual["what"], usual["published_text"]]
        definition = next((row["definition"] for row in rows if row["definition"]), "")
        cells = [usual["measured_text"] or "", usual["verdict"]]
        for other in others:
            cells += [other["measured_text"] or "", other["verdict"] if other["measured_text"] else ""]
        lines.append([*first, definition, *cells])
        by_name = [{reading["name"]: reading for reading in row["readings"]} for row in rows]
        for name in next((readings for readings in by_name if readings), {}):
            cells = []
            for readings in by_name:
                reading = readings.get(name)
                cells += [reading["text"] or "", reading["verdict"]] if reading else ["", ""]
            lines.append(["", "", "", "", name, *cells])
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


def explanations(rows):
    explained = [row for row in rows if row["measured"] is not None and row["explanation"]]
    return "\n\n".join(f"**`{row['id']}`** ({row['verdict']}) {row['explanation']}" for row in explained)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    binary = pages.build()
    for archive in sorted((pages.ROOT / "results").glob("*.tar.zst")):
        paper, claims, older, grids, sensitivities = found(binary, archive, check)
        usual = next(iter(claims.values()))
        parts = {
            "depends on": depends_on(sensitivities),
            "summary": summary(claims, older),
            "claims": all_rows(claims),
            "tables": tables(grids),
            "explanations": explanations(usual),
        }
        pages.write(f"docs/{paper}.md", parts, check=check)


if __name__ == "__main__":
    main()
