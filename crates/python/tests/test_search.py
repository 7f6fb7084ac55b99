"""Searches, held against all points of a small space."""

import threading

import pytest

import strata_gpu as strata

pytest.importorskip("optuna")

SPACE = {"l1d.ways": [1, 2, 4, 8], "l1d.mshr_entries": [4, 16]}
OBJECTIVES = {"ipc": "max", "energy.total_pj": "min"}


def test_the_front_is_that_of_all_points(tmp_path):
    front = strata.search("gather", SPACE, objectives=OBJECTIVES, points=48, store=tmp_path)
    everything = strata.compare("gather", sweep=SPACE, metrics=list(OBJECTIVES), store=tmp_path).rows()
    beaten = lambda row: any(  # noqa: E731
        other["ipc"] >= row["ipc"] and other["energy.total_pj"] <= row["energy.total_pj"] and other != row
        and (other["ipc"], other["energy.total_pj"]) != (row["ipc"], row["energy.total_pj"])
        for other in everything
    )
    expected = {(row["ipc"], row["energy.total_pj"]) for row in everything if not beaten(row)}
    assert {(row["ipc"], row["energy.total_pj"]) for row in front.best} == expected
    assert front.best == sorted(front.best, key=lambda row: -row["ipc"])


def test_a_constraint_keeps_points_off_the_front(tmp_path):
    free = strata.search("gather", SPACE, objectives={"ipc": "max"}, points=16, store=tmp_path)
    [best] = free.best
    bound = {"ipc": (None, best["ipc"] * 0.999)}
    held = strata.search("gather", SPACE, objectives={"ipc": "max"}, constraints=bound, points=16, store=tmp_path)
    assert all(row["ipc"] < best["ipc"] for row in held.best)
    assert any(not row["feasible"] for row in held.rows())


def test_a_seed_gives_one_search(tmp_path):
    one, other = (strata.search("saxpy", SPACE, objectives=OBJECTIVES, points=24, seed=3, jobs=jobs, store=tmp_path) for jobs in (1, 2))
    assert one.rows() == other.rows()


def test_a_search_goes_on_where_it_stopped(tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    cancel = threading.Event()
    cancel.set()
    options = {"objectives": OBJECTIVES, "store": tmp_path / "store", "storage": storage, "points": 24}
    with pytest.raises(strata.Cancelled):
        strata.search("saxpy", SPACE, cancel=cancel, **options)
    assert len(strata.search("saxpy", SPACE, **{**options, "points": 16})) >= 16
    front = strata.search("saxpy", SPACE, **options)
    assert len(front) == 24 and front.best


def test_points_that_cannot_be_have_a_reason(tmp_path):
    front = strata.search("saxpy", {"l1d.ways": [0, 4]}, objectives={"ipc": "max"}, points=16, store=tmp_path)
    reasons = {row["l1d.ways"]: row["missing"] for row in front.rows()}
    assert reasons[4] is None and "l1d" in reasons[0]


def test_a_wrong_space_is_refused_before_anything_runs(tmp_path):
    for space, match in [({"l1d.ways": []}, "expected a list of choices"), ({"l1d.ways": (8, 2)}, "expected a list")]:
        with pytest.raises(strata.StrataError, match=match):
            strata.search("saxpy", space, objectives=OBJECTIVES, store=tmp_path)
    with pytest.raises(strata.StrataError, match="expected `max` or `min`"):
        strata.search("saxpy", SPACE, objectives={"ipc": "up"}, store=tmp_path)
