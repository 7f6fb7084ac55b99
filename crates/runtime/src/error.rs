//! Error codes (`cudaError_t`) and the last error of each thread.

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};

macro_rules! errors {
    ($($variant:ident = $code:literal $name:literal $text:literal;)*) => {
        /// A `cudaError_t`. Codes and names are the runtime API's; codes 1 to 4 and 100 and up match the
        /// driver API's.
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "`text` says what each means")]
        pub enum Error { $($variant = $code,)* }

        impl Error {
            /// The error with a given code; `None` if there is none.
            pub fn of(code: u32) -> Option<Error> {
                match code { $($code => Some(Error::$variant),)* _ => None }
            }

            /// Name of the error in the runtime API.
            pub fn name(self) -> &'static CStr {
                match self { $(Error::$variant => $name,)* }
            }

            /// Description of the error.
            pub fn text(self) -> &'static CStr {
                match self { $(Error::$variant => $text,)* }
            }
        }
    };
}

errors! {
    Success = 0 c"cudaSuccess" c"no error";
    InvalidValue = 1 c"cudaErrorInvalidValue" c"an argument is null or out of its range";
    MemoryAllocation = 2 c"cudaErrorMemoryAllocation" c"out of memory";
    InitializationError = 3 c"cudaErrorInitializationError" c"the driver could not be initialised";
    CudartUnloading = 4 c"cudaErrorCudartUnloading" c"the process is ending";
    ProfilerDisabled = 5 c"cudaErrorProfilerDisabled" c"the profiler is disabled";
    ProfilerNotInitialized = 6 c"cudaErrorProfilerNotInitialized" c"the profiler is not initialised";
    ProfilerAlreadyStarted = 7 c"cudaErrorProfilerAlreadyStarted" c"the profiler has been started";
    ProfilerAlreadyStopped = 8 c"cudaErrorProfilerAlreadyStopped" c"the profiler has been stopped";
    InvalidConfiguration = 9 c"cudaErrorInvalidConfiguration" c"grid or block is empty or larger than the device takes";
    VersionTranslation = 10 c"cudaErrorVersionTranslation" c"a value has no meaning in this version";
    InvalidPitchValue = 12 c"cudaErrorInvalidPitchValue" c"a pitch is out of its range";
    InvalidSymbol = 13 c"cudaErrorInvalidSymbol" c"no variable of the device is registered for this symbol";
    InvalidHostPointer = 16 c"cudaErrorInvalidHostPointer" c"not a host address";
    InvalidDevicePointer = 17 c"cudaErrorInvalidDevicePointer" c"not a device address";
    InvalidTexture = 18 c"cudaErrorInvalidTexture" c"not a texture";
    InvalidTextureBinding = 19 c"cudaErrorInvalidTextureBinding" c"the texture is not bound";
    InvalidChannelDescriptor = 20 c"cudaErrorInvalidChannelDescriptor" c"no format has these channels";
    InvalidMemcpyDirection = 21 c"cudaErrorInvalidMemcpyDirection" c"the copy has no such direction";
    AddressOfConstant = 22 c"cudaErrorAddressOfConstant" c"the address of a constant cannot be taken";
    TextureFetchFailed = 23 c"cudaErrorTextureFetchFailed" c"a texture fetch failed";
    TextureNotBound = 24 c"cudaErrorTextureNotBound" c"the texture is not bound";
    SynchronizationError = 25 c"cudaErrorSynchronizationError" c"a synchronisation failed";
    InvalidFilterSetting = 26 c"cudaErrorInvalidFilterSetting" c"this filter mode is not supported for this texture";
    InvalidNormSetting = 27 c"cudaErrorInvalidNormSetting" c"this texture cannot be read as normalised values";
    MixedDeviceExecution = 28 c"cudaErrorMixedDeviceExecution" c"device and emulation cannot be mixed";
    NotYetImplemented = 31 c"cudaErrorNotYetImplemented" c"not implemented";
    MemoryValueTooLarge = 32 c"cudaErrorMemoryValueTooLarge" c"an emulated address is too large";
    StubLibrary = 34 c"cudaErrorStubLibrary" c"the driver is a stub";
    InsufficientDriver = 35 c"cudaErrorInsufficientDriver" c"there is no driver, or it lacks a function that is needed";
    CallRequiresNewerDriver = 36 c"cudaErrorCallRequiresNewerDriver" c"the call needs a newer driver";
    InvalidSurface = 37 c"cudaErrorInvalidSurface" c"not a surface";
    DuplicateVariableName = 43 c"cudaErrorDuplicateVariableName" c"two variables have one name";
    DuplicateTextureName = 44 c"cudaErrorDuplicateTextureName" c"two textures have one name";
    DuplicateSurfaceName = 45 c"cudaErrorDuplicateSurfaceName" c"two surfaces have one name";
    DevicesUnavailable = 46 c"cudaErrorDevicesUnavailable" c"all devices are busy or not available";
    IncompatibleDriverContext = 49 c"cudaErrorIncompatibleDriverContext" c"the current context was not made for the runtime";
    MissingConfiguration = 52 c"cudaErrorMissingConfiguration" c"no launch has been configured";
    PriorLaunchFailure = 53 c"cudaErrorPriorLaunchFailure" c"a launch before this one failed";
    LaunchMaxDepthExceeded = 65 c"cudaErrorLaunchMaxDepthExceeded" c"launches from the device are nested too deeply";
    LaunchFileScopedTex = 66 c"cudaErrorLaunchFileScopedTex" c"a kernel launched from the device uses a texture reference";
    LaunchFileScopedSurf = 67 c"cudaErrorLaunchFileScopedSurf" c"a kernel launched from the device uses a surface reference";
    SyncDepthExceeded = 68 c"cudaErrorSyncDepthExceeded" c"a synchronisation on the device is nested too deeply";
    LaunchPendingCountExceeded = 69 c"cudaErrorLaunchPendingCountExceeded" c"too many launches from the device are pending";
    InvalidDeviceFunction = 98 c"cudaErrorInvalidDeviceFunction" c"no kernel is registered for this function";
    NoDevice = 100 c"cudaErrorNoDevice" c"there is no device";
    InvalidDevice = 101 c"cudaErrorInvalidDevice" c"no device has this ordinal";
    DeviceNotLicensed = 102 c"cudaErrorDeviceNotLicensed" c"the device has no licence";
    SoftwareValidityNotEstablished = 103 c"cudaErrorSoftwareValidityNotEstablished" c"the software could not be checked";
    StartupFailure = 127 c"cudaErrorStartupFailure" c"the runtime could not start";
    InvalidKernelImage = 200 c"cudaErrorInvalidKernelImage" c"the image is not a kernel image";
    DeviceUninitialized = 201 c"cudaErrorDeviceUninitialized" c"no context is current, or the context is not valid";
    MapBufferObjectFailed = 205 c"cudaErrorMapBufferObjectFailed" c"memory cannot be mapped";
    UnmapBufferObjectFailed = 206 c"cudaErrorUnmapBufferObjectFailed" c"memory cannot be unmapped";
    ArrayIsMapped = 207 c"cudaErrorArrayIsMapped" c"the array is mapped";
    AlreadyMapped = 208 c"cudaErrorAlreadyMapped" c"the resource is mapped already";
    NoKernelImageForDevice = 209 c"cudaErrorNoKernelImageForDevice" c"the image holds machine code and no PTX";
    AlreadyAcquired = 210 c"cudaErrorAlreadyAcquired" c"the resource is acquired already";
    NotMapped = 211 c"cudaErrorNotMapped" c"the resource is not mapped";
    NotMappedAsArray = 212 c"cudaErrorNotMappedAsArray" c"the resource is not mapped as an array";
    NotMappedAsPointer = 213 c"cudaErrorNotMappedAsPointer" c"the resource is not mapped as a pointer";
    EccUncorrectable = 214 c"cudaErrorECCUncorrectable" c"a memory error could not be corrected";
    UnsupportedLimit = 215 c"cudaErrorUnsupportedLimit" c"the device has no such limit";
    DeviceAlreadyInUse = 216 c"cudaErrorDeviceAlreadyInUse" c"the device is in use by another thread";
    PeerAccessUnsupported = 217 c"cudaErrorPeerAccessUnsupported" c"there is no peer to access";
    InvalidPtx = 218 c"cudaErrorInvalidPtx" c"the PTX text is wrong";
    InvalidGraphicsContext = 219 c"cudaErrorInvalidGraphicsContext" c"not a graphics context";
    NvlinkUncorrectable = 220 c"cudaErrorNvlinkUncorrectable" c"a link error could not be corrected";
    JitCompilerNotFound = 221 c"cudaErrorJitCompilerNotFound" c"the PTX compiler was not found";
    UnsupportedPtxVersion = 222 c"cudaErrorUnsupportedPtxVersion" c"the PTX version is not known";
    JitCompilationDisabled = 223 c"cudaErrorJitCompilationDisabled" c"compilation of PTX is switched off";
    UnsupportedExecAffinity = 224 c"cudaErrorUnsupportedExecAffinity" c"the device cannot set multiprocessors aside";
    UnsupportedDevSideSync = 225 c"cudaErrorUnsupportedDevSideSync" c"the code synchronises on the device";
    Contained = 226 c"cudaErrorContained" c"a fault was contained; the process must end";
    InsufficientLoaderVersion = 227 c"cudaErrorInsufficientLoaderVersion" c"the loader is too old for this image";
    InvalidSource = 300 c"cudaErrorInvalidSource" c"the kernel source is wrong";
    FileNotFound = 301 c"cudaErrorFileNotFound" c"the file cannot be read";
    SharedObjectSymbolNotFound = 302 c"cudaErrorSharedObjectSymbolNotFound" c"a symbol is not defined";
    SharedObjectInitFailed = 303 c"cudaErrorSharedObjectInitFailed" c"a shared object could not be initialised";
    OperatingSystem = 304 c"cudaErrorOperatingSystem" c"a call of the operating system failed";
    InvalidResourceHandle = 400 c"cudaErrorInvalidResourceHandle" c"the handle is null, freed or foreign";
    IllegalState = 401 c"cudaErrorIllegalState" c"the resource is in the wrong state for this call";
    LossyQuery = 402 c"cudaErrorLossyQuery" c"the result would be incomplete";
    SymbolNotFound = 500 c"cudaErrorSymbolNotFound" c"no symbol has this name";
    NotReady = 600 c"cudaErrorNotReady" c"not finished yet";
    IllegalAddress = 700 c"cudaErrorIllegalAddress" c"a kernel accessed an invalid address";
    LaunchOutOfResources = 701 c"cudaErrorLaunchOutOfResources" c"a block does not fit a multiprocessor";
    LaunchTimeout = 702 c"cudaErrorLaunchTimeout" c"a kernel ran for too long";
    LaunchIncompatibleTexturing = 703 c"cudaErrorLaunchIncompatibleTexturing" c"the kernel textures in another mode";
    PeerAccessAlreadyEnabled = 704 c"cudaErrorPeerAccessAlreadyEnabled" c"peer access is enabled";
    PeerAccessNotEnabled = 705 c"cudaErrorPeerAccessNotEnabled" c"peer access is not enabled";
    SetOnActiveProcess = 708 c"cudaErrorSetOnActiveProcess" c"the primary context is active";
    ContextIsDestroyed = 709 c"cudaErrorContextIsDestroyed" c"the current context has been destroyed";
    Assert = 710 c"cudaErrorAssert" c"an assertion of a kernel failed";
    TooManyPeers = 711 c"cudaErrorTooManyPeers" c"too many peers are accessed";
    HostMemoryAlreadyRegistered = 712 c"cudaErrorHostMemoryAlreadyRegistered" c"host memory is registered already";
    HostMemoryNotRegistered = 713 c"cudaErrorHostMemoryNotRegistered" c"host memory is not registered";
    HardwareStackError = 714 c"cudaErrorHardwareStackError" c"the stack of a kernel is corrupt or full";
    IllegalInstruction = 715 c"cudaErrorIllegalInstruction" c"a kernel trapped";
    MisalignedAddress = 716 c"cudaErrorMisalignedAddress" c"a kernel accessed a misaligned address";
    InvalidAddressSpace = 717 c"cudaErrorInvalidAddressSpace" c"a kernel accessed the wrong state space";
    InvalidPc = 718 c"cudaErrorInvalidPc" c"a kernel jumped to an address without code";
    LaunchFailure = 719 c"cudaErrorLaunchFailure" c"a kernel failed";
    CooperativeLaunchTooLarge = 720 c"cudaErrorCooperativeLaunchTooLarge" c"the grid does not fit the device at once";
    TensorMemoryLeak = 721 c"cudaErrorTensorMemoryLeak" c"a kernel ended with tensor memory allocated";
    NotPermitted = 800 c"cudaErrorNotPermitted" c"not permitted";
    NotSupported = 801 c"cudaErrorNotSupported" c"not supported";
    SystemNotReady = 802 c"cudaErrorSystemNotReady" c"the system is not ready";
    SystemDriverMismatch = 803 c"cudaErrorSystemDriverMismatch" c"driver and display driver do not match";
    CompatNotSupportedOnDevice = 804 c"cudaErrorCompatNotSupportedOnDevice" c"the device has no forward compatibility";
    MpsConnectionFailed = 805 c"cudaErrorMpsConnectionFailed" c"the MPS server cannot be reached";
    MpsRpcFailure = 806 c"cudaErrorMpsRpcFailure" c"a call of the MPS server failed";
    MpsServerNotReady = 807 c"cudaErrorMpsServerNotReady" c"the MPS server is not ready";
    MpsMaxClientsReached = 808 c"cudaErrorMpsMaxClientsReached" c"the MPS server has as many clients as it takes";
    MpsMaxConnectionsReached = 809 c"cudaErrorMpsMaxConnectionsReached" c"the device has as many connections as it takes";
    MpsClientTerminated = 810 c"cudaErrorMpsClientTerminated" c"the MPS server ended this client";
    CdpNotSupported = 811 c"cudaErrorCdpNotSupported" c"kernels cannot launch kernels";
    CdpVersionMismatch = 812 c"cudaErrorCdpVersionMismatch" c"two versions of launches from the device are mixed";
    StreamCaptureUnsupported = 900 c"cudaErrorStreamCaptureUnsupported" c"streams cannot be captured";
    StreamCaptureInvalidated = 901 c"cudaErrorStreamCaptureInvalidated" c"the capture failed before";
    StreamCaptureMerge = 902 c"cudaErrorStreamCaptureMerge" c"two captures would become one";
    StreamCaptureUnmatched = 903 c"cudaErrorStreamCaptureUnmatched" c"the capture did not begin in this stream";
    StreamCaptureUnjoined = 904 c"cudaErrorStreamCaptureUnjoined" c"work that forked off was not joined";
    StreamCaptureIsolation = 905 c"cudaErrorStreamCaptureIsolation" c"a dependency leaves the capture";
    StreamCaptureImplicit = 906 c"cudaErrorStreamCaptureImplicit" c"the default stream would depend on a capture";
    CapturedEvent = 907 c"cudaErrorCapturedEvent" c"the event was recorded in a capture";
    StreamCaptureWrongThread = 908 c"cudaErrorStreamCaptureWrongThread" c"the capture began in another thread";
    Timeout = 909 c"cudaErrorTimeout" c"a wait took too long";
    GraphExecUpdateFailure = 910 c"cudaErrorGraphExecUpdateFailure" c"this update of the graph is not supported";
    ExternalDevice = 911 c"cudaErrorExternalDevice" c"a device outside failed";
    InvalidClusterSize = 912 c"cudaErrorInvalidClusterSize" c"no cluster can be of this size";
    FunctionNotLoaded = 913 c"cudaErrorFunctionNotLoaded" c"the function is not loaded";
    InvalidResourceType = 914 c"cudaErrorInvalidResourceType" c"the resource is of another type";
    InvalidResourceConfiguration = 915 c"cudaErrorInvalidResourceConfiguration" c"this configuration of the resource is not supported";
    StreamDetached = 917 c"cudaErrorStreamDetached" c"the stream is detached";
    GraphRecaptureFailure = 918 c"cudaErrorGraphRecaptureFailure" c"this capture does not match the graph";
    FabricNotReady = 919 c"cudaErrorFabricNotReady" c"the fabric is not ready";
    Unknown = 999 c"cudaErrorUnknown" c"unknown error";
    ApiFailureBase = 10000 c"cudaErrorApiFailureBase" c"driver error reported by an old runtime";
}

/// Result of a call: a value or an error code.
pub type Answer<T = ()> = Result<T, Error>;

impl Error {
    /// Converts the status of a driver call. Where both APIs define a code, the codes agree.
    pub fn answer(status: u32) -> Answer {
        match status {
            0 => Ok(()),
            code => Err(Error::of(code).unwrap_or(Error::Unknown)),
        }
    }

    /// Whether the error is a kernel failure. Such an error sticks: every later call fails with it until the
    /// device is reset.
    fn is_sticky(self) -> bool {
        use Error::*;
        matches!(
            self,
            IllegalAddress
                | LaunchTimeout
                | Assert
                | HardwareStackError
                | IllegalInstruction
                | MisalignedAddress
                | InvalidAddressSpace
                | InvalidPc
                | LaunchFailure
        )
    }
}

thread_local! {
    static LAST: Cell<Error> = const { Cell::new(Error::Success) };
}

/// The sticky error of the process, or 0.
static STICKY: AtomicU32 = AtomicU32::new(0);

/// Records the result of a call of this thread. "Not ready" does not count as a failure.
pub fn note(error: Error) {
    if matches!(error, Error::Success | Error::NotReady) {
        return;
    }
    LAST.set(error);
    if error.is_sticky() {
        STICKY.store(error as u32, Ordering::Relaxed);
    }
}

/// The thread's last error, or the sticky error.
pub fn peek() -> Error {
    match LAST.get() {
        Error::Success => Error::of(STICKY.load(Ordering::Relaxed)).unwrap_or(Error::Success),
        error => error,
    }
}

/// Like [`peek`], but clears the error unless it is sticky.
pub fn take() -> Error {
    let error = peek();
    LAST.set(Error::Success);
    error
}

/// Clears the sticky error after a device reset.
pub fn unstick() {
    STICKY.store(0, Ordering::Relaxed);
    if LAST.get().is_sticky() {
        LAST.set(Error::Success);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_forgotten_when_it_is_taken_unless_it_sticks() {
        note(Error::InvalidValue);
        note(Error::NotReady);
        assert_eq!((peek(), take(), take()), (Error::InvalidValue, Error::InvalidValue, Error::Success));
        note(Error::IllegalAddress);
        note(Error::InvalidValue);
        assert_eq!(
            (take(), take(), take()),
            (Error::InvalidValue, Error::IllegalAddress, Error::IllegalAddress)
        );
        assert_eq!(std::thread::spawn(take).join().unwrap(), Error::IllegalAddress, "in every thread");
        unstick();
        assert_eq!(take(), Error::Success);
    }

    #[test]
    fn codes_of_the_driver_are_those_of_the_runtime() {
        assert_eq!(Error::answer(0), Ok(()));
        assert_eq!(Error::answer(700), Err(Error::IllegalAddress));
        assert_eq!(Error::answer(12345), Err(Error::Unknown));
        assert_eq!(Error::NotSupported.name(), c"cudaErrorNotSupported");
    }
}
