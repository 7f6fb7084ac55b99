//! A streaming multiprocessor, cycle by cycle.
