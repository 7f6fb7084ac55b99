"""What warp schedulers and CTA dispatch do to a few short programs: the table of docs/policies.md."""

import pages

# Few SMs and one channel, so that misses of the L1D cost bandwidth at size test, too.
MACHINE = ["--size", "test", "--set", "gpu.sms=2", "--set", "gpu.channels=1"]
PROGRAMS = ["kmeans", "bicg", "atax", "spmv", "bfs", "gemm", "saxpy"]
POLICIES = [
    "sm.scheduling=loose-round-robin",
    "sm.scheduling=ccws",
    "gpu.dispatch=depth-first",
    "gpu.dispatch={ limited = { most_per_sm = 1 } }",
    "gpu.dispatch={ blocks = { ctas = 2 } }",
]


def measure(binary, program, *policy):
    """Cycles, and misses of loads in the L1D."""
    sets = [argument for key in policy for argument in ("--set", key)]
    found = pages.result(binary, program, *MACHINE, *sets)
    return found["cycles"], found["statistics"]["l1d"]["load_misses"]


def parts(binary):
    header = ["program|", *[f"`{policy.split('=', 1)[1]}`" for policy in POLICIES]]
    rows = []
    for program in PROGRAMS:
        usual = measure(binary, program)
        others = [measure(binary, program, policy) for policy in POLICIES]
        rows.append([f"`{program}`", *[f"{cycles / usual[0]:.2f}, {misses / usual[1]:.2f}" for cycles, misses in others]])
    return {"scheduling": pages.table(header, rows)}
