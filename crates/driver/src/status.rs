//! Result codes of calls: `CUresult`.

use std::ffi::CStr;

macro_rules! statuses {
    ($($variant:ident = $code:literal $name:literal $text:literal;)*) => {
        /// A `CUresult`, with the codes and names of the driver API.
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "`text` says what each means")]
        pub enum Status { $($variant = $code,)* }

        impl Status {
            /// The status with a given code; `None` if there is none.
            pub fn of(code: u32) -> Option<Status> {
                match code { $($code => Some(Status::$variant),)* _ => None }
            }

            /// Name of the status in the driver API.
            pub fn name(self) -> &'static CStr {
                match self { $(Status::$variant => $name,)* }
            }

            /// Description of the status.
            pub fn text(self) -> &'static CStr {
                match self { $(Status::$variant => $text,)* }
            }
        }
    };
}

statuses! {
    Success = 0 c"CUDA_SUCCESS" c"no error";
    InvalidValue = 1 c"CUDA_ERROR_INVALID_VALUE" c"an argument is null or out of its range";
    OutOfMemory = 2 c"CUDA_ERROR_OUT_OF_MEMORY" c"out of memory";
    NotInitialized = 3 c"CUDA_ERROR_NOT_INITIALIZED" c"cuInit has not been called or has failed";
    Deinitialized = 4 c"CUDA_ERROR_DEINITIALIZED" c"the process is ending";
    NoDevice = 100 c"CUDA_ERROR_NO_DEVICE" c"there is no device";
    InvalidDevice = 101 c"CUDA_ERROR_INVALID_DEVICE" c"no device has this ordinal";
    InvalidImage = 200 c"CUDA_ERROR_INVALID_IMAGE" c"the image is not a kernel image";
    InvalidContext = 201 c"CUDA_ERROR_INVALID_CONTEXT" c"no context is current, or the context is not valid";
    MapFailed = 205 c"CUDA_ERROR_MAP_FAILED" c"memory cannot be mapped";
    NoBinaryForGpu = 209 c"CUDA_ERROR_NO_BINARY_FOR_GPU" c"the image holds machine code and no PTX";
    NotMapped = 211 c"CUDA_ERROR_NOT_MAPPED" c"the memory is not mapped";
    UnsupportedLimit = 215 c"CUDA_ERROR_UNSUPPORTED_LIMIT" c"the device has no such limit";
    ContextAlreadyInUse = 216 c"CUDA_ERROR_CONTEXT_ALREADY_IN_USE" c"the context is in use";
    PeerAccessUnsupported = 217 c"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" c"there is no peer to access";
    InvalidPtx = 218 c"CUDA_ERROR_INVALID_PTX" c"the PTX text is wrong";
    UnsupportedPtxVersion = 222 c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION" c"the PTX version is not known";
    InvalidSource = 300 c"CUDA_ERROR_INVALID_SOURCE" c"the kernel source is wrong";
    FileNotFound = 301 c"CUDA_ERROR_FILE_NOT_FOUND" c"the file cannot be read";
    SharedObjectSymbolNotFound = 302 c"CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND" c"a symbol is not defined";
    OperatingSystem = 304 c"CUDA_ERROR_OPERATING_SYSTEM" c"a call of the operating system failed";
    InvalidHandle = 400 c"CUDA_ERROR_INVALID_HANDLE" c"the handle is null, freed or foreign";
    LossyQuery = 402 c"CUDA_ERROR_LOSSY_QUERY" c"edges have data, and there is no place for it";
    IllegalState = 401 c"CUDA_ERROR_ILLEGAL_STATE" c"the object is in the wrong state for this call";
    NotFound = 500 c"CUDA_ERROR_NOT_FOUND" c"no symbol has this name";
    NotReady = 600 c"CUDA_ERROR_NOT_READY" c"not finished yet";
    IllegalAddress = 700 c"CUDA_ERROR_ILLEGAL_ADDRESS" c"a kernel accessed an invalid address";
    LaunchOutOfResources = 701 c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" c"a block does not fit a multiprocessor";
    LaunchTimeout = 702 c"CUDA_ERROR_LAUNCH_TIMEOUT" c"a kernel ran for too long";
    PeerAccessAlreadyEnabled = 704 c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" c"peer access is enabled";
    PeerAccessNotEnabled = 705 c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED" c"peer access is not enabled";
    PrimaryContextActive = 708 c"CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE" c"the primary context is active";
    ContextIsDestroyed = 709 c"CUDA_ERROR_CONTEXT_IS_DESTROYED" c"the current context has been destroyed";
    Assert = 710 c"CUDA_ERROR_ASSERT" c"an assertion of a kernel failed";
    HostMemoryAlreadyRegistered = 712 c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" c"host memory is registered already";
    HostMemoryNotRegistered = 713 c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" c"host memory is not registered";
    IllegalInstruction = 715 c"CUDA_ERROR_ILLEGAL_INSTRUCTION" c"a kernel trapped";
    MisalignedAddress = 716 c"CUDA_ERROR_MISALIGNED_ADDRESS" c"a kernel accessed a misaligned address";
    LaunchFailed = 719 c"CUDA_ERROR_LAUNCH_FAILED" c"a kernel failed";
    CooperativeLaunchTooLarge = 720 c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" c"the grid does not fit the device at once";
    NotPermitted = 800 c"CUDA_ERROR_NOT_PERMITTED" c"not permitted";
    NotSupported = 801 c"CUDA_ERROR_NOT_SUPPORTED" c"not supported";
    StreamCaptureUnsupported = 900 c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" c"not permitted while a stream is captured";
    StreamCaptureInvalidated = 901 c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" c"an earlier error ended the capture";
    StreamCaptureMerge = 902 c"CUDA_ERROR_STREAM_CAPTURE_MERGE" c"the call would merge two captures";
    StreamCaptureUnmatched = 903 c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED" c"the capture did not begin in this stream";
    StreamCaptureUnjoined = 904 c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED" c"a forked stream did not join the capture again";
    StreamCaptureIsolation = 905 c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION" c"a capture cannot depend on work outside it";
    StreamCaptureImplicit = 906 c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT" c"the default stream would wait for a capture";
    CapturedEvent = 907 c"CUDA_ERROR_CAPTURED_EVENT" c"the event was last recorded in a capture";
    StreamCaptureWrongThread = 908 c"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD" c"another thread began the capture";
    GraphExecUpdateFailure = 910 c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE" c"the change needs a new instantiation";
    InvalidClusterSize = 912 c"CUDA_ERROR_INVALID_CLUSTER_SIZE" c"no cluster can be of this size";
    Unknown = 999 c"CUDA_ERROR_UNKNOWN" c"unknown error";
}

/// Result of a call: a value or a status.
pub type Answer<T = ()> = Result<T, Status>;
