//! Loads the libraries as executables do, and builds fat binaries as compilers do.

#![allow(
    unsafe_code,
    dead_code,
    unused_imports,
    reason = "a client of C libraries; each test file uses its part"
)]

#[path = "../../../driver/tests/support/calls.rs"]
mod calls;

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use libloading::{Library, Symbol};

pub(crate) use calls::call;
use calls::load;
pub use calls::{Any, none, number, of, text, to};

pub const SUCCESS: u32 = 0;
pub const INVALID_VALUE: u32 = 1;
pub const INVALID_CONFIGURATION: u32 = 9;
pub const INVALID_SYMBOL: u32 = 13;
pub const INVALID_DIRECTION: u32 = 21;
pub const MISSING_CONFIGURATION: u32 = 52;
pub const INVALID_FUNCTION: u32 = 98;
pub const INVALID_IMAGE: u32 = 200;
pub const NO_IMAGE: u32 = 209;
pub const INVALID_PTX: u32 = 218;
pub const ILLEGAL_ADDRESS: u32 = 700;
pub const NOT_SUPPORTED: u32 = 801;

pub const HOST_TO_DEVICE: u64 = 1;
pub const DEVICE_TO_HOST: u64 = 2;

/// The size of a grid or a CTA, `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub u32, pub u32, pub u32);

/// A loaded runtime library.
pub struct Runtime {
    exports: Library,
    pub version: i32,
}

/// Loads the three libraries and the driver beneath them, in an environment with the given variables.
pub fn runtimes(variables: &[(&str, &str)]) -> &'static [Runtime; 3] {
    static RUNTIMES: OnceLock<[Runtime; 3]> = OnceLock::new();
    RUNTIMES.get_or_init(|| {
        for (name, value) in variables {
            // SAFETY: the first thing that a test does, before anything reads the environment.
            unsafe { std::env::set_var(name, value) };
        }
        // From here on the process has a `libcuda.so.1`, which the runtimes find by that name.
        std::mem::forget(load("libcuda.so"));
        [11, 12, 13].map(|version| Runtime { exports: load(&format!("libcudart_{version}.so")), version })
    })
}

impl Runtime {
    pub fn function<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: `T` is the function's type as the runtime API has it.
        unsafe { self.exports.get(name) }.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Registers a fat binary as an executable does before `main`.
    pub fn register(&self, wrapper: &Wrapper) -> Any {
        type Register = unsafe extern "C" fn(Any) -> Any;
        // SAFETY: the wrapper stays where it is as long as the test runs.
        unsafe { self.function::<Register>("__cudaRegisterFatBinary")(of(&wrapper.words)) }
    }

    /// Registers a kernel under a host address.
    pub fn register_function(&self, binary: Any, host: Any, name: &CStr) {
        call!(
            self,
            "__cudaRegisterFunction",
            binary,
            host,
            none(),
            name.as_ptr(),
            number(u64::MAX),
            none(),
            none(),
            none(),
            none(),
            none()
        );
    }

    /// Registers a variable under a host address.
    pub fn register_variable(&self, binary: Any, host: Any, name: &CStr, bytes: u64) {
        let name = name.as_ptr();
        call!(
            self,
            "__cudaRegisterVar",
            binary,
            host,
            none(),
            name,
            number(0),
            number(bytes),
            number(0),
            number(0)
        );
    }

    /// Runs `kernel<<<grid, block>>>(arguments)` in the form of compilers before version 13.
    pub fn launch(&self, kernel: Any, grid: Dim3, block: Dim3, arguments: &[Any]) -> u32 {
        type Push = unsafe extern "C" fn(Dim3, Dim3, usize, Any) -> u32;
        type Launch = unsafe extern "C" fn(Any, Dim3, Dim3, *const Any, usize, Any) -> u32;
        let (mut on_grid, mut on_block, mut shared, mut stream) =
            (Dim3(0, 0, 0), Dim3(0, 0, 0), 7_u64, number(7));
        // SAFETY: the runtime API's functions.
        assert_eq!(
            unsafe { self.function::<Push>("__cudaPushCallConfiguration")(grid, block, 0, none()) },
            0
        );
        let popped = call!(
            self,
            "__cudaPopCallConfiguration",
            to(&mut on_grid),
            to(&mut on_block),
            to(&mut shared),
            to(&mut stream)
        );
        assert_eq!((popped, on_grid, on_block, shared, stream), (SUCCESS, grid, block, 0, none()));
        // SAFETY: the runtime API's function.
        unsafe {
            self.function::<Launch>("cudaLaunchKernel")(kernel, grid, block, arguments.as_ptr(), 0, stream)
        }
    }

    /// Allocates a buffer with the given contents.
    pub fn buffer<T>(&self, values: &[T]) -> u64 {
        let bytes = number(size_of_val(values) as u64);
        let mut address = 0_u64;
        assert_eq!(call!(self, "cudaMalloc", to(&mut address), bytes), SUCCESS);
        let copied =
            call!(self, "cudaMemcpy", number(address), values.as_ptr(), bytes, number(HOST_TO_DEVICE));
        assert_eq!(copied, SUCCESS);
        address
    }

    /// Reads the contents of a buffer.
    pub fn contents<T: Copy + Default>(&self, address: u64, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let bytes = number(size_of_val(&values[..]) as u64);
        let copied =
            call!(self, "cudaMemcpy", values.as_mut_ptr(), number(address), bytes, number(DEVICE_TO_HOST));
        assert_eq!(copied, SUCCESS);
        values
    }

    /// The name of an error code.
    pub fn error_name(&self, code: u32) -> String {
        type Name = unsafe extern "C" fn(u32) -> *const c_char;
        // SAFETY: the runtime API's function, whose texts end with NUL and stay.
        unsafe { CStr::from_ptr(self.function::<Name>("cudaGetErrorName")(code)) }
            .to_str()
            .unwrap()
            .to_owned()
    }
}

/// How an entry is compressed.
#[derive(Clone, Copy, Debug)]
pub enum Packing {
    Raw,
    Lz4,
    Zstd,
}

/// An entry of a container: kind (1 PTX, 2 ELF), target, payload.
pub fn entry(kind: u16, target: u32, text: &str, packing: Packing) -> Vec<u8> {
    use ruzstd::encoding::{CompressionLevel::Fastest, compress_to_vec};
    let (mut payload, flags) = match packing {
        Packing::Raw => (text.as_bytes().to_vec(), 0x11_u64),
        Packing::Lz4 => (lz4_flex::block::compress(text.as_bytes()), 0x2011),
        Packing::Zstd => (compress_to_vec(text.as_bytes(), Fastest), 0x8011),
    };
    let compressed = payload.len() as u32;
    payload.resize(payload.len().next_multiple_of(8), 0);
    let mut bytes = Vec::new();
    bytes.extend(kind.to_le_bytes());
    bytes.extend([1, 1]);
    bytes.extend(80_u32.to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(if flags == 0x11 { 0 } else { compressed }.to_le_bytes());
    bytes.extend(64_u32.to_le_bytes());
    bytes.extend([7, 0, 8, 0]);
    bytes.extend(target.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(flags.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(if flags == 0x11 { 0 } else { text.len() as u64 }.to_le_bytes());
    bytes.resize(80, 0);
    bytes.extend(payload);
    bytes
}

/// A container of entries.
pub fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    let mut bytes = 0xba55_ed50_u32.to_le_bytes().to_vec();
    bytes.extend([1, 0, 16, 0]);
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// What an executable registers: magic and version, a container, and the list of containers to link.
pub struct Wrapper {
    words: [u64; 3],
    list: Vec<u64>,
}

impl Wrapper {
    /// A wrapper around a container, which must stay in place.
    pub fn of(container: &[u8]) -> Wrapper {
        Wrapper { words: [0x1_4662_43b1, container.as_ptr().expose_provenance() as u64, 0], list: Vec::new() }
    }

    /// A wrapper around containers that are linked when loaded.
    pub fn linking(containers: &[Vec<u8>]) -> Wrapper {
        let addresses = containers.iter().map(|container| container.as_ptr().expose_provenance() as u64);
        let list: Vec<u64> = addresses.chain([0]).collect();
        Wrapper { words: [0x2_4662_43b1, 0, list.as_ptr().expose_provenance() as u64], list }
    }
}

/// Leaks a value, to use its address as a host symbol.
pub fn shadow() -> Any {
    to(Box::leak(Box::new(0_u64)))
}

/// Multiplies `n` elements by a constant: `out[i] = scale * a[i]`.
pub const SCALE: &str = "\
.version 7.0\n.target sm_70\n.address_size 64\n\
.const .align 4 .f32 scale;\n\
.visible .entry mul(.param .u64 out, .param .u64 a, .param .u32 n) {\n\
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<10>;\n\
ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [a]; ld.param.u32 %r0, [n];\n\
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n\
setp.ge.u32 %p0, %r4, %r0; @%p0 bra end;\n\
mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd6, %rd0, %rd3;\n\
ld.global.f32 %f0, [%rd4]; ld.const.f32 %f1, [scale]; mul.f32 %f2, %f0, %f1; st.global.f32 [%rd6], %f2;\n\
end: ret;\n}\n";

/// A one-dimensional grid or CTA.
pub fn line(count: u32) -> Dim3 {
    Dim3(count, 1, 1)
}

/// `cudaExtent`, and `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub width: u64,
    pub height: u64,
    pub depth: u64,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pitched {
    pub start: u64,
    pub pitch: u64,
    pub width: u64,
    pub height: u64,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy3D {
    pub from_array: u64,
    pub from_at: Extent,
    pub from: Pitched,
    pub to_array: u64,
    pub to_at: Extent,
    pub to: Pitched,
    pub extent: Extent,
    pub kind: u64,
}
