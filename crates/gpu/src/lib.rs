//! From a machine file to an assembled GPU, its runs and their results.
