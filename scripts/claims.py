#!/usr/bin/env python3
"""Writes the published and measured numbers of a paper into its page, docs/<paper>.md, from the results that come along, and
which runs are behind each into results/<paper>-claims.csv.

    scripts/claims.py             every paper that results/ has runs of
    scripts/claims.py --check     writes nothing; fails where a page differs, or where an explanation does not fit its runs

Nothing is simulated: the runs in results/<paper>.tar.zst are looked up with today's machines, systems and workloads, at the
sizes of the paper's file, the usual one first. Where a machine, a system or a workload is not the same any more, its runs are looked
up by the names of machine, system, workload and size. What the draws of results/<paper>-uncertain.json say is computed from
that file. A key that has come since changes no page, and is only reported. A value that has
changed is named in the page's first line, which also says of which versions its numbers are. Needs tar and zstd. Builds the release
command; STRATA=/path names another.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import pages

# Claims that a table of a choice has columns for.
WIDEST = 6

# What strata says of how a claim stands to the choices that its paper leaves open, the firmest first.
DEPENDENCES = [
    "depend on no choice that was varied",
    "depend on a choice that the paper leaves open",
    "were not varied",
]

VERDICTS = ["reproduced", "direction", "far", "contradicted", "implied", "not measured"]


def sizes_of(paper):
    """The sizes at which a paper's results are published, the usual one first."""
    text = (pages.ROOT / "crates/lab/data/papers" / f"{paper}.toml").read_text()
    return tomllib.loads(text).get("sizes", ["small", "paper"])


# What a page has of a paper beside the claims, at the usual size.
PARTS = ["tables", "figures", "sensitivity", "statements"]


def found(binary, archive, check):
    """What `strata claims` says of an archive's paper: claims by size; the rest at the usual size."""
    paper = archive.name.split(".")[0]
    usual, *others = sizes_of(paper)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "xf", archive, "-C", folder], check=True)
        store = ["--store", str(pathlib.Path(folder) / paper), "--simulator", "any", "--by-name", "--json"]
        ask = lambda size, *more: json.loads(pages.text(binary, "claims", paper, *store, "--size", size, *more))
        of = ask(usual, "--show", ",".join(["claims", *PARTS]), *(["--check"] if check else []))
        claims = {usual: of["claims"], **{size: ask(size) for size in others}}
        held = {path.name.split("-")[0] for path in pathlib.Path(folder).rglob("*.parquet")}
        return paper, claims, *(of[part] for part in PARTS), held, drawn(binary, paper)


def drawn(binary, paper):
    """What the draws that come along say of a paper's headline; nothing of a paper without."""
    file = f"results/{paper}-uncertain.json"
    if not (pages.ROOT / file).exists():
        return None
    return json.loads(pages.text(binary, "claims", paper, "--uncertain", "--draws", file, "--json"))


def runs_behind(paper, claims, held, check):
    """results/<paper>-claims.csv: the runs behind each claim and its explanation, by the first digits of their keys."""
    short = lambda keys: " ".join(key[:12] for key in keys)
    rows = [{"claim": row["id"], "size": size, "runs": short(row["runs"])}
            for size, of in claims.items() for row in of if row["runs"]]
    if lacking := {key for of in claims.values() for row in of for key in row["runs"]} - held:
        sys.exit(f"results/{paper}.tar.zst: found no run {', '.join(sorted(lacking))}, expected those that the claims name")
    path = f"results/{paper}-claims.csv"
    if not check:
        pages.write_csv(path, rows)
    elif not (pages.ROOT / path).exists() or pages.read_csv(path) != rows:
        sys.exit(f"{path}: found other runs than the claims have; scripts/claims.py writes it")


def names_in(key, objects):
    """What some claims, tables or sensitivities have under a key, each once."""
    return sorted({name for of in objects for name in of[key]})


def quoted(names):
    return " and ".join(", ".join(f"`{name}`" for name in names).rsplit(", ", 1))


def origin(shown):
    """Of which versions a page's numbers are, and what has changed since. `shown` has the objects behind them by size."""
    sizes = {}
    for size, objects in shown.items():
        sizes.setdefault(quoted(names_in("versions", objects)), []).append(size)
    parts = [f"at size {' and '.join(of)} of simulator {versions}" for versions, of in sizes.items() if versions]
    text = f"Numbers {', '.join(parts)} ([sources](../results/README.md))."
    for size, objects in shown.items():
        if changed := names_in("changed", objects):
            text += f" Since those at size {size} were measured, {quoted(changed)} changed: they are of the machines and programs of then."
    return text


def summary(claims):
    lines = []
    for verdict in VERDICTS:
        lines.append([verdict, *(sum(row["verdict"] == verdict for row in rows) for rows in claims.values())])
    rows = next(iter(claims.values()))
    return pages.table([f"of {len(rows)} published numbers|", *claims], lines)


def tally(rows):
    """How many claims have which verdict."""
    verdicts = [row["verdict"] for row in rows]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in verdicts)


def counted(size, rows):
    """The page's first sentences: claims that depend on no open choice apart from those that do."""
    judged = [row for row in rows if row["measured"] is not None]
    parts = []
    for dependence in sorted({row["dependence"] for row in judged}, key=DEPENDENCES.index):
        of = [row for row in judged if row["dependence"] == dependence]
        parts.append(f"* {len(of)} {dependence}: {tally(of)}.")
    return f"Of {len(rows)} published numbers, {len(judged)} are measured at size {size}:\n\n" + "\n".join(parts)


def moving(of):
    """Places of the claims that a choice moves, or may move."""
    return [place for place, claim in enumerate(of["claims"]) if claim["moves"] is not False]


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
        shown = [of["claims"][place] for place in moving(of)]
        head = ["|", *(f"`{claim['id']}`" for claim in shown)]
        lines = [["published", *(claim["published_text"] for claim in shown)]]
        for place, choice in enumerate(of["choices"]):
            label = f"{choice['label']} (ours)" if place == 0 else choice["label"]
            texts = [choice["texts"][place] for place in moving(of)]
            if any(texts):
                lines.append([label, *(text or "not measured" for text in texts)])
        if len(shown) > WIDEST:
            # A line for each claim: so many columns do not fit a page.
            head, *lines = zip(head, *lines, strict=True)
        parts.append(f"**{of['title']}.** {of['source']}\n\n{pages.table(head, lines)}")
    if still:
        parts.append(f"These move nothing by more than a tenth of what is published: {'; '.join(still)}.")
    if open_:
        parts.append(f"Not measured yet: {'; '.join(open_)}.")
    return "\n\n".join(parts)


def of_measured(row):
    """The measured number, and what it leaves where most is published to be gone."""
    text, left = row["measured_text"] or "", row["left"]
    return f"{text} (leaves {number(left['measured'])} % for {number(left['published'])} %)" if left else text


def ends(number):
    """Between what nine tenths of a number's draws lie."""
    low, _, high = number["spread_texts"]
    return f"{low} to {high}"


def moves(of):
    """An assumption with its total index, and between what that lies."""
    total = of["index"]["total"]
    return f"`{of['name']}` {total['value']:.2f} ({total['low']:.2f} to {total['high']:.2f})"


def sure(study):
    """A row a headline number: its interval, and the three assumptions that move it most."""
    lines = []
    for number in study["numbers"]:
        moving = [of for of in number["assumptions"] if of["index"] and of["effect"]["size"] > 0]
        most = [moves(of) for of in moving[:3]]
        median = number["spread_texts"][1]
        first = [f"`{number['id']}`", number["published_text"], number["modelled_text"], median, ends(number)]
        lines.append([*first, ", ".join(most) or "none"])
    head = ["claim|", "published", "as modelled", "median", "nine tenths of the draws", "moved most by: total index, and nine tenths of its bootstrap|"]
    names = {of["name"]: of for of in study["numbers"][0]["assumptions"]}
    values = lambda name: names[name]["values"].replace("|", "\\|")
    kept = [[f"`{name}`", values(name), names[name]["because"]] for name in study["kept"]]
    counted = f"{len(names)} assumptions at size {study['size']}, {study['trajectories']} trajectories, {study['rows']} rows, seed {study['seed']}"
    again = f"; {len(study['refused'])} draws that no machine takes were made again" if study["refused"] else ""
    lacking = f"; {study['lacking']} numbers are missing" if study["lacking"] else ""
    return "\n\n".join([
        f"{counted}, by simulator `{study['simulator']}`{again}{lacking} ([how](uncertainty.md)).",
        pages.table(head, lines),
        "Looked at one by one:",
        pages.table(["assumption|", "values|", "because|"], kept),
    ])


def all_rows(claims, study):
    by_id = {number["id"]: number for number in study["numbers"]} if study else {}
    head = ["claim|", "where|", "what|", "published", "taken as|"]
    for size in claims:
        head += [size, "verdict|"]
    lines = []
    for rows in zip(*claims.values(), strict=True):
        usual, *others = rows
        first = [f"`{usual['id']}`", usual["where"], usual["what"], usual["published_text"]]
        definition = next((row["definition"] for row in rows if row["definition"]), "")
        verdict = usual["verdict"]
        if usual["id"] in by_id:
            verdict += f"; draws at size {study['size']}: {ends(by_id[usual['id']])}"
        cells = [of_measured(usual), verdict]
        for other in others:
            cells += [of_measured(other), other["verdict"] if other["measured_text"] else ""]
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


def statements(sentences):
    """A row for each program that a sentence names, under the sentence."""
    lines = []
    for of in sentences:
        said = f"{of['says']} ({of['source']})"
        for place, program in enumerate(of["programs"]):
            expected = f"{of['what']}: {program['expected'] or 'not measured'}"
            first = [said, expected] if place == 0 else ["", ""]
            lines.append([*first, program["program"], program["text"] or "", program["verdict"]])
    return pages.table(["the text|", "so|", "program|", "measured", "which|"], lines)


def explanations(rows):
    """A paragraph an explanation; the claims of a table's column share one."""
    by_text = collections.defaultdict(list)
    for row in rows:
        if row["measured"] is not None and row["explanation"]:
            by_text[row["id"].rpartition(".")[0], row["explanation"]].append(row)
    parts = []
    for (column, text), of in by_text.items():
        one = len(of) == 1
        name = of[0]["id"] if one else f"{column}.*"
        parts.append(f"**`{name}`** ({of[0]['verdict'] if one else tally(of)}) {text}")
    return "\n\n".join(parts)


def page(asked, check):
    """Writes, or checks, a paper's page from what was found."""
    paper, claims, grids, figures, sensitivities, sentences, held, study = asked
    runs_behind(paper, claims, held, check)
    size, usual = next(iter(claims.items()))
    shown = {**claims, size: [*usual, *grids, *figures, *sensitivities, *sentences]}
    parts = {
        "counts": counted(size, usual),
        "versions": origin(shown),
        "depends on": depends_on(sensitivities),
        "summary": summary(claims),
        "claims": all_rows(claims, study),
        "tables": tables(grids),
        **({"figures": tables(figures)} if figures else {}),
        "explanations": explanations(usual),
        **({"sure": sure(study)} if study else {}),
        **({"statements": statements(sentences)} if sentences else {}),
    }
    pages.write(f"docs/{paper}.md", parts, check=check)
    for size, objects in shown.items():
        if lacking := names_in("lacking", objects):
            print(f"docs/{paper}.md: size {size}: found runs by name, whose machines lack {', '.join(lacking)}")


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    binary = pages.build()
    archives = sorted((pages.ROOT / "results").glob("*.tar.zst"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for asked in pool.map(lambda archive: found(binary, archive, check), archives):
            page(asked, check)


if __name__ == "__main__":
    main()
