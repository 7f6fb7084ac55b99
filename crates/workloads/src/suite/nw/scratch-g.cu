// ScratchG: the original leaves nothing in global memory.

#include "kernel.cu"
