"""Kernels on arrays."""

import numpy as np
import pytest

import strata_gpu as strata
from strata_gpu.kernel import elements, scalar


def test_a_kernel_changes_its_arrays(ptx):
    x = np.arange(1000, dtype=np.float32)
    result = strata.Kernel(ptx, "scale")(x, 2.0, 1000, grid=8, block=128)
    assert (x == 2 * np.arange(1000, dtype=np.float32)).all()
    assert result.verdict == "not checked"
    assert (result.outputs["x"] == x).all()


def test_strides_shapes_and_read_only_arrays_are_kept(ptx):
    kernel = strata.Kernel(ptx, "scale")
    whole = np.arange(64, dtype=np.float32).reshape(8, 8)
    kernel(whole[:, ::2], 3.0, 32, grid=1, block=32)
    expected = np.arange(64, dtype=np.float32).reshape(8, 8)
    expected[:, ::2] *= 3
    assert (whole == expected).all()
    fixed = np.ones(32, np.float32)
    fixed.flags.writeable = False
    kernel(fixed, 5.0, 32, grid=1, block=32)
    assert (fixed == 1).all()


def test_launches_of_a_program_share_arrays_and_leave_a_launch_file(ptx, tmp_path, command):
    kernel = strata.Kernel(ptx, "scale")
    x = np.ones(32, np.float32)
    twice = strata.program(
        [kernel.launch(x, 2.0, 32, grid=1, block=32), kernel.launch(x, 5.0, 32, grid=1, block=32, repeat=2)],
        name="twice", expect={"x": np.full(32, 50, np.float32)},
    )
    result = strata.run(twice, check=True)
    assert result.verdict == "verified" and (x == 50).all() and len(result.launches) == 3
    said = command("run", twice.save(tmp_path / "twice"))
    assert f"statistics hash             {result.statistics_hash}" in said.stdout, said.stderr
    with pytest.raises(strata.StrataError, match="new or empty folder"):
        twice.save(tmp_path / "twice")


def test_wrong_results_are_an_exception_that_has_them(ptx):
    x = np.ones(32, np.float32)
    with pytest.raises(strata.WrongResults, match="x as expected") as wrong:
        strata.Kernel(ptx, "scale")(x, 2.0, 32, grid=1, block=32, expect={"x": 3})
    assert wrong.value.result.cycles > 0 and (wrong.value.result.outputs["x"] == 2).all()
    assert (x == 1).all(), "what is wrong is not given back"
    strata.Kernel(ptx, "scale")(x, 2.0, 32, grid=1, block=32, expect={"x": 2.01}, relative=0.01)


@pytest.mark.parametrize(
    ("dtype", "element"),
    [("f4", "<f4"), ("f8", "<f8"), ("i1", "<i1"), ("u8", "<u8"), ("?", "<u1"), ("f2", "<u2"), ("c8", "<f4"), ("M8[s]", "<u8"),
     ([("a", "<i4"), ("b", "<f8")], "<u1")],
)
def test_every_array_of_numbers_has_elements_of_a_launch_files(dtype, element):
    array = np.zeros(6, dtype)
    flat = elements(array)
    assert flat.dtype.str in (element, element.replace("<", "|")) and flat.nbytes == array.nbytes


def test_numbers_become_what_the_parameter_is():
    assert scalar(2, "f32", "") == ("f32", "2.0")
    assert scalar(-1, "u32", "") == ("i32", "-1")
    assert scalar(np.int64(7), "u64", "") == ("i64", "7")
    assert scalar(1.5, "f16", "") == ("u16", "15872")
    assert scalar(None, "u64", "") == ("u64", "0")
    assert scalar(float("inf"), "f64", "") == ("f64", "inf")
    for value, kind in [(1.5, "u32"), ("a", "u32"), (None, "u32"), (2, "b8[16]")]:
        with pytest.raises(strata.StrataError, match="expected an array, or a number"):
            scalar(value, kind, "x")


def test_what_cannot_be_launched_is_refused_with_what_was_expected(ptx):
    kernel = strata.Kernel(ptx, "scale")
    x = np.ones(32, np.float32)
    for arguments, match in [
        ((x,), "found 1 arguments, expected 3"),
        ((x.astype(">f4"), 2.0, 32), "big-endian"),
        ((np.array([], np.float32), 2.0, 32), "empty"),
        ((np.array([None]), 2.0, 32), "expected numbers"),
    ]:
        with pytest.raises(strata.StrataError, match=match):
            kernel(*arguments, grid=1, block=32)
    with pytest.raises(strata.StrataError, match="found 2000, expected an integer from 1 to 1024"):
        kernel(x, 2.0, 32, grid=1, block=2000)
    spin = strata.Kernel(ptx, "spin")
    with pytest.raises(strata.StrataError, match="shares memory"):
        strata.program([kernel.launch(x, 1.0, 32, grid=1, block=32), spin.launch(x[1:], grid=1, block=1)])
    with pytest.raises(strata.StrataError, match="expected the name of one: scale, spin"):
        strata.Kernel(ptx)
    with pytest.raises(strata.StrataError, match=r"kernel.ptx:\d+:\d+"):
        strata.Kernel(ptx.replace("mul.f32", "mull.f32"), "scale")(x, 2.0, 32, grid=1, block=32)


def test_a_fault_is_named_and_leaves_the_array(ptx):
    x = np.ones(32, np.float32)
    with pytest.raises(strata.NotFinished, match="lies in no allocation"):
        strata.Kernel(ptx, "scale")(x, 2.0, 4096, grid=32, block=128)
    assert (x == 1).all()


def test_cuda_c_is_compiled():
    pytest.importorskip("nvidia")
    source = 'extern "C" __global__ void add(float *x, float a) { x[blockIdx.x * blockDim.x + threadIdx.x] += a; }'
    x = np.zeros(256, np.float32)
    strata.cuda(source)(x, 1.5, grid=2, block=128, check=True)
    assert (x == 1.5).all()
    with pytest.raises(strata.StrataError, match=r"kernel.cu\(1\)"):
        strata.cuda(source.replace("+= a", "+= b"))
