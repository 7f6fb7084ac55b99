//! The doors of the memory hierarchy and the parts that designs share.
