"""What goes on beside a run: other threads, signals, cancelling, panics."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import strata_gpu as strata


def spin(ptx, cancel, ends):
    try:
        strata.Kernel(ptx, "spin")(np.zeros(1, np.uint32), grid=1, block=1, cancel=cancel, threads=1)
    except strata.Cancelled as cancelled:
        ends.append(cancelled)


def test_two_runs_in_two_threads_are_cancelled_one_by_one(ptx):
    cancels = [threading.Event(), threading.Event()]
    ends = [[], []]
    threads = [threading.Thread(target=spin, args=(ptx, cancel, end)) for cancel, end in zip(cancels, ends)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    for place in (1, 0):
        assert threads[place].is_alive()
        cancels[place].set()
        threads[place].join(20)
        assert not threads[place].is_alive()
        assert ends[place][0].result.cycles > 0, "it has what it measured"
        assert "interrupted" in str(ends[place][0])


def test_the_interpreter_goes_on_while_a_run_does(ptx):
    cancel = threading.Event()
    thread = threading.Thread(target=spin, args=(ptx, cancel, []))
    thread.start()
    count = 0
    begun = time.monotonic()
    while time.monotonic() - begun < 0.5:
        count += 1
    assert thread.is_alive() and count > 100_000
    cancel.set()
    thread.join()


def test_control_c_ends_the_main_threads_run(ptx):
    # A shell starts what goes on behind it with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        strata.Kernel(ptx, "spin")(np.zeros(1, np.uint32), grid=1, block=1)
    timer.join()
    signal.signal(signal.SIGINT, before)
    assert strata.run("saxpy").verdict == "verified", "the next run is not cancelled"


def test_what_a_callback_raises_ends_the_run(ptx):
    class Event:
        def is_set(self):
            raise RuntimeError("no such event")

    with pytest.raises(RuntimeError, match="no such event"):
        strata.Kernel(ptx, "spin")(np.zeros(1, np.uint32), grid=1, block=1, cancel=Event())


def test_a_panic_is_an_exception():
    native = strata._native
    if not hasattr(native, "panic"):
        pytest.skip("an optimised build has no function that panics")
    with pytest.raises(BaseException, match="at a bad time") as panicked:
        native.panic("at a bad time")
    assert type(panicked.value).__name__ == "PanicException"
    assert strata.run("saxpy").verdict == "verified"


def test_a_sweep_is_cancelled_and_goes_on(tmp_path):
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    sweep = {"l1d.mshr_entries": range(8, 40)}
    with pytest.raises(strata.Cancelled, match="goes on with the rest"):
        strata.compare(["gemm", "atax"], sweep=sweep, store=tmp_path, cancel=cancel)
    stored = strata.Store(tmp_path)
    assert len(stored) < 64 and len(stored.failures()) == 0
    before = set(stored.runs().to_pydict()["key"])
    small = strata.compare("gemm", sweep={"l1d.mshr_entries": [8, 9]}, store=tmp_path)
    assert small.to_dict()["missing"] == [None, None]
    assert before <= set(strata.Store(tmp_path).runs().to_pydict()["key"])
