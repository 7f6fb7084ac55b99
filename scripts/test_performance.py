"""Tests of scripts/performance.py that need no Valgrind: reading what callgrind writes, the fit, and comparing with the page and
between builds."""

import pathlib
import re
import tempfile
import unittest
from collections import Counter

import callgrind
import comparison
import fit
import host_time
import pages
import performance
import sentinels


def count(places, warp_instructions=10, total=None, statistics="same", dram_requests=1):
    return callgrind.Count(places, total or sum(places.values()), 100, warp_instructions, 1, 1, dram_requests, statistics)


class Callgrind(unittest.TestCase):
    def test_a_helper_counts_for_its_caller_and_other_calls_for_their_callees(self):
        text = "\n".join([
            "ob=/strata", "fn=caller", "0x10 1 5",
            "cob=/libc", "cfn=__memcpy_avx", "calls=1 0x900", "0x12 1 100",
            "cfn=callee", "calls=1 0x20", "0x14 1 1000",
            "cob=/libc", "cfn=qsort", "calls=1 0x900", "0x16 1 10000",
            "fn=callee", "0x20 1 1000",
            "ob=/libc", "fn=__memcpy_avx", "0x900 1 100",
            "summary: 1105"])
        costs, total = callgrind.read(text, "/strata")
        self.assertEqual(costs, Counter({0x10: 5, 0x12: 100, 0x20: 1000}))
        self.assertEqual(total, 1105)

    def test_an_address_belongs_to_the_innermost_function_of_the_project(self):
        frames = [("core::slice::get", "/rustc/library/core/src/slice.rs:1"),
                  ("strata_sm::issue::Issue::pick", "/x/crates/sm/src/issue.rs:7"),
                  ("strata_sm::sm::Sm::run", "/x/crates/sm/src/sm.rs:9")]
        self.assertEqual(callgrind.place_of(frames), "sm/src/issue.rs:pick")
        without_line = [("strata_memory::tags::Sets::find", "/rustc/library/core/src/macros.rs:?")]
        self.assertEqual(callgrind.place_of(without_line), "memory/src/tags")
        self.assertEqual(callgrind.place_of([("toml::de::parse", "/toml/src/de.rs:3")]), "")

    def test_the_longest_pattern_names_the_stage(self):
        stages = {
            "sm/src/backend.rs:write_back": "write-back",
            "sm/src/backend.rs:tick": "execution",
            "sm/src/new_file.rs:run": "SM: order of its parts, skipping",
            "designs/src/chassis/llc/mod.rs:tick": "L2",
            "designs/src/chassis/merge.rs:merge": "L1D",
            "memory/src/cache/frames.rs:valid": "parts of caches: tags, MSHRs, bytes",
            "memory/src/cache/frames.rs:new": callgrind.ONCE,
            "workloads/src/random.rs:bits": callgrind.ONCE,
        }
        self.assertEqual({place: callgrind.stage_of(place) for place in stages}, stages)

    def test_what_the_first_cycle_takes_is_done_once(self):
        statistics = {"l1d": {"accesses": 4}, "network.request": {"packets_out": 3}, "dram": {"reads": 2, "writes": 1}}
        run = {"cycles": 50, "warp_instructions": 20, "statistics": statistics, "statistics_hash": "h"}
        runs = {50: Counter({"memory/src/dram/storage.rs:write": 500, "sm/src/sm.rs:run": 300, "": 200}),
                1: Counter({"memory/src/dram/storage.rs:write": 400, "sm/src/sm.rs:run": 10, "": 150})}
        build = callgrind.Binary("/strata")
        build.run = lambda arguments, cycles: (runs[cycles].copy(), runs[cycles].total(), run)
        found = build.count("gather", cycles=50)
        self.assertEqual(found.stages, Counter({"DRAM": 100, "SM: order of its parts, skipping": 290}))
        self.assertEqual((found.cost, found.once, found.dram_requests), (390 / 20, 1000 - 390, 3))

    def test_a_program_whose_bound_ends_its_phase_on_the_host_is_counted_whole(self):
        statistics = {"l1d": {"accesses": 4}, "network.request": {"packets_out": 3}, "dram": {"reads": 2, "writes": 1}}
        runs = {bound: (Counter({"sm/src/sm.rs:run": cost}), cost,
                        {"cycles": 50, "warp_instructions": issued, "statistics": statistics, "statistics_hash": "h"})
                for bound, cost, issued in [(1, 1, 0), (50, 2, 0), (None, 801, 8)]}
        build = callgrind.Binary("/strata")
        build.run = lambda arguments, cycles: runs[cycles]
        self.assertEqual(build.count("implicit", cycles=50).cost, 100)

    def test_all_that_belongs_to_no_stage_is_done_once(self):
        found = count({"sm/src/sm.rs:run": 300, "workloads/src/random.rs:bits": 50}, total=1000)
        self.assertEqual((found.cost, found.once), (30, 700))


class Kept(unittest.TestCase):
    class Build:
        def __init__(self, digest):
            self.digest, self.counted = digest, []

        def count(self, *arguments, cycles):
            self.counted.append((*arguments, cycles))
            return count({"sm/src/sm.rs:run": cycles})

    def test_a_count_is_kept_for_its_build_and_its_bound(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "counts.json"
            one, other = self.Build("one"), self.Build("other")
            for build, cycles in [(one, 10), (one, 20), (other, 10), (one, 10)]:
                # Each time as another run of the script would.
                self.assertEqual(callgrind.Counts(file).count(build, "gemm", cycles=cycles).host, cycles)
            self.assertEqual(one.counted, [("gemm", 10), ("gemm", 20)])
            self.assertEqual(other.counted, [("gemm", 10)])


class Page(unittest.TestCase):
    RUNS = {"gemm": count({"sm/src/sm.rs:run": 10_000}), "atax": count({"memory/src/tags.rs:find": 50_000}, dram_requests=20)}

    def test_costs_are_read_from_the_tables_that_are_written(self):
        said = performance.committed(performance.traffic_table(self.RUNS), performance.small_table(self.RUNS))
        self.assertEqual(said, {"gemm": 1000, "atax": 5000, "gemm at small, 60,000 cycles": 1000, "atax at small, 250,000 cycles": 5000})

    def test_a_request_has_a_cost_where_there_are_many(self):
        cells = {row["workload"]: row["host instructions a DRAM request"] for row in pages.rows(performance.small_table(self.RUNS))}
        self.assertEqual(cells, {"gemm": "", "atax": "2,500"})

    def test_more_than_is_allowed_is_wrong_and_less_is_not(self):
        said = {"gemm": 1000, "bfs": 1000, "atax": 1000}
        lines, wrong = performance.compare(said, {"gemm": 1019, "bfs": 1021, "atax": 500}, 1.02)
        self.assertEqual(wrong, ["bfs: 2.1% above docs/performance.md"])
        self.assertEqual([line.split(", ")[-1] for line in lines], ["+1.9%", "+2.1%", "-50.0%"])

    def test_an_entry_that_the_page_lacks_is_wrong(self):
        _, wrong = performance.compare({"gemm": 1000}, {"gemm": 1000, "gemm at small, 60,000 cycles": 1000}, 1.02)
        self.assertEqual(wrong, ["gemm at small, 60,000 cycles: docs/performance.md has no such entry"])

    def test_the_page_names_all_that_is_checked(self):
        said = performance.committed(pages.part(performance.PAGE, "traffic"), pages.part(performance.PAGE, "small"))
        wanted = {*performance.CHECKED, *(performance.piece(name, cycles) for name, cycles in performance.SMALL.items())}
        self.assertEqual(wanted - said.keys(), set())

    def test_every_part_of_the_page_has_a_maker(self):
        marked = set(re.findall(r"<!-- generated: (.+?) -->", (pages.ROOT / performance.PAGE).read_text()))
        made = performance.Measured(None, None, 1).parts().keys()
        # Those that another script, the fit and a comparison make.
        self.assertEqual(marked, made | {"age", "limit", "before"})
        self.assertEqual(sentinels.COSTLY[performance.PAGE].keys(), made - {"compiler"})


class Fit(unittest.TestCase):
    def rows(self):
        """Programs that cost exactly 2,000 an instruction, 10 an SM's cycle, 5,000 a packet and 7,000 a DRAM request."""
        programs = [(1, 0, 0), (0.5, 0.05, 0), (0.1, 1, 0.5), (2, 2, 0.1), (0.2, 0.02, 0.01)]
        for ipc, packets, requests in programs:
            cost = 2000 + 10 * 15 / ipc + 5000 * packets + 7000 * requests
            yield {"host instructions a warp instruction": f"{cost:,.6f}", "warp IPC": str(ipc), "packets": str(packets),
                   "DRAM requests": str(requests)}

    def test_prices_that_hold_exactly_are_found(self):
        said = fit.sentence(list(self.rows()))
        self.assertIn("2,000 for a warp instruction, 10 for a cycle of an SM, 5,000 for a packet and 7,000 for a DRAM request", said)
        self.assertIn("off by 0 %", said)
        self.assertIn("the 3 programs that send under 0.1 packets", said)

    def test_shares_are_those_of_what_is_paid(self):
        self.assertEqual(fit.shares([[1, 2], [3, 2]], [1, 0.5]), [(1 / 2 + 3 / 4) / 2, (1 / 2 + 1 / 4) / 2])


class Threads(unittest.TestCase):
    def test_the_work_that_much_gain_needs_is_read_from_the_table(self):
        cells = [("1,400", "15.0"), ("350", "12.0"), ("400", "11.9"), ("30", "3.9")]
        rows = [{"us a window": work, "16 threads": gain} for work, gain in cells]
        said = host_time.windows_sentence(rows)
        self.assertIn("over 400 us", said)
        self.assertIn("under 350 us", said)
        self.assertIn("at most 30 us", said)


class Comparison(unittest.TestCase):
    BEFORE = {"gemm": count({"sm/src/sm.rs:run": 1000}), "atax": count({"sm/src/sm.rs:run": 1000}), "nw": count({"sm/src/sm.rs:run": 1000})}
    NOW = {"gemm": count({"sm/src/sm.rs:run": 500}), "atax": count({"sm/src/sm.rs:run": 2000}, statistics="other"),
           "nw": count({"sm/src/sm.rs:run": 125})}

    def test_the_mean_is_geometric_and_the_ends_are_named(self):
        said = comparison.mean(self.BEFORE, self.NOW)
        self.assertIn("is 0.500 in the geometric mean of 3 workloads, least 0.125 (nw) and most 2.000 (atax)", said)

    def test_the_page_shows_some_and_the_mean_of_all(self):
        said = comparison.part(self.BEFORE, self.NOW, 100_000, "abc")
        self.assertEqual([row["workload"] for row in pages.rows(said)], ["gemm", "atax"])
        self.assertIn("geometric mean of 3 workloads", said)

    def test_other_statistics_are_noticed(self):
        self.assertEqual(comparison.moved(self.BEFORE, self.NOW), ["atax"])


if __name__ == "__main__":
    unittest.main()
