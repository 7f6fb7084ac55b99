"""Tables that other libraries read where they lie."""

import pytest

import strata_gpu as strata


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return strata.compare(
        ["saxpy", "gather"], systems=["none", "dy-fuse"], sweep={"l1d.mshr_entries": [8, 16]}, metrics={"ipc": "ipc", "fills": "l1d.fills"},
        store=tmp_path_factory.mktemp("store"),
    )


def test_pandas_polars_and_duckdb_read_it(comparison):
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    expected = comparison.to_dict()
    numbers = comparison.to_arrow()
    frame = comparison.to_pandas()
    assert list(frame["ipc"]) == expected["ipc"] and list(frame["l1d.mshr_entries"]) == expected["l1d.mshr_entries"]
    assert polars.DataFrame(numbers)["ipc"].to_list() == expected["ipc"]
    [(best,)] = duckdb.sql("select max(ipc) from numbers").fetchall()
    assert best == max(expected["ipc"])


def test_nothing_is_copied(comparison):
    pyarrow = pytest.importorskip("pyarrow")
    one, other = (pyarrow.table(comparison.to_arrow())["ipc"].chunk(0).buffers()[1].address for _ in range(2))
    assert one == other


def test_an_unread_stream_is_let_go(comparison):
    for _ in range(1000):
        comparison.to_arrow().__arrow_c_stream__()


def test_ratios_are_over_the_base(comparison):
    rows = comparison.rows()
    ratios = comparison.over(system="none").rows()
    for row, ratio in zip(rows, ratios):
        [base] = [
            other for other in rows
            if other["system"] == "none" and all(other[key] == row[key] for key in ("workload", "l1d.mshr_entries"))
        ]
        assert ratio["ipc"] == pytest.approx(row["ipc"] / base["ipc"])
    with pytest.raises(strata.StrataError, match="expected one of none, dy-fuse"):
        comparison.over(system="by-nvm")


def test_a_point_that_cannot_be_is_missing_with_its_reason(tmp_path):
    comparison = strata.compare("saxpy", sweep={"l1d.ways": [0, 4]}, store=tmp_path)
    first, second = comparison.rows()
    assert first["ipc"] is None and "l1d" in first["missing"] and second["ipc"] > 0
    with pytest.raises(strata.StrataError, match="no counter"):
        strata.compare("saxpy", metrics="l1d.no_such", store=tmp_path)


def test_the_store_is_the_commands(tmp_path, command):
    strata.compare("saxpy", sweep={"l1d.ways": [2, 4]}, metrics="cycles", store=tmp_path)
    said = command("compare", "saxpy", "--sweep", "l1d.ways=2,4", "--metric", "cycles", "--no-run", "--csv", "-", "--store", tmp_path)
    cycles = [float(line.split(",")[-2]) for line in said.stdout.splitlines()[1:]]
    assert cycles == strata.compare("saxpy", sweep={"l1d.ways": [2, 4]}, metrics="cycles", store=tmp_path, run=False).to_dict()["cycles"]
    store = strata.Store(tmp_path)
    runs = store.runs(metrics=["ipc"]).to_pydict()
    assert len(store) == 2 and runs["workload"] == ["saxpy", "saxpy"] and all(runs["ipc"])
    assert len(store.rows(runs["key"][0])) > 100
    with pytest.raises(strata.StrataError, match="expected a key"):
        store.rows("0" * 32)


def test_arrays_are_swept_as_workloads_are(ptx, tmp_path):
    import numpy as np

    kernel = strata.Kernel(ptx, "scale")
    program = kernel.program(np.ones(4096, np.float32), 2.0, 4096, grid=32, block=128, name="mine")
    comparison = strata.compare(program, machine=["gtx480", "volta-fuse"], metrics="cycles", store=tmp_path)
    cycles = {row["machine"]: row["cycles"] for row in comparison.rows()}
    assert cycles["gtx480"] != cycles["volta-fuse"]
    assert cycles["gtx480"] == strata.run(program, machine="gtx480").cycles
    assert comparison.axes["workload"] == ["mine"]
    with pytest.raises(strata.StrataError, match="found several called mine"):
        strata.compare([program, program], store=tmp_path)


def test_a_papers_figure_and_an_assumption_moved(tmp_path):
    few = {"workloads": ["atax", "gemm"], "store": tmp_path}
    figure = strata.figure("fuse", "13", **few)
    assert figure.value("atax", "l1-sram") == 1.0
    moved = strata.figure("fuse", "13", systems="dy-fuse", set={"l1d.mshr_entries": 4}, **few)
    assert moved.value("atax", "dy-fuse") != figure.value("atax", "dy-fuse")
    assert moved.value("atax", "by-nvm") == figure.value("atax", "by-nvm")
    claims = strata.Store(tmp_path).claims("fuse").to_pydict()
    assert len(claims["id"]) > 20 and set(claims["verdict"]) > {"not measured"} or "not measured" in claims["verdict"]
    with pytest.raises(strata.StrataError, match="no workload `atx`"):
        strata.figure("fuse", "13", workloads=["atx"], store=tmp_path)
