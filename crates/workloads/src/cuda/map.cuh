// The map stage: a thread per record, once to count what it emits and once to emit it.
//
// A program defines, before it includes this file:
//   INPUT_PARAMETERS, INPUT   what map reads beside its records, as parameters and as arguments, each with a comma
//                             at its end;
//   map_count, map_record     its two passes.

#include "pairs.cuh"

extern "C" __global__ void map_counts(INPUT_PARAMETERS int records, const int4 *directory, char *keys, char *values,
                                      int *key_bytes, int *value_bytes, int *pairs) {
    int task = task_index();
    if (task >= records) {
        return;
    }
    int4 record = directory[task];
    Counts counts = {key_bytes, value_bytes, pairs};
    map_count(INPUT keys + record.x, values + record.z, counts);
}

extern "C" __global__ void map_records(INPUT_PARAMETERS int records, const int4 *directory, char *keys, char *values,
                                       const int *key_start, const int *value_start, const int *pair_start,
                                       int2 *written, int *emitted, char *out_keys, char *out_values,
                                       int4 *out_directory) {
    int task = task_index();
    if (task >= records) {
        return;
    }
    int4 record = directory[task];
    Output output = {key_start, value_start, pair_start, written, emitted, out_keys, out_values, out_directory};
    map_record(INPUT keys + record.x, values + record.z, output);
}
