// ScratchGD: shared memory for all, moved by DMA.

#define LOCAL Dma
#define REST Dma
#define TEMPORARIES
#define OWN(type, name, count) __shared__ CHUNK type name[count]

#include "tiles.cuh"

#include "kernels.cuh"
