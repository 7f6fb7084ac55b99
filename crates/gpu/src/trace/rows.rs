//! Rows for slices that overlap: each takes the first row that is free.

use super::file::{TraceFile, Track};

/// The rows of one kind below a track.
pub struct Rows {
    parent: Track,
    name: &'static str,
    rank: i32,
    /// By row: its track, and from which cycle on it is free.
    rows: Vec<(Track, u64)>,
}

impl Rows {
    /// Rows with a name and a number each.
    pub fn new(parent: Track, name: &'static str, rank: i32) -> Rows {
        Rows { parent, name, rank, rows: Vec::new() }
    }

    /// A row for what takes place from one cycle to another. Ask in the order of beginnings.
    pub fn take(&mut self, file: &mut TraceFile, from: u64, to: u64) -> Track {
        if let Some((track, free)) = self.rows.iter_mut().find(|(_, free)| *free <= from) {
            *free = to;
            return *track;
        }
        let number = self.rows.len();
        let track = file.track(self.parent, &format!("{} {number}", self.name), self.rank + number as i32);
        self.rows.push((track, to));
        track
    }
}
