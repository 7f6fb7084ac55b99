// Distinct views of each page in a web log of lines "URL tab IP tab cookie": two MapReduces through the same kernels.
// The first drops repeated lines; the second groups the addresses that viewed a page by its URL.

#include "scan.cuh"
#include "pairs.cuh"

#define INPUT_PARAMETERS char *text,
#define INPUT text,

struct Entry {
    int offset;
    int hash;
};

struct Line {
    int bytes;
    int phase;
};

__device__ void map_count(char *text, char *key, char *value, const Counts &counts) {
    int phase = ((const Line *)value)->phase;
    count_pair(counts, sizeof(Entry), phase == 0 ? sizeof(Line) : sizeof(int));
}

// Zero bytes end the URL and the IP, so that comparisons of the second MapReduce stop there.
__device__ void map_record(char *text, char *key, char *value, const Output &output) {
    Entry *entry = (Entry *)key;
    const Line *line = (const Line *)value;
    if (line->phase == 0) {
        entry->hash = hash_text(text + entry->offset, line->bytes);
        emit_pair(output, key, sizeof(Entry), value, sizeof(Line));
        return;
    }
    int at = entry->offset;
    while (text[at] != '\t') {
        at++;
    }
    text[at] = 0;
    int *address = staging();
    *address = at + 1;
    entry->hash = hash_text(text + entry->offset, at - entry->offset);
    while (text[at] != '\t') {
        at++;
    }
    text[at] = 0;
    emit_pair(output, key, sizeof(Entry), (const char *)address, sizeof(int));
}

__device__ inline int compare(const char *text, const char *a, const char *b) {
    const Entry *one = (const Entry *)a;
    const Entry *other = (const Entry *)b;
    if (one->hash != other->hash) {
        return one->hash < other->hash ? -1 : 1;
    }
    return compare_texts(text + one->offset, text + other->offset);
}

__device__ void reduce_count(const char *key, char *values, int count, const Counts &counts) {
    count_pair(counts, sizeof(Entry), sizeof(Line));
}

// Of equal lines the first stays, marked for the second MapReduce.
__device__ void reduce_group(const char *key, char *values, int count, const Output &output) {
    Line *line = (Line *)values;
    line->phase = 1;
    emit_pair(output, key, sizeof(Entry), values, sizeof(Line));
}

#include "map.cuh"
#include "sort.cuh"
#include "group.cuh"
#include "reduce.cuh"
