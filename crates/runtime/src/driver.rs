//! The driver: functions of `libcuda.so.1`, looked up on first use.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use strata_abi::driver::{
    Array3dDescriptor, ArrayDescriptor, Cuboid, Rectangle, ResourceDescriptor, TextureDescriptor,
};
use strata_abi::{DRIVER as NAME, driver_functions};

use crate::client::{Bytes, Out, Text};
use crate::default::{self, Default};
use crate::error::{Answer, Error};
use crate::log::{self, Level};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl $name {
            /// The null handle.
            #[allow(dead_code, reason = "some are never none")]
            pub const NULL: $name = $name(0);
        }
        handles!(@pass $name);
    )*};
    // A stream may be the default one.
    (@pass Stream) => {};
    (@pass $name:ident) => { impl Pass for $name {} };
}

handles! {
    /// A context, `CUcontext`.
    Context
    /// A library, `CUlibrary`.
    Library
    /// A module, `CUmodule`.
    Module
    /// `CUkernel`; functions that take a `CUfunction` accept it too.
    Kernel
    /// `CUstream`; null is the default stream.
    Stream
    /// An event, `CUevent`.
    Event
    /// A texture array, `CUarray`.
    Array
    /// An array with levels of detail, `CUmipmappedArray`.
    Mipmapped
    /// A memory pool, `CUmemoryPool`.
    Pool
    /// A texture reference, `CUtexref`.
    TexRef
    /// A surface reference, `CUsurfref`.
    SurfRef
}

/// A value on its way to the driver. Null streams become the default stream of the call, others pass unchanged.
pub trait Pass: Sized {
    /// The value that the driver gets.
    #[must_use]
    fn pass(self) -> Self {
        self
    }
}

impl Pass for Stream {
    fn pass(self) -> Stream {
        /// `CU_STREAM_PER_THREAD`: the default stream of the calling thread.
        const PER_THREAD: Stream = Stream(2);
        if self == Stream::NULL && default::get() == Default::PerThread { PER_THREAD } else { self }
    }
}

macro_rules! unchanged {
    ($($ty:ty)*) => { $(impl Pass for $ty {})* };
}
unchanged! { u8 u32 i32 u64 f32 Bytes Text }

impl<T> Pass for Out<T> {}
impl<T> Pass for &T {}
impl<T> Pass for &mut T {}

/// Shape, stream and attributes of a launch, `CUlaunchConfig`.
#[repr(C)]
pub struct LaunchConfig {
    /// Size of the grid in CTAs.
    pub grid: [u32; 3],
    /// Size of a CTA in threads.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// The stream, or null for the default stream.
    pub stream: Stream,
    /// Launch attributes, 72 bytes each: a number and a value.
    pub attributes: Bytes,
    /// Number of launch attributes.
    pub count: u32,
}

driver_functions! {
    answer: Error::answer => Answer;
    pass: Pass::pass;
    cuInit(flags: u32);
    cuDriverGetVersion(version: Out<i32>);
    cuGetProcAddress_v2(name: Text, function: Out<u64>, version: i32, flags: u64, status: &mut u32);
    cuProfilerStart();
    cuProfilerStop();

    cuDeviceGet(device: &mut i32, ordinal: i32);
    cuDeviceGetCount(count: Out<i32>);
    cuDeviceGetName(text: &mut [u8; 256], room: i32, device: i32);
    cuDeviceGetUuid_v2(to: &mut [u8; 16], device: i32);
    cuDeviceTotalMem_v2(bytes: &mut u64, device: i32);
    cuDeviceGetAttribute(value: &mut i32, number: u32, device: i32);
    cuDeviceGetPCIBusId(text: Bytes, room: i32, device: i32);
    cuDeviceGetByPCIBusId(device: Out<i32>, address: Text);
    cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32);
    cuDeviceGetP2PAttribute(value: Out<i32>, attribute: u32, device: i32, peer: i32);
    cuDeviceGetDefaultMemPool(pool: Out<Pool>, device: i32);
    cuDeviceGetMemPool(pool: Out<Pool>, device: i32);
    cuDeviceSetMemPool(device: i32, pool: Pool);

    cuDevicePrimaryCtxRetain(context: &mut Context, device: i32);
    cuDevicePrimaryCtxReset_v2(device: i32);
    cuDevicePrimaryCtxGetState(device: i32, flags: &mut u32, active: &mut i32);
    cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32);
    cuCtxGetDevice(device: &mut i32);
    cuCtxGetCurrent(context: &mut Context);
    cuCtxSetCurrent(context: Context);
    cuCtxSynchronize();
    cuCtxGetLimit(value: Out<u64>, limit: u32);
    cuCtxSetLimit(limit: u32, value: u64);
    cuCtxGetCacheConfig(value: Out<u32>);
    cuCtxSetCacheConfig(value: u32);
    cuCtxGetSharedMemConfig(value: Out<u32>);
    cuCtxSetSharedMemConfig(value: u32);
    cuCtxGetStreamPriorityRange(least: Out<i32>, most: Out<i32>);
    cuCtxResetPersistingL2Cache();

    cuLibraryLoadData(
        library: &mut Library, image: Bytes, options: Bytes, values: Bytes, count: u32, library_options: Bytes,
        library_values: Bytes, library_count: u32,
    );
    cuLibraryLoadFromFile(
        library: &mut Library, name: Text, options: Bytes, values: Bytes, count: u32, library_options: Bytes,
        library_values: Bytes, library_count: u32,
    );
    cuLibraryUnload(library: Library);
    cuLibraryGetModule(module: &mut Module, library: Library);
    cuLibraryGetKernel(kernel: &mut Kernel, library: Library, name: Text);
    cuLibraryGetKernelCount(count: Out<u32>, library: Library);
    cuLibraryEnumerateKernels(kernels: Bytes, room: u32, library: Library);
    cuLibraryGetGlobal(address: &mut u64, bytes: &mut u64, library: Library, name: Text);
    cuLibraryGetManaged(address: &mut u64, bytes: &mut u64, library: Library, name: Text);
    cuKernelGetName(name: Out<u64>, kernel: Kernel);
    cuKernelGetFunction(function: Out<u64>, kernel: Kernel);
    cuKernelGetParamCount(kernel: Kernel, count: Out<u64>);
    cuKernelGetParamInfo(kernel: Kernel, index: u64, offset: Out<u64>, bytes: Out<u64>);
    cuFuncGetAttribute(value: &mut i32, number: u32, kernel: Kernel);
    cuFuncSetAttribute(kernel: Kernel, number: u32, value: i32);
    cuFuncSetCacheConfig(kernel: Kernel, config: u32);
    cuFuncSetSharedMemConfig(kernel: Kernel, config: u32);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        ctas: Out<i32>, kernel: Kernel, threads: i32, dynamic_shared: u64, flags: u32,
    );
    cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<u64>, kernel: Kernel, ctas: i32, threads: i32);
    cuOccupancyMaxActiveClusters(clusters: Out<i32>, kernel: Kernel, config: &LaunchConfig);
    cuOccupancyMaxPotentialClusterSize(size: Out<i32>, kernel: Kernel, config: &LaunchConfig);
    cuLaunchKernel(
        kernel: Kernel, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Stream, each: Bytes, extra: Bytes,
    );
    cuLaunchKernelEx(config: &LaunchConfig, kernel: Kernel, each: Bytes, extra: Bytes);
    cuLaunchCooperativeKernel(
        kernel: Kernel, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Stream, each: Bytes,
    );
    cuLaunchHostFunc(stream: Stream, function: Bytes, data: Bytes);
    cuLaunchHostFunc_v2(stream: Stream, function: Bytes, data: Bytes, mode: u32);

    cuMemAlloc_v2(address: Out<u64>, bytes: u64);
    cuMemAllocPitch_v2(address: Out<u64>, pitch: Out<u64>, width: u64, rows: u64, element: u32);
    cuMemFree_v2(address: u64);
    cuMemAllocManaged(address: Out<u64>, bytes: u64, flags: u32);
    cuMemHostAlloc(pointer: Out<u64>, bytes: u64, flags: u32);
    cuMemFreeHost(pointer: Bytes);
    cuMemHostRegister_v2(pointer: Bytes, bytes: u64, flags: u32);
    cuMemHostUnregister(pointer: Bytes);
    cuMemHostGetDevicePointer_v2(address: Out<u64>, pointer: Bytes, flags: u32);
    cuMemHostGetFlags(flags: Out<u32>, pointer: Bytes);
    cuMemGetInfo_v2(free: Out<u64>, total: Out<u64>);
    cuMemGetAddressRange_v2(start: &mut u64, bytes: &mut u64, address: u64);
    cuMemAllocAsync(address: Out<u64>, bytes: u64, stream: Stream);
    cuMemAllocFromPoolAsync(address: Out<u64>, bytes: u64, pool: Pool, stream: Stream);
    cuMemFreeAsync(address: u64, stream: Stream);
    cuMemPoolCreate(pool: Out<Pool>, properties: Bytes);
    cuMemPoolDestroy(pool: Pool);
    cuMemPoolTrimTo(pool: Pool, bytes: u64);
    cuMemPoolGetAttribute(pool: Pool, number: u32, value: Bytes);
    cuMemPoolSetAttribute(pool: Pool, number: u32, value: Bytes);
    cuMemAdvise(address: u64, bytes: u64, advice: u32, device: i32);
    cuMemAdvise_v2(address: u64, bytes: u64, advice: u32, location: u64);
    cuMemPrefetchAsync(address: u64, bytes: u64, device: i32, stream: Stream);
    cuMemPrefetchAsync_v2(address: u64, bytes: u64, location: u64, flags: u32, stream: Stream);
    cuPointerGetAttribute(value: &mut u64, number: u32, address: u64);

    cuMemcpyAsync(to: u64, from: u64, bytes: u64, stream: Stream);
    cuMemcpyHtoDAsync_v2(to: u64, from: Bytes, bytes: u64, stream: Stream);
    cuMemcpyDtoHAsync_v2(to: Bytes, from: u64, bytes: u64, stream: Stream);
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: u64, stream: Stream);
    cuMemcpy2DAsync_v2(what: &Rectangle, stream: Stream);
    cuMemcpy3DAsync_v2(what: &Cuboid, stream: Stream);
    cuMemcpyAtoA_v2(to: Array, to_offset: u64, from: Array, from_offset: u64, bytes: u64);
    cuMemsetD8Async(address: u64, value: u8, count: u64, stream: Stream);
    cuMemsetD2D8Async(address: u64, pitch: u64, value: u8, width: u64, rows: u64, stream: Stream);

    cuStreamCreateWithPriority(stream: Out<Stream>, flags: u32, priority: i32);
    cuStreamDestroy_v2(stream: Stream);
    cuStreamQuery(stream: Stream);
    cuStreamSynchronize(stream: Stream);
    cuStreamWaitEvent(stream: Stream, event: Event, flags: u32);
    cuStreamAddCallback(stream: Stream, callback: Bytes, data: Bytes, flags: u32);
    cuStreamGetPriority(stream: Stream, priority: Out<i32>);
    cuStreamGetFlags(stream: Stream, flags: Out<u32>);
    cuStreamGetId(stream: Stream, number: Out<u64>);
    cuStreamAttachMemAsync(stream: Stream, address: u64, bytes: u64, flags: u32);
    cuStreamIsCapturing(stream: Stream, status: Bytes);
    cuStreamBeginCapture_v2(stream: Stream, mode: u32);

    cuGraphCreate(graph: Bytes, flags: u32);
    cuGraphDestroy(graph: u64);
    cuGraphClone(copy: Bytes, graph: u64);
    cuGraphNodeFindInClone(found: Bytes, original: u64, copy: u64);
    cuGraphGetId(graph: u64, number: Out<u32>);
    cuGraphGetNodes(graph: u64, nodes: Bytes, count: Bytes);
    cuGraphGetRootNodes(graph: u64, nodes: Bytes, count: Bytes);
    cuGraphGetEdges_v2(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: Bytes);
    cuGraphNodeGetDependencies_v2(node: u64, nodes: Bytes, data: Bytes, count: Bytes);
    cuGraphNodeGetDependentNodes_v2(node: u64, nodes: Bytes, data: Bytes, count: Bytes);
    cuGraphAddDependencies_v2(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64);
    cuGraphRemoveDependencies_v2(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64);
    cuGraphDebugDotPrint(graph: u64, path: Text, flags: u32);
    cuGraphNodeGetType(node: u64, kind: Out<u32>);
    cuGraphNodeGetContainingGraph(node: u64, graph: Bytes);
    cuGraphNodeGetLocalId(node: u64, number: Out<u32>);
    cuGraphNodeGetToolsId(node: u64, number: Out<u64>);
    cuGraphDestroyNode(node: u64);
    cuGraphAddHostNode(node: Bytes, graph: u64, before: Bytes, count: u64, call: Bytes);
    cuGraphHostNodeGetParams(node: u64, call: Bytes);
    cuGraphHostNodeSetParams(node: u64, call: Bytes);
    cuGraphExecHostNodeSetParams(executable: u64, node: u64, call: Bytes);
    cuGraphAddChildGraphNode(node: Bytes, graph: u64, before: Bytes, count: u64, child: u64);
    cuGraphChildGraphNodeGetGraph(node: u64, graph: Bytes);
    cuGraphExecChildGraphNodeSetParams(executable: u64, node: u64, child: u64);
    cuGraphAddEmptyNode(node: Bytes, graph: u64, before: Bytes, count: u64);
    cuGraphAddEventRecordNode(node: Bytes, graph: u64, before: Bytes, count: u64, event: Event);
    cuGraphEventRecordNodeGetEvent(node: u64, event: Bytes);
    cuGraphEventRecordNodeSetEvent(node: u64, event: Event);
    cuGraphExecEventRecordNodeSetEvent(executable: u64, node: u64, event: Event);
    cuGraphAddEventWaitNode(node: Bytes, graph: u64, before: Bytes, count: u64, event: Event);
    cuGraphEventWaitNodeGetEvent(node: u64, event: Bytes);
    cuGraphEventWaitNodeSetEvent(node: u64, event: Event);
    cuGraphExecEventWaitNodeSetEvent(executable: u64, node: u64, event: Event);
    cuGraphAddMemAllocNode(node: Bytes, graph: u64, before: Bytes, count: u64, what: Bytes);
    cuGraphMemAllocNodeGetParams(node: u64, what: Bytes);
    cuGraphAddMemFreeNode(node: Bytes, graph: u64, before: Bytes, count: u64, address: u64);
    cuGraphMemFreeNodeGetParams(node: u64, address: Bytes);
    cuGraphKernelNodeGetAttribute(node: u64, number: u32, value: Bytes);
    cuGraphKernelNodeSetAttribute(node: u64, number: u32, value: Bytes);
    cuGraphInstantiateWithFlags(executable: Bytes, graph: u64, flags: u64);
    cuGraphInstantiateWithParams(executable: Bytes, graph: u64, parameters: Bytes);
    cuGraphExecGetFlags(executable: u64, flags: Out<u64>);
    cuGraphExecGetId(executable: u64, number: Out<u32>);
    cuGraphExecDestroy(executable: u64);
    cuGraphUpload(executable: u64, stream: Stream);
    cuGraphNodeSetEnabled(executable: u64, node: u64, enabled: u32);
    cuGraphNodeGetEnabled(executable: u64, node: u64, enabled: Out<u32>);
    cuDeviceGetGraphMemAttribute(device: i32, number: u32, value: Bytes);
    cuDeviceSetGraphMemAttribute(device: i32, number: u32, value: Bytes);
    cuDeviceGraphMemTrim(device: i32);
    cuUserObjectCreate(object: Bytes, data: Bytes, destroy: Bytes, references: u32, flags: u32);
    cuUserObjectRetain(object: u64, count: u32);
    cuUserObjectRelease(object: u64, count: u32);
    cuGraphRetainUserObject(graph: u64, object: u64, count: u32, flags: u32);
    cuGraphReleaseUserObject(graph: u64, object: u64, count: u32);
    cuStreamBeginCaptureToGraph(stream: Stream, graph: u64, before: Bytes, data: Bytes, count: u64, mode: u32);
    cuStreamEndCapture(stream: Stream, graph: Bytes);
    cuStreamGetCaptureInfo_v2(stream: Stream, status: Bytes, number: Bytes, graph: Bytes, nodes: Bytes, count: Bytes);
    cuStreamGetCaptureInfo_v3(stream: Stream, status: Bytes, number: Bytes, graph: Bytes, nodes: Bytes, data: Bytes, count: Bytes);
    cuStreamUpdateCaptureDependencies_v2(stream: Stream, nodes: Bytes, data: Bytes, count: u64, flags: u32);
    cuThreadExchangeStreamCaptureMode(mode: Bytes);
    cuStreamGetAttribute(stream: Stream, number: u32, value: Bytes);
    cuStreamSetAttribute(stream: Stream, number: u32, value: Bytes);
    cuStreamCopyAttributes(to: Stream, from: Stream);
    cuGraphLaunch(executable: u64, stream: Stream);
    cuGraphExecUpdate_v2(executable: u64, graph: u64, result: Bytes);
    cuGraphKernelNodeCopyAttributes(to: u64, from: u64);
    cuGraphAddNode_v2(node: Bytes, graph: u64, before: Bytes, data: Bytes, count: u64, what: &mut [u64; 32]);
    cuGraphNodeGetParams(node: u64, what: &mut [u64; 32]);
    cuGraphNodeSetParams(node: u64, what: &mut [u64; 32]);
    cuGraphExecNodeSetParams(executable: u64, node: u64, what: &mut [u64; 32]);
    cuGraphAddKernelNode(node: Bytes, graph: u64, before: Bytes, count: u64, what: &mut [u64; 7]);
    cuGraphKernelNodeGetParams(node: u64, what: &mut [u64; 7]);
    cuGraphKernelNodeSetParams(node: u64, what: &mut [u64; 7]);
    cuGraphExecKernelNodeSetParams(executable: u64, node: u64, what: &mut [u64; 7]);
    cuGraphAddMemsetNode(node: Bytes, graph: u64, before: Bytes, count: u64, what: Bytes, context: Context);
    cuGraphMemsetNodeGetParams(node: u64, what: Bytes);
    cuGraphMemsetNodeSetParams(node: u64, what: Bytes);
    cuGraphExecMemsetNodeSetParams(executable: u64, node: u64, what: Bytes, context: Context);
    cuGraphAddMemcpyNode(node: Bytes, graph: u64, before: Bytes, count: u64, what: &Cuboid, context: Context);
    cuGraphMemcpyNodeGetParams(node: u64, what: &mut Cuboid);
    cuGraphMemcpyNodeSetParams(node: u64, what: &Cuboid);
    cuGraphExecMemcpyNodeSetParams(executable: u64, node: u64, what: &Cuboid, context: Context);
    cuMemGetDefaultMemPool(pool: Out<Pool>, location: Bytes, kind: u32);
    cuMemGetMemPool(pool: Out<Pool>, location: Bytes, kind: u32);
    cuMemSetMemPool(location: Bytes, kind: u32, pool: Pool);
    cuMemPoolGetAccess(flags: Out<u32>, pool: Pool, location: Bytes);
    cuMemPoolSetAccess(pool: Pool, accesses: Bytes, count: u64);

    cuEventCreate(event: Out<Event>, flags: u32);
    cuEventDestroy_v2(event: Event);
    cuEventRecordWithFlags(event: Event, stream: Stream, flags: u32);
    cuEventQuery(event: Event);
    cuEventSynchronize(event: Event);
    cuEventElapsedTime(milliseconds: Out<f32>, start: Event, end: Event);

    cuArray3DCreate_v2(array: Out<Array>, descriptor: &Array3dDescriptor);
    cuArray3DGetDescriptor_v2(descriptor: &mut Array3dDescriptor, array: Array);
    cuArrayDestroy(array: Array);
    cuArrayGetPlane(plane: Out<Array>, array: Array, number: u32);
    cuArrayGetMemoryRequirements(requirements: Bytes, array: Array, device: i32);
    cuArrayGetSparseProperties(properties: Bytes, array: Array);
    cuMipmappedArrayCreate(array: Out<Mipmapped>, descriptor: &Array3dDescriptor, levels: u32);
    cuMipmappedArrayGetLevel(level: Bytes, array: Mipmapped, number: u32);
    cuMipmappedArrayDestroy(array: Mipmapped);
    cuMipmappedArrayGetMemoryRequirements(requirements: Bytes, array: Mipmapped, device: i32);
    cuMipmappedArrayGetSparseProperties(properties: Bytes, array: Mipmapped);
    cuDeviceGetTexture1DLinearMaxWidth(width: Out<u64>, format: u32, channels: u32, device: i32);
    cuTexObjectCreate(object: Out<u64>, resource: &ResourceDescriptor, texture: &TextureDescriptor, view: Bytes);
    cuTexObjectDestroy(object: u64);
    cuTexObjectGetResourceDesc(resource: &mut ResourceDescriptor, object: u64);
    cuTexObjectGetResourceViewDesc(view: Bytes, object: u64);
    cuTexObjectGetTextureDesc(texture: &mut TextureDescriptor, object: u64);
    cuSurfObjectCreate(object: Out<u64>, resource: &ResourceDescriptor);
    cuSurfObjectDestroy(object: u64);
    cuSurfObjectGetResourceDesc(resource: &mut ResourceDescriptor, object: u64);
    cuModuleGetTexRef(to: &mut TexRef, module: Module, name: Text);
    cuModuleGetSurfRef(to: &mut SurfRef, module: Module, name: Text);
    cuTexRefSetArray(texture: TexRef, array: Array, flags: u32);
    cuTexRefSetMipmappedArray(texture: TexRef, array: Mipmapped, flags: u32);
    cuTexRefSetMipmapFilterMode(texture: TexRef, mode: u32);
    cuTexRefSetMipmapLevelBias(texture: TexRef, bias: f32);
    cuTexRefSetMipmapLevelClamp(texture: TexRef, least: f32, most: f32);
    cuTexRefSetMaxAnisotropy(texture: TexRef, most: u32);
    cuTexRefSetAddress_v2(offset: Out<u64>, texture: TexRef, address: u64, bytes: u64);
    cuTexRefSetAddress2D_v3(texture: TexRef, descriptor: &ArrayDescriptor, address: u64, pitch: u64);
    cuTexRefSetFormat(texture: TexRef, format: u32, channels: u32);
    cuTexRefSetAddressMode(texture: TexRef, axis: u32, mode: u32);
    cuTexRefSetFilterMode(texture: TexRef, mode: u32);
    cuTexRefSetFlags(texture: TexRef, flags: u32);
    cuSurfRefSetArray(surface: SurfRef, array: Array, flags: u32);
}

/// Returns the driver after `cuInit`.
///
/// # Errors
/// If there is no driver, it lacks a function, or it fails to initialise. All later calls then fail alike.
pub fn get() -> Answer<&'static Driver> {
    static DRIVER: OnceLock<Answer<Driver>> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| {
        let driver = Driver::load().map_err(|error| {
            log::say(Level::Quiet, || format!("the CUDA runtime needs {NAME}: {error}"));
            Error::InsufficientDriver
        })?;
        driver.cuInit(0).map_err(|_| Error::InitializationError)?;
        Ok(driver)
    });
    driver.as_ref().map_err(|error| *error)
}
