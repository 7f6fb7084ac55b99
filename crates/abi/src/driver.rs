//! Structures of the CUDA driver API, and the numbers in them. An array is its handle; names are what the fields mean.

use crate::plain_structs;

plain_structs! {
    /// One side of a [`Rectangle`].
    Side {
        /// Bytes to the left.
        x_bytes: u64,
        /// Rows above.
        y: u64,
        /// [`memory`].
        kind: u32,
        /// Address where `kind` is the host.
        host: u64,
        /// Address where it is the device, or anywhere.
        device: u64,
        /// Where it is an array.
        array: u64,
        /// Bytes from row to row.
        pitch: u64,
    }

    /// `CUDA_MEMCPY2D`.
    Rectangle {
        /// From.
        from: Side,
        /// To.
        to: Side,
        /// Bytes of a row.
        width_bytes: u64,
        /// Rows.
        height: u64,
    }

    /// One side of a [`Cuboid`].
    Corner {
        /// Bytes to the left.
        x_bytes: u64,
        /// Rows above.
        y: u64,
        /// Slices before.
        z: u64,
        /// Of a mipmap.
        level: u64,
        /// [`memory`].
        kind: u32,
        /// Address where `kind` is the host.
        host: u64,
        /// Address where it is the device, or anywhere.
        device: u64,
        /// Where it is an array.
        array: u64,
        /// Null.
        reserved: u64,
        /// Bytes from row to row.
        pitch: u64,
        /// Rows from slice to slice.
        height: u64,
    }

    /// `CUDA_MEMCPY3D`.
    Cuboid {
        /// From.
        from: Corner,
        /// To.
        to: Corner,
        /// Bytes of a row.
        width_bytes: u64,
        /// Rows of a slice.
        height: u64,
        /// Slices.
        depth: u64,
    }

    /// `CUDA_ARRAY_DESCRIPTOR`.
    ArrayDescriptor {
        /// Elements of a row.
        width: u64,
        /// Rows, or 0.
        height: u64,
        /// `CUarray_format`.
        format: u32,
        /// Channels of an element.
        channels: u32,
    }

    /// `CUDA_ARRAY3D_DESCRIPTOR`.
    Array3dDescriptor {
        /// Elements of a row.
        width: u64,
        /// Rows, or 0.
        height: u64,
        /// Slices or layers, or 0.
        depth: u64,
        /// `CUarray_format`.
        format: u32,
        /// Channels of an element.
        channels: u32,
        /// [`mod@array`].
        flags: u32,
    }

    /// `CUDA_RESOURCE_DESC`: what it is, then a union.
    ResourceDescriptor {
        /// [`resource`].
        kind: u32,
        /// Array, or address on the device.
        place: u64,
        /// Of memory.
        format: u32,
        /// Of memory.
        channels: u32,
        /// Bytes of linear memory; elements of a row of pitched memory.
        width: u64,
        /// Rows of pitched memory.
        height: u64,
        /// Bytes from row to row.
        pitch: u64,
        /// The rest of the union's 128 bytes.
        reserved: [u64; 11],
        /// None.
        flags: u32,
    }

    /// `CUDA_TEXTURE_DESC`.
    TextureDescriptor {
        /// By axis.
        addressing: [u32; 3],
        /// Nearest or linear.
        filter: u32,
        /// [`texture`].
        flags: u32,
        /// At most.
        anisotropy: u32,
        /// Between levels of a mipmap.
        level_filter: u32,
        /// Bias, least and most level.
        levels: [f32; 3],
        /// Outside.
        border: [f32; 4],
        /// Nothing.
        reserved: [u32; 12],
    }
}

const _: () = {
    assert!(size_of::<Rectangle>() == 128);
    assert!(size_of::<Cuboid>() == 200);
    assert!(size_of::<ArrayDescriptor>() == 24);
    assert!(size_of::<Array3dDescriptor>() == 40);
    assert!(size_of::<ResourceDescriptor>() == 144);
    assert!(size_of::<TextureDescriptor>() == 104);
};

impl From<Side> for Corner {
    fn from(side: Side) -> Corner {
        let Side { x_bytes, y, kind, host, device, array, pitch } = side;
        Corner { x_bytes, y, kind, host, device, array, pitch, ..Corner::default() }
    }
}

/// `CUmemorytype`.
pub mod memory {
    /// Of the host.
    pub const HOST: u32 = 1;
    /// Of the device.
    pub const DEVICE: u32 = 2;
    /// An array.
    pub const ARRAY: u32 = 3;
    /// Wherever the address is.
    pub const UNIFIED: u32 = 4;
}

/// `CUresourcetype`.
pub mod resource {
    /// An array.
    pub const ARRAY: u32 = 0;
    /// A mipmapped array.
    pub const MIPMAPPED: u32 = 1;
    /// Memory on the device, one row.
    pub const LINEAR: u32 = 2;
    /// Memory on the device, several rows at a pitch.
    pub const PITCHED: u32 = 3;
}

/// Flags of arrays.
pub mod array {
    /// The last side counts layers.
    pub const LAYERED: u32 = 1;
    /// Surfaces of it can be made.
    pub const SURFACE: u32 = 2;
    /// Six layers are the faces of a cube.
    pub const CUBE: u32 = 4;
    /// Textures of it can be gathered from.
    pub const GATHER: u32 = 8;
}

/// Flags of textures.
pub mod texture {
    /// Integers stay integers.
    pub const INTEGER: u32 = 0x01;
    /// Coordinates go from 0 to 1.
    pub const NORMALIZED: u32 = 0x02;
    /// Values are sRGB.
    pub const SRGB: u32 = 0x10;
    /// Filtering between levels is exact.
    pub const EXACT_TRILINEAR: u32 = 0x20;
}
