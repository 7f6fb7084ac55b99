"""The whole way from launch files to the CSV, on a device made of numpy."""

import contextlib
import csv
import io
import json
import math
import os
import re
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import counters
import fake_device
import launch_file
import probe
import process
import program
from backend import BackendError, ParameterArray
from fake_device import FakeDevice
from table import COLUMNS, Table, TableError

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples/vector-add/launch.toml"
KERNELS = {name: getattr(fake_device, name) for name in ["vector_add", "saxpy", "gemm", "add_one", "nothing"]}
ONE_POINTER = ".visible .entry add_one(.param .u64 p)\n{ ret; }\n.visible .entry nothing() { ret; }\n"

#: What ncu's raw page looks like: a row of units, a row for each launch.
RAW = """==PROF== Connected to process 1
==PROF== Disconnected from process 1
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","launch__registers_per_thread","sm__cycles_elapsed.max","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","","","","","","","","byte","register/thread","cycle","%"
"0","1","python3","127.0.0.1","a","1","7","(256, 1, 1)","(40, 1, 1)","0","9.0","1,024","16","3,000","10"
"1","1","python3","127.0.0.1","b","1","7","(256, 1, 1)","(40, 1, 1)","0","9.0","32","20","500","50.5"
"2","1","python3","127.0.0.1","a","1","7","(256, 1, 1)","(40, 1, 1)","0","9.0","1,000","16","1,000","50"
"""

DETAILS = """"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","python3","127.0.0.1","a(int, float *)","1","7","Command line profiler metrics","sm__cycles_elapsed.max","cycle","3,000"
"0","1","python3","127.0.0.1","a(int, float *)","1","7","Command line profiler metrics","smsp__inst_executed.sum","inst","n/a"
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.csv = self.folder / "out.csv"

    def launch_file(self, text, module=ONE_POINTER, name="launch.toml"):
        (self.folder / "k.ptx").write_text(module)
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('module = "k.ptx"\n' + text)
        return str(path)

    def probe(self, *arguments, device=None, worker=None):
        """Exit status, rows of the CSV, what went to stderr."""
        options = probe.arguments([*map(str, arguments), "--csv", str(self.csv)])
        self.device = device or FakeDevice(KERNELS)
        worker = worker or probe.Worker(options, lambda *_: self.device)
        errors = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            status = probe.main([*map(str, arguments), "--csv", str(self.csv)], worker)
        text = self.csv.read_text() if self.csv.exists() else ""
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        return status, rows, errors.getvalue()


class Whole(Folder):
    def test_the_example(self):
        status, [row], errors = self.probe(EXAMPLE, "--repeats", "3")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(list(row), COLUMNS)
        expected = {
            "file": str(EXAMPLE), "name": "vector-add", "size": "", "kernel": "vector_add", "kernels": "1", "launches": "1",
            "grid": "40x1x1", "block": "256x1x1", "registers": "10", "static_shared_bytes": "0", "dynamic_shared_bytes": "0",
            "time_us_median": "40", "time_us_min": "40", "repeats": "3", "null_kernel_us": "1",
            "verified": "yes", "mismatches": "0", "largest_error_over_bound": "", "counters_source": "", "cycles": "",
            "gpu": "Fake, 1", "compute_capability": "1075.1076", "sms": "1016", "l2_bytes": "1038",
            "core_clock_mhz": "1.013", "memory_clock_mhz": "1.036",
            "jit_version": "driver JIT of CUDA 12.9", "backend": "fake 1", "error": "",
        }  # fmt: skip
        self.assertEqual({key: row[key] for key in expected}, expected)
        self.assertRegex(row["date_utc"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(row["outputs_sha256"], row["expected_sha256"])
        self.assertEqual((row["launch_sha256"], row["ptx_sha256"]), launch_file.identity(str(EXAMPLE)))
        self.assertEqual(len(self.device.launched), 4)
        self.assertEqual(self.device.live, set(), "every buffer is freed")

    def test_a_wrong_result_is_reported_and_the_others_go_on(self):
        def wrong(device, n, a, b, c):
            fake_device.vector_add(device, n, a, b, c)
            device.array(fake_device.integer(c), "<f4", 10_000)[[7, 9]] = math.nan, 0.0

        (self.folder / "a").mkdir()
        (self.folder / "b").mkdir()
        (self.folder / "b/launch.toml").write_text("nonsense")
        for name in ["a/launch.toml", "c/launch.toml", "c/deeper/launch.toml"]:
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(EXAMPLE.read_text() + f"# {name}\n")
            (path.parent / "vector_add.ptx").write_bytes((EXAMPLE.parent / "vector_add.ptx").read_bytes())
        status, rows, errors = self.probe(self.folder, device=FakeDevice({"vector_add": wrong}))
        self.assertEqual(status, 1)
        self.assertEqual([Path(row["file"]).parent.name for row in rows], ["a", "b", "c", "deeper"])
        self.assertEqual([row["verified"] for row in rows], ["no", "", "no", "no"])
        self.assertEqual(rows[0]["mismatches"], "2")
        self.assertNotEqual(rows[0]["outputs_sha256"], rows[0]["expected_sha256"])
        self.assertIn("b/launch.toml: `file`: found Expected", rows[1]["error"])
        self.assertIn("a/launch.toml: c: 2 of 10000 elements wrong; [7] is nan, expected 21.5", errors)
        self.assertIn("4 of 4 failed", errors)

    def test_writes_repetitions_variables_and_shared_memory(self):
        (self.folder / "five.bin").write_bytes(struct.pack("<I", 5))
        path = self.launch_file("""
            name = "counting-test"
            buffer = [
                { name = "x", type = "u32", count = 4, contents = { constant = 7 } },
                { name = "table", type = "u32", count = 2, contents = { ramp = { start = 1, step = 1 } }, variable = true },
            ]
            check = [
                { buffer = "x", expected = { file = "expected.bin" } },
                { buffer = "table", name = "upper", byte_offset = 4, expected = { constant = 4 } },
                { buffer = "x", name = "bytes", type = "u8", byte_offset = 1, count = 3, expected = "zeros" },
            ]
            [[launch]]
            kernel = "add_one"
            grid = [2, 3]
            block = [1]
            repeat = 2
            arguments = [{ buffer = "table", byte_offset = 4 }]
            [[launch]]
            kernel = "add_one"
            grid = [5]
            block = [32]
            repeat = 3
            dynamic_shared_bytes = 40000
            before = [{ buffer = "x", file = "five.bin" }, { buffer = "x", byte_offset = 8, bytes = 4, fill = 1 }]
            arguments = [{ buffer = "x" }]
            [[launch]]
            kernel = "nothing"
            grid = [7]
            block = [32]
        """)  # fmt: skip
        np.array([6, 7, 0x01010101, 7], "<u4").tofile(self.folder / "expected.bin")
        device = FakeDevice(KERNELS, {"table": 8}, static_shared=10_000)
        status, rows, errors = self.probe(path, device=device)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(
            [(row["name"], row["size"], row["verified"]) for row in rows], [("counting", "test", "yes")] * 2
        )
        self.assertEqual(
            [(row["kernel"], row["kernels"], row["launches"]) for row in rows],
            [("add_one", "2", "5"), ("nothing", "2", "1")],
        )
        self.assertEqual([(row["grid"], row["time_us_median"]) for row in rows], [("2x3x1", "27"), ("7x1x1", "7")])
        self.assertEqual(device.opted_in, {"add_one": 40_000}, "48 KiB with the static part are exceeded")
        self.assertEqual(len(device.launched), 6 * 6)

    HOST_PHASE = """
        name = "phase-test"
        buffer = [{ name = "x", type = "u32", count = 4, contents = { constant = 7 } }]
        check = [{ buffer = "x", byte_offset = 4, expected = { constant = 7 } }]
        [[launch]]
        kernel = "add_one"
        cpu_threads = 3
        arguments = [{ buffer = "x" }]
    """

    def test_a_host_phase_runs_untimed_as_ctas_of_one_thread(self):
        path = self.launch_file(self.HOST_PHASE + """
            [[launch]]
            kernel = "nothing"
            grid = [7]
            block = [32]
        """)
        device = FakeDevice(KERNELS)
        status, rows, errors = self.probe(path, device=device)
        self.assertEqual((status, errors), (0, ""))
        columns = [(row["kernel"], row["kernels"], row["time_us_median"], row["verified"]) for row in rows]
        self.assertEqual(columns, [("nothing", "1", "7", "yes")])
        phases = [launch for launch in device.launched if launch[0] == "add_one"]
        self.assertEqual({tuple(launch[1]) + tuple(launch[2]) for launch in phases}, {(3, 1, 1, 1, 1, 1)})

    def test_host_phases_alone_are_refused(self):
        status, rows, _ = self.probe(self.launch_file(self.HOST_PHASE), device=FakeDevice(KERNELS))
        self.assertEqual(status, 1)
        self.assertIn("`launch`: found host phases alone, expected a launch on the GPU", rows[0]["error"])

    def test_scalars_reach_the_kernel_as_bytes(self):
        seen = []
        module = ".entry k(.param .u64 a, .param .u64 b, .param .s8 c, .param .f32 d, .param .f64 e, .param .u16 f) {}"
        path = self.launch_file(
            """
            buffer = [{ name = "x", type = "u16", count = 3 }]
            [[launch]]
            kernel = "k"
            grid = [1]
            block = [1]
            arguments = [{ buffer = "x", byte_offset = 2 }, { u64 = 0xffff_ffff_ffff_ffff }, { i8 = -128 }, { f32 = 0.1 }, { f64 = 1 }, { u16 = 258 }]
            """,
            module,
        )
        status, [row], _ = self.probe(path, device=FakeDevice({"k": lambda device, *arguments: seen.append(arguments)}))
        self.assertEqual((status, row["verified"], row["outputs_sha256"]), (0, "", ""))
        address, *rest = seen[0]
        self.assertEqual(int.from_bytes(address, "little") % 256, 2)
        self.assertEqual(rest, [b"\xff" * 8, b"\x80", struct.pack("<f", 0.1), struct.pack("<d", 1.0), b"\x02\x01"])

    def test_what_a_device_refuses(self):
        def fails(device):
            raise BackendError("illegal address")

        buffer = 'buffer = [{ name = "v", type = "u32", count = 4, variable = true }]\n'
        launch = 'launch = [{ kernel = "nothing", grid = [1], block = [1] }]\n'
        for text, module, message in [
            (buffer + launch, ONE_POINTER, "variable `v`: found 8 bytes in the module, expected 16"),
            (buffer.replace('"v"', '"w"') + launch, ONE_POINTER, "variable: no w"),
            (launch, ONE_POINTER + "// broken", "load: broken PTX"),
            (launch + 'buffer = [{ name = "v", type = "u8", count = 16000000 }]', ONE_POINTER, "alloc: out of memory"),
            (launch.replace('"nothing"', '"fails"'), ".entry fails() {}", "launch 0 (fails): illegal address"),
        ]:
            self.csv.unlink(missing_ok=True)
            path = self.launch_file(text, module)
            status, [row], errors = self.probe(path, device=FakeDevice(KERNELS | {"fails": fails}, {"v": 8}))
            self.assertEqual((status, row["error"], row["gpu"]), (1, message, "Fake, 1"))
            self.assertIn(f"{path}: failed: {message}", errors)

    def test_no_launch_file(self):
        status, rows, errors = self.probe(self.folder)
        self.assertEqual((status, rows), (1, []))
        self.assertIn("no launch.toml below", errors)


class Checks(Folder):
    def verdict(self, element, expected, tolerance, contents):
        """Verified, mismatches and error over bound of a check of two elements."""
        np.array(contents, element).tofile(self.folder / "x.bin")
        name = np.dtype(element).kind + str(8 * np.dtype(element).itemsize)
        text = f"""
            buffer = [{{ name = "x", type = "{name}", count = 2, contents = {{ file = "x.bin" }} }}]
            launch = [{{ kernel = "nothing", grid = [1], block = [1] }}]
            check = [{{ buffer = "x", {expected}{tolerance} }}]
        """
        self.csv.unlink(missing_ok=True)
        _, [row], _ = self.probe(self.launch_file(text))
        return row["verified"], row["mismatches"], row["largest_error_over_bound"]

    def test_tolerances(self):
        four = "expected = { constant = 4 }, "
        self.assertEqual(self.verdict("<f8", four, "absolute = 0.5", [4.25, 4.5]), ("yes", "0", "1"))
        self.assertEqual(self.verdict("<f8", four, "absolute = 0.25", [4.25, 4.5]), ("no", "1", "2"))
        self.assertEqual(self.verdict("<f4", four, "relative = 0.25, absolute = 1", [5, 3]), ("yes", "0", "0.5"))
        self.assertEqual(self.verdict("<f4", four, "relative = 0", [4, 3]), ("no", "1", "inf"))
        self.assertEqual(self.verdict("<f4", four, "absolute = 1e300", [math.nan, 3]), ("no", "1", "inf"))
        self.assertEqual(
            self.verdict("<f4", "expected = { constant = inf }, ", "relative = 1", [math.inf, 1.0]), ("yes", "0", "1")
        )
        self.assertEqual(self.verdict("<f4", "", "", [1, 2]), ("", "", ""))

    def test_exact_is_bit_for_bit(self):
        self.assertEqual(self.verdict("<f4", 'expected = "zeros"', "", [0.0, -0.0]), ("no", "1", ""))
        self.assertEqual(self.verdict("<f4", "expected = { constant = nan }", "", [math.nan] * 2), ("yes", "0", ""))
        self.assertEqual(
            self.verdict("<u8", "expected = { ramp = { start = 1, step = 1 } }", "", [1, 2]), ("yes", "0", "")
        )

    def test_each_element_has_its_own_bound(self):
        for bounds, expected in [
            ([0, 1], ("yes", "0", "1")),
            ([0, math.inf], ("yes", "0", "0")),
            ([1, 0.5], ("no", "1", "2")),
        ]:
            np.array(bounds, "<f8").tofile(self.folder / "bounds.bin")
            found = self.verdict("<f4", "expected = { constant = 1 }, ", 'bounds = "bounds.bin"', [1, 2])
            self.assertEqual(found, expected, bounds)


class Tables(Folder):
    def table(self, resume):
        table = Table(self.csv, resume)
        self.addCleanup(table.close)
        return table

    def test_resume_does_what_is_missing(self):
        paths = [
            self.launch_file(f'launch = [{{ kernel = "nothing", grid = [{n}], block = [1] }}]', name=f"{n}.toml")
            for n in (1, 2)
        ]
        self.probe(paths[0])
        status, _, errors = self.probe(*paths)
        self.assertEqual(status, 2)
        self.assertIn("found a file that exists, expected a new one, or --resume", errors)
        # A last line that was cut short is measured again.
        whole = self.csv.read_bytes()
        self.csv.write_bytes(whole + b'2.toml,"cut sho')
        status, rows, _ = self.probe(*paths, "--resume")
        self.assertEqual((status, [row["file"] for row in rows]), (0, paths))
        self.assertEqual({launched[1][0] for launched in self.device.launched}, {2})
        self.assertTrue(self.csv.read_bytes().startswith(whole))
        # Another program in the same place is another program.
        self.launch_file('launch = [{ kernel = "nothing", grid = [3], block = [1] }]', name="1.toml")
        _, rows, _ = self.probe(*paths, "--resume")
        self.assertEqual([row["grid"] for row in rows], ["1x1x1", "2x1x1", "3x1x1"])

    def test_resume_tries_failures_and_incomplete_files_again(self):
        path = self.launch_file("launch = 1")
        self.probe(path)
        _, rows, _ = self.probe(path, "--resume")
        self.assertEqual(len(rows), 2)
        table = self.table(resume=True)
        row = {"launch_sha256": "l", "ptx_sha256": "p", "gpu": "g", "kernels": 2, "error": ""}
        table.append([row])
        self.assertEqual(self.table(resume=True).done, set())
        table.append([row])
        self.assertEqual(self.table(resume=True).done, {("l", "p", "g")})

    def test_a_table_with_other_columns_is_refused(self):
        self.csv.write_text("a,b\n")
        with self.assertRaisesRegex(TableError, "found columns a,b, expected file,name"):
            Table(self.csv, resume=True)
        self.assertEqual(self.csv.read_text(), "a,b\n")

    def test_a_row_is_a_line(self):
        table = self.table(resume=False)
        table.append([{"error": 'two\nlines, "quoted"', "time_us_min": 1 / 3}])
        lines = self.csv.read_text().splitlines()
        self.assertEqual(len(lines), 2)
        row = dict(zip(COLUMNS, next(csv.reader(lines[1:]))))
        self.assertEqual((row["error"], row["time_us_min"]), ('two lines, "quoted"', "0.333333333"))


class Counters(Folder):
    def test_raw_page(self):
        merged = counters.merge(counters.report(RAW))
        a = {"cycles": 4000, "dram_read_bytes": 2024, "launch_registers": 16, "occupancy_percent": 20.0}
        b = {"cycles": 500, "dram_read_bytes": 32, "launch_registers": 20, "occupancy_percent": 50.5}
        self.assertEqual(merged, {"a": a, "b": b})

    def test_details_page(self):
        self.assertEqual(counters.merge(counters.report(DETAILS)), {"a": {"cycles": 3000}})

    def ncu(self, script):
        """A command called ncu on the PATH; `$log` is where it writes its report."""
        path = self.folder / "ncu"
        head = '#!/bin/sh\n[ "$1" = --version ] && { echo "Version 2025.1.0.0 (build 1)"; exit; }\nwhile [ "$1" != --log-file ]; do shift; done\nlog=$2\n'
        path.write_text(head + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        environment = mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"})
        environment.start()
        self.addCleanup(environment.stop)

    def test_columns_are_merged_by_kernel(self):
        (self.folder / "raw.csv").write_text(RAW.replace('"a"', '"nothing"'))
        self.ncu(f"cp {self.folder}/raw.csv $log\n")

        class CountingWorker(probe.Worker):
            count = probe.ChildWorker.count
            command = probe.ChildWorker.command

        path = self.launch_file('launch = [{ kernel = "nothing", grid = [1], block = [1] }]')
        options = probe.arguments([path])
        worker = CountingWorker(options, lambda *_: FakeDevice(KERNELS))
        status, [row], errors = self.probe(path, "--counters", worker=worker)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual((row["cycles"], row["l2_sectors"], row["occupancy_percent"]), ("4000", "", "20"))
        self.assertEqual(row["counters_source"], "ncu 2025.1.0.0, --cache-control all --clock-control none")

    def test_an_unknown_metric_is_left_out(self):
        raw = self.folder / "raw.csv"
        raw.write_text(RAW)
        unknown = "dram__bytes_read.sum"
        self.ncu(
            f'case "$*" in *{unknown}*) echo "==ERROR== Failed to find metric regex:^{unknown}" > $log; exit 1;; esac\ncp {raw} $log\n'
        )
        merged, _ = counters.count(["true"], "all", 60)
        self.assertEqual(merged["b"]["cycles"], 500)

    def test_why_nothing_was_counted(self):
        self.ncu('echo "==ERROR== ERR_NVGPUCTRPERM - no permission" > $log\nexit 1\n')
        with self.assertRaisesRegex(counters.NotCounted, "^ncu ended with 1: ERR_NVGPUCTRPERM - no permission$"):
            counters.count(["true"], "all", 60)
        self.ncu("echo nothing\n")
        with self.assertRaisesRegex(counters.NotCounted, "^ncu ended with 0: nothing$"):
            counters.count(["true"], "all", 60)
        with mock.patch.dict(os.environ, {"PATH": ""}), self.assertRaisesRegex(counters.NotCounted, "not on the PATH"):
            counters.count(["true"], "all", 60)
        path = self.launch_file('launch = [{ kernel = "nothing", grid = [1], block = [1] }]')
        status, [row], _ = self.probe(path, "--counters")
        self.assertEqual((status, row["counters_source"]), (0, "not counted: ncu counts another process"))


class Processes(unittest.TestCase):
    def test_a_command_ends_at_its_limit_with_its_children(self):
        self.assertEqual(process.run(["sh", "-c", "sleep 60 & sleep 60"], 0.2), (None, "ended after 0.2 s"))
        self.assertEqual(process.run(["sh", "-c", "echo well; exit 3"], 60), (3, "well\n"))

    def test_a_process_that_dies_is_an_error(self):
        worker = probe.ChildWorker(probe.arguments(["x"]))
        worker.command = lambda *_: [sys.executable, "-c", "import os; print('last words'); os.abort()"]
        self.assertRegex(worker.measure("x")["error"], r"^its process ended with -6: last words")

    def test_a_child_answers(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(probe.device, "connect", side_effect=BackendError("no GPU")),
        ):
            answer = f"{folder}/answer"
            self.assertEqual(probe.main(["--answer", answer, "--provenance"]), 0)
            self.assertEqual(json.loads(Path(answer).read_text()), {"error": "no GPU"})

    def test_parameters_are_pointers_to_the_bytes(self):
        import ctypes

        array = ParameterArray([b"\x01\x02", bytes(range(24)), b""])
        pointers = (ctypes.c_void_p * 3).from_address(array.address)
        self.assertEqual(
            [ctypes.string_at(pointer, size) for pointer, size in zip(pointers, [2, 24])],
            [b"\x01\x02", bytes(range(24))],
        )


def inputs_hash(file):
    """What `strata workload profile` calls inputs_hash, of programs without zero buffers: crates/workloads/src/recording.rs."""
    state, prime, mask = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1

    def add(bytes_):
        nonlocal state
        for word in struct.iter_unpack("<Q", bytes_ + bytes(-len(bytes_) % 8)):
            state = (state ^ word[0]) * prime & mask
            state = (state << 29 | state >> 35) & mask
        state = (state ^ len(bytes_)) * prime & mask

    for buffer in file.buffers:
        add(buffer.name.encode())
        add(launch_file.generate(buffer.contents, buffer.type, buffer.count).tobytes().rstrip(b"\0"))
    launch = file.launches[0]
    add(launch.kernel.encode())
    for number in [*launch.grid, *launch.block, launch.dynamic_shared_bytes]:
        add(number.to_bytes(4, "little"))
    for argument in launch.arguments:
        add(argument.scalar.ljust(8, b"\0") if argument.buffer is None else argument.byte_offset.to_bytes(8, "little"))
    return f"{state:016x}"


@unittest.skipUnless(os.environ.get("STRATA"), "STRATA names no strata command")
class Exports(Folder):
    def export(self, name):
        folder = self.folder / name
        command = [os.environ["STRATA"], "workload", "export", name, "--size", "test", folder]
        subprocess.run(command, check=True, capture_output=True)
        return str(folder / "launch.toml")

    def test_exports_run(self):
        for name in ["saxpy", "gemm"]:
            path = self.export(name)
            measured = (ROOT / f"crates/workloads/src/suite/{name}/measured.toml").read_text()
            expected = re.search(r'\[test\]\ninputs_hash = "(\w+)"', measured)
            if expected:
                self.assertEqual(inputs_hash(launch_file.read(path)), expected[1], name)
        status, rows, errors = self.probe(self.folder)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(
            [(row["name"], row["size"], row["verified"]) for row in rows],
            [(n, "test", "yes") for n in ["gemm", "saxpy"]],
        )
        for row in rows:
            self.assertLess(0.0, float(row["largest_error_over_bound"]))
            self.assertLess(float(row["largest_error_over_bound"]), 1.0)

    def test_an_export_of_many_launches_runs(self):
        """Kernels that do nothing: everything is read and packed, and the result is wrong."""
        path = self.export("bfs")
        kernels = {launch.kernel: fake_device.nothing for launch in launch_file.read(path).launches}
        status, rows, _ = self.probe(path, device=FakeDevice(kernels))
        self.assertEqual((status, {row["verified"] for row in rows}), (1, {"no"}))


class Delay(unittest.TestCase):
    def test_the_delay_is_a_kernel_for_the_modules_target(self):
        text = program.delay_ptx(b"//\n.version 8.8\n.target sm_90a, debug\n.address_size 64\n").decode()
        self.assertEqual(text.splitlines()[:3], [".version 8.8", ".target sm_90a", ".address_size 64"])
        [(name, [clocks])] = launch_file.ptx.entries(text).items()
        self.assertEqual((name, clocks.bytes), (program.DELAY_KERNEL, 8))
        self.assertTrue(program.delay_ptx(b"").startswith(b".version 7.0\n.target sm_80\n"))


if __name__ == "__main__":
    unittest.main()
