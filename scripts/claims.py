#!/usr/bin/env python3
"""Writes the published and measured numbers of a paper into its page, docs/<paper>.md, from the results that come along.

    scripts/claims.py             every paper that results/ has runs of
    scripts/claims.py --check     writes nothing; fails where a page differs

Nothing is simulated: the runs in results/<paper>.tar.zst are looked up with today's machines, systems and workloads, so it
also fails when one of these has changed and its results are no longer found. Needs tar and zstd. Builds the release command;
STRATA=/path names another.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import pages

CLAIMS = pages.ROOT / "crates/lab/data/claims.csv"
VERDICTS = ["reproduced", "direction", "contradicted", "not measured"]


def rows(binary, archive):
    """What `strata claims` says of an archive's paper, each row with its line of claims.csv."""
    paper = archive.name.split(".")[0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "xf", archive, "-C", folder], check=True)
        store = pathlib.Path(folder) / paper
        found = pages.text(binary, "claims", paper, "--json", "--store", str(store), "--simulator", "any")
    with CLAIMS.open() as file:
        published = {row["id"]: row for row in csv.DictReader(file)}
    return paper, [row | {"claim": published[row["id"]]} for row in json.loads(found)]


def number(value):
    """Four digits that count, at most two of them behind the point."""
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    return f"{value:.{digits}f}"


def unit(claim):
    """What stands behind the number."""
    return {"percent": " %", "ratio": " x", "share": ""}.get(claim["unit"], f" {claim['unit']}")


def what(claim):
    """Who is compared with whom, in which metric."""
    over = "" if claim["baseline"] in ("-", "") else f" over {claim['baseline']}"
    return f"{claim['subject']}{over}: {claim['metric']}, {claim['scope']}"


def summary(rows):
    sizes = sorted({row["size"] for row in rows if row["measured"] is not None})
    lines = []
    for verdict in VERDICTS:
        of_size = [f"{sum(r['verdict'] == verdict and r['size'] == size for r in rows)} at {size}" for size in sizes]
        count = sum(row["verdict"] == verdict for row in rows)
        lines.append([verdict, count, ", ".join(of_size) if verdict != "not measured" else ""])
    return pages.table(["verdict|", f"of {len(rows)}", "size|"], lines)


def all_rows(rows):
    lines = []
    for row in rows:
        claim = row["claim"]
        size = row["size"] if row["measured"] is not None else ""
        measured = number(row["measured"]) + unit(claim) if row["measured"] is not None else ""
        sign = "+" if claim["published"][0] in "+-" and (row["measured"] or 0) > 0 else ""
        bound = f" ({claim['note']})" if claim["note"] in ("at least", "up to") else ""
        published = claim["published"] + unit(claim) + bound
        lines.append([f"`{row['id']}`", claim["where"], what(claim), published, sign + measured, size, row["verdict"]])
    return pages.table(["claim|", "where|", "what|", "published", "measured", "size|", "verdict|"], lines)


def explanations(rows):
    paragraphs = [f"**`{row['id']}`** {row['explanation']}" for row in rows if row["verdict"] != "reproduced"]
    return "\n\n".join(paragraphs)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    binary = pages.build()
    for archive in sorted((pages.ROOT / "results").glob("*.tar.zst")):
        paper, found = rows(binary, archive)
        parts = {"summary": summary(found), "claims": all_rows(found), "explanations": explanations(found)}
        pages.write(f"docs/{paper}.md", parts, check=check)


if __name__ == "__main__":
    main()
