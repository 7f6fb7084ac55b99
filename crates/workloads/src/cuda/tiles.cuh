// Tiles of global memory, and where a kernel works on them: an algorithm that is written over tiles has a version for each
// place. A version defines LOCAL, the place of what the original program keeps in shared memory, and REST, the place of what
// it leaves in global memory, as one of:
//
//     Copied    shared memory; the CTA's threads copy the tile in and back
//     Dma       shared memory; transfers move it
//     Mapped    a stash, which maps it: nothing is moved before it is used
//     Direct    global memory
//
// A tile is `rows` rows of `columns` elements, each row `pitch` elements after the one before; (row, column) is an element.

#pragma once

#include "stash.cuh"

// What a kernel does with a tile's elements.
enum Use {
    READS,     // its writes, if any, stay with the CTA
    UPDATES,   // reads and writes
    WRITES     // writes all
};

// The rows and columns of a tile, and where it lies.
template <typename T> struct Tile {
    T *global;
    int rows;
    int columns;
    int pitch;

    __device__ Tile(const T *global, int rows, int columns, int pitch)
        : global((T *)global), rows(rows), columns(columns), pitch(pitch) {}

    // The tile of the same shape that begins there; `again` brings it.
    __device__ void move(const T *to) {
        global = (T *)to;
    }
};

// ROWS and COLUMNS are the most that a tile has of them.
template <typename T, Use USE, int ROWS, int COLUMNS> struct Direct : Tile<T> {
    static constexpr bool MOVES = false;
    static constexpr bool ENDS = false;

    __device__ Direct(T *, int, const T *global, int rows, int columns, int pitch)
        : Tile<T>(global, rows, columns, pitch) {}

    __device__ T &operator()(int row, int column) const {
        return this->global[row * this->pitch + column];
    }

    template <typename Cta> __device__ void begin() {}
    template <typename Cta> __device__ void change() {}
    template <typename Cta> __device__ void end() {}
    template <typename Cta> __device__ void end_part(int, int, int, int) {}
};

// What the places in shared memory have in common: rows follow each other without gaps.
template <typename T, Use USE> struct Compact : Tile<T> {
    static constexpr bool MOVES = true;
    T *shared;

    __device__ Compact(T *shared, const T *global, int rows, int columns, int pitch)
        : Tile<T>(global, rows, columns, pitch), shared(shared) {}

    __device__ T &operator()(int row, int column) const {
        return shared[row * this->columns + column];
    }
};

template <typename T, Use USE, int ROWS, int COLUMNS> struct Copied : Compact<T, USE> {
    static constexpr bool ENDS = USE != READS;

    __device__ Copied(T *shared, int, const T *global, int rows, int columns, int pitch)
        : Compact<T, USE>(shared, global, rows, columns, pitch) {}

    template <typename Cta> __device__ void begin() {
        if constexpr (USE != WRITES) {
            each<Cta>([](T &shared, T &global) { shared = global; });
        }
    }

    template <typename Cta> __device__ void change() {
        begin<Cta>();
    }

    template <typename Cta> __device__ void end() {
        if constexpr (ENDS) {
            each<Cta>([](T &shared, T &global) { global = shared; });
        }
    }

  private:
    // Neighbouring threads have neighbouring elements.
    template <typename Cta, typename Copy> __device__ void each(Copy copy) const {
        if constexpr (Cta::Y > 1 && COLUMNS > Cta::X) {
            for (int first_row = 0; first_row < ROWS; first_row += Cta::Y) {
                for (int first_column = 0; first_column < COLUMNS; first_column += Cta::X) {
                    int row = first_row + threadIdx.y;
                    int column = first_column + threadIdx.x;
                    if (row < this->rows && column < this->columns) {
                        element(copy, row, column);
                    }
                }
            }
        } else {
            for (int first = 0; first < ROWS * COLUMNS; first += Cta::THREADS) {
                int i = first + Cta::thread();
                int row = ROWS == 1 ? 0 : (unsigned)i / COLUMNS;
                int column = ROWS == 1 ? i : (unsigned)i % COLUMNS;
                bool is_row = first + Cta::THREADS <= ROWS * COLUMNS && this->rows == ROWS || row < this->rows;
                if (is_row && column < this->columns) {
                    element(copy, row, column);
                }
            }
        }
    }

    template <typename Copy> __device__ void element(Copy copy, int row, int column) const {
        copy(this->shared[row * this->columns + column], this->global[row * this->pitch + column]);
    }
};

template <typename T, Use USE, int ROWS, int COLUMNS> struct Dma : Compact<T, USE> {
    static constexpr bool ENDS = USE != READS;

    __device__ Dma(T *shared, int, const T *global, int rows, int columns, int pitch)
        : Compact<T, USE>(shared, global, rows, columns, pitch) {}

    template <typename Cta> __device__ void begin() {
        if (USE != WRITES && Cta::in_first_warp()) {
            dma_load(shared_address(this->shared), this->global, sizeof(T), sizeof(T), this->columns,
                     this->pitch * (int)sizeof(T), this->rows);
        }
    }

    template <typename Cta> __device__ void change() {
        begin<Cta>();
    }

    template <typename Cta> __device__ void end() {
        if (ENDS && Cta::in_first_warp()) {
            dma_store(shared_address(this->shared), this->global, sizeof(T), sizeof(T), this->columns,
                      this->pitch * (int)sizeof(T), this->rows);
        }
    }

    // Takes back a part of the tile alone: a transfer for each of its rows, as they do not follow each other. The caller
    // has a barrier before it.
    template <typename Cta> __device__ void end_part(int row, int column, int rows, int columns) {
        if (Cta::in_first_warp()) {
            for (int end = row + rows; row < end; row++) {
                dma_store(shared_address(&(*this)(row, column)), this->global + row * this->pitch + column, sizeof(T),
                          sizeof(T), columns, 0, 1);
            }
        }
    }
};

// `index` counts the mappings of a CTA in the order in which `begin` has their tiles.
template <typename T, Use USE, int ROWS, int COLUMNS> struct Mapped : Compact<T, USE> {
    static constexpr bool ENDS = false;
    T *storage;
    int index;

    __device__ Mapped(T *shared, int index, const T *global, int rows, int columns, int pitch)
        : Compact<T, USE>(mapped(shared, index), global, rows, columns, pitch), storage(shared), index(index) {}

    template <typename Cta> __device__ void begin() {
        if (Cta::in_first_warp()) {
            stash_add_map(shared_address(storage), this->global, sizeof(T), sizeof(T), this->columns,
                          this->pitch * (int)sizeof(T), this->rows, USE != READS);
        }
    }

    template <typename Cta> __device__ void change() {
        if (Cta::in_first_warp()) {
            stash_chg_map(index, shared_address(storage), this->global, sizeof(T), sizeof(T), this->columns,
                          this->pitch * (int)sizeof(T), this->rows, USE != READS);
        }
    }

    template <typename Cta> __device__ void end() {}
    template <typename Cta> __device__ void end_part(int, int, int, int) {}
};

// A CTA of WIDTH x HEIGHT threads, and what all of it does with tiles.
template <int WIDTH, int HEIGHT = 1> struct Cta {
    static constexpr int X = WIDTH;
    static constexpr int Y = HEIGHT;
    static constexpr int THREADS = WIDTH * HEIGHT;

    __device__ static int thread() {
        return HEIGHT == 1 ? threadIdx.x : threadIdx.x + WIDTH * threadIdx.y;
    }

    __device__ static bool in_first_warp() {
        return THREADS <= 32 || (HEIGHT == 1 ? threadIdx.x < 32 : threadIdx.y < 32 / WIDTH);
    }

    // Brings tiles.
    template <typename... Tiles> __device__ static void begin(Tiles &...tiles) {
        (tiles.template begin<Cta>(), ...);
        if ((Tiles::MOVES || ...)) {
            __syncthreads();
        }
    }

    // Brings tiles that have moved in place of those that were there, between two barriers of the caller.
    template <typename... Tiles> __device__ static void change(Tiles &...tiles) {
        (tiles.template change<Cta>(), ...);
    }

    // The same with the barriers, if the tiles' place needs any.
    template <typename... Tiles> __device__ static void again(Tiles &...tiles) {
        if ((Tiles::MOVES || ...)) {
            __syncthreads();
        }
        change(tiles...);
        if ((Tiles::MOVES || ...)) {
            __syncthreads();
        }
    }

    // Takes back what was written.
    template <typename... Tiles> __device__ static void end(Tiles &...tiles) {
        if ((Tiles::ENDS || ...)) {
            __syncthreads();
        }
        (tiles.template end<Cta>(), ...);
    }
};
