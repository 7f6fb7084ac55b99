#!/usr/bin/env python3
"""numba-cuda's own tests under `strata exec`.

    scripts/numba-suite.py target/debug/strata [--work FOLDER] [--limit SECONDS] [--jobs N] [--again] [--only WORD ...]

Makes a virtual environment from PyPI (versions pinned), runs each file of the suite in a process of its own under
`strata exec` on the reference executor, and counts. A test that takes longer than the limit, in seconds of the processor, ends its process
and counts as too slow; the file's other tests go on in a new one, as they do after a crash. With --again, tests that
passed or were skipped before are not run. Every outcome goes to FOLDER/outcomes.jsonl, what was counted to standard output.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

# What is installed: the suite and its compiler as the clients have them, and what its tests import besides.
CLIENTS = pathlib.Path(__file__).resolve().parent.parent / "crates/driver/clients/requirements/numba.txt"
BESIDES = ["filecheck==1.0.6", "cffi==2.1.1", "psutil==7.2.2", "pytest==9.2.0", "ml_dtypes==0.6.0"]
PARTS = ["cudapy", "cudadrv"]

# Why a test cannot pass that is none of ours, or asks for what docs/driver.md says is not there: a name, and what the
# skip, the error or the driver's own words hold. The first that fits counts.
CAUSES = [
    # Those of nvJitLink say that it is missing where the binaries are.
    ("binaries that the suite's makefile builds", r"TEST_BIN_DIR|nvJitLink not installed|[Nn]ecessary binaries"),
    # numba 0.68 tells a changed source by its hash, numba-cuda 0.30 by its time: each takes the other's index for stale.
    ("one kind of cache in numba and numba-cuda", r"test_cpu_and_cuda_(reuse|targets)"),
    ("dynamic parallelism", r"dynamic parallelism|cudaLaunchDevice|cudaGetParameterBuffer"),
    ("more than one GPU", r"[Mm]ultiple (GPU|CUDA device)|more than one (GPU|device)|2 (GPU|device)s|at least two GPUs|fewer than 2"),
    ("sharing memory between processes", r"cuIpc"),
    ("machine code", r"machine code|cuobjdump|nvdisasm|SASS"),
    ("a package that is not installed", r"[Cc]u[Pp]y|No module named|not installed"),
]


# What every call answers once a kernel has failed.
FAULTS = r"CUDA_ERROR_(ILLEGAL_ADDRESS|MISALIGNED_ADDRESS|ILLEGAL_INSTRUCTION|LAUNCH_FAILED|LAUNCH_TIMEOUT|ASSERT)"


def child(module: str, report: str, done: set[str]) -> None:
    """Runs a file's tests, but those that are done, and writes what comes of each as a line."""
    import unittest

    with open(report, "a", buffering=1) as out:

        def line(**fields: object) -> None:
            out.write(json.dumps(fields) + "\n")

        class Result(unittest.TestResult):
            def startTest(self, test):
                super().startTest(test)
                self.began, self.worst = time.monotonic(), None
                line(begin=test.id())

            def note(self, outcome, text=""):
                # A failure of a part is the whole's.
                if self.worst is None or outcome in ("failed",):
                    self.worst = (outcome, (self.worst[1] + "\n" if self.worst else "") + text)

            def stopTest(self, test):
                super().stopTest(test)
                outcome, text = self.worst or ("passed", "")
                line(test=test.id(), outcome=outcome, text=text[-6000:], seconds=round(time.monotonic() - self.began, 2))
                if outcome == "failed" and re.search(FAULTS, text):
                    # A kernel that failed takes its context along; the others need a process of their own.
                    line(again=True)
                    os._exit(0)

            def words(self, error, test):
                return self._exc_info_to_string(error, test)

            def addError(self, test, error):
                if error[0].__name__ == "Skipped":
                    # pytest's.
                    self.addSkip(test, str(error[1]))
                elif not hasattr(test, "_testMethodName"):
                    # A class or a module that cannot be set up.
                    line(test=test.id(), outcome="failed", text=self.words(error, test)[-6000:], seconds=0)
                else:
                    self.note("failed", self.words(error, test))

            def addFailure(self, test, error):
                self.note("failed", self.words(error, test))

            def addSubTest(self, test, subtest, error):
                if error is not None:
                    self.note("failed", self.words(error, test))

            def addSkip(self, test, reason):
                if hasattr(test, "_testMethodName"):
                    self.note("skipped", reason)
                else:
                    line(test=test.id(), outcome="skipped", text=reason, seconds=0)

            def addExpectedFailure(self, test, error):
                self.note("passed")

            def addUnexpectedSuccess(self, test):
                self.note("failed", "a success that was not expected")

        def tests(suite):
            for test in suite:
                if isinstance(test, unittest.TestSuite):
                    yield from tests(test)
                else:
                    yield test

        loaded = unittest.defaultTestLoader.loadTestsFromName(module)
        unittest.TestSuite(test for test in tests(loaded) if test.id() not in done).run(Result())
        line(end=module)


def outcomes(report: pathlib.Path) -> tuple[dict[str, dict], str | None, str]:
    """What is known of a file's tests, the one that had begun and not ended, and how its last process ended."""
    known, begun, ended = {}, None, "crashed"
    for text in report.read_text().splitlines() if report.exists() else []:
        fields = json.loads(text)
        if "begin" in fields:
            begun, ended = fields["begin"], "crashed"
        elif "end" in fields:
            ended = "done"
        elif "again" in fields:
            ended = "again"
        else:
            known[fields["test"]] = fields
            begun = None
    return known, begun, ended


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_file(python: pathlib.Path, module: str, environment: dict[str, str], folder: pathlib.Path, asked: argparse.Namespace) -> list[dict]:
    """Runs one file's tests to their end."""
    report, log = folder / f"{module}.jsonl", folder / f"{module}.log"
    kept = [fields for fields in outcomes(report)[0].values() if fields["outcome"] in ("passed", "skipped")] if asked.again else []
    report.write_text("".join(json.dumps(fields) + "\n" for fields in kept))
    log.unlink(missing_ok=True)
    while True:
        done = sorted(outcomes(report)[0])
        with open(log, "ab") as err:
            process = subprocess.Popen(
                [python, __file__, "--child", module, report, *done],
                stdin=subprocess.DEVNULL, stdout=err, stderr=err, env=environment, cwd=folder,
            )
            size, since, used = -1, time.monotonic(), 0
            slow = False
            while process.poll() is None:
                time.sleep(0.2)
                now = report.stat().st_size
                if now != size:
                    size, since, used = now, time.monotonic(), processor_seconds(process.pid)
                # One that waits for nothing uses no processor.
                idle = time.monotonic() - since > 10 * asked.limit
                if processor_seconds(process.pid) - used > asked.limit or idle:
                    slow = True
                    process.kill()
                    process.wait()
        known, begun, ended = outcomes(report)
        if ended == "done":
            break
        if ended == "again":
            continue
        why = "slow" if slow else "crashed"
        test = begun or f"{module}.(import)"
        with open(report, "a") as out:
            fields = dict(test=test, outcome=why, text=f"exit {process.returncode}", seconds=asked.limit if slow else 0)
            out.write(json.dumps(fields) + "\n")
        if begun is None:
            break
    words = log.read_text(errors="replace")
    found = list(outcomes(report)[0].values())
    for fields in found:
        fields["cause"] = cause(fields, words)
    return found


def cause(fields: dict, words: str) -> str | None:
    if fields["outcome"] == "passed":
        return None
    for name, pattern in CAUSES:
        if re.search(pattern, fields["text"]):
            return name
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("strata", type=pathlib.Path, help="the command, beside its libraries, as cargo builds them")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("target/numba"), help="folder of venv and logs")
    parser.add_argument("--limit", type=float, default=120, help="seconds of the processor that a test may take")
    parser.add_argument("--again", action="store_true", help="only tests that did not pass before")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--only", nargs="*", default=[], help="files with one of these words in their names")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="print every test that did not pass, and its cause")
    asked = parser.parse_args()

    work = asked.work.resolve()
    venv = work / "venv"
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
                        *CLIENTS.read_text().split(), *BESIDES], check=True)
    if not asked.inside:
        # This process again, so that all its children find our libraries. The machine has the registers of the GPUs that the
        # suite is written for.
        strata = asked.strata.resolve()
        # A test reaches beyond its arrays, within a page, which hardware lets pass.
        options = ["--functional", "--machine", "volta-fuse", "--bounds", "page", "--quiet"]
        os.execv(strata, [strata, "exec", *options, "--", sys.executable, *sys.argv, "--inside"])
    environment = dict(os.environ)
    where = "import numba_cuda, os; print(os.path.dirname(numba_cuda.__file__))"
    root = pathlib.Path(subprocess.run([python, "-c", where], check=True, capture_output=True, text=True, cwd=work).stdout.strip())
    modules = [
        f"numba.cuda.tests.{part}.{path.stem}"
        for part in PARTS
        for path in sorted((root / "numba/cuda/tests" / part).glob("test_*.py"))
        if not asked.only or any(word in path.stem for word in asked.only)
    ]
    logs = work / "logs"
    logs.mkdir(exist_ok=True)
    began, everything = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        running = [pool.submit(run_file, python, module, environment, logs, asked) for module in modules]
        for module, future in zip(modules, running):
            found = future.result()
            everything += found
            counts = collections.Counter(fields["outcome"] for fields in found)
            print(f"{module.removeprefix('numba.cuda.tests.')}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())), flush=True)
    with open(work / "outcomes.jsonl", "w") as out:
        out.writelines(json.dumps(fields) + "\n" for fields in everything)
    report(everything, time.monotonic() - began, asked.list)


def report(everything: list[dict], seconds: float, listed: bool) -> None:
    passed = sum(fields["outcome"] == "passed" for fields in everything)
    skipped = collections.Counter(fields["cause"] or "skipped by the suite" for fields in everything if fields["outcome"] == "skipped")
    failed = [fields for fields in everything if fields["outcome"] not in ("passed", "skipped")]
    lacking = collections.Counter(fields["cause"] for fields in failed if fields["cause"])
    ours = [fields for fields in failed if not fields["cause"]]
    print(f"\n{len(everything)} tests in {seconds / 60:.0f} minutes")
    print(f"passed: {passed}")
    for why, count in skipped.most_common():
        print(f"skipped, {why}: {count}")
    for why, count in lacking.most_common():
        print(f"failed, needs {why}: {count}")
    print(f"failed otherwise: {len(ours)}")
    if passed + len(ours):
        print(f"passed of those that need nothing that is not there: {100 * passed / (passed + len(ours)):.1f} %")
    if listed:
        for fields in failed:
            last = (fields["text"].strip().splitlines() or [""])[-1]
            print(f"  {fields['test'].removeprefix('numba.cuda.tests.')}: {fields['outcome']}, {fields['cause'] or 'ours'}: {last[:200]}")


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--child":
        child(sys.argv[2], sys.argv[3], set(sys.argv[4:]))
    else:
        main()
