//! Functions of the runtime API that are not supported. They are exported so that programs load, and fail
//! when called.

use crate::api::answer;
use crate::default::Default;
use crate::error::Error;
use crate::log;

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        /// Fails: the function is not supported.
        #[allow(non_snake_case, reason = "the runtime API's name")]
        #[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Error {
            answer(stringify!($name), Default::Legacy, || {
                log::once(concat!(stringify!($name), " is not supported"));
                Err(Error::NotSupported)
            })
        }
    )*};
}

unsupported! {
    __cudaGetProcAddress cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaDevResourceGenerateDesc
    cudaDevSmResourceSplit cudaDevSmResourceSplitByCount cudaDeviceFlushGPUDirectRDMAWrites
    cudaDeviceGetDevResource cudaDeviceGetExecutionCtx cudaDeviceGetHostAtomicCapabilities
    cudaDeviceGetNvSciSyncAttributes cudaDeviceGetP2PAtomicCapabilities cudaDeviceRegisterAsyncNotification
    cudaDeviceUnregisterAsyncNotification cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect
    cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect cudaEGLStreamConsumerReleaseFrame
    cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync cudaExecutionCtxDestroy
    cudaExecutionCtxGetDevResource cudaExecutionCtxGetDevice cudaExecutionCtxGetId cudaExecutionCtxRecordEvent
    cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize cudaExecutionCtxWaitEvent
    cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray cudaGLGetDevices
    cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject cudaGLSetBufferObjectMapFlags
    cudaGLSetGLDevice cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync cudaGLUnregisterBufferObject
    cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
    cudaGraphConditionalHandleCreate cudaGraphConditionalHandleCreate_v2
    cudaGraphExecExternalSemaphoresSignalNodeSetParams cudaGraphExecExternalSemaphoresWaitNodeSetParams
    cudaGraphExternalSemaphoresSignalNodeGetParams cudaGraphExternalSemaphoresSignalNodeSetParams
    cudaGraphExternalSemaphoresWaitNodeGetParams cudaGraphExternalSemaphoresWaitNodeSetParams
    cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage
    cudaGraphicsMapResources cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
    cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags cudaGraphicsSubResourceGetMappedArray
    cudaGraphicsUnmapResources cudaGraphicsUnregisterResource cudaGraphicsVDPAURegisterOutputSurface
    cudaGraphicsVDPAURegisterVideoSurface cudaGreenCtxCreate cudaImportExternalMemory
    cudaImportExternalSemaphore cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle
    cudaIpcOpenEventHandle cudaIpcOpenMemHandle cudaLaunchCooperativeKernelMultiDevice
    cudaLibraryGetUnifiedFunction cudaLogsCurrent cudaLogsDumpToFile cudaLogsDumpToMemory
    cudaLogsRegisterCallback cudaLogsUnregisterCallback cudaMemDiscardAndPrefetchBatchAsync
    cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemDiscardBatchAsync cudaMemDiscardBatchAsync_ptsz
    cudaMemGetLocationInfo cudaMemPoolExportPointer cudaMemPoolExportToShareableHandle
    cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer cudaMemPrefetchBatchAsync
    cudaMemPrefetchBatchAsync_ptsz cudaMemRangeGetAttribute cudaMemRangeGetAttributes cudaMemcpy3DBatchAsync
    cudaMemcpy3DBatchAsync_ptsz cudaMemcpy3DWithAttributesAsync cudaMemcpy3DWithAttributesAsync_ptsz
    cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz cudaMemcpyWithAttributesAsync
    cudaMemcpyWithAttributesAsync_ptsz cudaProfilerInitialize cudaSignalExternalSemaphoresAsync
    cudaSignalExternalSemaphoresAsync_ptsz cudaSignalExternalSemaphoresAsync_v2
    cudaSignalExternalSemaphoresAsync_v2_ptsz cudaStreamBeginRecaptureToGraph
    cudaStreamBeginRecaptureToGraph_ptsz cudaStreamGetDevResource cudaStreamGetDevResource_ptsz
    cudaSubgridCreate cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate cudaVDPAUGetDevice
    cudaVDPAUSetVDPAUDevice cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_ptsz
    cudaWaitExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2_ptsz
}
