"""Runs a launch file on a device: contents, launches with their times, checks."""

import hashlib
import math
import re
from dataclasses import dataclass
from functools import partial

import numpy as np

import backend as device
from values import TYPES, File, Zeros, generate

#: Shared memory of a CTA that a kernel has without opting in (CUDA C++ Programming Guide, shared memory).
SHARED_WITHOUT_OPT_IN = 48 << 10

#: A kernel of one thread that keeps the device busy for so many clocks and touches no memory. While it runs, the host
#: queues the first event, the launch and the second event, so that the time between the events is the device's.
DELAY_PTX = b""".address_size 64
.visible .entry strata_probe_delay(.param .u64 clocks)
{
    .reg .pred %busy;
    .reg .b64 %limit, %start, %now;
    ld.param.u64 %limit, [clocks];
    mov.u64 %start, %clock64;
again:
    mov.u64 %now, %clock64;
    sub.u64 %now, %now, %start;
    setp.lt.u64 %busy, %now, %limit;
    @%busy bra again;
    ret;
}
"""
DELAY_KERNEL = "strata_probe_delay"
DELAY_CLOCKS = 100_000


def delay_ptx(beside):
    """The delay's module for a driver that takes the module beside it: with that one's version and target."""
    lines = []
    for directive, default in [(b"version", b"7.0"), (b"target", b"sm_80")]:
        found = re.search(rb"^\s*\." + directive + rb"\s+([\w.]+)", beside, re.MULTILINE)
        lines.append(b".%s %s\n" % (directive, found[1] if found else default))
    return b"".join(lines) + DELAY_PTX


class Stopwatch:
    """Times launches with events."""

    def __init__(self, backend, beside):
        self.backend = backend
        self.delay = backend.kernel(backend.load(delay_ptx(beside)), DELAY_KERNEL)
        self.start, self.end = backend.event(), backend.event()

    def spin(self, clocks):
        self.backend.launch(self.delay, [1, 1, 1], [1, 1, 1], 0, [clocks.to_bytes(8, "little")])

    def time_us(self, launch):
        self.spin(DELAY_CLOCKS)
        self.backend.record(self.start)
        launch()
        self.backend.record(self.end)
        return self.backend.elapsed_us(self.start, self.end)

    def null_kernel_us(self, times=20):
        """The shortest time of a launch that does nothing: what is in every time beside the kernel."""
        return min(self.time_us(lambda: self.spin(0)) for _ in range(times))


@dataclass
class Verdict:
    """What came of a file's checks."""

    #: None: nothing is compared.
    verified: bool | None
    mismatches: int
    #: None: every comparison is exact.
    largest_error_over_bound: float | None
    outputs_sha256: str
    #: Empty when a check does not say what it expects.
    expected_sha256: str
    #: The first wrong element of each check that has one.
    messages: list[str]


class Program:
    """A launch file on a device, with memory for its buffers."""

    def __init__(self, file, backend):
        self.file, self.backend = file, backend
        self.module = backend.load(file.ptx)
        self.kernels = {launch.kernel: backend.kernel(self.module, launch.kernel) for launch in file.launches}
        self.allow_shared()
        self.allocated = []
        self.addresses = [self.place(buffer) for buffer in file.buffers]
        self.contents = {}

    def allow_shared(self):
        for name, kernel in self.kernels.items():
            dynamic = max(launch.dynamic_shared_bytes for launch in self.file.launches if launch.kernel == name)
            static = self.backend.kernel_attribute(kernel, device.STATIC_SHARED_BYTES)
            if static + dynamic > SHARED_WITHOUT_OPT_IN:
                self.backend.allow_dynamic_shared(kernel, dynamic)

    def place(self, buffer):
        if not buffer.variable:
            address = self.backend.alloc(buffer.bytes)
            self.allocated.append(address)
            return address
        address, bytes_ = self.backend.variable(self.module, buffer.name)
        if bytes_ is not None and buffer.bytes > bytes_:
            raise device.BackendError(
                f"variable `{buffer.name}`: found {bytes_} bytes in the module, expected {buffer.bytes}"
            )
        return address

    def close(self):
        """Frees the buffers. After a failure the process ends instead: its device takes no more calls."""
        for address in self.allocated:
            self.backend.free(address)
        self.allocated = []

    def restore(self):
        """Gives every buffer its first contents."""
        for index, (buffer, address) in enumerate(zip(self.file.buffers, self.addresses)):
            if isinstance(buffer.contents, Zeros):
                self.backend.fill(address, 0, buffer.bytes)
                continue
            if index not in self.contents:
                self.contents[index] = generate(buffer.contents, buffer.type, buffer.count)
            self.backend.upload(address, self.contents[index])

    def launches(self):
        """Each launch and host phase in order, after the host's writes before it: it and a function that queues it."""
        writes = {}
        for launch in self.file.launches:
            arguments = [self.argument(argument) for argument in launch.arguments]
            kernel = self.kernels[launch.kernel]
            shape = launch.grid, launch.block, launch.dynamic_shared_bytes
            queue = partial(self.backend.launch, kernel, *shape, arguments)
            for _ in range(launch.repeat):
                for write in launch.before:
                    self.write(write, writes)
                yield launch, queue

    def argument(self, argument):
        if argument.buffer is None:
            return argument.scalar
        return self.backend.address_bytes(self.addresses[argument.buffer] + argument.byte_offset)

    def write(self, write, files):
        address = self.addresses[write.buffer] + write.byte_offset
        if write.path is None:
            self.backend.fill(address, write.fill, write.bytes)
            return
        if write.path not in files:
            files[write.path] = np.fromfile(write.path, np.uint8)
        self.backend.upload(address, files[write.path])

    def run_once(self):
        """Runs everything, and waits for each launch to say which one failed."""
        self.restore()
        for index, (launch, queue) in enumerate(self.launches()):
            try:
                queue()
                self.backend.synchronize()
            except device.BackendError as error:
                raise device.BackendError(f"launch {index} ({launch.kernel}): {error}") from None

    def timed(self, stopwatch):
        """Microseconds of each kernel, summed over its launches on the GPU. Host phases run, untimed."""
        self.restore()
        self.backend.synchronize()
        times = dict.fromkeys(self.kernels, 0.0)
        for launch, queue in self.launches():
            if launch.on_cpu:
                queue()
                self.backend.synchronize()
            else:
                times[launch.kernel] += stopwatch.time_us(queue)
        return times

    def kernel_facts(self):
        """The CSV's columns that belong to each kernel, times and counters aside."""
        facts = {}
        for launch in self.file.launches:
            if launch.on_cpu:
                continue
            if launch.kernel not in facts:
                kernel = self.kernels[launch.kernel]
                attribute = lambda which: self.backend.kernel_attribute(kernel, which)
                facts[launch.kernel] = {
                    "kernel": launch.kernel,
                    "launches": 0,
                    "grid": "x".join(map(str, launch.grid)),
                    "block": "x".join(map(str, launch.block)),
                    "dynamic_shared_bytes": launch.dynamic_shared_bytes,
                    "static_shared_bytes": attribute(device.STATIC_SHARED_BYTES),
                    "registers": attribute(device.REGISTERS),
                    "local_bytes": attribute(device.LOCAL_BYTES),
                }
            facts[launch.kernel]["launches"] += launch.repeat
        return facts

    def verify(self):
        """Reads every check's part of its buffer and compares it."""
        verdict = Verdict(None, 0, None, "", "", [])
        found_hash, expected_hash = hashlib.sha256(), hashlib.sha256()
        complete = True
        for check in self.file.checks:
            found = np.empty(check.count, check.type.dtype)
            self.backend.download(self.addresses[check.buffer] + check.byte_offset, found)
            found_hash.update(found)
            if check.expected is None:
                complete = False
                continue
            expected = generate(check.expected, check.type, check.count)
            expected_hash.update(expected)
            wrong, ratio = compare(check, found, expected)
            verdict.mismatches += wrong.size
            if ratio is not None:
                verdict.largest_error_over_bound = max(ratio, verdict.largest_error_over_bound or 0.0)
            if wrong.size:
                at = wrong[0]
                verdict.messages.append(
                    f"{check.name}: {wrong.size} of {check.count} elements wrong; [{at}] is {found[at]}, expected {expected[at]}"
                )
            verdict.verified = verdict.mismatches == 0
        if self.file.checks:
            verdict.outputs_sha256 = found_hash.hexdigest()
            verdict.expected_sha256 = expected_hash.hexdigest() if complete else ""
        return verdict


def compare(check, found, expected):
    """Indices of wrong elements, and the largest error as a multiple of its bound; None for an exact comparison."""
    if check.tolerance is None:
        bits = f"<u{check.type.bytes}"
        return np.flatnonzero(found.view(bits) != expected.view(bits)), None
    values, wanted = found.astype(np.float64), expected.astype(np.float64)
    if isinstance(check.tolerance, str):
        bound = generate(File(check.tolerance), TYPES["f64"], check.count)
    else:
        absolute, relative = check.tolerance
        bound = absolute + relative * np.abs(wanted)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # Infinities may be equal; a NaN is in no interval.
        error = np.where(values == wanted, 0.0, np.abs(values - wanted))
        wrong = np.flatnonzero(~(error <= bound))
        ratio = np.where(error == 0.0, 0.0, error / bound)
    # An infinite error in an infinite bound is right; what is wrong without a number is infinitely so.
    ratio[np.isnan(ratio)] = 1.0
    ratio[wrong[~(ratio[wrong] > 1.0)]] = math.inf
    return wrong, float(ratio.max())
