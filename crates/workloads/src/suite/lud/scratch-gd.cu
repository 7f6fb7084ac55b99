// ScratchGD: shared memory for all, moved by DMA.

#define LOCAL Dma
#define REST Dma

#include "tiles.cuh"

#include "kernels.cuh"
