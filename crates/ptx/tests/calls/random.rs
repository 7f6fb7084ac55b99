//! Random call graphs.
