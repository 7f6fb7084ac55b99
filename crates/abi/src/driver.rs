//! Structures of the CUDA driver API and their constants. Arrays are represented by their handles; fields
//! have descriptive names.

use crate::plain_structs;

plain_structs! {
    /// One side of a [`Rectangle`].
    Side {
        /// Offset within a row in bytes.
        x_bytes: u64,
        /// Index of the first row.
        y: u64,
        /// Kind of memory, from [`memory`].
        kind: u32,
        /// Host address, if `kind` is the host.
        host: u64,
        /// Device address, if `kind` is the device or unified.
        device: u64,
        /// Array handle, if `kind` is an array.
        array: u64,
        /// Distance between rows in bytes.
        pitch: u64,
    }

    /// `CUDA_MEMCPY2D`: a copy of a rectangle.
    Rectangle {
        /// Source of the copy.
        from: Side,
        /// Destination of the copy.
        to: Side,
        /// Width of a row in bytes.
        width_bytes: u64,
        /// Number of rows to copy.
        height: u64,
    }

    /// One side of a [`Cuboid`].
    Corner {
        /// Offset within a row in bytes.
        x_bytes: u64,
        /// Index of the first row.
        y: u64,
        /// Index of the first slice.
        z: u64,
        /// Mipmap level of the array.
        level: u64,
        /// Kind of memory, from [`memory`].
        kind: u32,
        /// Host address, if `kind` is the host.
        host: u64,
        /// Device address, if `kind` is the device or unified.
        device: u64,
        /// Array handle, if `kind` is an array.
        array: u64,
        /// Reserved; must be null.
        reserved: u64,
        /// Distance between rows in bytes.
        pitch: u64,
        /// Distance between slices in rows.
        height: u64,
    }

    /// `CUDA_MEMCPY3D`: a copy of a cuboid.
    Cuboid {
        /// Source of the copy.
        from: Corner,
        /// Destination of the copy.
        to: Corner,
        /// Width of a row in bytes.
        width_bytes: u64,
        /// Number of rows in a slice.
        height: u64,
        /// Number of slices to copy.
        depth: u64,
    }

    /// `CUDA_ARRAY_DESCRIPTOR`: an array of one or two dimensions.
    ArrayDescriptor {
        /// Number of elements in a row.
        width: u64,
        /// Number of rows, or 0 for one dimension.
        height: u64,
        /// Element format, a `CUarray_format`.
        format: u32,
        /// Number of channels in an element.
        channels: u32,
    }

    /// `CUDA_ARRAY3D_DESCRIPTOR`: an array of any shape.
    Array3dDescriptor {
        /// Number of elements in a row.
        width: u64,
        /// Number of rows, or 0.
        height: u64,
        /// Number of slices or layers, or 0.
        depth: u64,
        /// Element format, a `CUarray_format`.
        format: u32,
        /// Number of channels in an element.
        channels: u32,
        /// Flags from [`mod@array`].
        flags: u32,
    }

    /// `CUDA_RESOURCE_DESC`: a kind, then a union.
    ResourceDescriptor {
        /// Kind of resource, from [`resource`].
        kind: u32,
        /// Array handle, or device address.
        place: u64,
        /// Element format of memory.
        format: u32,
        /// Number of channels of memory.
        channels: u32,
        /// Bytes of linear memory, or elements in a row of pitched memory.
        width: u64,
        /// Number of rows of pitched memory.
        height: u64,
        /// Distance between rows in bytes.
        pitch: u64,
        /// The rest of the union's 128 bytes.
        reserved: [u64; 11],
        /// Reserved; there are no flags.
        flags: u32,
    }

    /// `CUDA_TEXTURE_DESC`: how a texture is sampled.
    TextureDescriptor {
        /// Addressing mode along each axis.
        addressing: [u32; 3],
        /// Filter mode: nearest or linear.
        filter: u32,
        /// Flags from [`texture`].
        flags: u32,
        /// Maximum anisotropy of a fetch.
        anisotropy: u32,
        /// Filter mode between mipmap levels.
        level_filter: u32,
        /// Mipmap level bias, minimum and maximum.
        levels: [f32; 3],
        /// Value outside the texture, by channel.
        border: [f32; 4],
        /// Reserved for future use.
        reserved: [u32; 12],
    }

    /// `CUDA_KERNEL_NODE_PARAMS_v2`: a launch in a graph. The first version ends before `kernel`.
    KernelNode {
        /// The kernel, as a function.
        function: u64,
        /// Size of the grid in CTAs.
        grid: [u32; 3],
        /// Size of a CTA in threads.
        block: [u32; 3],
        /// Dynamic shared memory in bytes.
        shared: u32,
        /// Pointers to the arguments.
        each: u64,
        /// Arguments in one buffer.
        extra: u64,
        /// The kernel, where `function` is null.
        kernel: u64,
        /// Context of the launch.
        context: u64,
    }

    /// `CUDA_MEMSET_NODE_PARAMS`: a fill in a graph.
    FillNode {
        /// Address of the first row.
        address: u64,
        /// Distance between rows in bytes.
        pitch: u64,
        /// Value of each element.
        value: u32,
        /// Size of an element in bytes.
        element: u32,
        /// Elements in a row.
        width: u64,
        /// Number of rows.
        height: u64,
    }

    /// `CUDA_MEM_ALLOC_NODE_PARAMS`: an allocation in a graph.
    AllocationNode {
        /// Kind of memory: 1 is pinned, which on a device means device memory.
        kind: u32,
        /// Kinds of handles that it can be exported as.
        handles: u32,
        /// Kind of place: 1 is a device.
        place: u32,
        /// Ordinal of the device.
        device: i32,
        /// What only other systems use, and the rest of the pool's properties.
        rest: [u64; 9],
        /// Access from other devices.
        accesses: u64,
        /// Number of those.
        access_count: u64,
        /// Size of the allocation.
        bytes: u64,
        /// Its address, which the driver writes.
        address: u64,
    }
}

const _: () = {
    assert!(size_of::<Rectangle>() == 128);
    assert!(size_of::<Cuboid>() == 200);
    assert!(size_of::<ArrayDescriptor>() == 24);
    assert!(size_of::<Array3dDescriptor>() == 40);
    assert!(size_of::<ResourceDescriptor>() == 144);
    assert!(size_of::<TextureDescriptor>() == 104);
    assert!(size_of::<KernelNode>() == 72);
    assert!(size_of::<FillNode>() == 40);
    assert!(size_of::<AllocationNode>() == 120);
};

impl From<Side> for Corner {
    fn from(side: Side) -> Corner {
        let Side { x_bytes, y, kind, host, device, array, pitch } = side;
        Corner { x_bytes, y, kind, host, device, array, pitch, ..Corner::default() }
    }
}

/// Kinds of memory: `CUmemorytype`.
pub mod memory {
    /// Host memory at `host`.
    pub const HOST: u32 = 1;
    /// Device memory at `device`.
    pub const DEVICE: u32 = 2;
    /// An array's texels.
    pub const ARRAY: u32 = 3;
    /// Memory at a unified address, on host or device.
    pub const UNIFIED: u32 = 4;
}

/// Kinds of resources: `CUresourcetype`.
pub mod resource {
    /// A texture array.
    pub const ARRAY: u32 = 0;
    /// A mipmapped array.
    pub const MIPMAPPED: u32 = 1;
    /// One row of device memory.
    pub const LINEAR: u32 = 2;
    /// Several rows of device memory at a pitch.
    pub const PITCHED: u32 = 3;
}

/// Flags of an array, `CUDA_ARRAY3D_*`.
pub mod array {
    /// The last dimension counts layers.
    pub const LAYERED: u32 = 1;
    /// Surfaces can be created on the array.
    pub const SURFACE: u32 = 2;
    /// Six layers form the faces of a cube.
    pub const CUBE: u32 = 4;
    /// Textures on the array support gather fetches.
    pub const GATHER: u32 = 8;
}

/// Flags of a texture, `CU_TRSF_*`.
pub mod texture {
    /// Integers are read as integers, without normalisation.
    pub const INTEGER: u32 = 0x01;
    /// Coordinates are normalised to the range from 0 to 1.
    pub const NORMALIZED: u32 = 0x02;
    /// Values are stored as sRGB.
    pub const SRGB: u32 = 0x10;
    /// Filtering between levels must be exact.
    pub const EXACT_TRILINEAR: u32 = 0x20;
}
