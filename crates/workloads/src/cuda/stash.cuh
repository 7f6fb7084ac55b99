// A scratchpad's tiles of global memory: mapped by a stash (AddMap and ChgMap of Komuravelli et al., "Stash: Have Your
// Scratchpad and Cache It Too", ISCA 2015, section 3), or moved by a DMA engine (section 5.3).
//
// The four functions are instructions of the machine. One warp of a CTA executes them, once for the whole CTA; a barrier
// orders them for its other warps. Sizes and strides are in bytes, a row's length is in objects. The nth
// stash_add_map of a CTA makes its mapping n, counted from 0 to 3.

#pragma once

extern "C" {
__device__ void stash_add_map(unsigned stash_base, const void *global_base, unsigned field_size, unsigned object_size,
                              unsigned row_size, unsigned stride_size, unsigned num_strides, unsigned is_coherent);
__device__ void stash_chg_map(unsigned index, unsigned stash_base, const void *global_base, unsigned field_size,
                              unsigned object_size, unsigned row_size, unsigned stride_size, unsigned num_strides,
                              unsigned is_coherent);
__device__ void dma_load(unsigned shared_base, const void *global_base, unsigned field_size, unsigned object_size,
                         unsigned row_size, unsigned stride_size, unsigned num_strides);
__device__ void dma_store(unsigned shared_base, const void *global_base, unsigned field_size, unsigned object_size,
                          unsigned row_size, unsigned stride_size, unsigned num_strides);
}

// Arrays in shared memory that are mapped begin on a chunk of the stash (section 4.2, footnote 4) and share none.
#define CHUNK __align__(64)

// An address in shared memory as the functions above take it.
__device__ inline unsigned shared_address(const void *shared) {
    return (unsigned)__cvta_generic_to_shared(shared);
}

// The same words, accessed through mapping `index`: bits 31 to 28 of a shared address are the index plus one.
template <typename T> __device__ inline T *mapped(T *shared, unsigned index) {
    return (T *)((char *)shared + ((index + 1) << 28));
}

// Whether the thread's warp is the one that executes what a CTA does once. For CTAs of one dimension, and of rows of WIDTH
// threads.
__device__ inline bool in_first_warp() {
    return threadIdx.x < 32;
}

template <unsigned WIDTH> __device__ inline bool in_first_warp_of_rows() {
    return threadIdx.y < 32 / WIDTH;
}
