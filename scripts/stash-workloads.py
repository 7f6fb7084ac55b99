#!/usr/bin/env python3
"""Writes the generated parts of docs/stash-workloads.md: excerpts of kernels, and the instructions of every version.

    scripts/stash-workloads.py            writes them
    scripts/stash-workloads.py --check    fails where one would change

Builds the release command; STRATA=/path names another.
"""

import json
import sys

import pages

SUITE = pages.ROOT / "crates/workloads/src/suite"
PAGE = "docs/stash-workloads.md"
VERSIONS = ["scratch", "scratch-g", "scratch-gd", "cache", "stash", "stash-g"]
MICROBENCHMARKS = ["implicit", "pollution", "on-demand", "reuse"]
APPLICATIONS = ["lud", "backprop", "nw", "pathfinder", "sgemm", "stencil", "surf"]


def kernel(workload, version):
    """The one `__global__` function of a version's source."""
    source = (SUITE / workload / ("kernel.cu" if version == "scratch" else f"{version}.cu")).read_text()
    start = source.index('extern "C" __global__')
    return source[start:source.index("\n}\n", start) + 2]


def excerpts():
    versions = [version for version in VERSIONS if version in ["scratch", "scratch-gd", "cache", "stash"]]
    return "\n\n".join(f"`{version}`:\n\n```cuda\n{kernel('implicit', version)}\n```" for version in versions)


def warp_instructions(binary, workload, version):
    name = workload if version == "scratch" else f"{workload}@{version}"
    return json.loads(pages.text(binary, "workload", "profile", name, "--size", "stash"))["warp_instructions"]


def instructions(binary):
    versions_of = {entry["name"]: entry["versions"] for entry in json.loads(pages.text(binary, "list", "workloads", "--json"))}
    rows = []
    for workload in MICROBENCHMARKS + APPLICATIONS:
        of = {version: warp_instructions(binary, workload, version) for version in versions_of[workload]}
        rest = [f"{100 * (of[version] / of['scratch'] - 1):+.0f} %" if version in of else "" for version in VERSIONS[1:]]
        rows.append([workload, f"{of['scratch']:,}", *rest])
    return pages.table(["workload|", *VERSIONS], rows)


def parts(binary):
    return {"implicit": excerpts(), "instructions": instructions(binary)}


def main():
    if sys.argv[1:] not in [[], ["--check"]]:
        sys.exit(__doc__)
    pages.write(PAGE, parts(pages.build()), check=sys.argv[1:] == ["--check"])


if __name__ == "__main__":
    main()
