"""Runs the cases on whatever GPU the driver finds, and says where two runs differ.

    python3 scripts/ptx-values/hardware/run.py run RESULTS [--jobs N] [--only PATTERN] [--seconds N]
    python3 scripts/ptx-values/hardware/run.py assemble PTXAS [--only PATTERN]
    python3 scripts/ptx-values/hardware/compare.py RESULTS RESULTS

A case that faults or hangs costs only itself: cases run in processes that are started again behind it.
"""

import argparse
import base64
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]

import lanes
import lines
import matrices
import warps

HERE = pathlib.Path(__file__).resolve().parent
# Instructions that the vendor's assembler does not take for this target.
REFUSED = HERE / "refused.txt"


def everything(only=None):
    """(name, make) of every case."""
    refused = set(REFUSED.read_text().splitlines()) if REFUSED.exists() else set()
    found = [*lanes.cases(refused), *warps.cases(), *matrices.cases(refused)]
    for name in ("memory", "sweeps", "hopper", "texels"):
        if (HERE / f"{name}.py").exists():
            found += list(__import__(name).cases())
    return [(name, make) for name, make in found if not only or re.search(only, name)]


def work(arguments):
    """Runs every `of`-th case from a place on, and ends when the process is of no use any more."""
    from gpu import Gpu, Refused

    cases = everything(arguments.only)
    gpu = Gpu()
    with open(arguments.results, "a") as file:
        def say(**what):
            file.write(json.dumps(what) + "\n")
            file.flush()

        def attempt(case, first=0):
            """Runs a case; one whose text is refused is taken apart, if it is made of lines."""
            where = {"case": case.name, "identity": case.identity()}
            if case.lines:
                where |= {"first": first, "count": len(case.lines)}
            try:
                found = case.run(gpu)
                say(**where, out=[base64.b64encode(data).decode() for data in found])
            except Refused as refused:
                if refused.name == "cuModuleLoadDataEx" and case.lines and len(case.lines) > 1:
                    middle = len(case.lines) // 2
                    attempt(lines.case(case.name, case.lines[:middle]), first)
                    attempt(lines.case(case.name, case.lines[middle:]), first + middle)
                    return
                say(**where, error=str(refused)[:1500])
                if refused.sticky:
                    os._exit(3)
            gpu.clear()

        if arguments.at == arguments.part:
            say(device=gpu.name())
        for at in range(arguments.at, len(cases), arguments.of):
            name, make = cases[at]
            say(begin=at)
            try:
                case = make(name)
            except Exception as error:
                say(case=name, error=f"{type(error).__name__}: {error}")
                continue
            attempt(case)
        say(done=True)


def last(path):
    """The last word of a worker: where it is, and whether it is through."""
    at, done = None, False
    if path.exists():
        for text in path.read_text().splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            at, done = line.get("begin", at), line.get("done", done)
    return at, done


def run(arguments):
    folder = pathlib.Path(tempfile.mkdtemp())
    deadline = time.time() + arguments.seconds
    workers = {}

    def start(part, at):
        command = [sys.executable, __file__, "work", str(folder / f"{part}"), "--part", str(part), "--of", str(arguments.jobs), "--at", str(at)]
        command += ["--only", arguments.only] if arguments.only else []
        workers[part] = [subprocess.Popen(command), time.time(), None]

    for part in range(arguments.jobs):
        start(part, part)
    while workers and time.time() < deadline:
        time.sleep(0.1)
        for part, state in list(workers.items()):
            process, since, seen = state
            at, done = last(folder / f"{part}")
            ended = process.poll() is not None
            if at != seen:
                state[1:] = [time.time(), at]
            elif not ended and time.time() - since > arguments.patience:
                process.kill()
                process.wait()
                with open(folder / f"{part}", "a") as file:
                    file.write(json.dumps({"at": at, "error": f"nothing for {arguments.patience} s"}) + "\n")
                ended = True
            if ended:
                del workers[part]
                at, done = last(folder / f"{part}")
                if not done:
                    start(part, part if at is None else at + arguments.jobs)
    for process, _, _ in workers.values():
        process.kill()
    total = failed = 0
    with gzip.open(arguments.results, "wt") as out:
        for part in range(arguments.jobs):
            path = folder / f"{part}"
            for text in path.read_text().splitlines() if path.exists() else []:
                out.write(text + "\n")
                try:
                    line = json.loads(text)
                except ValueError:
                    continue
                total += "case" in line
                if "error" in line:
                    failed += 1
                    print(f"FAILED {line.get('case', line.get('at'))}: {line['error'][:300]}")
                if "device" in line and part == 0:
                    print(line["device"])
    print(f"{total} cases of {len(everything(arguments.only))} ended, {failed} of them failed, {len(workers)} workers were stopped")


def assemble(arguments):
    """Gives every kernel to the vendor's assembler; says which lines of vectors it refuses."""
    wrong = 0
    for name, make in everything(arguments.only):
        case = make(name)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(case.text)
            file.flush()
            done = subprocess.run([arguments.results, "-arch=sm_90a", "-O0", file.name, "-o", "/dev/null"], capture_output=True, text=True)
        if done.returncode:
            wrong += 1
            numbers = {int(n) for n in re.findall(r"line (\d+); error", done.stderr)}
            text = case.text.splitlines()
            found = sorted({text[n - 1].rstrip(";") for n in numbers if n <= len(text)})
            for code in found:
                print(f"REFUSED {code}")
            print(f"{name}: {done.stderr[:600]}", file=sys.stderr)
    print(f"{wrong} cases refused", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "work", "assemble"])
    parser.add_argument("results")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--patience", type=float, default=25)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--at", type=int, default=0)
    arguments = parser.parse_args()
    {"run": run, "work": work, "assemble": assemble}[arguments.what](arguments)


if __name__ == "__main__":
    main()
