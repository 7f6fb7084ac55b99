"""Reading launch files, and the contents that they describe."""

import math
import os
import re
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

import launch_file
import ptx
from node import Refused
from values import TYPES, Constant, Ramp, Uniform, generate, high_product, random_bits

ROOT = Path(__file__).resolve().parent.parent
RUST_CASES = ROOT / "crates/workloads/tests/bad_launch_files.rs"
MASK = (1 << 64) - 1

#: A module whose kernel takes what the refusals' file gives it.
MODULE = (
    ".version 8.0\n.visible .entry k(.param .u64 a, .param .u32 n)\n{ ret; }\n"
    ".entry bits(.param .f64 x, .param .b32 n)\n{ ret; }\n.entry none()\n{ ret; }\n"
    ".entry block(.param .u64 a, .param .align 4 .b8 s[12])\n{ ret; }\n"
)


class Random:
    """The stream as crates/workloads/src/random.rs makes it, a number after the other."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return z ^ (z >> 31)


class Contents(unittest.TestCase):
    def test_the_stream_is_splitmix64(self):
        published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        self.assertEqual(random_bits(1_234_567, 0, 3).tolist(), published)
        for seed in [0, 1, MASK]:
            one_by_one = Random(seed)
            self.assertEqual(random_bits(seed, 0, 50).tolist(), [one_by_one.bits() for _ in range(50)])
        self.assertEqual(random_bits(7, 10, 5).tolist(), random_bits(7, 0, 15).tolist()[10:])

    def test_high_products(self):
        a = np.concatenate([random_bits(3, 0, 100), np.array([0, 1, MASK, 1 << 63, 0xFFFFFFFF], np.uint64)])
        for b in [1, 2, 6, 0xFFFFFFFF, 1 << 32, 0x123456789ABCDEF0, MASK]:
            self.assertEqual(high_product(a, b).tolist(), [(int(x) * b) >> 64 for x in a])

    def test_uniform_integers(self):
        cases = [
            ("u8", 0, 255),
            ("u8", 1, 6),
            ("i8", -128, 127),
            ("i16", -5, 5),
            ("u32", 7, 7),
            ("i32", -(1 << 31), (1 << 31) - 1),
        ]
        cases += [("i64", -(1 << 63), (1 << 63) - 1), ("u64", 0, MASK), ("u64", 1, MASK), ("i64", -3, 1 << 40)]
        for name, low, high in cases:
            random = Random(11)
            expected = [low + ((random.bits() * (high - low + 1)) >> 64) for _ in range(100)]
            self.assertEqual(generate(Uniform(11, low, high), TYPES[name], 100).tolist(), expected, name)

    def test_uniform_floats(self):
        random = Random(5)
        expected = []
        for _ in range(100):
            unit = (random.bits() >> 11) * 2.0**-53
            expected.append(-1.5 * (1.0 - unit) + 3.0 * unit)
        self.assertEqual(generate(Uniform(5, -1.5, 3), TYPES["f64"], 100).tolist(), expected)
        self.assertEqual(
            generate(Uniform(5, -1.5, 3), TYPES["f32"], 100).tolist(),
            [struct.unpack("f", struct.pack("f", x))[0] for x in expected],
        )

    def test_ramps(self):
        self.assertEqual(generate(Ramp(1, 0.5), TYPES["f32"], 4).tolist(), [1.0, 1.5, 2.0, 2.5])
        self.assertEqual(generate(Ramp(7, -2), TYPES["i16"], 4).tolist(), [7, 5, 3, 1])
        self.assertEqual(generate(Ramp(MASK, -1), TYPES["u64"], 3).tolist(), [MASK, MASK - 1, MASK - 2])
        self.assertEqual(generate(Ramp(-(1 << 63), MASK), TYPES["i64"], 2).tolist(), [-(1 << 63), (1 << 63) - 1])
        # Computed exactly and rounded to 64 bits, then to the type.
        for start, step in [(1 << 24, 1), ((1 << 53) + 1, 2), (1 << 62, 1 << 61), (1 << 100, -(1 << 63))]:
            exact = [float(start + step * index) for index in range(5)]
            self.assertEqual(generate(Ramp(start, step), TYPES["f64"], 5).tolist(), exact)
            self.assertEqual(
                generate(Ramp(start, step), TYPES["f32"], 5).tolist(), [float(np.float32(x)) for x in exact]
            )

    def test_constants(self):
        self.assertEqual(generate(Constant(-1), TYPES["i8"], 3).tolist(), [-1] * 3)
        self.assertEqual(generate(Constant(0.1), TYPES["f32"], 1).tobytes(), struct.pack("<f", 0.1))
        self.assertTrue(math.isnan(generate(Constant(math.nan), TYPES["f64"], 1)[0]))

    def test_pieces_do_not_show(self):
        import values

        whole = generate(Uniform(1, -9, 9), TYPES["i32"], 1000).tolist()
        piece, values.PIECE = values.PIECE, 64
        try:
            self.assertEqual(generate(Uniform(1, -9, 9), TYPES["i32"], 1000).tolist(), whole)
        finally:
            values.PIECE = piece

    @unittest.skipUnless(os.environ.get("STRATA"), "STRATA names no strata command")
    def test_strata_makes_the_same_bytes(self):
        """A kernel that does nothing leaves what strata put there; files of our bytes say what it should be."""
        contents = {
            "u8": "uniform = { seed = 1, low = 0, high = 255 }",
            "i8": "ramp = { start = 100, step = -1 }",
            "u16": "uniform = { seed = 2, low = 9, high = 9 }",
            "i16": "uniform = { seed = 3, low = -32768, high = 32767 }",
            "u32": "uniform = { seed = 18446744073709551615, low = 0, high = 1000000 }",
            "i32": "uniform = { seed = 5, low = -7, high = 8 }",
            "u64": "uniform = { seed = 6, low = 0, high = 0xffff_ffff_ffff_ffff }",
            "i64": "ramp = { start = -9223372036854775808, step = 4611686018427387904 }",
            "f32": "uniform = { seed = 7, low = -1, high = 1.1 }",
            "f64": "ramp = { start = 0.1, step = 0.7 }",
        }
        counts = {"i64": 4, "i8": 200}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k.ptx").write_text(
                ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{ ret; }\n"
            )
            buffers = 'module = "k.ptx"\n'
            for name, text in contents.items():
                buffers += f'[[buffer]]\nname = "{name}"\ntype = "{name}"\ncount = {counts.get(name, 3000)}\ncontents = {{ {text} }}\n'
            buffers += '[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [1]\n'
            path = Path(folder, "launch.toml")
            path.write_text(buffers)
            file = launch_file.read(str(path))
            for buffer in file.buffers:
                generate(buffer.contents, buffer.type, buffer.count).tofile(Path(folder, f"{buffer.name}.bin"))
                buffers += f'[[check]]\nbuffer = "{buffer.name}"\nexpected = {{ file = "{buffer.name}.bin" }}\n'
            path.write_text(buffers)
            done = subprocess.run([os.environ["STRATA"], "run", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def literals(text):
    """The string literals of Rust source, in order."""
    escapes = {"n": "\n", '"': '"', "\\": "\\"}
    return [
        re.sub(r"\\(.)", lambda escape: escapes[escape[1]], body) for body in re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    ]


class Refusals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "k.ptx").write_text(MODULE)
        (self.folder / "short.bin").write_bytes(bytes(15))
        (self.folder / "negative.bin").write_bytes(struct.pack("<4d", 0.5, 1.0, math.inf, -1.0))

    def message(self, text):
        path = self.folder / "l.toml"
        path.write_text(text)
        try:
            launch_file.read(str(path))
        except Refused as refusal:
            return str(refusal).replace(str(path), "l.toml")
        return None

    def test_refusals_are_those_of_strata(self):
        """Every bad file of Strata's own test is refused in the same words, where it stands in the file aside."""
        source = RUST_CASES.read_text()
        good = source.split('GOOD: &str = r#"')[1].split('"#')[0]
        strings = literals(source.split("CASES: &[(&str, &str)] = &[")[1].split("\n];")[0])
        cases = list(zip(strings[::2], strings[1::2]))
        messages = source.split('expect![[r#"')[1].split('"#]]')[0].strip().splitlines()
        self.assertEqual(len(cases), len(messages))
        self.assertIsNone(self.message(good))
        for (old, new), expected in zip(cases, messages):
            place, expected = re.fullmatch(r"\s*(l\.toml:\d+:\d+): (.*)", expected).groups()
            found = self.message(good.replace(old, new, 1))
            self.assertIsNotNone(found, f"accepted {new}")
            if not expected.startswith("`"):
                self.assertRegex(found, "expected a TOML file$", f"{place} is not TOML")
                continue
            # The languages write these differently.
            found = found.replace("1e+39", "1e39")
            expected = expected.replace("found 1e0,", "found 1.0,")
            found = found.replace("found -1.0 at", "found -1 at")
            found = found.replace("(No such file or directory)", "(No such file or directory (os error 2))")
            self.assertEqual(found, f"l.toml: {expected}")

    def refuses(self, launch, message, module=MODULE):
        (self.folder / "k.ptx").write_text(module)
        text = f'module = "k.ptx"\nbuffer = [{{ name = "a", type = "f32", count = 4 }}]\n{launch}'
        self.assertEqual(self.message(text), message)

    def test_arguments_are_the_parameters(self):
        launch = 'launch = [{ kernel = "k", grid = [1], block = [1], arguments = [%s] }]'
        self.refuses(launch % '{ buffer = "a" }, { i32 = 1 }', None)
        self.refuses(
            launch % '{ buffer = "a" }, { f64 = 1 }',
            "l.toml: `launch[0].arguments[1].f64`: found f64, expected u32 or i32: parameter `n` is .u32",
        )

    def test_two_ways_at_once(self):
        launch = 'launch = [{ kernel = "k", grid = [1], block = [1] %s }]\n'
        module = ".entry k() {}"
        (self.folder / "four.bin").write_bytes(bytes(4))
        (self.folder / "bounds.bin").write_bytes(bytes(32))
        write = launch % ', before = [{ buffer = "a", file = "four.bin", fill = 0 }]'
        self.refuses(
            write, "l.toml: `launch[0].before[0].fill`: found both it and `file`, expected one of them", module
        )
        check = 'check = [{ buffer = "a", expected = "zeros", bounds = "bounds.bin", absolute = 1 }]'
        message = "l.toml: `check[0].bounds`: found both it and `absolute` or `relative`, expected one of them"
        self.refuses(launch % "" + check, message, module)

    def test_files_that_cannot_be_read(self):
        with self.assertRaisesRegex(Refused, "No such file or directory"):
            launch_file.read(str(self.folder / "absent.toml"))
        with self.assertRaisesRegex(Refused, "Is a directory"):
            launch_file.read(str(self.folder))
        (self.folder / "l.toml").write_bytes(b"\xff\xfe")
        with self.assertRaisesRegex(Refused, "expected a TOML file"):
            launch_file.read(str(self.folder / "l.toml"))


class Ptx(unittest.TestCase):
    def test_parameters(self):
        text = """
            // .entry commented()
            .visible .entry a(
                .param .u32 n, .param .u64 .ptr .global .align 4 x, /* .param .u8 y, */
                .param .align 8 .b8 s[24], .param .f64 d )
            { }
            .entry none { }
            .weak .entry b() .maxntid 256 { }
            .entry odd(.param what)
        """
        found = {name: None if found is None else [parameter.bytes for parameter in found]
                 for name, found in ptx.entries(text).items()}
        self.assertEqual(found, {"a": [4, 8, 24, 8], "none": [], "b": [], "odd": None})
        names = [(parameter.name, parameter.type) for parameter in ptx.entries(text)["a"]]
        self.assertEqual(names, [("n", ".u32"), ("x", ".u64"), ("s", ".b8[24]"), ("d", ".f64")])

    def test_modules_of_the_repository(self):
        examples = [ROOT / "examples/vector-add/launch.toml", *ROOT.glob("examples/latency/*.toml")]
        for path in examples:
            launch_file.read(str(path))
        for path in ROOT.glob("crates/workloads/src/suite/*/kernel.ptx"):
            kernels = ptx.entries(path.read_text())
            self.assertTrue(kernels and None not in kernels.values(), path)


if __name__ == "__main__":
    unittest.main()
