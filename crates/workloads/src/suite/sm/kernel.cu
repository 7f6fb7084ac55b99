// Finds the lines of a text that are one keyword: a thread per piece of whole lines, a MapReduce of a map alone.

#include "scan.cuh"
#include "pairs.cuh"

#define INPUT_PARAMETERS const char *text, const char *keyword,
#define INPUT text, keyword,

// A record's value.
struct Piece {
    int keyword_bytes;
    int offset;
    int bytes;
};

// Whether the line at `line` is the keyword, which ends with a zero byte.
__device__ inline bool is_keyword(const char *line, const char *keyword) {
    while (*keyword != 0 && *line == *keyword) {
        line++;
        keyword++;
    }
    return *line == '\n';
}

// Calls `found` with the offset and the bytes of every line that is the keyword, its line feed included.
template <class Found>
__device__ inline void search(const char *text, const char *keyword, const Piece *piece, Found found) {
    int end = piece->offset + piece->bytes;
    int keyword_bytes = piece->keyword_bytes;
    int start = piece->offset;
    while (start < end) {
        int at = start;
        while (text[at] != '\n') {
            at++;
        }
        int bytes = at + 1 - start;
        if (bytes == keyword_bytes && is_keyword(text + start, keyword)) {
            found(start, bytes);
        }
        start += bytes;
    }
}

__device__ void map_count(const char *text, const char *keyword, char *key, char *value, const Counts &counts) {
    search(text, keyword, (const Piece *)value,
           [&](int offset, int bytes) { count_pair(counts, sizeof(int), sizeof(int)); });
}

__device__ void map_record(const char *text, const char *keyword, char *key, char *value, const Output &output) {
    int *pair = staging();
    search(text, keyword, (const Piece *)value, [&](int offset, int bytes) {
        pair[0] = offset;
        pair[1] = bytes;
        emit_pair(output, (const char *)&pair[0], sizeof(int), (const char *)&pair[1], sizeof(int));
    });
}

#include "map.cuh"
