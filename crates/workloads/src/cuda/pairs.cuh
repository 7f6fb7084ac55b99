#pragma once

// Key/value pairs as Mars keeps them: keys in one buffer, values in another, and a directory whose entry says where a
// pair's key begins (x), its bytes (y), where its value begins (z), its bytes (w).

__device__ inline int task_index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// What each task will emit; kept in global memory while a task counts.
struct Counts {
    int *key_bytes;
    int *value_bytes;
    int *pairs;
};

__device__ inline void count_pair(const Counts &counts, int key_bytes, int value_bytes) {
    int task = task_index();
    counts.key_bytes[task] += key_bytes;
    counts.value_bytes[task] += value_bytes;
    counts.pairs[task]++;
}

// Where each task emits: its starts come from prefix sums of the counts, its progress is kept in global memory.
struct Output {
    const int *key_start;
    const int *value_start;
    const int *pair_start;
    int2 *written;
    int *emitted;
    char *keys;
    char *values;
    int4 *directory;
};

// Five words of shared memory for each thread, where a pair is put together before its bytes are copied out.
__device__ inline int *staging() {
    extern __shared__ int words[];
    return words + 5 * threadIdx.x;
}

// Keys and values are copied byte by byte, whatever they are made of.
__device__ inline void emit_pair(const Output &to, const char *key, int key_bytes, const char *value,
                                 int value_bytes) {
    int task = task_index();
    int2 written = to.written[task];
    int key_at = to.key_start[task] + written.x;
    int value_at = to.value_start[task] + written.y;
    for (int i = 0; i < key_bytes; i++) {
        to.keys[key_at + i] = key[i];
    }
    for (int i = 0; i < value_bytes; i++) {
        to.values[value_at + i] = value[i];
    }
    to.written[task] = make_int2(written.x + key_bytes, written.y + value_bytes);
    int emitted = to.emitted[task];
    to.directory[to.pair_start[task] + emitted] = make_int4(key_at, key_bytes, value_at, value_bytes);
    to.emitted[task] = emitted + 1;
}

// The hash of a text that Mars puts into keys, so that most comparisons need no text.
__device__ inline int hash_text(const char *text, int bytes) {
    unsigned hash = bytes;
    for (int i = 0; i < bytes; i++) {
        hash = (hash << 4) ^ (hash >> 28) ^ text[i];
    }
    return hash;
}

// Orders two texts that end with a zero byte: below, at or above zero.
__device__ inline int compare_texts(const char *a, const char *b) {
    while (*a == *b && *a != 0) {
        a++;
        b++;
    }
    return *a - *b;
}
