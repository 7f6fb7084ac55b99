// Collects the links of HTML documents, sorted and grouped by address: a thread per piece of whole lines.

#include "scan.cuh"
#include "pairs.cuh"

#define INPUT_PARAMETERS char *text,
#define INPUT text,

struct Link {
    int offset;
    int hash;
};

// A record's value.
struct Piece {
    int offset;
    int bytes;
    int document;
};

enum State { OUTSIDE, IN_TAG, IN_ANCHOR, AFTER_HREF, IN_LINK };

__device__ inline bool is_href(const char *at) {
    return at[0] == 'h' && at[1] == 'r' && at[2] == 'e' && at[3] == 'f';
}

// Reads a piece a character at a time and calls `found` with the start and the end of every <a href="...">.
template <class Found>
__device__ inline void find_links(const char *text, const Piece *piece, Found found) {
    int end = piece->offset + piece->bytes;
    State state = OUTSIDE;
    for (int at = piece->offset; at < end; at++) {
        char c = text[at];
        switch (state) {
        case OUTSIDE:
            if (c == '<') {
                state = IN_TAG;
            }
            break;
        case IN_TAG:
            if (c != ' ') {
                state = c == 'a' ? IN_ANCHOR : OUTSIDE;
            }
            break;
        case IN_ANCHOR:
            if (c == 'h' && is_href(text + at)) {
                state = AFTER_HREF;
                at += 3;
            } else if (c != ' ') {
                state = OUTSIDE;
            }
            break;
        case AFTER_HREF:
            if (c == '"') {
                state = IN_LINK;
            } else if (c != ' ' && c != '=') {
                state = OUTSIDE;
            }
            break;
        case IN_LINK:
            int start = at;
            while (text[at] != '"') {
                at++;
            }
            found(start, at);
            state = OUTSIDE;
            break;
        }
    }
}

__device__ void map_count(char *text, char *key, char *value, const Counts &counts) {
    find_links(text, (const Piece *)value,
               [&](int start, int end) { count_pair(counts, sizeof(Link), sizeof(int)); });
}

// A link's closing quote becomes the zero byte at which comparisons stop. The record's own key is where a pair's key
// is put together.
__device__ void map_record(char *text, char *key, char *value, const Output &output) {
    Link *link = (Link *)key;
    Piece *piece = (Piece *)value;
    find_links(text, piece, [&](int start, int end) {
        text[end] = 0;
        link->offset = start;
        link->hash = hash_text(text + start, end - start);
        emit_pair(output, key, sizeof(Link), (const char *)&piece->document, sizeof(int));
    });
}

__device__ inline int compare(const char *text, const char *a, const char *b) {
    const Link *one = (const Link *)a;
    const Link *other = (const Link *)b;
    if (one->hash != other->hash) {
        return one->hash < other->hash ? -1 : 1;
    }
    return compare_texts(text + one->offset, text + other->offset);
}

#include "map.cuh"
#include "sort.cuh"
#include "group.cuh"
