//! Memory organisations: one folder each, behind the doors of the memory room.
