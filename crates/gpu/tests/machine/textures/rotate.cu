// An image turned around its centre: a bilinear fetch and a surface store a thread.
// nvrtc 11.8, --gpu-architecture=compute_70 -default-device --fmad=false, made rotate.ptx of it.
extern "C" __global__ void rotate(cudaSurfaceObject_t to, cudaTextureObject_t from, int width, int height,
                                  float cosine, float sine)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    float4 c = tex2D<float4>(from, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
    surf2Dwrite(c, to, x * (int)sizeof(float4), y);
}

texture<int, 1> columns;
texture<float, 1> values;

// A row of a sparse matrix times a vector a thread, the matrix and the vector through textures of linear memory.
extern "C" __global__ void spmv(float *y, const int *rows, int count, cudaTextureObject_t x)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count) return;
    float sum = 0;
    for (int n = rows[row]; n < rows[row + 1]; ++n)
        sum += tex1Dfetch(values, n) * tex1Dfetch<float>(x, tex1Dfetch(columns, n));
    y[row] = sum;
}
