"""What the tests share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PTX = """
.version 7.0
.target sm_70
.address_size 64

.visible .entry scale(.param .u64 x, .param .f32 a, .param .u32 n)
{
    .reg .pred %p;
    .reg .f32 %f<3>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%rd3], %f2;
done:
    ret;
}

.visible .entry spin(.param .u64 x)
{
    .reg .pred %p;
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.u64 %rd, [x];
again:
    atom.global.add.u32 %r, [%rd], 1;
    setp.ne.u32 %p, %r, 4294967295;
    @%p bra again;
    ret;
}
"""


@pytest.fixture
def ptx():
    """Two kernels: one that scales an array, one that goes on for hours."""
    return PTX


@pytest.fixture
def command():
    """Runs the command that the wheel has installed."""
    path = Path(sys.executable).parent / "strata"

    def run(*arguments, **options):
        return subprocess.run([path, *map(os.fspath, arguments)], capture_output=True, text=True, **options)

    return run
