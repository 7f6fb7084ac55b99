#!/usr/bin/env python3
"""Lists the names that the vendor's headers give the CUDA driver API, and checks that list.

    scripts/driver-names.py            compare crates/driver/names.tsv with the headers
    scripts/driver-names.py --write    write it anew

Fetches the headers of `PACKAGES` from PyPI into target/driver-headers; nothing of them is kept but names and numbers. `cuda.h`
and its companions for OpenGL, EGL and VDPAU say which symbols there are; `cudaTypedefs.h` and its companions say from which
version on `cuGetProcAddress` means them, by types called `PFN_<name>_v<version>`. The symbols of a name and its versions are
both in order of age, so the first belongs to the first.
"""

import pathlib
import re
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "crates/driver/names.tsv"
HEADERS = ROOT / "target/driver-headers"
# By version: the package that brings its headers.
PACKAGES = {
    "11.8": "nvidia-cuda-runtime-cu11==11.8.89",
    "12.9": "nvidia-cuda-runtime-cu12==12.9.79",
    "13.5": "nvidia-cuda-runtime==13.5.37",
}
FILES = ["cuda", "cudaGL", "cudaEGL", "cudaVDPAU", "cudaProfiler"]
HEADING = """\
# The names of the CUDA driver API, written by scripts/driver-names.py from the vendor's headers.
# Symbol, name and version that `cuGetProcAddress` knows it by, default stream (legacy, or per thread), headers that have it.
# A version of 0: no header says from which version on the name means this symbol, so it is not looked up.
"""


def fetch(version):
    """The headers of a version, by file name."""
    into = HEADERS / version
    if not list(into.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        platform = ["--platform", "manylinux2014_x86_64", "--only-binary", ":all:"]
        subprocess.run([*pip, *platform, "--dest", into, PACKAGES[version]], check=True)
    texts = {}
    for wheel in into.glob("*.whl"):
        with zipfile.ZipFile(wheel) as held:
            for name in held.namelist():
                if name.endswith(".h"):
                    texts[pathlib.Path(name).name] = held.read(name).decode()
    return texts


def bare(text):
    """A header without comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def symbols(text):
    """The symbols that a header declares, old ones and those for per-thread default streams included."""
    aliases = {}
    for name, what, inner in re.findall(r"#\s*define\s+(cu\w+)\s+(?:__CUDA_API_(PT[DS][SZ])\()?(cu\w+)\b", text):
        aliases.setdefault(name, set()).add((inner, what.lower()))
    found = set()
    for name in re.findall(r"CUresult\s+CUDAAPI\s+(cu\w+)\s*\(", text):
        # What an old program calls is declared behind `#undef`s, under its own name.
        for target, thread in aliases.get(name, {(name, "")}):
            found.add(target)
            if thread:
                found.add(f"{target}_{thread}")
    # The block of old declarations undoes the aliases.
    parts = re.split(r"#\s*if\s+defined\(__CUDA_API_VERSION_INTERNAL\)", text)
    for part in parts[1:]:
        found.update(re.findall(r"CUresult\s+CUDAAPI\s+(cu\w+)\s*\(", part))
    return found


def parts(symbol):
    """Name, age and default stream of a symbol."""
    match = re.fullmatch(r"(cu\w+?)(?:_v(\d+))?(?:_(pt[ds][sz]))?", symbol)
    return match[1], int(match[2] or 1), match[3] or ""


def versions(text):
    """The versions of each name and default stream, in order of age."""
    found = {}
    for name, version, thread in re.findall(r"\bPFN_(cu\w+?)_v(\d+)(?:_(pt[ds][sz]))?\)", text):
        found.setdefault((name, thread), set()).add(int(version))
    return {key: sorted(value) for key, value in found.items()}


def rows():
    """All rows of the list."""
    held, dated = {}, {}
    for version in PACKAGES:
        texts = fetch(version)
        for file in FILES:
            for symbol in symbols(bare(texts.get(f"{file}.h", ""))):
                held.setdefault(symbol, []).append(version)
            for key, numbers in versions(bare(texts.get(f"{file}Typedefs.h", ""))).items():
                dated.setdefault(key, set()).update(numbers)
    # The header of the profiler's functions is in another package; their types are here.
    for name, thread in dated:
        if not thread and name.startswith("cuProfiler"):
            held.setdefault(name, list(PACKAGES))
    ages = {}
    for symbol in held:
        name, age, thread = parts(symbol)
        ages.setdefault((name, thread), []).append((age, symbol))
    for (name, thread), found in sorted(ages.items()):
        numbers = sorted(dated.get((name, thread), []))
        for place, (_, symbol) in enumerate(sorted(found)):
            since = numbers[place] if place < len(numbers) else 0
            yield "\t".join([symbol, name, str(since), thread or "legacy", ",".join(held[symbol])])


def main():
    text = HEADING + "\n".join(sorted(rows())) + "\n"
    if "--write" in sys.argv[1:]:
        LIST.write_text(text)
    elif LIST.read_text() != text:
        sys.exit(f"{LIST.relative_to(ROOT)} differs from the headers; `scripts/driver-names.py --write` writes it anew")


if __name__ == "__main__":
    main()
