"""A client of the driver API: launches the kernels that its words name. `fork:a,b` launches them in a child that ends with
_exit, without the exit handlers of its libraries; `again:a` launches a kernel forever, whatever comes of it; `open:pipe` says
through a pipe that all before it is done; `kill:NAME` sends its process a signal."""
import ctypes
import os
import signal
import sys

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 out) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [out]; mov.u32 %r0, 0; loop: add.u32 %r0, %r0, 1; st.global.u32 [%rd0], %r0; bra loop; ret;
}
.visible .entry seven(.param .u64 out) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [out]; mov.u32 %r0, 7; st.global.u32 [%rd0], %r0; ret;
}
.visible .entry clock(.param .u64 out) {
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out]; ld.global.u64 %rd1, [%rd0]; add.u64 %rd1, %rd1, 1; st.global.u64 [%rd0], %rd1;
  mov.u64 %rd2, %clock64; st.global.u64 [%rd0+8], %rd2; ret;
}
"""


def check(status):
    if status != 0:
        sys.exit(3)


def launch(kernels, forever=False):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, buffer = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(64)))
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(buffer))
    for name in kernels:
        function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        while True:
            status = cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
            if not forever:
                check(status)
                break


children = []
for word in sys.argv[1:]:
    kind, _, names = word.rpartition(":")
    if kind == "fork":
        child = os.fork()
        if child == 0:
            try:
                launch(names.split(","))
            finally:
                os._exit(0)
        children.append(child)
    elif kind == "open":
        with open(names, "w") as pipe:
            pipe.write("begun\n")
    elif kind == "kill":
        os.kill(os.getpid(), getattr(signal, "SIG" + names))
    elif kind == "again":
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        launch(names.split(","), forever=True)
    else:
        launch(names.split(","))
for child in children:
    os.waitpid(child, 0)
