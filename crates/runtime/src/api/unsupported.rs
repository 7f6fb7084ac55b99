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
    __cudaGetProcAddress cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties
    cudaBindTextureToMipmappedArray cudaDestroyExternalMemory cudaDestroyExternalSemaphore
    cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount
    cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceGetDevResource cudaDeviceGetExecutionCtx
    cudaDeviceGetHostAtomicCapabilities cudaDeviceGetNvSciSyncAttributes cudaDeviceGetP2PAtomicCapabilities
    cudaDeviceGetTexture1DLinearMaxWidth cudaDeviceRegisterAsyncNotification
    cudaDeviceUnregisterAsyncNotification cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect
    cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect cudaEGLStreamConsumerReleaseFrame
    cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync cudaExecutionCtxDestroy
    cudaExecutionCtxGetDevResource cudaExecutionCtxGetDevice cudaExecutionCtxGetId
    cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize
    cudaExecutionCtxWaitEvent cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray
    cudaFreeMipmappedArray cudaFuncGetParamCount cudaGLGetDevices cudaGLMapBufferObject
    cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice
    cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync cudaGLUnregisterBufferObject
    cudaGetMipmappedArrayLevel cudaGetSurfaceObjectResourceDesc cudaGetTextureAlignmentOffset
    cudaGetTextureObjectResourceDesc cudaGetTextureObjectResourceViewDesc cudaGetTextureObjectTextureDesc
    cudaGetTextureObjectTextureDesc_v2 cudaGraphAddExternalSemaphoresSignalNode
    cudaGraphAddExternalSemaphoresWaitNode cudaGraphConditionalHandleCreate
    cudaGraphConditionalHandleCreate_v2 cudaGraphExecExternalSemaphoresSignalNodeSetParams
    cudaGraphExecExternalSemaphoresWaitNodeSetParams cudaGraphExternalSemaphoresSignalNodeGetParams
    cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
    cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphNodeGetParams cudaGraphicsEGLRegisterImage
    cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage cudaGraphicsMapResources
    cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
    cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
    cudaGraphicsSubResourceGetMappedArray cudaGraphicsUnmapResources cudaGraphicsUnregisterResource
    cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface cudaGreenCtxCreate
    cudaImportExternalMemory cudaImportExternalSemaphore cudaIpcCloseMemHandle cudaIpcGetEventHandle
    cudaIpcGetMemHandle cudaIpcOpenEventHandle cudaIpcOpenMemHandle cudaLaunchCooperativeKernelMultiDevice
    cudaLaunchHostFunc_v2 cudaLaunchHostFunc_v2_ptsz cudaLibraryGetUnifiedFunction cudaLogsCurrent
    cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback
    cudaMallocMipmappedArray cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz
    cudaMemDiscardBatchAsync cudaMemDiscardBatchAsync_ptsz cudaMemGetLocationInfo cudaMemPoolExportPointer
    cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer
    cudaMemPrefetchBatchAsync cudaMemPrefetchBatchAsync_ptsz cudaMemRangeGetAttribute
    cudaMemRangeGetAttributes cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz cudaMemcpy3DPeer
    cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz cudaMemcpy3DPeer_ptds cudaMemcpy3DWithAttributesAsync
    cudaMemcpy3DWithAttributesAsync_ptsz cudaMemcpyArrayToArray cudaMemcpyArrayToArray_ptds
    cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz cudaMemcpyWithAttributesAsync
    cudaMemcpyWithAttributesAsync_ptsz cudaMipmappedArrayGetMemoryRequirements
    cudaMipmappedArrayGetSparseProperties cudaOccupancyAvailableDynamicSMemPerBlock
    cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialClusterSize cudaProfilerInitialize
    cudaSetDoubleForDevice cudaSetDoubleForHost cudaSignalExternalSemaphoresAsync
    cudaSignalExternalSemaphoresAsync_ptsz cudaSignalExternalSemaphoresAsync_v2
    cudaSignalExternalSemaphoresAsync_v2_ptsz cudaStreamBeginRecaptureToGraph
    cudaStreamBeginRecaptureToGraph_ptsz cudaStreamGetDevResource cudaStreamGetDevResource_ptsz
    cudaSubgridCreate cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate cudaVDPAUGetDevice
    cudaVDPAUSetVDPAUDevice cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_ptsz
    cudaWaitExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2_ptsz
}
