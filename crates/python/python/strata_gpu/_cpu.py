"""Whether this processor has the instructions that Strata is built with: those of x86-64-v3."""

import platform

NEEDED = ("avx2", "fma", "bmi1", "bmi2", "f16c", "movbe", "abm")


def missing(cpuinfo: str) -> list[str]:
    """The needed instructions that Linux's /proc/cpuinfo does not list."""
    flags: set[str] = set()
    for line in cpuinfo.splitlines():
        name, _, words = line.partition(":")
        if name.strip() == "flags":
            flags = set(words.split())
            break
    return [name for name in NEEDED if name not in flags]


def check(path: str = "/proc/cpuinfo") -> None:
    """Refuses a processor on which the library would end with an illegal instruction."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    try:
        with open(path) as file:
            lacking = missing(file.read())
    except OSError:
        return
    if lacking:
        raise ImportError(
            f"strata_gpu: this processor has no {', '.join(lacking)}, expected one with AVX2 and FMA (x86-64-v3: Intel since Haswell, "
            "AMD since Excavator)"
        )
