"""Runs of workloads and launch files: the command's numbers, the command's sentences."""

import json

import pytest

import strata_gpu as strata


def numbers(run: dict) -> dict:
    """A run's JSON without what is about the host or who asked."""
    return {key: value for key, value in run.items() if key not in ("simulation", "provenance")}


def test_it_gives_the_commands_numbers(command):
    said = command("run", "gemm", "--set", "l1d.ways=8", "--system", "by-nvm", "--json", "-")
    assert said.returncode == 2, "the system has an L1D without that key"
    said = command("run", "gemm", "--set", "l1d.ways=8", "--json", "-")
    result = strata.run("gemm", set={"l1d.ways": 8}, threads=1)
    assert numbers(result.to_dict()) == numbers(json.loads(said.stdout))
    assert result.to_dict()["provenance"]["inputs"] == json.loads(said.stdout)["provenance"]["inputs"]


def test_threads_change_no_number():
    assert strata.run("atax", threads=1).statistics_hash == strata.run("atax", threads=2).statistics_hash


def test_what_is_refused_has_the_commands_sentence(command):
    for arguments, keywords in [
        (["gemm", "--set", "l1d.way=8"], {"set": {"l1d.way": 8}}),
        (["gemm", "--system", "no-such"], {"systems": "no-such"}),
        (["gemm", "--machine", "no-such"], {"machine": "no-such"}),
    ]:
        said = command("run", *arguments)
        with pytest.raises(strata.StrataError) as refused:
            strata.run(arguments[0], **keywords)
        assert said.stderr.strip() == f"error: {refused.value}"


def test_results_are_attributes_metrics_and_tables():
    result = strata.run("gather")
    assert result.verdict == "verified" and result.problems == []
    assert result.cycles == sum(launch.cycles for launch in result.launches)
    assert result.metric("run.thread_instructions / run.cycles") == pytest.approx(result.ipc)
    assert result.metric("l1d.loads") == result.counters["l1d"]["loads"]
    columns = result.to_arrow().to_pydict()
    loads = [
        count
        for launch, group, counter, count in zip(columns["launch"], columns["group"], columns["counter"], columns["count"])
        if (launch, group, counter) == (None, "l1d", "loads")
    ]
    assert loads == [result.counters["l1d"]["loads"]]
    with pytest.raises(strata.StrataError, match="no counter `l1d.load`"):
        result.metric("l1d.load")


def test_a_limit_stops_a_run_and_leaves_its_numbers():
    with pytest.raises(strata.NotFinished, match="cycle limit") as stopped:
        strata.run("gemm", max_cycles=1000)
    assert stopped.value.result.cycles == 1000
    assert stopped.value.result.verdict == "not finished"


def test_parts_add_up_to_the_run():
    result = strata.run("gather", by=["line", "sm"])
    for by in ("line", "sm"):
        rows = result.by(by).to_pydict()
        counters = zip(rows["group"], rows["counter"], rows["count"])
        issued = sum(count for group, counter, count in counters if (group, counter) == ("sm", "issued"))
        assert issued == result.counters["sm"]["issued"]
    # A line of the kernel, by its number, has the energy that it takes.
    lines = result.by("line").to_pydict()
    energy = {part for part, group, pj in zip(lines["part"], lines["group"], lines["real"]) if group == "energy" and pj > 0}
    assert any(part.rsplit(":")[-1].isdigit() for part in energy), energy
    with pytest.raises(strata.StrataError, match="was not broken down so"):
        result.by("cta")
    with pytest.raises(strata.StrataError, match="found `warp`, expected one of sm, "):
        strata.run("gather", by="warp")


def test_a_trace_is_the_commands_byte_for_byte(command, tmp_path):
    files = [tmp_path / name for name in ("command", "python", "sample", "sampled")]
    assert command("run", "atax", "--trace", str(files[0])).returncode == 0
    traced = strata.run("atax", trace=files[1])
    sampled = ["--trace-sample", "16", "--trace-sample-warps", "8", "--trace-cycles", "900", "--trace-from", "100", "--trace-sms", "0,2"]
    assert command("run", "atax", "--trace", str(files[2]), *sampled).returncode == 0
    strata.run("atax", trace=str(files[3]), trace_sample=16, trace_sample_warps=8, trace_cycles=900, trace_from=100, trace_sms=[0, 2])
    whole, again, sample, sampled = (file.read_bytes() for file in files)
    assert whole == again and sample == sampled and 0 < 10 * len(sample) < len(whole)
    assert traced.statistics_hash == strata.run("atax").statistics_hash


def test_a_trace_has_a_file_and_something_in_it(tmp_path):
    with pytest.raises(strata.StrataError, match="trace_sample: found it without a file, expected `trace`, too"):
        strata.run("saxpy", trace_sample=4)
    with pytest.raises(strata.StrataError, match="^trace: a trace of every 0th request: expected at least 1$"):
        strata.run("saxpy", trace=tmp_path / "run.pftrace", trace_sample=0)
    with pytest.raises(strata.StrataError, match="/nowhere/at/all: .*, expected a file that can be written"):
        strata.run("saxpy", trace="/nowhere/at/all")
    with pytest.warns(UserWarning, match="no launch ran in the cycles of the trace; trace_from and trace_launch choose them"):
        strata.run("saxpy", trace=tmp_path / "late.pftrace", trace_from=10**9)


def test_a_timeline_adds_up_to_the_run():
    result = strata.run("gather", timeline=500)
    columns = result.timeline.to_pydict()
    assert sum(columns["l1d.loads"]) == result.counters["l1d"]["loads"]
    assert len(columns["kernel"]) > 1


def test_a_region_measures_its_launches():
    whole, part = strata.run("atax"), strata.run("atax", from_launch=1)
    assert (len(whole.launches), len(part.launches)) == (2, 1)
    assert part.verdict == "verified", "the first launch ran on the reference executor"


def test_a_part_of_a_launch_is_measured_and_the_rest_executed():
    whole = strata.run("gemm")
    part = strata.run("gemm", from_cta=5, warm_ctas=2, for_ctas=10, finish=True)
    document = part.to_dict()
    assert part.verdict == "verified" and document["thread_instructions"] < whole.to_dict()["thread_instructions"]
    assert (document["began"]["cta"], document["began"]["warm_ctas"], document["ended"]["cta"]) == (5, 2, 15)
    with pytest.raises(strata.StrataError, match="CTA 24: launch 0 has 24, counted from 0"):
        strata.run("gemm", from_cta=24)


def test_a_run_goes_on_from_a_checkpoint_on_any_machine(tmp_path):
    path = tmp_path / "bfs.strata"
    place = strata.checkpoint("bfs", path, from_launch=4, from_cta=2)
    assert (place.launch, place.cta) == (4, 2) and place.thread_instructions > 0
    for systems in (None, "dy-fuse"):
        plain = strata.run("bfs", systems=systems, from_launch=4, from_cta=2)
        again = strata.run("bfs", systems=systems, from_checkpoint=path)
        assert again.statistics_hash == plain.statistics_hash and again.verdict == "verified"
    with pytest.raises(strata.StrataError, match="the checkpoint is of bfs"):
        strata.run("gemm", from_checkpoint=path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(strata.StrataError, match="truncated or damaged"):
        strata.run("bfs", from_checkpoint=path)


def test_a_machine_is_made_once_and_says_what_it_is(tmp_path):
    machine = strata.Machine("gtx480", systems=["dy-fuse"], set={"l1d.mshr_entries": 64})
    assert machine["l1d.mshr_entries"] == 64
    with pytest.raises(KeyError):
        machine["l1d.no_such"]
    again = tmp_path / "again.toml"
    again.write_text(machine.to_toml())
    assert strata.run("saxpy", machine=machine).statistics_hash == strata.run("saxpy", machine=again).statistics_hash
    with pytest.raises(strata.StrataError, match="found a Machine"):
        strata.run("saxpy", machine=machine, set={"l1d.mshr_entries": 8})
    [key] = [key for key in machine.keys("mshr_entries") if key["short"] == "l1d.mshr_entries"]
    assert key["meaning"] and key["least"] is not None


def test_what_there_is_to_choose_from():
    assert {"gemm", "atax"} <= {workload["name"] for workload in strata.workloads()}
    assert "gtx480" in {machine["name"] for machine in strata.machines()}
    assert "dy-fuse" in {system["name"] for system in strata.systems()}
    assert len(strata.papers()) == 5 and len(strata.doors()) >= 6 and len(strata.policies()) >= 9 and strata.metrics()
