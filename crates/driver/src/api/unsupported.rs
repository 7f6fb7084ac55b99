//! Functions of the driver API that are not supported. They are exported so that programs load, and fail when
//! called.

use crate::log;
use crate::status::Status;

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        /// Fails: the function is not supported.
        #[allow(non_snake_case, reason = "the driver API's name")]
        #[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            log::once(concat!(stringify!($name), " is not supported").into());
            Status::NotSupported
        }
    )*};
}

unsupported! {
    cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties cuCheckpointOperationComplete
    cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState
    cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock
    cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback cuCoredumpGetAttribute
    cuCoredumpGetAttributeGlobal cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback
    cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal cuCtxFromGreenCtx
    cuCtxGetDevResource cuCtxGetExecAffinity cuCtxRecordEvent cuCtxWaitEvent cuDestroyExternalMemory
    cuDestroyExternalSemaphore cuDevResourceGenerateDesc cuDevSmResourceSplit cuDevSmResourceSplitByCount
    cuDeviceGetCliqueCount cuDeviceGetCliqueInfo cuDeviceGetDevResource cuDeviceGetExecAffinitySupport
    cuDeviceGetFabricClusterUuid cuDeviceGetGraphMemAttribute cuDeviceGetHostAtomicCapabilities
    cuDeviceGetLuid cuDeviceGetNvSciSyncAttributes cuDeviceGetP2PAtomicCapabilities cuDeviceGetProperties
    cuDeviceGraphMemTrim cuDeviceRegisterAsyncNotification cuDeviceSetGraphMemAttribute
    cuDeviceUnregisterAsyncNotification cuExternalMemoryGetMappedBuffer
    cuExternalMemoryGetMappedMipmappedArray cuFabricCpyBatchAsync cuFlushGPUDirectRDMAWrites
    cuGraphAddBatchMemOpNode cuGraphAddChildGraphNode cuGraphAddDependencies_v2 cuGraphAddEmptyNode
    cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphAddExternalSemaphoresSignalNode
    cuGraphAddExternalSemaphoresWaitNode cuGraphAddHostNode cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode
    cuGraphAddMemFreeNode cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddNode_v2 cuGraphAddNode_v3
    cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphChildGraphNodeGetGraph cuGraphClone
    cuGraphConditionalHandleCreate cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphDestroyNode
    cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent
    cuGraphEventWaitNodeSetEvent cuGraphExecBatchMemOpNodeSetParams cuGraphExecChildGraphNodeSetParams
    cuGraphExecDestroy cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
    cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
    cuGraphExecGetFlags cuGraphExecGetId cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams_v2
    cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams
    cuGraphExecUpdate_v2 cuGraphExternalSemaphoresSignalNodeGetParams
    cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams
    cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges_v2 cuGraphGetId cuGraphGetNodes
    cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams cuGraphInstantiateWithFlags
    cuGraphInstantiateWithParams cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute
    cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams_v2 cuGraphLaunch
    cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams cuGraphMemcpyNodeGetParams
    cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams cuGraphNodeFindInClone
    cuGraphNodeGetContainingGraph cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2
    cuGraphNodeGetEnabled cuGraphNodeGetLocalId cuGraphNodeGetParams cuGraphNodeGetToolsId cuGraphNodeGetType
    cuGraphNodeSetEnabled cuGraphNodeSetParams cuGraphNodeSetParams_v2 cuGraphReleaseUserObject
    cuGraphRemoveDependencies_v2 cuGraphRetainUserObject cuGraphUpload cuGraphicsMapResources
    cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer_v2
    cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
    cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource cuGreenCtxGetId
    cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuImportExternalMemory
    cuImportExternalSemaphore cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle
    cuIpcOpenMemHandle_v2 cuLaunchCooperativeKernelMultiDevice
    cuLaunchHostFunc_v2 cuLibraryGetUnifiedFunction cuLogicalEndpointAddDevice
    cuLogicalEndpointBindAddr cuLogicalEndpointBindMem cuLogicalEndpointCreate cuLogicalEndpointDestroy
    cuLogicalEndpointExport cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve
    cuLogicalEndpointImport cuLogicalEndpointQuery cuLogicalEndpointUnbind cuLogsCurrent cuLogsDumpToFile
    cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemAddressFree cuMemAddressReserve
    cuMemBatchDecompressAsync cuMemCreate cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync
    cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity
    cuMemGetAllocationPropertiesFromHandle cuMemGetDefaultMemPool cuMemGetHandleForAddressRange
    cuMemGetLocationInfo cuMemGetMemPool cuMemImportFromShareableHandle cuMemMap cuMemMapArrayAsync
    cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolGetAccess
    cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess cuMemPrefetchBatchAsync
    cuMemRangeGetAttribute cuMemRangeGetAttributes cuMemRelease cuMemRetainAllocationHandle cuMemSetAccess
    cuMemSetMemPool cuMemUnmap cuMemcpy3DBatchAsync_v2 cuMemcpy3DPeer cuMemcpy3DPeerAsync
    cuMemcpy3DWithAttributesAsync cuMemcpyBatchAsync_v2 cuMemcpyWithAttributesAsync cuMipmappedArrayCreate
    cuMipmappedArrayDestroy cuMipmappedArrayGetLevel cuMipmappedArrayGetMemoryRequirements
    cuMipmappedArrayGetSparseProperties cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindAddr_v2
    cuMulticastBindMem cuMulticastBindMem_v2 cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind
    cuOccupancyAvailableDynamicSMemPerBlock
    cuParamSetTexRef cuProfilerInitialize cuSignalExternalSemaphoresAsync cuStreamBatchMemOp_v2 cuStreamBeginCaptureToCig
    cuStreamBeginCaptureToGraph cuStreamBeginRecaptureToGraph cuStreamCopyAttributes cuStreamEndCapture
    cuStreamEndCaptureToCig cuStreamGetAttribute cuStreamGetCaptureInfo_v3 cuStreamGetDevResource
    cuStreamGetGreenCtx cuStreamSetAttribute cuStreamUpdateCaptureDependencies_v2 cuStreamWaitValue32_v2
    cuStreamWaitValue64_v2 cuStreamWriteValue32_v2 cuStreamWriteValue64_v2 cuTensorMapEncodeIm2col
    cuTensorMapEncodeIm2colWide
    cuTensorMapSetAllocationClass cuTexRefCreate cuTexRefDestroy cuTexRefGetMipmappedArray
    cuTexRefSetMipmappedArray cuThreadExchangeStreamCaptureMode cuUserObjectCreate cuUserObjectRelease
    cuUserObjectRetain cuWaitExternalSemaphoresAsync
}
