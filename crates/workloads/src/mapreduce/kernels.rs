//! What the workloads of Mars say of the kernels that they share.

use crate::Kernel;

const fn kernel(entry: &'static str, original: &'static str) -> Kernel {
    Kernel { entry, original }
}

/// The kernels of a map alone.
pub(crate) const MAP: [Kernel; 4] = {
    let [a, b, c, d, ..] = MAP_REDUCE;
    [a, b, c, d]
};

/// The kernels of a map and a grouping.
pub(crate) const MAP_GROUP: [Kernel; 13] = {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, ..] = MAP_REDUCE;
    [a, b, c, d, e, f, g, h, i, j, k, l, m]
};

/// The kernels of a map, a grouping and a reduction.
pub(crate) const MAP_REDUCE: [Kernel; 15] = [
    kernel("scan_pieces", "prescan"),
    kernel("scan_add", "uniformAdd"),
    kernel("map_counts", "MapperCount"),
    kernel("map_records", "Mapper"),
    kernel("sort_load", "initialize_kernel"),
    kernel("sort_units", "unitBitonicSortKernel"),
    kernel("sort_step", "bitonicKernel"),
    kernel("sort_parts", "partBitonicSortKernel"),
    kernel("take_sizes", "getIntYArray_kernel"),
    kernel("copy_chunks", "copyChunks_kernel"),
    kernel("mark_groups", "getChunkBoundary_kernel"),
    kernel("write_groups", "writeBoundary_kernel"),
    kernel("close_groups", "setBoundaryInt2_kernel"),
    kernel("reduce_counts", "ReducerCount"),
    kernel("reduce_groups", "Reducer"),
];

/// A workload's own differences from Mars, after those of the machinery that all share.
macro_rules! mars_differences {
    ($($own:literal),* $(,)?) => {
        &[
            "records and keys hold offsets; the buffers they lie in are arguments of the kernels",
            "the host knows how many pairs and groups come out and reads no totals back",
            "a directory entry follows from what its task has written, not from the entry before it, and emitting a \
             pair passes no barrier, which Mars has in divergent code",
            "prefix sums take pieces of 256 elements, not 512, and add the pieces' starts even to a single one",
            "arrays of every size are sorted by the three kernels that Mars keeps for more than 2^18 pairs, \
             padded to 512 pairs at least; equal keys keep the order in which map emitted them",
            "sorted keys and values are copied through the directory, without arrays of int2 taken from it and put \
             back",
            $($own),*
        ]
    };
}
pub(crate) use mars_differences;
