"""The CUDA driver API, as far as the cases need it: whatever `libcuda.so.1` the loader finds."""

import ctypes as c
import itertools

FORMATS = {"u8": (1, 1), "u16": (2, 2), "u32": (3, 4), "s8": (8, 1), "s16": (9, 2), "s32": (10, 4), "f16": (16, 2), "f32": (32, 4)}
LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8
ADDRESS = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
READ_AS_INTEGER, NORMALIZED = 1, 2
# cuTensorMapEncodeTiled's types and their sizes.
ELEMENTS = {"u8": (0, 1), "u16": (1, 2), "u32": (2, 4), "s32": (3, 4), "u64": (4, 8), "s64": (5, 8), "f16": (6, 2), "f32": (7, 4),
            "f64": (8, 8), "bf16": (9, 2)}


class ArrayDescriptor(c.Structure):
    _fields_ = [("width", c.c_size_t), ("height", c.c_size_t), ("depth", c.c_size_t), ("format", c.c_int), ("channels", c.c_uint),
                ("flags", c.c_uint)]


class Side(c.Structure):
    _fields_ = [("x", c.c_size_t), ("y", c.c_size_t), ("z", c.c_size_t), ("lod", c.c_size_t), ("type", c.c_int), ("host", c.c_void_p),
                ("device", c.c_uint64), ("array", c.c_void_p), ("reserved", c.c_void_p), ("pitch", c.c_size_t), ("rows", c.c_size_t)]


class Copy(c.Structure):
    _fields_ = [("source", Side), ("target", Side), ("width", c.c_size_t), ("height", c.c_size_t), ("depth", c.c_size_t)]


class Linear(c.Structure):
    _fields_ = [("at", c.c_uint64), ("format", c.c_int), ("channels", c.c_uint), ("bytes", c.c_size_t)]


class Pitched(c.Structure):
    _fields_ = [("at", c.c_uint64), ("format", c.c_int), ("channels", c.c_uint), ("width", c.c_size_t), ("height", c.c_size_t),
                ("pitch", c.c_size_t)]


class Of(c.Union):
    _fields_ = [("handle", c.c_void_p), ("linear", Linear), ("pitched", Pitched), ("reserved", c.c_int * 32)]


class Resource(c.Structure):
    _fields_ = [("type", c.c_int), ("of", Of), ("flags", c.c_uint)]


class Reading(c.Structure):
    _fields_ = [("address", c.c_int * 3), ("filter", c.c_int), ("flags", c.c_uint), ("anisotropy", c.c_uint), ("mipmap_filter", c.c_int),
                ("bias", c.c_float), ("least", c.c_float), ("most", c.c_float), ("border", c.c_float * 4), ("reserved", c.c_int * 12)]


class Refused(Exception):
    """A call that did not return CUDA_SUCCESS."""

    def __init__(self, name, code, text=""):
        super().__init__(f"{name}: {code} {text}".strip())
        self.name = name
        # What a kernel did wrong stays with the process.
        self.sticky = code >= 700 or code == 214


def driver():
    """The driver's library, where the loader or an installation has it."""
    for path in ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"):
        try:
            return c.CDLL(path)
        except OSError as error:
            why = error
    raise why


class Gpu:
    """The first device and its primary context."""

    def __init__(self):
        self.lib = driver()
        self.call("cuInit", 0)
        self.device = c.c_int()
        self.call("cuDeviceGet", c.byref(self.device), 0)
        context = c.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", c.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)
        self.undo = []

    def call(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code:
            text = c.c_char_p()
            self.lib.cuGetErrorName(code, c.byref(text))
            raise Refused(name, code, (text.value or b"").decode())

    def name(self):
        text, version = c.create_string_buffer(100), c.c_int()
        self.call("cuDeviceGetName", text, 100, self.device)
        self.call("cuDriverGetVersion", c.byref(version))
        major, minor = c.c_int(), c.c_int()
        self.call("cuDeviceGetAttribute", c.byref(major), 75, self.device)
        self.call("cuDeviceGetAttribute", c.byref(minor), 76, self.device)
        return f"{text.value.decode()}, sm_{major.value}{minor.value}, driver API {version.value}"

    def module(self, text):
        module, log = c.c_void_p(), c.create_string_buffer(8192)
        # The error log and its size.
        options, values = (c.c_int * 2)(5, 6), (c.c_void_p * 2)(c.cast(log, c.c_void_p), 8192)
        try:
            self.call("cuModuleLoadDataEx", c.byref(module), text.encode() + b"\0", 2, options, values)
        except Refused as refused:
            raise Refused("cuModuleLoadDataEx", 1, f"{refused} {log.value.decode()[:1500]}") from None
        self.undo.append(lambda: self.call("cuModuleUnload", module))
        return module

    def buffer(self, data):
        """Device memory that holds bytes."""
        at = c.c_uint64()
        self.call("cuMemAlloc_v2", c.byref(at), c.c_size_t(max(len(data), 16)))
        self.undo.append(lambda: self.call("cuMemFree_v2", at))
        if data:
            self.call("cuMemcpyHtoD_v2", at, c.c_char_p(bytes(data)), c.c_size_t(len(data)))
        return at.value

    def bytes(self, at, count):
        data = c.create_string_buffer(count)
        self.call("cuMemcpyDtoH_v2", data, c.c_uint64(at), c.c_size_t(count))
        return data.raw

    def launch(self, module, grid, block, arguments):
        """Arguments are bytes as the kernel declares them."""
        kernel = c.c_void_p()
        self.call("cuModuleGetFunction", c.byref(kernel), module, b"k")
        held = [c.create_string_buffer(bytes(argument), len(argument)) for argument in arguments]
        # Tensor maps are read at multiples of 64 bytes.
        pointers = (c.c_void_p * len(held))(*[c.cast(one, c.c_void_p) for one in held])
        self.call("cuLaunchKernel", kernel, *grid, *block, 0, None, pointers, None)
        self.call("cuCtxSynchronize")

    def clear(self):
        while self.undo:
            self.undo.pop()()

    # Textures.

    def array(self, format_, channels, extent, flags=0, levels=0):
        """An array, mipmapped if it has levels; the extent is width, height, depth."""
        descriptor = ArrayDescriptor(*extent, FORMATS[format_][0], channels, flags)
        array = c.c_void_p()
        if levels:
            self.call("cuMipmappedArrayCreate", c.byref(array), c.byref(descriptor), levels)
            self.undo.append(lambda: self.call("cuMipmappedArrayDestroy", array))
        else:
            self.call("cuArray3DCreate_v2", c.byref(array), c.byref(descriptor))
            self.undo.append(lambda: self.call("cuArrayDestroy", array))
        return array

    def level(self, mipmap, level):
        array = c.c_void_p()
        self.call("cuMipmappedArrayGetLevel", c.byref(array), mipmap, level)
        return array

    def fill(self, array, data, width_bytes, height, depth):
        copy, held = Copy(), c.create_string_buffer(bytes(data), len(data))
        copy.source.type, copy.source.host = 1, c.cast(held, c.c_void_p)
        copy.source.pitch, copy.source.rows = width_bytes, max(height, 1)
        copy.target.type, copy.target.array = 3, array
        copy.width, copy.height, copy.depth = width_bytes, max(height, 1), max(depth, 1)
        self.call("cuMemcpy3D_v2", c.byref(copy))

    def drain(self, array, width_bytes, height, depth):
        held = c.create_string_buffer(width_bytes * max(height, 1) * max(depth, 1))
        copy = Copy()
        copy.target.type, copy.target.host = 1, c.cast(held, c.c_void_p)
        copy.target.pitch, copy.target.rows = width_bytes, max(height, 1)
        copy.source.type, copy.source.array = 3, array
        copy.width, copy.height, copy.depth = width_bytes, max(height, 1), max(depth, 1)
        self.call("cuMemcpy3D_v2", c.byref(copy))
        return held.raw

    def texture(self, resource, address="clamp", linear=False, flags=0, border=(0, 0, 0, 0), mipmap=None):
        reading = Reading()
        reading.address[:] = [ADDRESS[address]] * 3
        reading.filter, reading.flags = int(linear), flags
        reading.border[:] = border
        if mipmap:
            reading.mipmap_filter, reading.bias, reading.least, reading.most = mipmap
        handle = c.c_uint64()
        self.call("cuTexObjectCreate", c.byref(handle), c.byref(resource), c.byref(reading), None)
        self.undo.append(lambda: self.call("cuTexObjectDestroy", handle))
        return handle.value

    def surface(self, array):
        handle, resource = c.c_uint64(), Resource(0)
        resource.of.handle = array
        self.call("cuSurfObjectCreate", c.byref(handle), c.byref(resource))
        self.undo.append(lambda: self.call("cuSurfObjectDestroy", handle))
        return handle.value

    @staticmethod
    def of_array(array, mipmapped=False):
        resource = Resource(1 if mipmapped else 0)
        resource.of.handle = array
        return resource

    @staticmethod
    def of_line(at, format_, channels, bytes_):
        resource = Resource(2)
        resource.of.linear = Linear(at, FORMATS[format_][0], channels, bytes_)
        return resource

    @staticmethod
    def of_pitched(at, format_, channels, width, height, pitch):
        resource = Resource(3)
        resource.of.pitched = Pitched(at, FORMATS[format_][0], channels, width, height, pitch)
        return resource

    def tensor_map(self, element, base, sizes, strides, box, steps, interleave=0, swizzle=0, nan=False):
        """The 128 bytes of a map. Strides are those from the second dimension on, in bytes."""
        rank = len(sizes)
        raw = c.create_string_buffer(128 + 64)
        at = (c.addressof(raw) + 63) // 64 * 64
        self.call("cuTensorMapEncodeTiled", c.c_void_p(at), ELEMENTS[element][0], rank, c.c_void_p(base), (c.c_uint64 * rank)(*sizes),
                  (c.c_uint64 * max(rank - 1, 1))(*strides), (c.c_uint32 * rank)(*box), (c.c_uint32 * rank)(*steps), interleave, swizzle, 0,
                  int(nan))
        return c.string_at(at, 128)
