"""Triton's first kernels on torch's tensors: a vector sum, a softmax, a matrix product and the forward pass of flash attention."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=at < columns, other=-float("inf"))
    shares = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + at, shares / tl.sum(shares, axis=0), mask=at < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, K, BK):
        depth = step + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + depth[None, :])
        right = tl.load(b + depth[:, None] * N + columns[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def attention(q, k, v, out, scale, CONTEXT: tl.constexpr, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * CONTEXT * HEAD
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    across = tl.arange(0, HEAD)
    query = tl.load(q + head + rows[:, None] * HEAD + across[None, :])
    most = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    result = tl.zeros((BM, HEAD), dtype=tl.float32)
    for step in range(0, CONTEXT, BN):
        others = step + tl.arange(0, BN)
        key = tl.load(k + head + others[None, :] * HEAD + across[:, None])
        scores = tl.dot(query, key) * scale
        highest = tl.maximum(most, tl.max(scores, axis=1))
        shares = tl.exp(scores - highest[:, None])
        before = tl.exp(most - highest)
        total = total * before + tl.sum(shares, axis=1)
        value = tl.load(v + head + others[:, None] * HEAD + across[None, :])
        result = result * before[:, None] + tl.dot(shares.to(tl.float16), value)
        most = highest
    tl.store(out + head + rows[:, None] * HEAD + across[None, :], result / total[:, None])


def on_device(tensor):
    return tensor.to("cuda")


def products_are_hoppers(compiled):
    """Checks that a kernel has warpgroup products where the device is said to be a Hopper GPU, and only there."""
    is_hopper = torch.cuda.get_device_capability()[0] == 9
    assert ("wgmma" in compiled.asm["ptx"]) == is_hopper, "products of another kind"


def main():
    torch.manual_seed(1)
    n = 1000
    x, y = torch.randn(n), torch.randn(n)
    out = torch.empty(n, device="cuda")
    add[(triton.cdiv(n, 256),)](on_device(x), on_device(y), out, n, BLOCK=256)
    assert torch.equal(out.cpu(), x + y), "vector sum"
    print("vector sum")

    rows, columns = 8, 100
    x = torch.randn(rows, columns)
    out = torch.empty(rows, columns, device="cuda")
    softmax[(rows,)](on_device(x), out, columns, BLOCK=128)
    torch.testing.assert_close(out.cpu(), torch.softmax(x, dim=1))
    print("softmax")

    m, n, k = 64, 32, 64
    a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
    out = torch.empty(m, n, device="cuda")
    compiled = matmul[(m // 64, n // 32)](on_device(a), on_device(b), out, m, n, k, BM=64, BN=32, BK=32)
    products_are_hoppers(compiled)
    torch.testing.assert_close(out.cpu(), a.float() @ b.float(), rtol=1e-3, atol=1e-3)
    print("matrix product")

    heads, context, head = 2, 64, 32
    q, k, v = (torch.randn(heads, context, head).half() for _ in range(3))
    out = torch.empty(heads, context, head, device="cuda")
    scale = head**-0.5
    compiled = attention[(context // 64, heads)](on_device(q), on_device(k), on_device(v), out, scale, CONTEXT=context, HEAD=head, BM=64, BN=32)
    products_are_hoppers(compiled)
    expected = torch.softmax(q.float() @ k.float().transpose(1, 2) * scale, dim=2) @ v.float()
    torch.testing.assert_close(out.cpu(), expected, rtol=1e-2, atol=1e-2)
    print("flash attention")


main()
