//! Loads the library as clients do.

#![allow(
    unsafe_code,
    dead_code,
    unused_imports,
    reason = "a client of a C library; each test file uses its part"
)]

mod calls;

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use libloading::{Library, Symbol};

pub(crate) use calls::call;
pub use calls::{Any, none, number, of, text, to};

pub const SUCCESS: u32 = 0;
pub const INVALID_VALUE: u32 = 1;
pub const OUT_OF_MEMORY: u32 = 2;
pub const NOT_INITIALIZED: u32 = 3;
pub const INVALID_DEVICE: u32 = 101;
pub const INVALID_CONTEXT: u32 = 201;
pub const INVALID_IMAGE: u32 = 200;
pub const NO_BINARY: u32 = 209;
pub const UNSUPPORTED_LIMIT: u32 = 215;
pub const INVALID_PTX: u32 = 218;
pub const INVALID_HANDLE: u32 = 400;
pub const NOT_FOUND: u32 = 500;
pub const ILLEGAL_ADDRESS: u32 = 700;
pub const OUT_OF_RESOURCES: u32 = 701;
pub const DESTROYED: u32 = 709;
pub const NOT_SUPPORTED: u32 = 801;

pub struct Cuda(Library);

impl Cuda {
    /// Loads the library that was built with the tests, sets environment variables and calls `cuInit`.
    pub fn with(variables: &[(&str, &str)]) -> &'static Cuda {
        static CUDA: OnceLock<Cuda> = OnceLock::new();
        CUDA.get_or_init(|| {
            for (name, value) in variables {
                // SAFETY: the first thing that a test does, before anything reads the environment.
                unsafe { std::env::set_var(name, value) };
            }
            let cuda = Cuda::load();
            let init = cuda.function::<unsafe extern "C" fn(u32) -> u32>("cuInit");
            // SAFETY: the driver API's function.
            assert_eq!(unsafe { init(0) }, SUCCESS);
            cuda
        })
    }

    pub fn load() -> Cuda {
        Cuda(calls::load("libcuda.so"))
    }

    pub fn function<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: `T` is the function's type as the driver API has it.
        unsafe { self.0.get(name.as_bytes()) }.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The string that a function returned.
pub fn given(text: *const c_char) -> String {
    // SAFETY: texts that the driver gives end with NUL and stay.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

/// Adds two arrays: `out[i] = a[i] + b[i]` for the first `n` elements.
pub const ADD: &str = "\
.version 7.0\n.target sm_70\n.address_size 64\n\
.global .align 4 .u32 launches;\n\
.visible .entry add(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 n) {\n\
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<10>;\n\
ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r0, [n];\n\
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n\
setp.ge.u32 %p0, %r4, %r0; @%p0 bra end;\n\
mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; add.u64 %rd6, %rd0, %rd3;\n\
ld.global.f32 %f0, [%rd4]; ld.global.f32 %f1, [%rd5]; add.f32 %f2, %f0, %f1; st.global.f32 [%rd6], %f2;\n\
end: ret;\n}\n";

/// Retains the primary context and makes it current in the calling thread.
pub fn context(cuda: &Cuda) -> Any {
    let mut context = none();
    assert_eq!(call!(cuda, "cuDevicePrimaryCtxRetain", to(&mut context), number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuCtxSetCurrent", context), SUCCESS);
    context
}

/// Loads a PTX text; returns a function of it and its module.
pub fn function(cuda: &Cuda, ptx: &str, name: &str) -> (Any, Any) {
    let (image, name) = (text(ptx), text(name));
    let (mut module, mut function) = (none(), none());
    assert_eq!(call!(cuda, "cuModuleLoadData", to(&mut module), image.as_ptr()), SUCCESS);
    assert_eq!(call!(cuda, "cuModuleGetFunction", to(&mut function), module, name.as_ptr()), SUCCESS);
    (module, function)
}

/// Allocates a buffer with the given contents.
pub fn buffer<T>(cuda: &Cuda, values: &[T]) -> u64 {
    let bytes = size_of_val(values);
    let mut address = 0_u64;
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut address), number(bytes as u64)), SUCCESS);
    assert_eq!(
        call!(cuda, "cuMemcpyHtoD_v2", number(address), values.as_ptr(), number(bytes as u64)),
        SUCCESS
    );
    address
}

/// Reads the contents of a buffer.
pub fn contents<T: Copy + Default>(cuda: &Cuda, address: u64, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    let bytes = size_of_val(&values[..]) as u64;
    assert_eq!(call!(cuda, "cuMemcpyDtoH_v2", values.as_mut_ptr(), number(address), number(bytes)), SUCCESS);
    values
}

/// Launches a kernel with a pointer to each argument.
pub fn launch(cuda: &Cuda, function: Any, grid: u32, block: u32, arguments: &[Any]) -> u32 {
    let one = number(1);
    call!(
        cuda,
        "cuLaunchKernel",
        function,
        number(grid.into()),
        one,
        one,
        number(block.into()),
        one,
        one,
        number(0),
        number(0),
        arguments.as_ptr(),
        number(0)
    )
}
