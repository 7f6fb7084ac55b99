//! What a host program asks of a device.

use std::fmt;

/// An address in a device's global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// The address `bytes` further on.
    #[must_use]
    pub fn offset(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }
}

impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// One argument of a kernel, in the kernel's parameter order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Arg {
    /// A 64-bit address.
    Ptr(DevicePtr),
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    F64(f64),
}

impl Arg {
    /// The argument's bytes, little-endian, and how many of them count: its size is also its alignment.
    #[must_use]
    pub fn to_bytes(self) -> ([u8; 8], usize) {
        fn padded<const N: usize>(bytes: [u8; N]) -> ([u8; 8], usize) {
            let mut all = [0; 8];
            all[..N].copy_from_slice(&bytes);
            (all, N)
        }
        match self {
            Self::Ptr(value) => padded(value.0.to_le_bytes()),
            Self::U8(value) => padded(value.to_le_bytes()),
            Self::I8(value) => padded(value.to_le_bytes()),
            Self::U16(value) => padded(value.to_le_bytes()),
            Self::I16(value) => padded(value.to_le_bytes()),
            Self::U32(value) => padded(value.to_le_bytes()),
            Self::I32(value) => padded(value.to_le_bytes()),
            Self::U64(value) => padded(value.to_le_bytes()),
            Self::I64(value) => padded(value.to_le_bytes()),
            Self::F32(value) => padded(value.to_le_bytes()),
            Self::F64(value) => padded(value.to_le_bytes()),
        }
    }
}

macro_rules! args_from {
    ($($ty:ty => $variant:ident),*) => {$(
        impl From<$ty> for Arg {
            fn from(value: $ty) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}
args_from!(
    DevicePtr => Ptr, u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32, u64 => U64, i64 => I64,
    f32 => F32, f64 => F64
);

/// How many threads a launch has, and what each CTA gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Bytes of shared memory a CTA beside what the kernel declares.
    pub dynamic_shared: u32,
    /// CTAs of a cluster in x, y, z, if the launch says so.
    pub cluster: Option<[u32; 3]>,
}

impl std::fmt::Debug for Shape {
    /// Names the clusters where there are some: what is said of other launches has always been the same, and is hashed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { grid, block, dynamic_shared, cluster } = self;
        let mut fields = f.debug_struct("Shape");
        fields.field("grid", grid).field("block", block).field("dynamic_shared", dynamic_shared);
        if let Some(cluster) = cluster {
            fields.field("cluster", cluster);
        }
        fields.finish()
    }
}

impl Shape {
    /// `grid` CTAs of `block` threads without dynamic shared memory.
    #[must_use]
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared: 0, cluster: None }
    }

    /// The shape of a host phase ([`Device::on_cpu`]): every thread is a CTA.
    #[must_use]
    pub const fn of_phase(threads: u32) -> Self {
        Self::new([threads, 1, 1], [1, 1, 1])
    }

    /// The same with `bytes` bytes of dynamic shared memory a CTA.
    #[must_use]
    pub const fn with_shared(self, bytes: u32) -> Self {
        Self { dynamic_shared: bytes, ..self }
    }

    /// The same with clusters of `cluster` CTAs in x, y, z.
    #[must_use]
    pub const fn with_cluster(self, cluster: [u32; 3]) -> Self {
        Self { cluster: Some(cluster), ..self }
    }
}

/// What ended a launch before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// An access to memory that is not there, or may not be written.
    Address,
    /// An access whose address is not a multiple of its size.
    Misaligned,
    /// `trap`.
    Trap,
    /// An assertion of the program did not hold.
    Assertion,
    /// A CTA does not fit an SM. Nothing ran.
    NoRoom,
    /// Nothing moves any more, or a limit of cycles or instructions was reached.
    Unfinished,
    /// The program did something else that it must not do, or that is not modelled.
    Other,
}

/// Why a device did not do what a host program asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No room for a buffer.
    #[error("no room for buffer `{name}` of {bytes} bytes")]
    OutOfMemory {
        /// The buffer's name.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// A copy or fill that does not lie in one buffer.
    #[error("{bytes} bytes at {ptr} do not lie in one buffer")]
    OutOfBounds {
        /// Where it begins.
        ptr: DevicePtr,
        /// Its length.
        bytes: u64,
    },
    /// No buffer begins there, so none can be freed.
    #[error("no buffer begins at {ptr}")]
    NoBuffer {
        /// The address.
        ptr: DevicePtr,
    },
    /// The module has no such entry.
    #[error("the module has no kernel `{kernel}`")]
    UnknownKernel {
        /// The name asked for.
        kernel: String,
    },
    /// The module has no such variable.
    #[error("the module has no variable `{variable}`")]
    UnknownVariable {
        /// The name asked for.
        variable: String,
    },
    /// A variable of the module is shorter than what the program writes to it.
    #[error("the module's variable `{variable}` is shorter than {bytes} bytes")]
    ShortVariable {
        /// Its name.
        variable: String,
        /// The length that the program expects.
        bytes: u64,
    },
    /// The launch breaks a limit of the device or does not fit the kernel's parameters.
    #[error("cannot launch `{kernel}`: {reason}")]
    BadLaunch {
        /// The kernel.
        kernel: String,
        /// What does not fit.
        reason: String,
    },
    /// The launch comes after the last one that whoever runs the program asked for.
    #[error("the run ends before `{kernel}`, after the last launch that was asked for")]
    Enough {
        /// The kernel.
        kernel: String,
    },
    /// The kernel was launched and did not end well: a fault, a trap, a deadlock.
    #[error("`{kernel}` failed: {reason}")]
    Failed {
        /// The kernel.
        kernel: String,
        /// What kind of thing happened.
        failure: Failure,
        /// What happened, with its place where known.
        reason: String,
    },
}

/// A GPU as its host sees it, with one module loaded. Every call is complete when it returns.
pub trait Device {
    /// A new buffer of `bytes` bytes, aligned to 256 bytes; its contents are unspecified. `name` is for reports.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError>;

    /// Copies `data` to the device.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] unless the range lies in one buffer.
    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError>;

    /// Fills `data` from the device, seeing every earlier launch's writes.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] unless the range lies in one buffer.
    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError>;

    /// Sets `bytes` bytes to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] unless the range lies in one buffer.
    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError>;

    /// Copies `bytes` bytes from one place on the device to another; the ranges may overlap.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] unless each range lies in one buffer.
    fn copy(&mut self, to: DevicePtr, from: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        // A range longer than any host's memory lies in no buffer.
        let size = usize::try_from(bytes).ok().filter(|size| *size <= isize::MAX as usize);
        let size = size.ok_or(DeviceError::OutOfBounds { ptr: from, bytes })?;
        let mut data = vec![0; size];
        self.download(from, &mut data)?;
        self.upload(to, &data)
    }

    /// Where a variable of the module lies, `.global` or `.const`.
    ///
    /// # Errors
    /// [`DeviceError::UnknownVariable`].
    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError>;

    /// Says that the contents of the buffer at `ptr` may depend on the order in which threads run, so that nobody
    /// compares it with another device's.
    fn unordered(&mut self, ptr: DevicePtr) {
        let _ = ptr;
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// [`DeviceError::UnknownKernel`], [`DeviceError::BadLaunch`], [`DeviceError::Failed`].
    fn launch(&mut self, kernel: &str, shape: Shape, args: &[Arg]) -> Result<(), DeviceError>;

    /// Runs a host phase: `threads` threads of a kernel on the CPU cores beside the GPU, to the end of all of them. Each is
    /// a CTA of one thread: `%tid` is 0, `%ntid` 1, `%ctaid.x` the thread's number and `%nctaid.x` their count. Of n cores,
    /// core `i mod n` runs thread i, one thread after another, so threads must not wait for each other. The phase sees what
    /// earlier launches and phases wrote, and later ones see what it wrote.
    ///
    /// A device without CPU cores runs the threads functionally, in no time.
    ///
    /// # Errors
    /// Those of [`Device::launch`]; a kernel that needs what a CPU core does not have (shared memory, textures) is a
    /// [`DeviceError::BadLaunch`].
    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError>;
}
