// The reduce stage: a thread per group, once to count what it emits and once to emit it.
//
// A program defines reduce_count and reduce_group.

extern "C" __global__ void reduce_counts(int groups, const int2 *ranges, const int4 *directory, const char *keys,
                                         char *values, int *key_bytes, int *value_bytes, int *pairs) {
    int task = task_index();
    if (task >= groups) {
        return;
    }
    int2 range = ranges[task];
    int4 first = directory[range.x];
    Counts counts = {key_bytes, value_bytes, pairs};
    reduce_count(keys + first.x, values + first.z, range.y - range.x, counts);
}

extern "C" __global__ void reduce_groups(int groups, const int2 *ranges, const int4 *directory, const char *keys,
                                         char *values, const int *key_start, const int *value_start,
                                         const int *pair_start, int2 *written, int *emitted, char *out_keys,
                                         char *out_values, int4 *out_directory) {
    int task = task_index();
    if (task >= groups) {
        return;
    }
    int2 range = ranges[task];
    int4 first = directory[range.x];
    Output output = {key_start, value_start, pair_start, written, emitted, out_keys, out_values, out_directory};
    reduce_group(keys + first.x, values + first.z, range.y - range.x, output);
}
