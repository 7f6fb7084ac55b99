// StashG: all is mapped.

#define LOCAL Mapped
#define REST Mapped
#define TEMPORARIES
#define OWN(type, name, count) __shared__ CHUNK type name[count]

#include "tiles.cuh"

#include "kernels.cuh"
