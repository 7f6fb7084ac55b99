"""The workloads: a table for each suite and one of the suites' own inputs in docs/workloads.md, and each workload's inputs and
differences in docs/inputs.md."""

import collections
import json

import pages

# Suites with a table of their own, in this order; all others share the last one.
SUITES = {
    "PolyBench": "PolyBench",
    "Rodinia": "Rodinia",
    "Parboil": "Parboil",
    "CUDA SDK": "CUDA SDK",
    "Mars": "Mars",
    "stash": "The Stash paper's microbenchmarks",
}
OTHERS = "Others"
# What so many workloads of a suite have in common is said once.
COMMON = 3
# The papers whose programs have their suites' own inputs.
PAPERS = ["fuse", "hi-end", "tinycache"]


def count(value):
    return f"{value / 1e6:,.1f}" if value < 99.5e6 else f"{value / 1e6:,.0f}"


def sentence(text):
    return text[0].upper() + text[1:]


def row(entry, with_suite):
    """A workload in one line. A description says what the program computes, a colon, and how it does so."""
    what, _, how = entry["description"].rstrip(".").partition(": ")
    suite = {"none": "", "Strata": "Strata's own"}.get(entry["suite"], entry["suite"])
    sizes = {size["size"]: count(size["thread_instructions"]) for size in entry["inputs"]}
    link = f"[{entry['name']}](inputs.md#{entry['name']})"
    papers = ", ".join(entry["papers"])
    return [link, *([suite] if with_suite else []), what, how, papers, sizes.get("small", ""), sizes.get("paper", "")]


def common(lists):
    """The items that several of the lists have."""
    counts = collections.Counter(item for items in lists for item in items)
    return [item for item, times in counts.items() if times >= COMMON]


def originals(entry):
    """The suite's kernel that each kernel stands for."""
    return [f"`{kernel['name']}` for `{kernel['original']}`" for kernel in entry["kernels"] if kernel["original"]]


def points(items):
    return [f"- {sentence(item)}." for item in items]


def details(entry, shared):
    """What is long: inputs of each size, the kernels that it stands for, what is not as in the original."""
    name = entry["name"]
    inputs = [[size["size"], size["input"], count(size["thread_instructions"]), f"{size['footprint_bytes'] / 2**20:,.1f}"]
              for size in entry["inputs"]]
    header = ["size|", "input|", "million thread-instr.", "MiB"]
    parts = [f"### {name}", "", pages.table(header, inputs), "", f"Source: [`suite/{name}`](../crates/workloads/src/suite/{name})."]
    if stands := [kernel for kernel in originals(entry) if kernel not in shared]:
        parts += ["", f"Kernels: {', '.join(stands)}."]
    if differs := [difference for difference in entry["differences"] if difference not in shared]:
        parts += ["", "Differs from the original:", "", *points(differs)]
    return "\n".join(parts)


def suite_table(title, entries):
    """A suite's table."""
    with_suite = title == OTHERS
    header = ["name|", *(["suite|"] if with_suite else []), "computes|", "how|", "papers|", "small", "paper"]
    return "\n".join([f"### {title}", "", pages.table(header, [row(entry, with_suite) for entry in entries])])


def suite_details(title, entries):
    """What a suite's workloads have in common, and each of them."""
    differences, kernels = common([entry["differences"] for entry in entries]), common([originals(entry) for entry in entries])
    parts = [f"## {title}"]
    if differences:
        parts.append("\n".join(["Several differ from their originals in the same ways:", "", *points(differences)]))
    if kernels:
        parts.append(f"Several share kernels: {', '.join(kernels)}.")
    return "\n\n".join([*parts, *[details(entry, {*differences, *kernels}) for entry in entries]])


def workloads(binary):
    return json.loads(pages.text(binary, "list", "workloads", "--json"))


def own_inputs(binary):
    """Each input that a workload's own suite has: where it is from, and what of the program runs."""
    rows = []
    for entry in workloads(binary):
        for size in [size for size in entry["inputs"] if size["source"]]:
            papers = ", ".join(paper for paper in entry["papers"] if paper in PAPERS)
            rows.append([entry["name"], papers, size["input"], size["source"], size["piece"], count(size["warp_instructions"])])
    return pages.table(["name|", "papers|", "input|", "source|", "what runs|", "million warp-instr."], rows)


def suites(binary, write):
    """What `write` makes of each suite's title and workloads."""
    by_suite = collections.defaultdict(list)
    for entry in workloads(binary):
        by_suite[SUITES.get(entry["suite"], OTHERS)].append(entry)
    titles = [title for title in [*SUITES.values(), OTHERS] if by_suite[title]]
    return "\n\n".join(write(title, by_suite[title]) for title in titles)


def tables(binary):
    """The part of docs/workloads.md."""
    return {"catalogue": suites(binary, suite_table), "own inputs": own_inputs(binary)}


def inputs(binary):
    """The part of docs/inputs.md."""
    return {"inputs": suites(binary, suite_details)}
