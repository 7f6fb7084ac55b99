// Groups of less than a warp, as cooperative groups form them, in warps whose threads diverge and partly left. Verifies each
// result on the host. Prints the same in every mode; the exit status says whether all was right.

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// What a thread brings along, and what it finds in its group.
struct In {
    int gone, side, label, flag, value;
};
struct Out {
    unsigned size, rank;
    unsigned ballot;
    int any, all;
    int sum, least;
    unsigned most, common;
    int first, next, before;
    unsigned alike;
};

enum Kind { tile4, tile8, tile16, tile32, coalesced, labels, flags, kinds };
static const char *const names[kinds] = {"tiles of 4",        "tiles of 8",       "tiles of 16",     "tiles of 32",
                                         "coalesced threads", "labelled threads", "threads by flag"};

template <typename Group> __device__ void look(Out &out, const In &in, const Group &group) {
    out.size = group.num_threads();
    out.rank = group.thread_rank();
    out.ballot = group.ballot(in.flag);
    out.any = group.any(in.flag);
    out.all = group.all(in.flag);
    out.sum = cg::reduce(group, in.value, cg::plus<int>());
    out.least = cg::reduce(group, in.value, cg::less<int>());
    out.most = cg::reduce(group, unsigned(in.value), cg::greater<unsigned>());
    out.common = cg::reduce(group, unsigned(in.value), cg::bit_and<unsigned>());
    out.first = group.shfl(in.value, 0);
    group.sync();
    out.next = group.shfl(in.value, (group.thread_rank() + 1) % group.num_threads());
    out.before = cg::exclusive_scan(group, in.value, cg::plus<int>());
    out.alike = group.match_any(in.value);
}

__device__ void look(Out &out, const In &in, Kind kind) {
    auto block = cg::this_thread_block();
    auto together = cg::coalesced_threads();
    switch (kind) {
    case tile4: return look(out, in, cg::tiled_partition<4>(block));
    case tile8: return look(out, in, cg::tiled_partition<8>(block));
    case tile16: return look(out, in, cg::tiled_partition<16>(block));
    case tile32: return look(out, in, cg::tiled_partition<32>(block));
    case coalesced: return look(out, in, together);
    case labels: return look(out, in, cg::labeled_partition(together, in.label));
    default: return look(out, in, cg::binary_partition(together, bool(in.flag)));
    }
}

__global__ void groups(Out *out, const In *in, Kind kind) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    In mine = in[thread];
    if (mine.gone) {
        return;
    }
    Out found = {};
    // Both sides do the same, each among its own.
    if (mine.side) {
        look(found, mine, kind);
    } else {
        look(found, mine, kind);
    }
    out[thread] = found;
}

static unsigned state = 12345;
static unsigned draw(unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

// The group of a thread in its warp: the lanes of those with it, lowest first.
static std::vector<int> group(const In *warp, int lane, Kind kind) {
    std::vector<int> members;
    int size = kind <= tile32 ? 4 << kind : 32;
    for (int other = 0; other < 32; other++) {
        bool with = !warp[other].gone && warp[other].side == warp[lane].side && other / size == lane / size;
        with = with && (kind != labels || warp[other].label == warp[lane].label);
        with = with && (kind != flags || warp[other].flag == warp[lane].flag);
        if (with) {
            members.push_back(other);
        }
    }
    return members;
}

static Out expected(const In *warp, int lane, Kind kind) {
    std::vector<int> members = group(warp, lane, kind);
    Out out = {};
    out.size = members.size();
    out.all = 1;
    out.least = warp[lane].value;
    out.common = ~0u;
    for (unsigned rank = 0; rank < members.size(); rank++) {
        const In &other = warp[members[rank]];
        if (members[rank] == lane) {
            out.rank = rank;
            out.before = out.sum;
        }
        out.ballot |= unsigned(other.flag) << rank;
        out.any |= other.flag;
        out.all &= other.flag;
        out.sum += other.value;
        out.least = std::min(out.least, other.value);
        out.most = std::max(out.most, unsigned(other.value));
        out.common &= unsigned(other.value);
        out.alike |= unsigned(other.value == warp[lane].value) << rank;
    }
    out.first = warp[members[0]].value;
    out.next = warp[members[(out.rank + 1) % members.size()]].value;
    return out;
}

static bool same(const Out &a, const Out &b) {
    return a.size == b.size && a.rank == b.rank && a.ballot == b.ballot && !a.any == !b.any && !a.all == !b.all &&
           a.sum == b.sum && a.least == b.least && a.most == b.most && a.common == b.common && a.first == b.first &&
           a.next == b.next && a.before == b.before && a.alike == b.alike;
}

int main() {
    const int threads = 256, blocks = 4, count = threads * blocks;
    In *in;
    Out *out;
    if (cudaMallocManaged(&in, count * sizeof(In)) || cudaMallocManaged(&out, count * sizeof(Out))) {
        return 2;
    }
    int failures = 0;
    for (int kind = 0; kind < kinds; kind++) {
        for (int warp = 0; warp < count / 32; warp++) {
            bool whole = warp % 4 == 0;
            unsigned labels_of_warp = 1 + draw(6);
            for (int lane = 0; lane < 32; lane++) {
                In &mine = in[32 * warp + lane];
                int size = kind <= tile32 ? 4 << kind : 1;
                // A tile's threads go together; elsewhere each goes as it likes.
                bool leads = lane % size == 0;
                const In &leader = in[32 * warp + lane / size * size];
                mine.gone = leads ? !whole && draw(5) == 0 : leader.gone;
                mine.side = leads ? whole || draw(2) : leader.side;
                mine.label = int(draw(labels_of_warp)) - 1;
                mine.flag = draw(2);
                mine.value = draw(2) ? int(draw(3)) : int(draw(2000)) - 1000;
            }
        }
        groups<<<blocks, threads>>>(out, in, Kind(kind));
        bool right = cudaDeviceSynchronize() == cudaSuccess;
        for (int thread = 0; thread < count && right; thread++) {
            if (in[thread].gone) {
                continue;
            }
            Out wanted = expected(in + thread / 32 * 32, thread % 32, Kind(kind));
            if (!same(out[thread], wanted)) {
                right = false;
                std::fprintf(stderr, "%s, thread %d: size %u for %u, ballot %#x for %#x, sum %d for %d, alike %#x for %#x\n",
                             names[kind], thread, out[thread].size, wanted.size, out[thread].ballot, wanted.ballot,
                             out[thread].sum, wanted.sum, out[thread].alike, wanted.alike);
            }
        }
        std::printf("%-34s %s\n", names[kind], right ? "right" : "WRONG");
        failures += !right;
    }
    return failures != 0;
}
