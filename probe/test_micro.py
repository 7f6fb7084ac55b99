"""Microbenchmarks from the exported folder to the CSV, on a device made of numpy."""

import contextlib
import csv
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import micro
from backend import BackendError
from fake_device import FakeDevice

PTX = ".visible .entry ticks(.param .u64 out, .param .u32 rounds, .param .u32 cost)\n{ ret; }\n"
HEADINGS = (
    "file,family,case,parameters,quantity,unit,reading,work,short_launch,short_pair,short_pairs,long_launch,long_pair,long_pairs"
)


def ticks(device, *arguments):
    """Two pairs of readings: the first begins early, the second ends late."""
    out, rounds, cost = (int.from_bytes(argument, "little") for argument in arguments)
    device.array(out, np.uint64, 4)[:] = [100, 150, 120, 120 + rounds * cost]


def launches(*rounds):
    text = ""
    for place, (count, cost) in enumerate(rounds):
        text += f"""
[[launch]]
kernel = "ticks"
grid = [1]
block = [32]
arguments = [{{ buffer = "clocks", byte_offset = {place * 32} }}, {{ u32 = {count} }}, {{ u32 = {cost} }}]
"""
    return text


class Set(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, rows, *rounds, buffers=""):
        (self.folder / "k.ptx").write_text(PTX)
        text = f'name = "a"\nmodule = "k.ptx"\n[[buffer]]\nname = "clocks"\ntype = "u64"\ncount = {8 * len(rounds)}\n'
        (self.folder / "a.toml").write_text(text + buffers + launches(*rounds))
        (self.folder / "figures.csv").write_text("\n".join([HEADINGS, *rows]) + "\n")

    def measure(self, device=None):
        """The rows that a child finds, in this process."""
        device = device or FakeDevice({"ticks": ticks})
        said = []
        with (
            mock.patch.object(micro.device, "connect", lambda *_: device),
            mock.patch.object(micro.device, "provenance", lambda *_: {"gpu": "fake"}),
            mock.patch("builtins.print", lambda text, **_: said.append(json.loads(text))),
            mock.patch("sys.stdin", io.StringIO("a.toml\n")),
        ):
            status = micro.child(micro.arguments([str(self.folder), "--child", "--repeats", "2"]))
        return status, said

    def test_a_figure_is_what_the_longer_launch_has_more(self):
        rows = [
            "a.toml,f,latency,n=1;m=2,q,cycles,cycles-per-work,10,0,0,2,1,2,2",
            "a.toml,f,rate,,q,u,work-per-cycle,30,0,0,2,1,2,2",
            "a.toml,f,alone,,q,cycles,cycles-per-work,1,,,,1,2,2",
            "a.toml,f,least,,q,cycles,cycles-quantile-50,1,,,,1,2,2",
            "a.toml,f,most,,q,cycles,cycles-quantile-51,2,,,,1,2,2",
        ]
        self.write(rows, (10, 20), (20, 20))
        status, said = self.measure()
        self.assertEqual(status, 0)
        found = {row["case"]: row["median"] for row in said[-1]["rows"]}
        # The first launch lasts from 100 to 320, the second to 520; its pairs last 50 and 400.
        self.assertEqual(found, {"latency": "20", "rate": "0.15", "alone": "420", "least": "50", "most": "200"})
        self.assertEqual(said[-1]["rows"][0]["repeats"], 2)

    def test_a_longer_launch_that_is_not_longer_is_an_error(self):
        self.write(["a.toml,f,c,,q,u,cycles-per-work,1,0,0,2,1,2,2"], (10, 20), (10, 20))
        _, said = self.measure()
        self.assertIn("no longer than the shorter", said[-1]["rows"][0]["error"])

    def test_a_buffer_without_room_is_skipped_and_the_device_goes_on(self):
        buffers = '[[buffer]]\nname = "large"\ntype = "u64"\ncount = 1073741824\n'
        self.write(["a.toml,f,c,,q,u,cycles-per-work,1,,,,0,0,2"], (10, 20), buffers=buffers)
        device = FakeDevice({"ticks": ticks})
        status, said = self.measure(device)
        # More than a launch file may hold elsewhere, and more than the device has.
        self.assertEqual(status, 0)
        self.assertIn("no room for 8589934592 bytes", said[-1]["skipped"])
        self.assertEqual(device.live, set())

    def test_a_failed_launch_ends_the_process(self):
        def fails(*_):
            raise BackendError("an illegal address")

        self.write(["a.toml,f,c,,q,u,cycles-per-work,1,,,,0,0,2"], (10, 20))
        status, said = self.measure(FakeDevice({"ticks": fails}))
        self.assertEqual((status, said[-1]), (1, {"failed": "an illegal address"}))

    def test_a_folder_without_a_table_and_families_that_are_not_there_are_refused(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(micro.main([str(self.folder)]), 2)
            self.write(["a.toml,f,c,,q,u,cycles-per-work,1,,,,0,0,2"], (10, 20))
            self.assertEqual(micro.main([str(self.folder), "--families", "g"]), 2)
        self.assertIn("figures.csv", errors.getvalue())
        self.assertIn("no launch file is of these families", errors.getvalue())

    def test_what_is_left_of_a_family_that_keeps_failing_is_left_out(self):
        rows = [f"{name}.toml,f,{name},,q,u,cycles-per-work,1,,,,0,0,2" for name in "abcde"]
        self.write(rows, (10, 20))
        files = micro.read_figures(self.folder)
        out = self.folder / "out.csv"
        options = micro.arguments([str(self.folder)])
        with open(out, "w", newline="") as options.out, contextlib.redirect_stderr(io.StringIO()):
            parent = micro.Parent(options, csv.DictWriter(options.out, micro.COLUMNS))
            for name in ["a.toml", "b.toml", "c.toml"]:
                parent.fail(files, name, "broken")
            self.assertEqual(parent.without_hopeless(files, ["d.toml", "e.toml"]), [])
        self.assertEqual(parent.failures, 5)
        self.assertIn("left out after 3 failures", out.read_text())


if __name__ == "__main__":
    unittest.main()
